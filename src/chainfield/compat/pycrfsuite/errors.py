"""The exceptions of python-crfsuite, where it raises them."""

from __future__ import annotations

from typing import ClassVar

from chainfield.errors import ChainfieldError, DataError

#: The version of CRFsuite whose behaviour and files these modules follow.
CRFSUITE_VERSION = "0.12.2"


class CRFSuiteError(Exception):
    """What CRFsuite reports by a number."""

    _messages: ClassVar[dict[int, str]] = {
        -(2**31): "Unknown error occurred",
        -(2**31) + 1: "Insufficient memory",
        -(2**31) + 2: "Unsupported operation",
        -(2**31) + 3: "Incompatible data",
        -(2**31) + 4: "Internal error",
        -(2**31) + 5: "Overflow",
        -(2**31) + 6: "Not implemented",
    }

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(self._messages.get(code, "Unexpected error"))


class ItemError(DataError, TypeError):
    """An item or a label that cannot be used: python-crfsuite raises TypeError for most of these."""


class ClosedError(ChainfieldError, ValueError, RuntimeError):
    """A tagger without a model: python-crfsuite raises ValueError or RuntimeError, or crashes."""

    def __init__(self) -> None:
        super().__init__("The tagger is not opened; call open or open_inmemory first.")


class UnknownLabelError(ChainfieldError, RuntimeError):
    """A label that the model does not have."""

    def __init__(self, label: str, known: list[str]) -> None:
        more = " …" if len(known) > 10 else ""
        super().__init__(f"The model has no label {label!r}; it knows {', '.join(known[:10])}{more}.")
