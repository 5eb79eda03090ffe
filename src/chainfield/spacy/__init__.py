"""A tagger of texts as a component of spaCy's pipelines (extra ``spacy``): ``nlp.add_pipe("chainfield")``."""

try:
    import spacy as _spacy  # noqa: F401
except ImportError:
    raise ImportError(
        "chainfield.spacy needs spaCy; install it with: pip install 'chainfield[spacy]'.", name="spacy"
    ) from None

from .component import SpanTagger, make_component

__all__ = ["SpanTagger", "make_component"]
