"""Data in pieces: sums along one tree, whatever adds them up; a problem over pieces equals the whole one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chainfield.errors import ConfigError, NoPathError
from chainfield.features import DenseFeatures
from chainfield.objectives import Targets, objective_named
from chainfield.problem import HeldPieces, Piece, Problem, SpreadProblem
from chainfield.problem.pieces import RUN, add_terms, folded
from chainfield.scorers import Boundary, Chain, DenseLinear, Transition
from chainfield.states import forbid, one_per_label, restrict
from chainfield.tasks import Tagging
from chainfield.trainers import (
    AROW,
    LBFGS,
    MIRA,
    SDCA,
    SGD,
    Adam,
    Auto,
    Mixing,
    PassiveAggressive,
    RProp,
    begin,
    run,
)


def by_definition(items: list[str]) -> str:
    """Halved until RUN are left, which are added from left to right."""
    if len(items) > RUN:
        middle = len(items) // 2
        return f"({by_definition(items[:middle])}+{by_definition(items[middle:])})"
    found = items[0]
    for item in items[1:]:
        found = f"({found}+{item})"
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 21, 63, 64, 65, 200])
def test_items_are_joined_along_one_tree(n: int) -> None:
    names = [f"x{i}" for i in range(n)]
    assert folded(iter(names), n, lambda ours, theirs: f"({ours}+{theirs})") == by_definition(names)


def test_a_sum_over_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no pieces"):
        folded(iter(()), 0, add_terms)


def whole_problem(n: int = 30, objective: str = "likelihood", **penalties: float) -> Problem:
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(1 if s < 3 else rng.integers(1, 9), 5)) for s in range(n)]
    y = [["abc"[k] for k in x[:, :3].argmax(1)] for x in X]
    features, task, space = DenseFeatures(), Tagging(("a", "b", "c")), one_per_label(3)
    batch = features.learn(X)
    chain = Chain(space, (DenseLinear(5, 3), Boundary(3)), (Transition(np.arange(space.n_edges, dtype=np.int32)),))
    targets = Targets(task.clamp(space, y, batch.offsets), rng.uniform(0.5, 2.0, n))
    return Problem(chain, objective_named(objective), batch, targets, **penalties)


def spread(problem: Problem, cuts: list[int], n_jobs: int = 1) -> SpreadProblem:
    pieces = []
    for lo, hi in zip([0, *cuts], [*cuts, problem.n_sequences], strict=True):
        batch, targets, _ = problem._part(slice(lo, hi))
        own = replace(problem, batch=batch, targets=replace(targets, path=None), l1=0.0, l2=0.0)
        pieces.append(Piece(own, lo))
    held = HeldPieces(pieces, n_jobs)
    return SpreadProblem(problem.chain, problem.objective, held, problem.l1, problem.l2)


def test_a_problem_over_pieces_equals_the_whole_one() -> None:
    whole = whole_problem(l2=0.3)
    parts = spread(whole, [4, 9, 10, 22, 25])
    theta = np.random.default_rng(0).normal(size=whole.n_parameters)
    for ours, theirs in zip(parts.evaluate(theta), whole.evaluate(theta), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_allclose(parts.curvature(theta), whole.curvature(theta), rtol=1e-12)
    for name in ("n_sequences", "n_positions", "convex", "smooth", "linear", "n_parameters", "dtype"):
        assert getattr(parts, name) == getattr(whole, name), name
    assert parts.guess_loss == pytest.approx(whole.guess_loss, rel=1e-12)


@pytest.mark.parametrize("trainer", [LBFGS(max_iter=15), Auto(max_iter=15), RProp(max_iter=15)])
def test_threads_change_no_bit(trainer) -> None:
    whole = whole_problem(l2=0.3)
    found = []
    for n_jobs in (1, 2, 3):
        problem = spread(whole, [4, 9, 10, 22, 25], n_jobs)
        found.append(run(trainer, problem, begin(trainer, problem, np.zeros(whole.n_parameters))).best.tobytes())
    assert len(set(found)) == 1


def test_pieces_reach_the_optimum_of_the_whole() -> None:
    whole, trainer = whole_problem(l2=0.3), LBFGS(tol=1e-10, max_iter=200)
    ends = [
        run(trainer, problem, begin(trainer, problem, np.zeros(whole.n_parameters))).best
        for problem in (whole, spread(whole, [10, 20]))
    ]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-5)


@pytest.mark.parametrize("trainer", [SGD(), SDCA()])
def test_steps_on_single_sequences_need_mixing(trainer) -> None:
    problem = spread(whole_problem(l2=0.3), [10])
    with pytest.raises(ConfigError, match="takes steps on single sequences"):
        begin(trainer, problem, np.zeros(problem.n_parameters))


def passes(trainer, problem, n: int = 3):
    """The state after some passes."""
    state = trainer.begin(problem, np.zeros(problem.n_parameters))
    for _ in range(n):
        trainer.step(problem, state)
    return state


ONLINE = {
    "sgd": (SGD(rate=0.1), {"l2": 0.3}),
    "averaged": (SGD(rate=0.1, average_from=0), {"l2": 0.3}),
    "batches": (SGD(rate=0.1, batch_size=4), {"l1": 0.1}),
    "adam": (Adam(average_from=1, restart_every=2), {"l2": 0.3}),
    "perceptron": (SGD(rate=1.0, decay=0.0, average_from=0), {"objective": "perceptron"}),
    "pa": (PassiveAggressive(), {"objective": "perceptron"}),
    "arow": (AROW(), {"objective": "large_margin"}),
}


@pytest.mark.parametrize("name", ONLINE)
def test_one_piece_in_one_strand_is_the_trainer_itself(name: str) -> None:
    inner, options = ONLINE[name]
    whole = whole_problem(**options)
    ours, theirs = passes(Mixing.of(inner), spread(whole, [])), passes(inner, whole)
    np.testing.assert_allclose(ours.theta, theirs.theta, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(Mixing.of(inner).parameters(ours), inner.parameters(theirs), rtol=1e-9, atol=1e-12)


def test_mixing_by_definition() -> None:
    """Two strands of one piece each: θ is the mean of both, and the average that of all iterates."""
    whole, inner = whole_problem(objective="perceptron"), ONLINE["perceptron"][0]
    ends = [passes(inner, piece.problem, 1) for piece in spread(whole, [12]).pieces.held]
    ours = passes(Mixing.of(inner, 2), spread(whole, [12]), 1)
    np.testing.assert_allclose(ours.theta, (12 * ends[0].theta + 18 * ends[1].theta) / 30, rtol=1e-12)
    totals = [end.mass * end.theta - end.lag for end in ends]
    np.testing.assert_allclose(Mixing.of(inner, 2).parameters(ours), sum(totals) / 30, rtol=1e-10, atol=1e-12)


def test_rates_fall_along_a_strand_as_along_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    walk = Problem.walk
    monkeypatch.setattr(Problem, "walk", lambda self, steps: (seen.extend(steps.rates), walk(self, steps))[1])
    whole = whole_problem(l2=0.3)
    passes(SGD(rate=0.5), whole, 2)
    wanted, seen[:] = list(seen), []
    passes(Mixing.of(SGD(rate=0.5)), spread(whole, [4, 11, 25]), 2)
    np.testing.assert_allclose(seen, wanted, rtol=1e-12)


@pytest.mark.parametrize("strands", [None, 1, 3, 50])
def test_strands_are_the_same_on_any_threads(strands: int | None) -> None:
    whole, trainer = whole_problem(l2=0.3), Mixing.of(SGD(max_iter=3, average_from=1), strands)
    problems = [spread(whole, [4, 9, 10, 22, 25], n_jobs) for n_jobs in (1, 2, 3)]
    found = [run(trainer, p, begin(trainer, p, np.zeros(whole.n_parameters))).best.tobytes() for p in problems]
    assert len(set(found)) == 1
    met = sorted(i for one in trainer.runs(problems[0], 0) for i in one)
    assert met == list(range(6))


def test_what_cannot_be_mixed() -> None:
    whole = whole_problem(objective="perceptron")
    for trainer, message in [
        (Mixing.of(MIRA()), "bounds the steps of every sequence"),
        (Mixing.of(SDCA()), "keeps numbers for every sequence"),
        (Mixing.of(SGD(), 0), "at least one"),
    ]:
        with pytest.raises(ConfigError, match=message):
            trainer.begin(spread(whole, [10]), np.zeros(whole.n_parameters))
    with pytest.raises(ConfigError, match="use SGD itself"):
        Mixing.of(SGD()).begin(whole, np.zeros(whole.n_parameters))


def test_other_data_are_another_problem() -> None:
    whole = whole_problem()
    marks = [b"".join(a.tobytes() for a in spread(whole, cuts).arrays()) for cuts in ([10], [10], [11])]
    assert marks[0] == marks[1] != marks[2]


def test_a_sequence_without_a_path_has_its_number_in_the_whole() -> None:
    problem = whole_problem()
    space = restrict(problem.chain.space, forbid(("a", "b", "c"), [("a", "a"), ("b", "b"), ("c", "c")]))
    chain = Chain(space, problem.chain.emissions, (Transition(np.arange(space.n_edges, dtype=np.int32)),))
    broken = replace(problem, chain=chain)
    with pytest.raises(NoPathError) as first:
        broken.evaluate(np.zeros(chain.n_parameters))
    with pytest.raises(NoPathError) as second:
        spread(broken, [first.value.sequence, 29]).evaluate(np.zeros(chain.n_parameters))
    assert first.value.sequence == second.value.sequence > 0
