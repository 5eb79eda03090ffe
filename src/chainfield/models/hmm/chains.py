"""Chains over moments of observations: what HMMs and hidden CRFs for numbers are composed of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from chainfield.arrays import Float
from chainfield.models.kinds import seed_of
from chainfield.models.material import Material
from chainfield.models.weights import problem_of
from chainfield.parallel import count_jobs
from chainfield.scorers import Boundary, Chain, Scorer, Transition
from chainfield.states import StateSpace
from chainfield.tasks import Classifying
from chainfield.trainers import begin, run

from .anchored import Anchored
from .em import EM
from .gaussians import Gaussians
from .hmm import HMM
from .joint import JointLikelihood
from .mixture import GaussianMixture
from .starting import data_units, first_hmm, split, start_sample

EM_ITERATIONS = 20


@final
@dataclass(frozen=True)
class Fitting:
    """How an HMM is found that explains the data of each class: by clusters or by splitting, and EM."""

    init: str
    em: EM
    seed: int
    n_jobs: int

    @classmethod
    def of(cls, model: Any, *, begin: bool = False) -> Fitting:
        """As a model's settings say; ``begin``: only as far as EM itself has to begin."""
        iterations = 0 if begin and model.init == "kmeans" else EM_ITERATIONS
        em = EM(iterations, floor=model.variance_floor, smoothing=model.smoothing, ends=model.ends)
        return cls(model.init, em, seed_of(model.random_state), count_jobs(model.n_jobs))


def moment_chain(material: Material, space: StateSpace, n_components: int) -> Chain:
    """A mixture over first and second moments, first and last states, and a weight for every transition."""
    features = material.features
    previous = None if material.previous is None else _mixture(material.previous.chain)
    if previous is not None and previous.n_columns == features.n_columns:
        centre, spread = previous.centre, previous.spread  # weights mean the same only in the same units
    else:
        centre, spread = data_units(material)
    emission = GaussianMixture(features.n_columns, space.n_rows, n_components, centre, spread)
    moves = Transition(np.arange(space.n_edges, dtype=np.int32))
    return Chain(space, (emission, Boundary(space.n_rows)), (moves,))


def _mixture(chain: Chain) -> GaussianMixture | None:
    return next((s for s in chain.emissions if isinstance(s, GaussianMixture)), None)


def fit_hmm(chain: Chain, material: Material, start: Fitting) -> Float:
    """The parameters of the HMM with the largest likelihood that EM finds for each class."""
    space, task = chain.space, Classifying(material.labels)
    sample = start_sample(material, space)
    emission = _mixture(chain)
    assert emission is not None
    rng = np.random.default_rng(start.seed)
    n = emission.n_components if start.init == "kmeans" else 1
    units = (emission.centre, emission.spread)
    hmm = first_hmm(space, sample, material.labels, n, start.em.floor, units, rng, ends=start.em.ends)
    while True:
        small = replace(chain, emissions=(replace(emission, n_components=n), *chain.emissions[1:]))
        problem = problem_of(material, small, JointLikelihood(), task, n_jobs=start.n_jobs)
        theta = run(start.em, problem, begin(start.em, problem, hmm.theta(small))).best
        if n == emission.n_components:
            return theta
        hmm = split(HMM.read(small, theta), emission.n_components)
        n = hmm.weight.shape[1]


def anchored(chain: Chain, theta: Float) -> Chain:
    """The same chain, whose parameters are distances from θ."""
    views = chain.views(theta)

    def anchor(scorer: Scorer) -> Scorer:
        return Anchored(scorer, {name: views[f"{scorer.name}.{name}"].copy() for name in scorer.shapes()})

    return Chain(chain.space, tuple(map(anchor, chain.emissions)), tuple(map(anchor, chain.transitions)))


def unanchored(chain: Chain) -> tuple[Chain, Float]:
    """The chain inside an anchored one, and the anchor."""
    inner = [s.inner if isinstance(s, Anchored) else s for s in chain.scorers]
    anchor = np.zeros(chain.n_parameters)
    views = chain.views(anchor)
    for scorer in chain.scorers:
        if isinstance(scorer, Anchored):
            for name, value in scorer.anchor.items():
                views[f"{scorer.name}.{name}"][...] = value
    n = len(chain.emissions)
    return Chain(chain.space, tuple(inner[:n]), tuple(inner[n:])), anchor


def plain_chain(chain: Chain, theta: Float) -> tuple[Chain, Float]:
    """A chain that prediction knows, from one that was trained: no anchors, and Gaussians in natural parameters."""
    plain, anchor = unanchored(chain)
    theta = anchor + theta
    views = plain.views(theta)
    emissions: list[Scorer] = []
    values: list[Any] = []
    for scorer in plain.scorers:
        own = {name: views[f"{scorer.name}.{name}"] for name in scorer.shapes()}
        if isinstance(scorer, Gaussians):
            own = {"weight": scorer.natural(own)}
            scorer = GaussianMixture(
                scorer.n_columns, scorer.n_rows, scorer.n_components, scorer.centre, scorer.spread, name=scorer.name
            )
        elif isinstance(scorer, GaussianMixture) and scorer.sharpness != 1.0:
            scorer = replace(scorer, sharpness=1.0)
        emissions.append(scorer)
        values += [value.ravel() for value in own.values()]
    n = len(chain.emissions)
    return Chain(chain.space, tuple(emissions[:n]), tuple(emissions[n:])), np.concatenate(values)


def with_sharpness(chain: Chain, sharpness: float) -> Chain:
    """The chain with mixtures that gather their components flattened."""
    turned = (replace(s, sharpness=sharpness) if isinstance(s, GaussianMixture) else s for s in chain.emissions)
    return chain if sharpness == 1.0 else replace(chain, emissions=tuple(turned))


def in_moments(chain: Chain, sharpness: float = 1.0, whitened: bool = False) -> Chain:
    """The chain with means and variances in place of natural parameters; ``whitened``: see :class:`Gaussians`."""
    turned = (
        replace(Gaussians.like(s), sharpness=sharpness, whitened=whitened) if isinstance(s, GaussianMixture) else s
        for s in chain.emissions
    )
    return replace(chain, emissions=tuple(turned))
