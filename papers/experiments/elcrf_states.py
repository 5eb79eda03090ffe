"""What the hidden states of an embedded latent CRF stand for (Table 2, section 4.2): tokens, boundaries, blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import chainfield
from experiments._elcrf import PAPER, cell, load, model_file, vectors
from experiments.elcrf_conll2003 import rank_of, settings_of
from harness.corpora import CONLL2003, GLOVE50
from harness.experiment import Context, Experiment, Row
from harness.matrix import matrix

#: The states of Table 2, by the tokens that the paper lists.
EXAMPLES = {
    "nobiliary particles": ("Van", "Dal", "De", "Manne", "Jan", "Den", "Della", "Der"),
    "first names": ("Hendrix", "Lien", "Werner", "Peter", "Sylvie", "Jack"),
    "surnames": ("Miller", "Cesar", "Jensen", "Dickson", "Abbott"),
    "nationalities": ("British", "German", "Polish", "Australian"),
    "numbers": ("911", "310", "150", "11"),
    "hyphenated": ("Korean-related", "Beijing-funded", "Richmond-based"),
}
#: Words that only particles are: the paper's list has names among them.
PARTICLES = ("van", "von", "de", "der", "den", "della", "del", "di", "da", "la", "le", "ter", "bin", "al")
PHRASES = ("I-MISC", "I-ORG", "I-PER", "I-LOC")
#: The two sentences that the paper looks at, by some of their words.
SENTENCES = {"Boston's Mo Vaughn": ("Mo", "Vaughn", "went"), "Taiwan Straits": ("Relations", "Across", "the", "Taiwan")}
STATES, QUICK_STATES = 512, 16
LEAST = 25  # positions of a state that the picture shows
Paths = list[list[int]]


def run(context: Context) -> Iterator[Row]:
    """For each of the paper's states, our state that fires most at its tokens; boundaries; sentences; the matrix."""
    data = load(context)
    states = QUICK_STATES if context.quick else STATES
    model = trained(f"elcrf-{states}", settings_of(states, rank_of(states), context.quick), data, context)
    x = data[0][0] + data[1][0] + data[2][0]
    gold = data[0][1] + data[1][1] + data[2][1]
    found = model.hidden_states(x, n=12)
    space = model.tagger_.chain.space
    paths = [space.row_of[path].tolist() for path in model.tagger_.states(x)]
    setting = f"ELCRF, {states} states"
    yield Row(setting, "states that fire", None, len(found.used()), note="on all three parts of the corpus")
    yield Row(setting, "states in effect", None, found.perplexity, note="exp of the entropy of their shares")
    for name, tokens in EXAMPLES.items():
        yield from firing(
            f"{setting}: {name}", found, x, paths, set(tokens), f"the paper's tokens ({', '.join(tokens)})"
        )
    yield from particles(f"{setting}: particles in names", found, x, gold, paths)
    for label in PHRASES:
        yield from boundaries(setting, label, found, gold, paths)
    plain = trained("crf-8", settings_of(8, None, context.quick), data, context)
    for name, words in SENTENCES.items():
        yield from sentence(f"{name}", words, x, gold, {setting: model, "CRF, 8 states": plain})
    yield picture_row(setting, found)


def trained(name: str, settings: dict[str, Any], data: Any, context: Context) -> Any:
    """The model of elcrf-conll2003, seed 0; trained now if it is not kept."""
    where = model_file(name, settings, 0, context)
    if where is None:
        raise SystemExit("Set CHAINFIELD_CELLS to a folder: the trained models are kept there.")
    if not where.exists():
        cell(name, settings, 0, context, data, vectors(context))
    return chainfield.load(where, n_jobs=context.jobs)


def firing(setting: str, found: Any, x: Sequence[Any], paths: Paths, tokens: set[str], what: str) -> Iterator[Row]:
    """Our state that fires most often at some tokens."""
    fired: Counter[int] = Counter()
    for words, path in zip(x, paths, strict=True):
        fired.update(row for word, row in zip(words, path, strict=True) if word in tokens)
    if fired:
        row, n = fired.most_common(1)[0]
        state = found.states[row]
        listed = ", ".join(token for token, _ in state.tokens)
        note = f"{state.name} fires at {n} of {sum(fired.values())} of {what}; most often at: {listed}"
        yield Row(setting, "positions of the state", None, state.count, note=note)


