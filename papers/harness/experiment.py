"""What an experiment is, and what comes out of it: plain frozen data."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import chainfield

from .corpora import Corpus
from .provenance import Provenance, provenance_of

Mode = Literal["quick", "full"]


@dataclass(frozen=True)
class Row:
    """One figure beside the one it is compared with.

    ``published`` is None where there is nothing to compare with, ``ours`` where a published figure stands for
    orientation only. ``source`` says where ``published`` comes from: a paper, or a run of another program, which is
    a reference and not a publication. ``interval`` is the 95 % interval of ``ours``; ``settings`` is what the model was
    told, where the setting's name does not say all of it.
    """

    setting: str
    metric: str
    published: float | None
    ours: float | None
    seconds: float | None = None
    note: str = ""
    source: str = ""
    interval: tuple[float, float] | None = None
    settings: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for value in (self.published, self.ours, self.seconds, *(self.interval or ())):
            if value is not None and not math.isfinite(value):
                raise ValueError(
                    f"Row {self.setting!r}, {self.metric!r} holds {value}; give None, and the reason as a note."
                )
        if self.published is not None and not self.source:
            raise ValueError(f"Row {self.setting!r}, {self.metric!r}: say in source where {self.published} comes from.")


@dataclass(frozen=True)
class Machine:
    """Where it ran, as far as times depend on it; nothing that tells one machine of a kind from another."""

    processor: str
    cores: int
    python: str
    chainfield: str


@dataclass(frozen=True)
class Result:
    """An experiment's rows and all that one must know to read them.

    ``subset``: what a quick run left out. ``seconds``: the wall time of the run, kept parts not counted;
    ``processor``: processor seconds of all of it, kept parts included. ``missing``: rows of a full run that it has not.
    """

    name: str
    title: str
    paper: str
    protocol: str
    differences: tuple[str, ...]
    rows: tuple[Row, ...]
    machine: Machine
    mode: Mode
    seed: int
    jobs: int
    subset: str = ""
    code: Provenance | None = None
    seconds: float | None = None
    processor: float | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """What a run is given: the corpora's folders by name, and where to say how far it is.

    ``earlier``: the processor seconds of parts that earlier runs kept, as they are met. ``module``: the experiment's.
    """

    mode: Mode
    seed: int
    jobs: int
    data: Mapping[str, Path]
    log: Callable[[str], None]
    earlier: list[float] = field(default_factory=list)
    module: str = ""

    @property
    def quick(self) -> bool:
        """Whether a subset of the data is enough."""
        return self.mode == "quick"


@dataclass(frozen=True)
class Experiment:
    """A paper's experiment. ``run`` yields rows as they are found.

    ``protocol`` and ``differences`` (from the paper) describe the full run, ``subset`` what --quick leaves out.
    ``picture`` draws the rows of a full run (SVG).
    ``module`` is the one that defines it; the registry fills it in.
    ``default`` is the mode without --quick and --full: full, unless that takes more than about 20 minutes.
    """

    name: str
    title: str
    paper: str
    protocol: str
    differences: tuple[str, ...]
    subset: str
    run: Callable[[Context], Iterable[Row]] = field(repr=False)
    corpora: tuple[Corpus, ...] = ()
    quick_time: str = "a minute"
    full_time: str = ""
    default: Mode = "full"
    picture: Callable[[Sequence[Row]], str] | None = field(default=None, repr=False)
    module: str = ""


def perform(experiment: Experiment, context: Context) -> Result:
    """Run an experiment to its result."""
    module = experiment.module or experiment.run.__module__
    code, context = provenance_of(module), replace(context, module=module)
    started, worked = time.perf_counter(), time.process_time()
    rows = tuple(experiment.run(context))
    return Result(
        name=experiment.name,
        title=experiment.title,
        paper=experiment.paper,
        protocol=experiment.protocol,
        differences=experiment.differences,
        rows=rows,
        machine=this_machine(),
        mode=context.mode,
        seed=context.seed,
        jobs=context.jobs,
        subset=experiment.subset if context.quick else "",
        code=code,
        seconds=time.perf_counter() - started,
        processor=time.process_time() - worked + sum(context.earlier),
    )


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def this_machine() -> Machine:
    """The machine as it is published: no host name, no path, no user."""
    return Machine(_processor(), available_cores(), platform.python_version(), chainfield.__version__)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())
