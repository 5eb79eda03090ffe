"""Requests that are not answered: a status, one sentence, and when to come again."""

from __future__ import annotations


class Refusal(Exception):
    """An answer with an error status; ``retry``: after how many seconds it may be tried again."""

    def __init__(self, status: int, sentence: str, retry: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.retry = retry
