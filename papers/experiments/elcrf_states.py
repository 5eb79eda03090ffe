"""What the hidden states of an embedded latent CRF stand for (Table 2): the tokens that fire them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import chainfield
from experiments._elcrf import LABELS, PAPER, cell, load, model_file, vectors
from experiments.elcrf_conll2003 import rank_of, settings_of
from harness.corpora import CONLL2003, GLOVE50
from harness.experiment import Context, Experiment, Row

#: The states of Table 2, by the tokens that the paper lists.
EXAMPLES = {
    "nobiliary particles": ("Van", "Dal", "De", "Manne", "Jan", "Den", "Della", "Der"),
    "first names": ("Hendrix", "Lien", "Werner", "Peter", "Sylvie", "Jack"),
    "surnames": ("Miller", "Cesar", "Jensen", "Dickson", "Abbott"),
    "nationalities": ("British", "German", "Polish", "Australian"),
    "numbers": ("911", "310", "150", "11"),
    "hyphenated": ("Korean-related", "Beijing-funded", "Richmond-based"),
}
STATES = (512, 64)  # the first of which a trained model is kept


def run(context: Context) -> Iterator[Row]:
    """For each of the paper's states, our state that fires most at its tokens, with its own most frequent ones."""
    data = load(context)
    states = 16 if context.quick else STATES[0]
    model = None
    for size in () if context.quick else STATES:
        where = model_file(f"elcrf-{size}", settings_of(size, rank_of(size), context.quick), 0, context)
        if where is not None and where.exists():
            states, model = size, chainfield.load(where, n_jobs=context.jobs)
            break
    if model is None:
        name, settings = f"elcrf-{states}", settings_of(states, rank_of(states), context.quick)
        where = model_file(name, settings, 0, context)
        if where is None:
            raise SystemExit("Set CHAINFIELD_CELLS to a folder: the trained model is kept there.")
        cell(name, settings, 0, context, data, vectors(context))
        model = chainfield.load(where, n_jobs=context.jobs)
    x = data[0][0] + data[1][0] + data[2][0]
    found = model.hidden_states(x, n=12)
    setting = f"ELCRF, {states} states"
    yield Row(setting, "states that fire", None, len(found.used()), note="on all three parts of the corpus")
    yield Row(setting, "states in effect", None, found.perplexity, note="exp of the entropy of their shares")
    space = model.tagger_.chain.space
    paths = [space.row_of[path].tolist() for path in model.tagger_.states(x)]
    for name, tokens in EXAMPLES.items():
        fired: Counter[int] = Counter()
        for words, path in zip(x, paths, strict=True):
            fired.update(row for word, row in zip(words, path, strict=True) if word in tokens)
        if not fired:
            continue
        row, n = fired.most_common(1)[0]
        state = found.states[row]
        listed = ", ".join(token for token, _ in state.tokens)
        shares = f"{state.name} fires at {n} of {sum(fired.values())} of the paper's tokens ({', '.join(tokens)})"
        note = f"{shares}; most often at: {listed}"
        yield Row(f"{setting}: {name}", "positions of the state", None, state.count, note=note)
    for label in model.classes_:
        for state in found.of(label)[:3]:
            if state.count:
                listed = ", ".join(token for token, _ in state.tokens)
                yield Row(f"{setting}: {state.name}", "positions of the state", None, state.count, note=listed)


EXPERIMENT = Experiment(
    name="elcrf-states",
    title="Tokens of hidden states (Table 2)",
    paper=PAPER,
    protocol="The ELCRF of elcrf-conll2003, seed 0; the best state paths of all three parts of the corpus. For each "
    "state that the paper lists, the state of ours that fires most often at its tokens; then the most used states of "
    "each label.",
    differences=("which states there are depends on the seed: the numbers of the paper's states mean nothing here",),
    subset="16 states, 600 training sentences and two passes",
    run=run,
    corpora=(CONLL2003, GLOVE50),
    quick_time="1 min",
    full_time=f"30 min with {LABELS * 64} states, unless the model is kept",
    default="quick",
)
