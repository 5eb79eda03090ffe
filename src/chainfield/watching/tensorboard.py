"""Curves of a training in TensorBoard (extra ``watch``)."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any

from chainfield.errors import ConfigError

from .forwarding import scalars

if TYPE_CHECKING:
    from chainfield.trainers import Progress


class TensorBoard:
    """A callback that writes event files into a folder, to be looked at while training runs.

    ``tensorboard --logdir FOLDER`` shows them. Use it as a context manager, so that the file is closed:

    >>> from chainfield import LinearCRF
    >>> from chainfield.watching import TensorBoard
    >>> with TensorBoard("runs/first") as watch:  # doctest: +SKIP
    ...     LinearCRF().fit(X, y, callback=watch)

    Needs tensorboardX: ``pip install 'chainfield[watch]'``.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ConfigError(
                "Curves for TensorBoard need tensorboardX; install it with: pip install 'chainfield[watch]'."
            ) from None
        self.folder = os.fspath(folder)
        try:
            os.makedirs(self.folder, exist_ok=True)
            self._writer: Any = SummaryWriter(self.folder, flush_secs=5)
        except OSError as error:
            raise ConfigError(f"{self.folder}: no event file can be written there ({error.strerror}).") from None

    def __call__(self, progress: Progress) -> None:
        """Write one iteration."""
        for name, value in scalars(progress).items():
            self._writer.add_scalar(name, value, progress.iteration)

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._writer.close()

    def __enter__(self) -> TensorBoard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
