"""Checkpoints: a training under way, so that it can be resumed to the last bit."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ModelFileError
from chainfield.problem import Trainable
from chainfield.trainers import Session, Trainer

from .container import read_container, write_container

KIND = "checkpoint"
VERSION = 2


def fingerprint(problem: Trainable, theta: Float, settings: dict[str, Any]) -> str:
    """Tells whether data, settings and start are those of the checkpoint."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=repr).encode())
    for array in (theta, *problem.arrays()):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def saver(path: str | os.PathLike[str], mark: str, every: float) -> Callable[[Session, bool], None]:
    """A function that writes checkpoints: not more often than ``every`` seconds, nor for over a tenth of the time.

    If it must be ``now``, it is written in any case, unless it is there already.
    """
    last, pause, written = -math.inf, every, -1

    def save(session: Session, now: bool = False) -> None:
        nonlocal last, pause, written
        started = time.monotonic()
        if session.state.iteration != written and (now or started - last >= pause):
            save_checkpoint(path, session, mark)
            last, written = time.monotonic(), session.state.iteration
            pause = max(every, 10 * (last - started)) if every else 0.0

    return save


def save_checkpoint(path: str | os.PathLike[str], session: Session, mark: str) -> None:
    """Write a checkpoint atomically."""
    arrays, plain = session.pack()
    write_container(path, KIND, VERSION, {"mark": mark, **plain}, arrays)


def load_checkpoint(path: str | os.PathLike[str], trainer: Trainer[Any], problem: Trainable, mark: str) -> Session:
    """Read a checkpoint of the same training; refuses one that cannot be gone on from."""
    config, arrays, version = read_container(path, KIND, VERSION)
    if version < VERSION:
        raise ModelFileError(f"{path} was written by an older chainfield; remove it, and train from the start.")
    if config.get("mark") != mark:
        raise ModelFileError(
            f"{path} belongs to a training with other data or settings; resume with the same ones, or remove it."
        )
    try:
        return Session.unpack(trainer, problem, arrays, config)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise ModelFileError(
            f"{path} does not describe this training: {reason}. Remove it, and train from the start."
        ) from None
