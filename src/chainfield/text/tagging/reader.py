"""How a fitted tagger reads texts: what cuts them into tokens, and how labels of tokens become spans of characters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

from chainfield.confidence.calibration import Calibration
from chainfield.errors import ConfigError, ModelFileError
from chainfield.fitted import FittedModel, Tagger
from chainfield.fitted.label_spans import reading_of
from chainfield.schema import Part, Value
from chainfield.text.alignment import SCHEMES
from chainfield.text.tokeniser import Tokeniser, as_tokeniser, restore_tokeniser
from chainfield.text.tokens import Tokens

from .answers import Answers, FoundSpan, find_answers, text_spans
from .inputs import cut_items

SCHEMA = Part(
    (
        Value("kind", "text", "what it is", choices=("text",)),
        Value("tokeniser", "object", "what cuts texts: its `kind` (`rules`, `pattern`, `function`) and its settings"),
        Value("sentences", "truth", "whether sequences are sentences"),
        Value("scheme", "text", "how labels write spans", choices=SCHEMES),
        Value(
            "calibration", "object", "how probabilities of spans are mapped (`chainfield.confidence`)", optional=True
        ),
    )
)


@final
@dataclass(frozen=True, eq=False)
class TextReader:
    """Everything that a fitted tagger of texts has beside its tagger of tokens."""

    tokeniser: Tokeniser
    sentences: bool = False
    scheme: str = "bio"
    calibration: Calibration | None = None

    def cut(self, items: list[Any]) -> tuple[list[str], Tokens]:
        """The texts and their tokens; documents that have tokens keep them."""
        return cut_items(self.tokeniser, items, self.sentences)

    def tag(self, tagger: Tagger, items: list[Any], probabilities: bool, alternatives: int) -> list[list[FoundSpan]]:
        """The spans of each text; ``alternatives``: how many other labels to give for each of them."""
        texts, tokens = self.cut(items)
        wanted = probabilities or alternatives > 0
        answers = self.find(tagger, tokens, probabilities=wanted, alternatives=alternatives > 0)
        return text_spans(texts, tokens, answers, reading_of(tagger.task.labels), alternatives)

    def find(
        self,
        tagger: Tagger,
        tokens: Tokens,
        *,
        probabilities: bool,
        alternatives: bool = False,
        whole: bool = False,
        given: Any = None,
    ) -> Answers:
        """The spans among tokens, as arrays; ``given`` fixes labels of tokens, sequence by sequence.

        Probabilities of spans are calibrated, unless labels are given: they are then of another kind than those learned
        from. Those of ``whole`` sequences are the model's own.
        """
        wanted = {"probabilities": probabilities, "alternatives": alternatives, "whole": whole}
        answers = find_answers(tagger, tokens, self.scheme, **wanted, given=given)
        if answers.probability is None or self.calibration is None or given is not None:
            return answers
        types = reading_of(tagger.task.labels).types
        names = [types[y] for y in answers.label.tolist()]
        return replace(answers, probability=self.calibration.apply(answers.probability, names))

    @classmethod
    def around(cls, model: FittedModel, name: str = "The model") -> TextReader:
        """The built-in tokeniser for a tagger of words, which must read a single column."""
        if not isinstance(model, Tagger):
            raise ConfigError(f"{name} labels whole sequences, not texts; use chainfield classify, or its predict.")
        width = model.features.width
        if not reads_words(model):
            what = f"{width} columns" if width is not None else f"{model.features.kind} features"
            raise ConfigError(
                f"{name} reads {what}, but a text has words only; train a model on annotated texts, or on a column "
                "file with the word and the label alone."
            )
        prefixes = {label.partition("-")[0] for label in model.task.labels}
        scheme = "bioes" if prefixes & {"E", "S"} else "bilou" if prefixes & {"L", "U"} else "bio"
        return cls(as_tokeniser(None), scheme=scheme)

    def describe(self) -> dict[str, Any]:
        """What a model file keeps of this."""
        return {
            "kind": "text",
            "tokeniser": self.tokeniser.describe(),
            "sentences": self.sentences,
            "scheme": self.scheme,
            **({} if self.calibration is None else {"calibration": self.calibration.describe()}),
        }

    @classmethod
    def restore(cls, model: FittedModel, config: dict[str, Any], tokeniser: Any = None) -> TextReader:
        """The inverse of :meth:`describe`; ``tokeniser``: one to take in place of the file's."""
        if not isinstance(model, Tagger):
            raise ModelFileError("The file has a tokeniser, but its model labels whole sequences.")
        try:
            SCHEMA.check(config, {}, {})
            kept = restore_tokeniser(config["tokeniser"]) if tokeniser is None else as_tokeniser(tokeniser)
            kind = config.get("calibration")
            calibration = None if kind is None else Calibration.restore(kind)
            if not all(isinstance(label, str) for label in model.task.labels):
                raise ValueError("the labels are not names")
        except (KeyError, TypeError, ValueError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise ModelFileError(f"The file does not describe a tagger of text: {reason}.") from None
        return cls(kept, config["sentences"], config["scheme"], calibration)


def reads_words(model: FittedModel) -> bool:
    """Whether a model reads a single column and gives names to its tokens, so that texts can be cut for it."""
    return (
        isinstance(model, Tagger) and model.features.width == 1 and all(isinstance(y, str) for y in model.task.labels)
    )
