"""A request to tag or to classify, as it was sent and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from .bounds import Bounds
from .json_schema import Schema, check
from .refusal import Refusal

SMALL = 2_000  # characters: answered at once, in less time than a thread takes to be woken
FEW = 10  # of n-best, likewise


@dataclass(frozen=True)
class Wanted:
    """What an answer shall hold (:data:`chainfield.serving.schemas.WANTED`)."""

    probabilities: bool = True
    alternatives: int = 0
    with_tokens: bool = False
    marginals: bool = False
    n_best: int = 0
    format: str = "chainfield"

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Wanted:
        """From a request that was checked."""
        return cls(**{name: value[name] for name in _WANTED & value.keys()})


_WANTED = frozenset(one.name for one in fields(Wanted))


@dataclass(frozen=True)
class Question:
    """Inputs, either texts or sequences of tokens, and what is asked about them."""

    texts: list[str] | None
    sequences: list[list[Any]] | None
    wanted: Wanted = field(default_factory=Wanted)
    given: list[dict[str, Any]] = field(default_factory=list)
    explain: dict[str, Any] | None = None
    model: str | None = None
    version: str | None = None

    @classmethod
    def of(cls, value: dict[str, Any], bounds: Bounds) -> Question:
        """From a request that was checked."""
        texts = [value["text"]] if "text" in value else value.get("texts")
        sequences = value.get("tokens")
        n = len(texts if texts is not None else sequences or [])
        if n > bounds.texts:
            raise Refusal(413, f"There are {n:,} inputs; a request may have {bounds.texts:,}. Send several requests.")
        if texts is not None:
            _refuse_halves(texts)
        return cls(
            texts,
            sequences,
            Wanted.of(value),
            value.get("given", []),
            value.get("explain"),
            value.get("model"),
            value.get("version"),
        )

    @property
    def n(self) -> int:
        """How many inputs there are."""
        return len(self.texts if self.texts is not None else self.sequences or [])

    @property
    def small(self) -> bool:
        """Whether it is answered at once, without a thread."""
        if self.explain is not None or self.wanted.n_best > FEW:
            return False
        if self.texts is not None:
            return sum(map(len, self.texts)) <= SMALL
        return sum(map(len, self.sequences or [])) <= SMALL // 8


def _refuse_halves(texts: list[str]) -> None:
    """Halves of characters can be written in JSON, but no text has them."""
    for i, text in enumerate(texts):
        if not text.isascii():
            try:
                text.encode("utf-8")
            except UnicodeEncodeError as error:
                raise Refusal(422, f"Text {i} has half of a character at {error.start}; it is no Unicode.") from None


def parse(body: bytes, schema: Schema, where: str = "The request") -> Any:
    """JSON that fits a schema."""
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refusal(400, f"{where} is not UTF-8: byte {error.start} cannot be read.") from None
    except RecursionError:
        raise Refusal(400, f"{where} is nested too deeply.") from None
    except ValueError as error:
        raise Refusal(400, f"{where} is not JSON: {str(error)[:120].rstrip('.')}.") from None
    check(value, schema, where)
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
