"""The component ``chainfield``: finds entities by a model of this library, and is saved with the pipeline."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from chainfield.errors import ConfigError, DataError
from chainfield.models import load
from chainfield.text.document import Document, TextSpan, Token
from chainfield.text.tagging.text_tagger import TextTagger

MODEL, SETTINGS = "model.cf", "settings.json"
TOKENS = ("model", "spacy")
PROBABILITY = "probability"


@Language.factory(
    "chainfield",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"model": None, "tokens": "model", "spans_key": None, "overwrite": False},
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
def make_component(
    nlp: Language, name: str, model: str | None, tokens: str, spans_key: str | None, overwrite: bool
) -> SpanTagger:
    """What ``nlp.add_pipe("chainfield", config={…})`` makes."""
    return SpanTagger(name, model, tokens=tokens, spans_key=spans_key, overwrite=overwrite)


class SpanTagger:
    """Spans of a model as ``doc.ents``, or as ``doc.spans[spans_key]``.

    ``model``: a file that chainfield has saved; without one, ``nlp.initialize`` trains a model on its examples.
    ``tokens``: who cuts texts, the tokeniser of the "model" (spans are then widened to spaCy's tokens) or "spacy".
    ``overwrite``: whether entities that are there already give way; otherwise they stay, and new ones that overlap them
    are left out. The probability of a span is ``span._.probability``.
    """

    def __init__(
        self,
        name: str = "chainfield",
        model: str | Path | TextTagger | None = None,
        *,
        tokens: str = "model",
        spans_key: str | None = None,
        overwrite: bool = False,
    ) -> None:
        if tokens not in TOKENS:
            raise ConfigError(f"tokens is {tokens!r}; choose one of {', '.join(TOKENS)}.")
        self.name, self.tokens, self.spans_key, self.overwrite = name, tokens, spans_key, overwrite
        self._path = None if model is None or isinstance(model, TextTagger) else Path(model)
        self._tagger = model if isinstance(model, TextTagger) else None
        if not Span.has_extension(PROBABILITY):
            Span.set_extension(PROBABILITY, default=None)

    @property
    def tagger(self) -> TextTagger:
        """The model; a file is read when it is first needed."""
        if self._tagger is None:
            if self._path is None:
                raise ConfigError(
                    f"The component {self.name!r} has no model; give config={{'model': 'model.cf'}}, or train one with "
                    "nlp.initialize(lambda: examples)."
                )
            self._tagger = TextTagger.around(load(self._path), f"{self._path}")
        return self._tagger

    @tagger.setter
    def tagger(self, tagger: TextTagger) -> None:
        self._tagger = tagger

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of spans; none as long as there is no model."""
        ready = self._tagger is not None or (self._path is not None and self._path.exists())
        return tuple(self.tagger.classes_) if ready else ()

    # ---- tagging -------------------------------------------------------------------------------------------------

    def __call__(self, doc: Doc) -> Doc:
        """Tag one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Tag a stream of documents, in its order, with threads."""
        docs, asked = tee(stream)
        answers = self.tagger.pipe(self._document(doc) for doc in asked)
        for doc, found in zip(docs, answers, strict=True):
            self._annotate(doc, found)
            yield doc

    def _document(self, doc: Doc) -> Document | str:
        if self.tokens == "model":
            return doc.text
        return Document(doc.text, tokens=tuple(Token(t.idx, t.idx + len(t)) for t in doc if not t.is_space))

    def _annotate(self, doc: Doc, found: list[Any]) -> None:
        spans = []
        for one in found:
            span = doc.char_span(one.start, one.end, label=one.label, alignment_mode="expand")
            if span is not None:
                span._.set(PROBABILITY, one.probability)
                spans.append(span)
        if self.spans_key is not None:
            doc.spans[self.spans_key] = spans
            return
        taken = [] if self.overwrite else list(doc.ents)
        inside = {t.i for span in taken for t in span}
        kept = [span for span in filter_spans(spans) if not any(t.i in inside for t in span)]
        doc.set_ents([*taken, *kept])

    # ---- training ------------------------------------------------------------------------------------------------

    def initialize(
        self, get_examples: Callable[[], Iterable[Any]], *, nlp: Language | None = None, labels: Any = None
    ) -> None:
        """Train a model on the entities of examples, unless the component has one."""
        if self._tagger is not None or self._path is not None:
            return
        documents = [self._gold(example.reference) for example in get_examples()]
        if not any(document.spans for document in documents):
            raise DataError(f"The examples have no entities; the component {self.name!r} has nothing to learn from.")
        repair = {"misaligned": "expand", "overlapping": "longest"} if self.tokens == "model" else {}
        self._tagger = TextTagger(**repair).fit(documents)

    def _gold(self, doc: Doc) -> Document:
        spans = doc.ents if self.spans_key is None else doc.spans.get(self.spans_key, ())
        found = tuple(TextSpan(span.start_char, span.end_char, span.label_) for span in spans)
        tokens = None
        if self.tokens == "spacy":
            tokens = tuple(Token(t.idx, t.idx + len(t)) for t in doc if not t.is_space)
        return Document(doc.text, found, tokens)

    def score(self, examples: Iterable[Any], **_: Any) -> dict[str, Any]:
        """Precision, recall and F1 of entities, as spaCy's own components give them."""
        return get_ner_prf(examples)

    # ---- files ---------------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        return {"tokens": self.tokens, "spans_key": self.spans_key, "overwrite": self.overwrite}

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write a folder with the model and the settings."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        srsly.write_json(folder / SETTINGS, self._settings())
        if self._tagger is not None or self._path is not None:
            self.tagger.save(folder / MODEL)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SpanTagger:
        """Read what ``to_disk`` wrote."""
        folder = Path(path)
        self._restore(srsly.read_json(folder / SETTINGS))
        if (folder / MODEL).exists():
            self._tagger = TextTagger.around(load(folder / MODEL), f"{folder / MODEL}")
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model and the settings."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
        return srsly.msgpack_dumps(files)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SpanTagger:
        """The inverse of ``to_bytes``."""
        files = srsly.msgpack_loads(data)
        if not isinstance(files, dict) or SETTINGS not in files or set(files) - {SETTINGS, MODEL}:
            raise DataError("These bytes are not those of a chainfield component.")
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                (Path(folder) / name).write_bytes(content)
            return self.from_disk(folder)

    def _restore(self, settings: Any) -> None:
        if not isinstance(settings, dict) or settings.get("tokens") not in TOKENS:
            raise DataError(f"The settings of the component {self.name!r} are damaged; save the pipeline again.")
        self.tokens, self.spans_key = settings["tokens"], settings.get("spans_key")
        self.overwrite = bool(settings.get("overwrite"))
