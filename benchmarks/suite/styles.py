"""One corpus in all styles of input, with models of each, chainfield's and python-crfsuite's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainfield import LinearCRF

from .peers import installed
from .tasks import Task, feature_dicts, feature_strings

ITERATIONS = 40  # of the peer's training: models of full size, not quite optimal, as quick to use
Make = Callable[[Sequence[Any]], list[Any]]


def tutorial_dicts(rows: Sequence[Any]) -> list[list[dict[str, Any]]]:
    """What sklearn-crfsuite's tutorial builds: strings, truth values, other keys at the ends of a sentence."""
    return [[_described(sentence, t) for t in range(len(sentence))] for sentence in map(list, rows)]


def _described(sentence: Sequence[Any], t: int) -> dict[str, Any]:
    word, tag = sentence[t][:2]
    item = {"bias": 1.0, "word[-3:]": word[-3:], "word[-2:]": word[-2:], "word.isdigit()": word.isdigit()}
    item |= _shown("", word, tag)
    item |= _shown("-1:", *sentence[t - 1][:2]) if t else {"BOS": True}
    return item | (_shown("+1:", *sentence[t + 1][:2]) if t + 1 < len(sentence) else {"EOS": True})


def _shown(where: str, word: str, tag: str) -> dict[str, Any]:
    return {
        f"{where}word.lower()": word.lower(),
        f"{where}word.istitle()": word.istitle(),
        f"{where}word.isupper()": word.isupper(),
        f"{where}postag": tag,
        f"{where}postag[:2]": tag[:2],
    }


@dataclass(frozen=True)
class Style:
    """A way to give sentences: what the library reads, what the peer reads, and the models that read them."""

    name: str
    own: list[Any]  # the test sentences
    theirs: list[Any]  # ready for the peer
    make: Make | None  # where the peer's strings are built while the clock runs: from the rows
    model: Path
    peer: Path


def styles(task: Task, folder: Path) -> list[Style]:
    """Train all models into a folder; the styles of the test set."""
    train, test = task.train, [list(rows) for rows in task.test.rows]
    strings = feature_strings(task.templates, test)
    known = {"names": feature_strings(task.templates, train.rows), "tutorial": tutorial_dicts(train.rows)}
    settings: dict[str, Any] = {"l2": 1.0, "boundary": False}
    for name, sequences in known.items():
        LinearCRF(**settings).fit(sequences, train.labels).save(folder / f"{name}.cf")
        if installed("crfsuite"):
            from .peers import crfsuite

            crfsuite.train(
                sequences, train.labels, model=str(folder / f"{name}.crfsuite"), c2=1.0, max_iterations=ITERATIONS
            )
    LinearCRF(template=task.templates, **settings).fit(train.rows, train.labels).save(folder / "columns.cf")
    names, tutorial = folder / "names.crfsuite", folder / "tutorial.crfsuite"
    dicts = feature_dicts(strings)
    described = tutorial_dicts(test)

    def make(rows: Sequence[Any]) -> list[Any]:
        return feature_strings(task.templates, rows)

    return [
        Style("lists", strings, strings, None, folder / "names.cf", names),
        Style("dicts", dicts, dicts, None, folder / "names.cf", names),
        Style("tutorial", described, described, None, folder / "tutorial.cf", tutorial),
        Style("columns", test, test, make, folder / "columns.cf", names),
    ]
