"""A client of a cluster, and whether its workers can do the work: refused at once, with names, if not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chainfield
from chainfield.errors import ConfigError
from chainfield.kernels.source import stamp

EXTRA = "Working on a cluster needs Dask; install it with: pip install 'chainfield[dask]'."
SECONDS = 20.0  # to find a scheduler, and a worker


def engine() -> Any:
    """Dask's scheduler library, imported when it is needed."""
    try:
        import distributed
    except ImportError:
        raise ConfigError(EXTRA) from None
    return distributed


def connect(address: str | Any = None, *, timeout: float = SECONDS) -> Any:
    """A client: of the scheduler at an address, the one given, or the one that is in use here; workers are checked."""
    distributed = engine()
    if isinstance(address, str):
        try:
            client = distributed.Client(address, timeout=timeout, direct_to_workers=True)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConfigError(
                f"There is no Dask scheduler at {address} ({type(error).__name__}); start one with `dask scheduler`, "
                "or check the address."
            ) from None
    elif address is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise ConfigError("There is no Dask client; make one, and give it as client=.") from None
    else:
        client = address
    check_workers(client, timeout)
    return client


def what_runs() -> tuple[str, str]:
    """The version of the library, and the sources of its kernels: whoever differs gives other bits."""
    return chainfield.__version__, stamp()


def ask_workers(client: Any, function: Callable[..., Any]) -> dict[str, Any]:
    """What each worker answers, or the exception that it raises; those that die at that moment are left out."""
    answers = client.run(function, on_error="return")
    return {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}


def check_workers(client: Any, timeout: float = SECONDS) -> None:
    """Refuse a cluster without workers, workers without chainfield, and those with another one."""
    try:
        client.wait_for_workers(1, timeout=timeout)
    except (TimeoutError, OSError):
        raise ConfigError(
            f"The scheduler at {client.scheduler.address} has no workers; start some with `dask worker`."
        ) from None

    def found() -> Any:  # sent as it is: a worker may not have the library at all
        try:
            from chainfield.dask.connecting import what_runs
        except ImportError as error:
            return str(error)
        return what_runs()

    ours = what_runs()
    for worker, theirs in sorted(ask_workers(client, found).items()):
        if isinstance(theirs, str | Exception):
            raise ConfigError(f"The worker {worker} has no chainfield ({theirs}); install version {ours[0]} there.")
        if tuple(theirs) != ours:
            raise ConfigError(
                f"The worker {worker} has chainfield {theirs[0]} (kernels {theirs[1][:8]}), and this process has "
                f"{ours[0]} (kernels {ours[1][:8]}); install the same version everywhere."
            )
