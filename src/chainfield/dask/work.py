"""What runs on a worker: a function of a piece, with errors that name the worker."""

from __future__ import annotations

import copy
import errno
import pickle
import time
from collections.abc import Callable
from typing import Any

from dask.sizeof import sizeof

from chainfield.corpora.part import PREPARED, Part
from chainfield.errors import ChainfieldError, ConfigError
from chainfield.models.material import Examples
from chainfield.parallel import one_blas_thread
from chainfield.problem import Piece
from chainfield.problem.pieces import folded

from .connecting import what_runs


class Parcel:
    """What travels between processes. Arrays go as they lie in memory, and come out in memory of their own, where
    kernels can read and write them: Dask lays them into one buffer, at any byte.
    """

    def __init__(self, value: Any, spent: dict[str, float] | None = None) -> None:
        self.value = value
        self.spent = spent or {}  # seconds that workers took for it

    def __reduce__(self) -> tuple[Any, ...]:
        arrays: list[pickle.PickleBuffer] = []
        content = pickle.dumps(self.value, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
        return _unpacked, (content, self.spent, *arrays)

    def __sizeof__(self) -> int:
        return int(sizeof(self.value))


def _unpacked(content: bytes, spent: dict[str, float], *arrays: Any) -> Parcel:
    return Parcel(pickle.loads(content, buffers=map(bytearray, arrays)), spent)


def opened(thing: Any) -> Any:
    """What is in a parcel; anything else as it is."""
    return thing.value if isinstance(thing, Parcel) else thing


class WorkerError(ChainfieldError, RuntimeError):
    """A worker that could not do its work: out of memory, or out of disk."""


def work(version: tuple[str, str], function: Callable[..., Any], *arguments: Any) -> Parcel:
    """The function of what is in parcels; refused where the library is another one than the client's."""
    if what_runs() != version:
        raise ConfigError(
            f"The worker {_here()} has chainfield {what_runs()[0]}, and the client has {version[0]}; install the same "
            "version everywhere."
        )
    try:
        started = time.monotonic()
        with one_blas_thread():
            found = function(*map(opened, arguments))
        return Parcel(found, {_here(): time.monotonic() - started})
    except MemoryError:
        raise WorkerError(f"The worker {_here()} is out of memory; use smaller pieces, or larger workers.") from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise WorkerError(f"The disk of the worker {_here()} is full; make room, and run it again.") from None
        raise


def carry_on(version: tuple[str, str], function: Callable[..., Any], piece: Any, carried: Any, *shared: Any) -> Parcel:
    """One piece of a run; what is carried stays as it was, because it may be needed again."""
    return work(version, function, piece, copy.deepcopy(opened(carried)), *shared)


def bytes_sent(dask_worker: Any) -> int:
    """How much a worker has sent so far."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def hold(value: Parcel) -> Parcel:
    """A value as a task: unlike one that was scattered, it survives the worker that holds it."""
    return value


def join_all(version: tuple[str, str], join: Callable[[Any, Any], Any], *results: Parcel) -> Parcel:
    """Some results joined from left to right; what came in stays as it was, because it may be needed again."""

    def joined(first: Any, *others: Any) -> Any:
        found = copy.deepcopy(first)
        for other in others:
            found = join(found, other)
        return found

    found = work(version, joined, *results)
    for result in results:
        for worker, seconds in result.spent.items():
            found.spent[worker] = found.spent.get(worker, 0.0) + seconds
    return found


def sum_branch(
    version: tuple[str, str], function: Callable[..., Any], join: Callable[[Any, Any], Any], n: int, *rest: Any
) -> Parcel:
    """The results of ``n`` pieces, joined along the tree as they are made; behind the pieces, what they share."""

    def whole(*values: Any) -> Any:
        pieces, shared = values[:n], values[n:]
        return folded((function(piece, *shared) for piece in pieces), n, join)

    return work(version, whole, *rest)


def _here() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return "in this process"


@sizeof.register(Parcel)
def _parcel(parcel: Parcel) -> int:
    return parcel.__sizeof__()


@sizeof.register(Part)
def _part(part: Part) -> int:
    return part.__sizeof__()


@sizeof.register(Examples)
def _examples(examples: Examples) -> int:
    return Part(examples.batch, (), examples.clamp.index).__sizeof__()


@sizeof.register(Piece)
def _piece(piece: Piece) -> int:
    problem = piece.problem
    return PREPARED * Part(problem.batch, (), problem.targets.clamp.index).__sizeof__()
