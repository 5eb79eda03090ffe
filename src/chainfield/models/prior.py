"""``tune_for="span_f1"``: how readily a trained tagger leaves tokens outside of spans.

Training looks for the most probable labels. Where spans are rare, those leave many spans out: precision is high, recall
low, and F1, which wants both, below what the same scores could give. One number, added to the score of O at every
position, moves the balance (Bayes' rule: it is the log of new odds). It is the one with which the F1 of spans is best
on data that training did not see: development data, or every part of the training data by a model of the others. The
chain has a place for it: the weights of all steps to O, and of sequences that begin with O.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from chainfield.arrays import Float, distinct
from chainfield.errors import ConfigError
from chainfield.fitted import Herd, Tagger
from chainfield.scorers import Boundary, Chain, Scorer, Transition
from chainfield.settings import choice
from chainfield.spans import has_spans

from .groups import OBJECTIVE, Grouped
from .kinds import seed_of
from .run import Run
from .score_scale import fit_temperature
from .training_data import Held, TrainingData

OUTSIDE = "O"
FOLDS, FEWEST = 3, 30  # parts of the training data; sequences that can be divided
#: Shifts that are tried, in units of log-odds.
SHIFTS = np.arange(-12, 13) / 4.0


class PriorSettings(Grouped, group=OBJECTIVE):
    """What a trained model is tuned for."""

    tune_for: str | None = choice(
        None,
        ("span_f1",),
        "After training, how readily tokens are left outside of spans is chosen by the F1 of spans: on development "
        "data, or else by three models of parts of the training data (four trainings in all). outside_shift_ tells "
        "what was added to the scores of O. None: labels are as probable as training found them.",
    )


def check_tuning(model: Any, labels: Sequence[Any], data: TrainingData, run: Run) -> None:
    """Refuse to tune what cannot be tuned, before training."""
    asked = f'tune_for="{model.tune_for}"'
    if run.partial:
        raise ConfigError(f"{asked} belongs to fit: partial_fit has no data that training did not see. Leave it out.")
    if OUTSIDE not in labels or not all(isinstance(label, str) for label in labels) or not has_spans(labels):
        raise ConfigError(f"{asked} is for labels of spans, such as B-PER, I-PER and O; these are none. Leave it out.")
    if model.trainer == "herding":
        raise ConfigError(f'{asked} does not go with trainer="herding", whose labels are votes. Choose one of them.')
    if run.development is None and not isinstance(data, Held):
        raise ConfigError(f"{asked} needs development data where training data are in pieces; give X_dev and y_dev.")
    if run.development is None and isinstance(data, Held) and len(data.sequences) < FEWEST:
        raise ConfigError(
            f"{asked} needs development data, or at least {FEWEST} sequences to divide; there are "
            f"{len(data.sequences)}. Give X_dev and y_dev."
        )


def tuned(model: Any, fitted: Tagger, data: TrainingData, run: Run) -> tuple[Tagger, float]:
    """The model with the best shift, and the shift."""
    if run.development is not None:
        shift = best_shift([(fitted, *run.development)])
    else:
        assert isinstance(data, Held)
        shift = best_shift(_parts(model, data))
    return shifted(fitted, shift), shift


def best_shift(judges: Sequence[tuple[Tagger, Sequence[Any], Sequence[Any]]]) -> float:
    """The shift of the best F1 over all data that models are asked of; 0 where none is better.

    Neighbouring shifts differ by chance: each is judged with those beside it.
    """
    from chainfield.metrics.scores import f1_of_spans
    from chainfield.metrics.scoring import filled

    scores = np.zeros(len(SHIFTS))
    units = [1.0 if m.how == "sum" else fit_temperature(m, sequences, truth) for m, sequences, truth in judges]
    batches = [m.encode(sequences) for m, sequences, _ in judges]
    for i, by in enumerate(SHIFTS.tolist()):
        answers = [
            shifted(m, by * unit).decode(batch) for (m, *_), unit, batch in zip(judges, units, batches, strict=True)
        ]
        known, guess = [], []
        for (_, _, truth), found in zip(judges, answers, strict=True):
            known += filled(truth, found)
            guess += found
        scores[i] = f1_of_spans(known, guess)
    smooth = np.convolve(np.pad(scores, 1, mode="edge"), np.full(3, 1 / 3), mode="valid")
    best = min(np.flatnonzero(smooth >= smooth.max() - 1e-12).tolist(), key=lambda i: abs(SHIFTS[i]))
    middle = int(np.flatnonzero(SHIFTS == 0.0)[0])
    return float(SHIFTS[best] * np.mean(units)) if scores[best] > scores[middle] else 0.0


def _parts(model: Any, data: Held) -> Sequence[tuple[Tagger, Sequence[Any], Sequence[Any]]]:
    """Models of the same settings, each without a part of the data, and that part."""
    n = len(data.sequences)
    order = np.random.default_rng(seed_of(model.random_state)).permutation(n)
    found = []
    for k in range(FOLDS):
        out = order[k::FOLDS].tolist()
        inside = np.setdiff1d(order, out).tolist()
        fresh = type(model)(**model.get_params()).set_params(tune_for=None, patience=None, verbose=False)
        weight = None if data.sample_weight is None else np.asarray(data.sample_weight)[inside]
        fresh.fit([data.sequences[i] for i in inside], [data.label_sequences[i] for i in inside], weight)
        if OUTSIDE in fresh.fitted_.task.labels:
            found.append((fresh._fitted(), [data.sequences[i] for i in out], [data.label_sequences[i] for i in out]))
    return found


def shifted(fitted: Tagger, by: float) -> Tagger:
    """The same model with ``by`` added to the score of O at every position: at the first one, and by every step."""
    if by == 0.0 or isinstance(fitted, Herd):
        return fitted
    space = fitted.chain.space
    outside = space.label_of_row == fitted.task.labels.index(OUTSIDE)  # (R,)
    leads = outside[space.row_of[space.dst]]  # (E,)
    moves = next((s for s in fitted.chain.transitions if _has_room(s, leads)), None)
    border = next((s for s in fitted.chain.emissions if isinstance(s, Boundary)), None)
    chain = fitted.chain
    if border is None:
        border = Boundary(space.n_rows, name="prior_start")
        chain = replace(chain, emissions=(*chain.emissions, border))
    if moves is None:
        moves = Transition(np.where(leads, 0, -1).astype(np.int32), name="prior")
        chain = replace(chain, transitions=(*chain.transitions, moves))
    assert isinstance(moves, Transition)
    weight = np.zeros(int(moves.tie.max(initial=-1)) + 1)
    weight[distinct(moves.tie[leads])] = by
    added = {f"{border.name}.start": np.where(outside, by, 0.0), f"{moves.name}.weight": weight}
    return replace(fitted, chain=chain, theta=_with(fitted, chain, added))


def _has_room(scorer: Scorer, leads: Any) -> bool:
    """Whether a scorer has weights for the steps to O that no other step shares."""
    if not isinstance(scorer, Transition):
        return False
    own = scorer.tie[leads]
    return bool((own >= 0).all()) and not np.isin(scorer.tie[~leads], own).any()


def _with(fitted: Tagger, chain: Chain, added: dict[str, Float]) -> Float:
    """The parameters of a chain that has all that the fitted one has; rounded as those were."""
    theta = np.zeros(chain.n_parameters, fitted.theta.dtype)
    for name, place in chain.views(theta).items():
        place[...] = fitted.params.get(name, 0.0)
        place[...] += added.get(name, 0.0)
    with np.errstate(over="ignore"):
        halves = [values.astype(np.float16).astype(values.dtype) for values in (fitted.theta, theta)]
    in_half = np.array_equal(halves[0], fitted.theta) and np.isfinite(halves[1]).all()
    return halves[1] if in_half else theta
