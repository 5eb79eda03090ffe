"""``TextTagger``: any tagger of the library, from texts to spans of characters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, final

import numpy as np

from chainfield.confidence.calibration import Calibration, fit_calibration
from chainfield.errors import ConfigError, DataError
from chainfield.fitted import Tagger, confidences
from chainfield.fitted.label_spans import reading_of
from chainfield.models.base import SequenceModel, not_trained
from chainfield.models.linear_crf import LinearCRF
from chainfield.models.tagging import TaggingModel
from chainfield.parallel import count_jobs, ordered_map
from chainfield.settings import Configurable, Kind, choice, flag, given
from chainfield.text.alignment import MISALIGNED, OVERLAPPING, SCHEMES, Repairs, labels_of, token_spans
from chainfield.text.document import Document, Token
from chainfield.text.tokeniser import Tokeniser, as_tokeniser, check_texts
from chainfield.text.tokens import Tokens

from .answers import FoundSpan, types_of
from .inputs import check_items, cut_items, join_sentences, portions, with_spans
from .reader import TextReader


@final
@dataclass(frozen=True)
class Inner(Kind):
    """A tagger."""

    noun: ClassVar[str] = "tagger"
    expected: ClassVar[str] = "a tagger of the library is expected, such as LinearCRF()"

    def fits(self, value: Any) -> bool:
        """An estimator that labels positions."""
        return isinstance(value, TaggingModel)

    def parse(self, text: Any) -> Any:
        """Not on the command line."""
        raise ValueError


@final
@dataclass(frozen=True)
class Cutter(Kind):
    """What cuts texts into tokens."""

    noun: ClassVar[str] = "Tokeniser, str or callable"
    expected: ClassVar[str] = "give a tokeniser, a regular expression, or a function"

    def fits(self, value: Any) -> bool:
        """What :func:`as_tokeniser` takes."""
        as_tokeniser(value)
        return True

    def parse(self, text: Any) -> str:
        """A regular expression."""
        return str(text)


class TextTagger(Configurable):
    """A tagger that reads texts and answers with spans of characters.

    ``fit(texts, spans)`` cuts the texts into tokens, turns the spans into labels and trains ``model`` on them;
    ``predict(texts)`` goes the same way back. The tokeniser is saved with the model.

    >>> texts = ["Anna lives in Oslo.", "Oslo is cold."]
    >>> tagger = TextTagger().fit(texts, [[(0, 4, "PER"), (14, 18, "LOC")], [(0, 4, "LOC")]])
    >>> [(span.text, span.label) for span in tagger.predict(["Anna is in Oslo."])[0]]
    [('Anna', 'PER'), ('Oslo', 'LOC')]
    """

    model: Any = given(None, "The tagger to train; None: LinearCRF().", Inner(), optional=True, option="")
    tokeniser: Any = given(
        None,
        "What cuts texts into tokens: None for the built-in rules, a regular expression that matches one token, a "
        "function from a text to (start, end) pairs, or a tokeniser of chainfield.text.",
        Cutter(),
        optional=True,
    )
    sentences: bool = flag(False, "Sequences are the sentences of a text, not the whole text.")
    scheme: str = choice(
        "bio", SCHEMES, "How labels of tokens write spans. A model with a scheme of its own keeps it.", option=""
    )
    misaligned: str = choice(
        "refuse",
        MISALIGNED,
        "What to do with spans that do not begin and end with tokens: refuse them, expand them to whole tokens, shrink "
        "them to the tokens inside, or drop them. What was done stands in repairs_.",
    )
    overlapping: str = choice(
        "refuse",
        OVERLAPPING,
        "What to do with spans that overlap: refuse them, keep the longest, or keep the first. What was done stands in "
        "repairs_.",
    )

    #: The fitted tagger of tokens.
    model_: TaggingModel
    #: The tokeniser.
    tokeniser_: Tokeniser
    #: What was done to spans of the training data.
    repairs_: Repairs
    #: What makes probabilities better, if ``calibrate`` was called.
    calibration_: Calibration | None = None

    # ---- training ------------------------------------------------------------------------------------------------

    def fit(
        self,
        texts: Any,
        spans: Any = None,
        *,
        texts_dev: Any = None,
        spans_dev: Any = None,
        callback: Callable[[Any], None] | None = None,
        **more: Any,
    ) -> TextTagger:
        """Train on texts and their spans: (start, end, label) by character, one list per text.

        ``texts`` may also be :class:`~chainfield.text.Document` objects, which hold their spans. ``texts_dev`` and
        ``spans_dev``: development data. Everything else goes to ``fit`` of the model.
        """
        self.check_settings()
        model = self.fresh_model()
        tokeniser, repairs = as_tokeniser(self.tokeniser), Repairs()
        X, y = self._prepare(tokeniser, texts, spans, repairs)
        if texts_dev is not None:
            more["X_dev"], more["y_dev"] = self._prepare(tokeniser, texts_dev, spans_dev, Repairs())
        if callback is not None:
            more["callback"] = callback
        model.fit(X, y, **more)
        self.model_, self.tokeniser_, self.repairs_ = model, tokeniser, repairs
        self.calibration_ = None
        return self

    def fresh_model(self) -> TaggingModel:
        """A tagger of tokens with the settings of ``model``, not fitted."""
        inner = LinearCRF() if self.model is None else self.model
        model: TaggingModel = type(inner)(**inner.get_params())
        if model.scheme == "iob1":
            raise ConfigError(f'Labels of texts are not written by scheme="iob1"; choose from {", ".join(SCHEMES)}.')
        if self.scheme != "io" and model.scheme is None:
            model.scheme = self.scheme
        return model

    def _labelling(self) -> str:
        """How labels write spans: as the model's rules have it, if it names any that write spans."""
        own = getattr(getattr(self, "model_", self.model), "scheme", None)
        return own if self.scheme == "bio" and isinstance(own, str) and own in SCHEMES else self.scheme

    def aligned(
        self, texts: Any, spans: Any = None, tokeniser: Tokeniser | None = None, repairs: Repairs | None = None
    ) -> tuple[list[str], Tokens, list[str]]:
        """Texts, their tokens, and the label of each token, all texts end to end."""
        tokeniser = as_tokeniser(self.tokeniser) if tokeniser is None else tokeniser
        items, gold = with_spans(texts, spans)
        documents, tokens = cut_items(tokeniser, items, self.sentences)
        if documents and not len(tokens):
            raise DataError("There is nothing to learn from: no text has a token.")
        found = token_spans(
            documents, gold, tokens, misaligned=self.misaligned, overlapping=self.overlapping, repairs=repairs
        )
        lengths = tokens.documents.lengths.tolist()
        labels = [labels_of(own, n, self._labelling()) for own, n in zip(found, lengths, strict=True)]
        # A sentence does not end inside of a span.
        tokens = replace(tokens, sequences=join_sentences(tokens, found)) if self.sentences else tokens
        return documents, tokens, list(chain.from_iterable(labels))

    def _prepare(self, tokeniser: Tokeniser, texts: Any, spans: Any, repairs: Repairs) -> tuple[Any, list[list[str]]]:
        """Rows and labels of each sequence."""
        _, tokens, labels = self.aligned(texts, spans, tokeniser, repairs)
        return tokens.rows(), tokens.sequences.cut(labels)

    # ---- prediction ----------------------------------------------------------------------------------------------

    def _ready(self) -> Tagger:
        if not hasattr(self, "model_"):
            raise not_trained(self)
        return self.model_._tagger()

    @property
    def reader_(self) -> TextReader:
        """How the fitted tagger reads texts."""
        self._ready()
        return TextReader(self.tokeniser_, bool(self.sentences), self._labelling(), self.calibration_)

    def predict(self, texts: Any, *, probabilities: bool = True, alternatives: int = 0) -> list[list[FoundSpan]]:
        """The spans of each text, from left to right.

        Without ``probabilities`` it is faster. ``alternatives``: how many other labels to give for each span.
        """
        items = check_items(texts)
        if len(items) == 1:  # nothing to share among threads
            return self.reader_.tag(self._ready(), items, probabilities, alternatives)
        return list(self.pipe(items, probabilities=probabilities, alternatives=alternatives))

    def pipe(
        self, texts: Iterable[Any], *, probabilities: bool = True, alternatives: int = 0
    ) -> Iterator[list[FoundSpan]]:
        """The same for any iterable of texts, one answer after the other, in their order.

        Documents that have tokens keep them; all other texts are cut by the tokeniser.
        Texts are read as they are needed, so that memory does not grow with their number; threads work side by side.
        """
        tagger, reader = self._ready(), self.reader_
        n_jobs = count_jobs(self.model_.n_jobs)

        def part(some: list[Any]) -> list[list[FoundSpan]]:  # within a thread, a tagger does not ask for more of them
            return reader.tag(tagger, some, probabilities, alternatives)

        for found in ordered_map(part, portions(texts), n_jobs):
            yield from found

    def predict_documents(self, texts: Any) -> list[Document]:
        """Documents with the spans that were found, and with the tokens."""
        items = check_items(texts)
        found, tokens = self.reader_.cut(items)
        return [
            Document(text, tuple(span.span for span in own), tuple(Token(*place) for place in cut))
            for text, own, cut in zip(found, self.predict(items, probabilities=False), tokens.places(), strict=True)
        ]

    def predict_huggingface(self, texts: Any) -> list[list[dict[str, Any]]]:
        """The answers as Hugging Face's token-classification pipeline gives them (aggregated)."""
        return [
            [
                {"entity_group": s.label, "score": s.probability, "word": s.text, "start": s.start, "end": s.end}
                for s in own
            ]
            for own in self.predict(texts)
        ]

    def tokens(self, texts: Any) -> Tokens:
        """The tokens of texts, as the model sees them."""
        self._ready()
        return self.tokeniser_.cut(check_texts(texts), sentences=self.sentences)

    @property
    def classes_(self) -> list[str]:
        """The labels of spans."""
        return types_of(reading_of(self._ready().task.labels))

    def score(self, texts: Any, spans: Any = None) -> float:
        """F1 of spans: place and label have to be right."""
        items, gold = with_spans(texts, spans)
        found = self.predict(items, probabilities=False)
        right = sum(len({s.span for s in own} & set(true)) for own, true in zip(found, gold, strict=True))
        total = sum(map(len, found)) + sum(len(set(true)) for true in gold)
        return 2 * right / total if total else 1.0

    # ---- confidence ----------------------------------------------------------------------------------------------

    def calibrate(self, texts: Any, spans: Any = None, *, method: str = "auto", per_label: int = 200) -> TextTagger:
        """Learn from held-out texts how often spans of each probability are right; predictions follow it from then on.

        ``method``: "isotonic", "temperature" for little data, or "auto", which chooses between them and no change:
        good probabilities stay as they are. Labels that were found ``per_label`` times or more may be calibrated by
        themselves. The order of answers with one label does not change, nor do the spans.
        """
        items, gold = with_spans(texts, spans)
        self.calibration_ = None
        found = self.predict(items)
        answers = [
            (s.probability, s.span in true, s.label)
            for own, true in zip(found, map(set, gold), strict=True)
            for s in own
        ]
        p, right, labels = zip(*answers, strict=True) if answers else ((), (), ())
        self.calibration_ = fit_calibration(p, right, labels, method=method, per_label=per_label)
        return self

    def certainty(self, texts: Any) -> list[float]:
        """The probability that the whole answer to a text is right, exactly as the model sees it, not calibrated."""
        tagger = self._ready()
        _, tokens = self.reader_.cut(check_items(texts))
        sure = [one.sequence for one in confidences(tagger, tokens.rows())]
        whole = np.ones(tokens.documents.n_sequences)
        firsts = np.searchsorted(tokens.documents.offsets, tokens.sequences.offsets[:-1], side="right") - 1
        np.multiply.at(whole, np.minimum(firsts, len(whole) - 1), sure)
        return whole.tolist()

    # ---- scikit-learn, files -------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, and with ``deep`` those of the model as ``model__name``."""
        own = super().get_params(deep)
        inner = {f"model__{k}": v for k, v in self.model.get_params().items()} if deep and self.model else {}
        return {**own, **inner}

    def set_params(self, **params: Any) -> Any:
        """Change settings; ``model__name`` changes one of the model."""
        inner = {k.removeprefix("model__"): v for k, v in params.items() if k.startswith("model__")}
        super().set_params(**{k: v for k, v in params.items() if not k.startswith("model__")})
        if inner:
            self.model = LinearCRF() if self.model is None else self.model
            self.model.set_params(**inner)
        return self

    def save(self, path: str | os.PathLike[str], notes: dict[str, Any] | None = None) -> None:
        """Write one model file, with the tokeniser in it; :func:`chainfield.load` reads it."""
        self._ready()
        self.model_.save(path, notes, wrapper=self.reader_.describe())

    @classmethod
    def around(cls, model: Any, name: str = "The model") -> TextTagger:
        """A fitted tagger of words as a tagger of texts, with the built-in tokeniser: it must read a single column.

        A tagger of texts is given back as it is.
        """
        if isinstance(model, TextTagger):
            return model
        reader = TextReader.around(model._fitted() if isinstance(model, SequenceModel) else model, name)
        return cls(model=model, scheme=reader.scheme)._with(model, reader)

    @classmethod
    def restore(cls, model: TaggingModel, config: dict[str, Any], tokeniser: Any = None) -> TextTagger:
        """A tagger of texts from its file: the model, and what stands around it (:meth:`TextReader.describe`)."""
        reader = TextReader.restore(model._fitted(), config, tokeniser)
        found = cls(model=model, tokeniser=reader.tokeniser, sentences=reader.sentences, scheme=reader.scheme)
        return found._with(model, reader)

    def _with(self, model: TaggingModel, reader: TextReader) -> TextTagger:
        self.model_, self.tokeniser_, self.repairs_ = model, reader.tokeniser, Repairs()
        self.calibration_ = reader.calibration
        return self
