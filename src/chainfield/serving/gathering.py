"""Small questions about texts that arrive at the same moment are answered together.

Most of what one sentence costs is paid once for all of them. Nobody waits for company: what has arrived when the loop
has looked once more goes together, and one that came alone is answered alone.
"""

from __future__ import annotations

import asyncio

from chainfield.errors import ChainfieldError

from .bounds import Bounds
from .question import Question, Wanted
from .refusal import Refusal
from .registry import Served
from .tagging import Answered, tag, tag_each

MOST = 32  # questions that go together
_Waiting = list[tuple[Question, "asyncio.Future[Answered]"]]


class Gathering:
    """Questions by the model that they are for, and by what they want."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._waiting: dict[tuple[Served, Wanted], _Waiting] = {}

    async def ask(self, served: Served, question: Question) -> Answered:
        """The answers to one question, with what else is there."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answered] = loop.create_future()
        if not self._waiting:
            loop.call_soon(loop.call_soon, self._answer, loop)  # the loop looks once more at what has arrived
        self._waiting.setdefault((served, question.wanted), []).append((question, future))
        return await future

    def _answer(self, loop: asyncio.AbstractEventLoop) -> None:
        """One group, as far as it goes together; what is left comes after what has been read meanwhile."""
        key, waiting = next(iter(self._waiting.items()))
        group, rest = waiting[:MOST], waiting[MOST:]
        del self._waiting[key]
        if rest:
            self._waiting[key] = rest
        if self._waiting:
            loop.call_soon(self._answer, loop)
        served, wanted = key
        group = [(question, future) for question, future in group if not future.done()]  # some may have gone
        found: list[Answered] | None = None
        if len(group) > 1:
            try:
                found = self._together(served, wanted, [question for question, _ in group])
            except (ChainfieldError, Refusal):
                found = None  # one of them is wrong, or together they are too large: each by itself
        for i, (question, future) in enumerate(group):
            if found is not None:
                future.set_result(found[i])
                continue
            try:
                future.set_result(tag(served, question, self._bounds))
            except Exception as error:
                future.set_exception(error)

    def _together(self, served: Served, wanted: Wanted, questions: list[Question]) -> list[Answered]:
        texts = [text for question in questions for text in question.texts or ()]
        answers, lengths = tag_each(served, Question(texts, None, wanted), self._bounds)
        found, at = [], 0
        for question in questions:
            own = slice(at, at + question.n)
            found.append((answers[own], sum(lengths[own])))
            at = own.stop
        return found


def goes_together(question: Question) -> bool:
    """Whether a question may be answered with others: a small one, about nothing but its texts."""
    return question.small and question.texts is not None and not question.given and question.explain is None