def particles(setting: str, found: Any, x: Sequence[Any], gold: Sequence[Any], paths: Paths) -> Iterator[Row]:
    """Which state fires at particles inside of persons' names, how purely, and where it leads."""
    fired: Counter[int] = Counter()
    for words, labels, path in zip(x, gold, paths, strict=True):
        for word, label, row in zip(words, labels, path, strict=True):
            if word.lower() in PARTICLES and label.endswith("PER"):
                fired[row] += 1
    if not fired:
        return
    row, n = fired.most_common(1)[0]
    moves = found.moves[row]
    to = int(moves.argmax())
    share = 100.0 * moves[to] / max(moves.sum(), 1)
    names = [state.name for state in found.states]
    tokens = ", ".join(token for token, _ in found.states[row].tokens)
    listed = ", ".join(token for token, _ in found.states[to].tokens)
    note = f"{names[row]} fires at {n} of {sum(fired.values())} of them, and most often at: {tokens}"
    yield Row(
        setting, "share of the state's positions, %", None, 100.0 * n / max(found.states[row].count, 1), note=note
    )
    note = f"to {names[to]} ({listed})"
    yield Row(setting, "share of moves to its most frequent next state, %", None, share, note=note)


def boundaries(setting: str, label: str, found: Any, gold: Sequence[Any], paths: Paths) -> Iterator[Row]:
    """The state that fires best at the first tokens of phrases of several tokens, and at the last ones."""
    places: dict[str, Counter[int]] = {"start": Counter(), "end": Counter()}
    fired: Counter[int] = Counter()
    for labels, path in zip(gold, paths, strict=True):
        inside = [False, *(own == label for own in labels), False]
        for t, row in enumerate(path):
            before, here, behind = inside[t : t + 3]
            fired[row] += 1
            places["start"][row] += here and behind and not before
            places["end"][row] += here and before and not behind
    for place, counts in places.items():
        total = sum(counts.values())
        row = max(counts, key=lambda r: 2 * counts[r] / (fired[r] + total) if total else 0.0)
        if not counts[row]:
            continue
        listed = ", ".join(token for token, _ in found.states[row].tokens)
        note = f"{found.states[row].name} fires {fired[row]} times, {counts[row]} of {total} of them there: {listed}"
        title = f"{setting}: {place} of {label} phrases"
        yield Row(title, "share of the state's positions, %", None, 100.0 * counts[row] / fired[row], note=note)


def sentence(
    title: str, words: tuple[str, ...], x: Sequence[Any], gold: Sequence[Any], models: dict[str, Any]
) -> Iterator[Row]:
    """How models label the sentences that the paper looks at."""
    n = len(words)
    for tokens, labels in zip(x, gold, strict=True):
        at = next((i for i in range(len(tokens) - n + 1) if tuple(tokens[i : i + n]) == words), None)
        if at is not None:
            for name, model in models.items():
                path = model.state_path(tokens).positions
                right = sum(str(own.label) == label for own, label in zip(path, labels, strict=True))
                told = " ".join(f"{own.token}/{own.state}" for own in path[max(0, at - 6) : at + 10])
                yield Row(f"{title}: {name}", f"right labels of {len(labels)}", None, right, note=told)
            return


def picture_row(setting: str, found: Any) -> Row:
    """The transitions between the states that fire often, reordered so that blocks show; read by the picture."""
    order = found.order(min_count=LEAST) if len(found.used(LEAST)) > 1 else found.used()
    moves = found.moves[np.ix_(order, order)].astype(float)
    shares = moves / np.maximum(moves.sum(axis=1, keepdims=True), 1.0)
    levels = np.minimum(np.ceil(9.0 * np.sqrt(shares)), 9).astype(int)
    drawn = {
        "levels": ["".join(map(str, row)) for row in levels.tolist()],
        "labels": [str(found.states[i].label) for i in order.tolist()],
    }
    note = f"states that fire at {LEAST} positions or more, in an order that shows blocks; see the picture"
    return Row(setting, "states in the picture", None, len(order), note=note, settings=drawn)


def picture(rows: Sequence[Row]) -> str:
    """Shares of moves from state to state."""
    drawn = next(row.settings for row in rows if row.metric == "states in the picture")
    assert drawn is not None
    return matrix(drawn["levels"], drawn["labels"], "to state", "from state")


EXPERIMENT = Experiment(
    name="elcrf-states",
    title="Hidden states: tokens, phrase boundaries, two sentences, blocks of transitions (Table 2, section 4.2)",
    paper=PAPER,
    protocol="The ELCRF with 512 states of elcrf-conll2003, seed 0; the best state paths of all three parts of the "
    "corpus. For each state that the paper lists, the state of ours that fires most often at its tokens; the state at "
    "particles inside of persons' names; for each kind of entity the states that fire best at starts and ends of "
    "phrases; the two sentences that the paper looks at, beside a CRF without hidden states. The picture shows how "
    "states follow each other (darker: a larger share of a state's moves).",
    differences=(
        "which states there are depends on the seed: the numbers of the paper's states mean nothing here",
        "both sentences that the paper looks at are in the training data, so that right labels there prove little; the "
        "corpus calls Boston a location, where the paper takes organisation to be right, which is what its model and "
        "ours say",
    ),
    subset=f"{QUICK_STATES} states, 600 training sentences and two passes",
    run=run,
    corpora=(CONLL2003, GLOVE50),
    quick_time="1 min",
    full_time="10 min of processor time, unless the models are kept from elcrf-conll2003: 1 min",
    default="quick",
    picture=picture,
)
