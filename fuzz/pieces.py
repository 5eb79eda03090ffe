"""Corpora encoded in pieces on disk, and data frames."""

from __future__ import annotations

import functools
import random
import shutil
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from choices import REALS, Choices
from models import DIGEST, change_tensor, change_value, signed, taken_apart
from scratch import folder

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from chainfield import LinearCRF
from chainfield.corpora import encode_corpus, open_corpus, plan_columns
from chainfield.errors import ChainfieldError
from chainfield.features import TemplateFeatures, parse_template
from chainfield.frames import read_frame

TEMPLATE = "U0:%x[0,0]\nU1:%x[-1,0]\nB0:%x[0,0]\nB\n"


@functools.cache
def _encoded() -> dict[str, bytes]:
    """The files of a small corpus by name."""
    data, place = Path(folder()) / "data.txt", Path(folder()) / "encoded"
    data.write_text("a\tX\nb\tY\n\nc\tX\n\nd\tY\na\tX\n\n", encoding="utf-8")
    sources = plan_columns(data, piece_bytes=10)
    encode_corpus(sources, place, lambda _: TemplateFeatures(parse_template(TEMPLATE)), n_jobs=1)
    return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def corpus_folder(data: bytes) -> None:
    """An encoded corpus of which one file was changed and signed anew: refused, or trained on."""
    choose = random.Random(data)
    whole = dict(_encoded())
    name = choose.choice(sorted(whole))
    description, tensors = taken_apart(whole[name])
    for _ in range(choose.choice((1, 1, 2))):
        choose.choice((change_value, change_tensor) if tensors else (change_value,))(description, tensors, choose)
    try:
        whole[name] = signed(description, tensors)
    except (ValueError, UnicodeError, OverflowError):
        return
    if name != "corpus.cf":
        about, arrays = taken_apart(whole["corpus.cf"])
        for part in about["config"]["parts"]:
            if part["name"] == name:
                part["sha256"] = description[DIGEST]
        whole["corpus.cf"] = signed(about, arrays)
    place = Path(folder()) / "changed"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for other, content in whole.items():
        (place / other).write_bytes(content)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = LinearCRF(max_iter=1, n_jobs=1).fit(open_corpus(place, n_jobs=1))
        except ChainfieldError:
            return
    assert np.isfinite(model.fitted_.theta).all()


VALUES = (None, "", "a", "ä", 1, 2**62, -1, True, b"x", [1], {"a": 1}, *REALS)


def frames(data: bytes) -> None:
    """A table of anything: sequences as long as their rows, or a refusal."""
    import polars

    choices = Choices(data)
    n = choices.below(5)
    columns = {}
    for name in ("id", "word", "n", "label")[: 1 + choices.below(4)]:
        values = [choices.among(VALUES) if choices.chance(3) else choices.among("ab") for _ in range(n)]
        try:
            columns[name] = polars.Series(name, values, strict=False)
        except Exception:  # what the library itself refuses
            return
    label = choices.among(("label", None, "word", "x"))
    try:
        found = read_frame(polars.DataFrame(columns), sequence=choices.among(("id", "id", "id", "n")), label=label)
        assert sum(map(len, found.X)) == n
        assert found.y is None or [len(own) for own in found.y] == [len(own) for own in found.X]
        LinearCRF(max_iter=1, n_jobs=1).fit(found.X, found.y)
    except ChainfieldError:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {"corpus_folder": corpus_folder}
if find_spec("polars") and find_spec("narwhals"):
    TARGETS["frames"] = frames
