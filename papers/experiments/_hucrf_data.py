"""The four corpora of the experiments on hidden-unit CRFs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments._hucrf import Data, random_folds
from harness.experiment import Context

WINDOW, PROFILE = 13, 20


def read_ocr(context: Context) -> Data:
    """Words as arrays of pixels (-1 or 1), their letters, and the folds that come with them."""
    X, y, folds = [], [], []
    rows: list[list[float]] = []
    labels: list[str] = []
    for line in (context.data["ocr"] / "letter.data").read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        rows.append([2.0 * float(value) - 1.0 for value in fields[6:134]])
        labels.append(fields[1])
        if fields[2] == "-1":
            X.append(np.array(rows))
            y.append(labels)
            folds.append(int(fields[5]))
            rows, labels = [], []
    return Data("ocr", X, y, np.array(folds))


def blocks(path: Path) -> Iterator[list[list[str]]]:
    """The fields of the lines between empty lines."""
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip()):
        yield [line.split() for line in block.splitlines()]


def read_faq(context: Context) -> Data:
    """Files of questions and answers: 24 features of a line, -1 or 1, and all their products; 600 in all."""
    raw = read_faq_raw(context)
    X = [np.concatenate([x, (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)], axis=1) for x in raw.X]
    return Data("faq", X, raw.y, raw.folds)


def read_faq_raw(context: Context) -> Data:
    """The same without products: 24 features of a line, -1 or 1."""
    X, y = [], []
    for block in blocks(context.data["faq"] / "faqs.txt"):
        X.append(np.array([[2.0 * float(bit) - 1.0 for bit in bits] for _, bits in block]))
        y.append([label for label, _ in block])
    return Data("faq raw", X, y, random_folds(len(X), context.seed))


def read_cb513(context: Context, window: int = WINDOW, *, ends: bool = False) -> Data:
    """Proteins: the profiles of 13 neighbouring residues (zeros beyond the ends), 260 numbers from -1 to 1.

    ``ends``: one more number for each neighbour, 1 beyond the ends and -1 elsewhere.
    """
    X, y = [], []
    beyond = np.zeros((window // 2, PROFILE))
    for block in blocks(context.data["cb513"] / "cb513_psiblast.txt"):
        profile = np.array([[float(value) / 5.0 - 1.0 for value in fields[2:]] for fields in block])
        around = np.concatenate([beyond, profile, beyond])
        if ends:
            outside = np.ones((len(around), 1))
            outside[len(beyond) : len(beyond) + len(profile)] = -1.0
            around = np.concatenate([around, outside], axis=1)
        X.append(np.concatenate([around[i : i + len(profile)] for i in range(window)], axis=1))
        y.append([fields[1] for fields in block])
    return Data(f"cb513 {window}{' ends' * ends}", X, y, random_folds(len(X), context.seed))


def read_treebank(context: Context) -> Data:
    """Sentences of the treebank's sample: the features of three neighbouring words, and parts of speech."""
    X, y = [], []
    for path in sorted((context.data["treebank"] / "combined").glob("*.mrg")):
        for sentence in sentences(path.read_text(encoding="utf-8")):
            X.append(around([features(word) for _, word in sentence]))
            y.append([tag for tag, _ in sentence])
    return Data("treebank", X, y, random_folds(len(X), context.seed))


def sentences(text: str) -> Iterator[list[tuple[str, str]]]:
    """Tags and words of bracketed trees, without traces."""
    depth = 0
    leaf: list[str] = []
    found: list[tuple[str, str]] = []
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            depth += 1
            leaf = []
        elif token == ")":
            depth -= 1
            if len(leaf) == 2 and leaf[0] != "-NONE-":
                found.append((leaf[0], leaf[1]))
            leaf = []
            if depth == 0 and found:
                yield found
                found = []
        else:
            leaf.append(token)


def features(word: str) -> list[str]:
    """The word, its first and last four characters, and whether it has a hyphen, a capital, a digit, an -ing."""
    flags = {
        "hyphen": "-" in word,
        "capital": any(c.isupper() for c in word),
        "digit": any(c.isdigit() for c in word),
        "ing": word.endswith("ing"),
    }
    return [f"word={word}", f"prefix={word[:4]}", f"suffix={word[-4:]}", *(name for name, yes in flags.items() if yes)]


def around(found: list[list[str]]) -> list[list[str]]:
    """The features of a word and of its two neighbours."""
    n = len(found)
    return [
        [f"{step:+d}:{name}" for step in (-1, 0, 1) if 0 <= t + step < n for name in found[t + step]] for t in range(n)
    ]
