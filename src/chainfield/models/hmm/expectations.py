"""Expected counts of an HMM: posteriors, pulled back, each class by itself.

For natural parameters the way back of a posterior is the sufficient statistic. A labelled sequence needs the states of
its own class only: with L classes that is L times less work than the chain over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import NoPathError
from chainfield.objectives import Objective, Targets
from chainfield.parallel import ordered_map
from chainfield.potentials import Clamp
from chainfield.problem import Piece, Problem, SpreadProblem, SummedProblem
from chainfield.problem.pieces import Term
from chainfield.scorers import Boundary, Chain, Transition
from chainfield.states import Block

from .hmm import Parts, find_parts
from .mixture import SQUARES, GaussianMixture


@dataclass(frozen=True, eq=False)
class Counts:
    """How often, and with which observations in standard units (o - centre) / spread."""

    occupancy: Float  # (K, M)
    first: Float  # (K, M, D) Σ γ z
    second: Float  # (K, M, D) Σ γ z²
    start: Float  # (K,)
    end: Float  # (K,)
    move: Float  # (E,)

    @classmethod
    def read(cls, chain: Chain, vector: Float) -> Counts:
        """From what the way back of posteriors adds up to, for a chain in natural parameters."""
        parts, views = find_parts(chain), chain.views(vector)
        emission = parts.emission
        shape = (emission.n_rows, emission.n_components)
        weight, d = views[f"{emission.name}.weight"], emission.n_columns
        cube = (*shape, d)
        second = weight[1 + d :] / SQUARES + weight[0]
        return cls(
            weight[0].reshape(shape).copy(),
            weight[1 : 1 + d].T.reshape(cube),
            second.T.reshape(cube),
            views[f"{parts.boundary.name}.start"].copy(),
            views[f"{parts.boundary.name}.end"].copy(),
            views[f"{parts.transition.name}.weight"].copy(),
        )


def expected_counts(problem: SummedProblem, theta: Float, objective: Objective) -> Term:
    """Loss and minus the gradient of a problem with an objective that looks at labels' own paths only.

    Penalties are left out. Counts of pieces are added along their tree.
    """
    if isinstance(problem, SpreadProblem):
        return problem.pieces.sum(piece_counts, theta, objective)
    assert isinstance(problem, Problem)
    return counts_in_memory(problem, theta, objective)


def piece_counts(piece: Piece, theta: Float, objective: Objective) -> Term:
    """Those of one piece."""
    try:
        return counts_in_memory(piece.problem, theta, objective)
    except NoPathError as error:
        raise NoPathError(piece.first + error.sequence, error.known) from None


def counts_in_memory(problem: Problem, theta: Float, objective: Objective) -> Term:
    """As :func:`expected_counts`, for data in one piece.

    Sequences with one known label are done class by class, all others together.
    """
    chain, parts = problem.chain, find_parts(problem.chain)
    assert isinstance(parts.emission, GaussianMixture)
    offsets, clamp = problem.batch.offsets, problem.targets.clamp
    label = clamp.only_label(chain.space)[clamp.index[offsets[:-1]]]
    counts = np.zeros_like(theta)
    if chain.space.n_labels == 1:
        plain = replace(problem, objective=objective, l1=0.0, l2=0.0)
        value, gradient = plain.evaluate(theta)
        return value, -gradient
    jobs = [(block, np.flatnonzero(label == block.label)) for block in chain.space.blocks]

    def one(job: tuple[Block, Int]) -> tuple[float, Float, list[Int]] | None:
        block, chosen = job
        if not len(chosen):
            return None
        part, places = block_chain(chain, parts, block)
        batch = problem.batch.take(chosen)
        open_clamp = Clamp(np.zeros(batch.n_positions, np.int32), np.ones((1, part.space.n_rows), np.bool_))
        own = Problem(part, objective, batch, Targets(open_clamp, problem.targets.weight[chosen]))
        try:
            value, gradient = own.evaluate(theta[np.concatenate(places)])
        except NoPathError as error:
            raise NoPathError(int(chosen[error.sequence]), error.known) from None
        return value, gradient, places

    total = 0.0
    for found in ordered_map(one, jobs, problem.n_jobs):
        if found is not None:
            value, gradient, places = found
            total += value
            counts[np.concatenate(places)] -= gradient
    rest = np.flatnonzero(label < 0)
    if len(rest):
        plain = replace(problem, objective=objective, l1=0.0, l2=0.0)
        value, d, pullback = plain.differentiate(theta, rest)
        total += value
        pullback(d, counts, -1.0)
    return total, counts


def block_chain(chain: Chain, parts: Parts, block: Block) -> tuple[Chain, list[Int]]:
    """The chain of one class, and the places of its parameters in the whole, scorer by scorer."""
    emission, m = parts.emission, parts.emission.n_components
    numbers = chain.views(np.arange(chain.n_parameters, dtype=np.float64))
    own = (
        replace(emission, n_rows=len(block.rows)),
        Boundary(len(block.rows), name=parts.boundary.name),
        Transition(np.arange(len(block.edges), dtype=np.int32), name=parts.transition.name),
    )
    by_name: dict[str, Float] = {}
    for name in emission.shapes():
        whole = numbers[f"{emission.name}.{name}"]
        by_name[f"{emission.name}.{name}"] = whole.reshape(*whole.shape[:-1], -1, m)[..., block.rows, :]
    for name in ("start", "end"):
        by_name[f"{parts.boundary.name}.{name}"] = numbers[f"{parts.boundary.name}.{name}"][block.rows]
    by_name[f"{parts.transition.name}.weight"] = numbers[f"{parts.transition.name}.weight"][block.edges]
    part = Chain(block.space, own[:2], own[2:])
    return part, [by_name[name].ravel().astype(np.int64) for name in part.shapes]
