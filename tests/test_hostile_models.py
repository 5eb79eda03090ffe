"""Model files that were forged, with a checksum that fits: every finding, each refused in one sentence.

Kernels check no bounds, so what is not refused here is memory corruption, a hang, or wrong labels without an error.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from scipy import sparse

import chainfield
from chainfield import LinearCRF
from chainfield.errors import ChainfieldError, ConfigError, ModelFileError
from chainfield.files.container import DIGEST, OLD_DIGEST
from chainfield.files.digest import digest
from support.trainings import KEPT

WORDS = [["a", "b", "c"], ["b"], ["c", "a", "d", "a"]]
LABELS = [["A", "B", "C"], ["B"], ["C", "A", "A", "A"]]


def numbers(X):
    return [np.array([[ord(word) - 98.0, 1.0] for word in x]) for x in X]


KINDS = {
    "names": lambda: LinearCRF(max_iter=2).fit([[[w, "x"] for w in x] for x in WORDS], LABELS),
    "words": lambda: LinearCRF(max_iter=2).fit(WORDS, LABELS),
    "edges": lambda: LinearCRF(max_iter=2, template="U0:%x[0,0]/%x[-1,0]\nB0:%x[0,0]\nB\n").fit(WORDS, LABELS),
    "dense": lambda: LinearCRF(max_iter=2).fit(numbers(WORDS), LABELS),
    "sparse": lambda: LinearCRF(max_iter=2).fit([sparse.csr_array(x) for x in numbers(WORDS)], LABELS),
    "rules": lambda: LinearCRF(max_iter=2, forbidden=[("B", "A")]).fit(WORDS, LABELS),
    "low rank": lambda: chainfield.LatentCRF(max_iter=2, rank=2, n_states=2).fit(WORDS, LABELS),
    "units": lambda: chainfield.HiddenUnitCRF(max_iter=1, hidden_units=3).fit(numbers(WORDS), LABELS),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("files"), {}
    for kind, make in KINDS.items():
        make().save(folder / "m.cf")
        found[kind] = (folder / "m.cf").read_bytes()
    return found | {name: (KEPT / f"{name}.cf").read_bytes() for name in ("empirical", "neural", "hmm", "herding")}


def forged(data, change):
    """The same file with its description and tensors changed, and a checksum that fits."""
    size = 8 + int.from_bytes(data[:8], "little")
    description = json.loads(json.loads(data[8:size])["__metadata__"]["chainfield"])
    tensors = {name: array.copy() for name, array in load_tensors(data).items()}
    change(description["config"], tensors)
    for key in (DIGEST, OLD_DIGEST):
        description.pop(key, None)
    description[DIGEST] = digest(description, tensors)
    return save_tensors(tensors, {"chainfield": json.dumps(description)})


def setting(value, *path):
    def change(config, tensors):
        inside = config
        for key in path[:-1]:
            inside = inside[key]
        assert path[-1] in inside or isinstance(inside, list), path
        inside[path[-1]] = value

    return change


def tensor(name, make):
    def change(config, tensors):
        tensors[name] = make(tensors[name])

    return change


def entry(name, at, value):
    def change(config, tensors):
        tensors[name].reshape(-1)[at] = value

    return change


def both(*changes):
    def change(config, tensors):
        for one in changes:
            one(config, tensors)

    return change


def moved(source, target, at=0):
    def change(config, tensors):
        config["chain"][target].append(config["chain"][source].pop(at))

    return change


def signed_counts(config, tensors):
    counts = tensors["scorer.features.pairs.counts"].astype(np.int64)
    counts[-1], counts[-2] = counts[-1] + counts[-2] + 5, -5
    tensors["scorer.features.pairs.counts"] = counts


def many_states(config, tensors):
    config["chain"] = {"space": {"states_per_label": [32_767, 1, 1]}, "emissions": [], "transitions": []}
    tensors["theta"] = np.empty(0)


def many_columns(config, tensors):
    config["features"]["n_columns"] = 10**9
    config["chain"] |= {"emissions": [], "transitions": []}
    tensors["theta"] = np.empty(0)


def many_features(config, tensors):
    config["features"]["n_features"] = 2 * 10**9
    config["chain"] |= {"emissions": [], "transitions": []}
    tensors["theta"] = np.empty(0)


def wrapped_sizes(config, tensors):
    """2⁶⁴ weights, which were taken for none."""
    config["features"]["n_columns"] = config["chain"]["emissions"][0]["n_columns"] = 2**61
    tensors["theta"] = tensors["theta"][-1:].copy()


EMISSIONS, TRANSITIONS = ("chain", "emissions"), ("chain", "transitions")
FORGED = {
    "negative counts of pairs": ("words", signed_counts),
    "counts that do not add up": ("words", entry("scorer.features.pairs.counts", 0, 200)),
    "rows that fall": ("words", tensor("scorer.features.pairs.row", lambda a: a[::-1].copy())),
    "rows beyond 32 bits": ("words", tensor("scorer.features.pairs.row", lambda a: a.astype(np.int64) + 2**32)),
    "an emission among the transitions": ("words", moved("emissions", "transitions", -1)),
    "features among the transitions": ("words", moved("emissions", "transitions", 0)),
    "a transition among the emissions": ("words", moved("transitions", "emissions")),
    "low rank among the emissions": ("low rank", moved("transitions", "emissions")),
    "a value twice": ("words", lambda c, t: entry("features.values.0", 1, t["features.values.0"][0])(c, t)),
    "values that lead nowhere": ("words", entry("features.values.0", 0, 10**6)),
    "lengths that do not add up": ("names", entry("features.lengths", 0, 100)),
    "lengths that fall short": ("names", entry("features.lengths", 0, 0)),
    "a name twice": (
        "names",
        both(lambda c, t: t.pop("features.slots"), tensor("features.bytes", lambda a: np.full_like(a, 97))),
    ),
    "names that are no text": ("names", tensor("features.bytes", lambda a: np.full_like(a, 255))),
    "a slot that leads nowhere": ("names", lambda c, t: entry(
        "features.slots", int(np.flatnonzero(t["features.slots"])[0]), 10**6)(c, t)),
    "a slot without a number": ("names", lambda c, t: entry(
        "features.slots", int(np.flatnonzero(t["features.slots"])[0]), 1 << 40)(c, t)),
    "no empty slot": ("names", tensor("features.slots", lambda a: np.full_like(a, 1))),
    "three slots": ("names", tensor("features.slots", lambda a: np.zeros(3, np.uint64))),
    "no slots": ("names", tensor("features.slots", lambda a: a[:0].copy())),
    "32,768 states": ("words", many_states),
    "2·10⁹ features": ("sparse", many_features),
    "10⁹ columns": ("dense", many_columns),
    "10⁹ columns of text": ("words", setting(10**9, "features", "n_columns")),
    "an offset of 10⁹": ("words", setting("U0:%x[1000000000,0]\nB\n", "features", "template")),
    "sizes that wrap around": ("dense", wrapped_sizes),
    "numbers of columns twice": ("sparse", lambda c, t: t.update({"features.numbers": np.zeros(2, np.int32)})),
    "no text for the form of a key": ("edges", entry("features.nodes.keys", 1, -1)),
    "a form that is none": ("edges", entry("features.nodes.keys", 0, 99)),
    "a text that is none": ("edges", entry("features.nodes.keys", 1, 10**6)),
    "features without numbers": ("edges", lambda c, t: t.update({"features.nodes.number": np.full(
        len(t["features.nodes.keys"]), 3, np.int32)})),
    "tables of edges that lead nowhere": ("edges", entry("features.edges.tables", 0, 10**6)),
    "a pad that leads nowhere": ("edges", entry("features.nodes.pads", 0, 10**6)),
    "two dimensions of edges": ("rules", tensor("space.src", lambda a: a[None])),
    "sources as fractions": ("rules", tensor("space.src", lambda a: a.astype(np.float64))),
    "a target that is no state": ("rules", entry("space.dst", 0, 200)),
    "a label that is none": ("rules", entry("space.label_of", 0, 200)),
    "an edge row that is none": ("rules", entry("space.edge_row", 0, 200)),
    "no labels at all": ("rules", setting(0, "chain", "space", "n_labels")),
    "ties beyond the edges": ("words", entry("scorer.transition.tie", 0, 10**6)),
    "ties of 64 bits": ("words", tensor("scorer.transition.tie", lambda a: a.astype(np.int64))),
    "a rank of 0": ("low rank", setting(0, *TRANSITIONS, 0, "rank")),
    "a side beyond the states": ("low rank", entry("scorer.low_rank.left", 0, 10**6)),
    "units that are a fraction": ("units", setting(2.5, *EMISSIONS, 0, "n_units")),
    "units that read what is not there": ("units", setting("sparse", *EMISSIONS, 0, "source")),
    "columns in place of features": ("words", setting({"kind": "dense", "n_columns": 0}, "features")),
    "weights that are no numbers": ("words", entry("theta", 0, np.nan)),
    "weights without limits": ("words", entry("theta", 0, np.inf)),
    "members that are no numbers": ("herding", entry("members", 0, np.nan)),
    "a spread of 0": ("hmm", lambda c, t: entry(next(n for n in t if n.endswith("spread")), 0, 0.0)(c, t)),
    "a negative count": ("empirical", lambda c, t: entry(next(n for n in t if n.endswith(".count")), 0, -1.0)(c, t)),
    "an observation that is none": ("empirical", lambda c, t: entry(
        next(n for n in t if n.endswith(".observation")), 0, 10**6)(c, t)),
    "words without a dimension": ("neural", setting(0, *EMISSIONS, 0, "word_dim")),
    "words of a huge dimension": ("neural", setting(2**31, *EMISSIONS, 0, "word_dim")),
    "characters that are not read so": ("neural", setting("gru", *EMISSIONS, 0, "chars")),
    "a scorer without a name": ("words", setting(None, *EMISSIONS, 0, "name")),
    "a scorer that is no object": ("words", setting(5, *EMISSIONS, 0)),
    "two scorers of one name": ("words", lambda c, t: c["chain"]["emissions"].append(c["chain"]["emissions"][-1])),
    "a truth that is a number": ("words", lambda c, t: c["chain"].update(normalised=1)),
    "a template as a label": ("words", setting([{"template": [5, 5]}, "B", "C", "D"], "labels")),
    "labels that cannot be told apart": ("words", setting([{"dict": []}, "B", "C"], "labels")),
    "bytes that are none": ("words", setting([{"bytes": "?"}, "B", "C"], "labels")),
    "a class that is a list": ("words", setting(["LinearCRF"], "estimator", "class")),
    "another class": ("words", setting("EmpiricalCRF", "estimator", "class")),
    "settings that are a list": ("words", setting([], "estimator", "settings")),
    "a setting that is impossible": ("words", setting("beam", "estimator", "settings", "decoder")),
    "the name of another file as a template": ("words", lambda c, t: c["estimator"]["settings"].update(
        template="/etc/hostname")),
    "a weight that is too large": ("words", lambda c, t: c["estimator"]["settings"].update(
        class_weight={"dict": [["A", 10**400]]})),
    "a number that is infinite": ("words", setting(float("inf"), "estimator", "n_sequences_seen")),
    "a sharpness that is no number": ("hmm", lambda c, t: c["chain"]["emissions"][0].update(sharpness=float("nan"))),
}  # fmt: skip


@pytest.fixture
def little_memory():
    """As much as there is, and one GB, where that can be said."""
    if not Path("/proc/self/statm").exists():
        yield
        return
    import resource

    there = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (there + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused(name, files, tmp_path, little_memory):
    kind, change = FORGED[name]
    if kind == "neural":
        pytest.importorskip("torch")
    path = tmp_path / "m.cf"
    path.write_bytes(forged(files[kind], lambda config, tensors: None))
    chainfield.load(path)  # the checksum does fit
    path.write_bytes(forged(files[kind], change))
    started = time.process_time()
    with pytest.raises(ModelFileError) as caught:
        chainfield.load(path)
    assert time.process_time() - started < 2.0
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "\n" not in message


def described(text):
    return save_tensors({"theta": np.zeros(1)}, {"chainfield": text})


@pytest.mark.parametrize(
    "text",
    [
        '{"kind": "model", "version": Infinity, "config": {}}',
        '{"kind": "model", "version": NaN, "config": {}}',
        '{"kind": "model", "version": 1e400, "config": {}}',
        '{"kind": "model", "version": "6", "config": {}}',
        '{"kind": "model", "version": true, "config": {}}',
        '{"kind": "model", "version": -1, "config": {}}',
        '{"kind": ["model"], "version": 6, "config": {}}',
        '{"kind": "model", "version": 6, "config": []}',
        '{"kind": "model", "version": 6, "config": {"x": ' + "[" * 900 + "]" * 900 + "}}",
        '{"kind": "model", "version": 6, "config": {"x": ' + '{"x":' * 900 + "1" + "}" * 900 + "}}",
        "[" * 100_000,
        "null",
        '{"kind": "model", "version": 6, "config": {"x": "\\ud800"}}',
    ],
    ids=range(13),
)
def test_descriptions_of_wrong_types(text, tmp_path):
    (tmp_path / "m.cf").write_bytes(described(text))
    with pytest.raises(ModelFileError, match="chainfield did not write it"):
        chainfield.load(tmp_path / "m.cf")


def test_every_value_of_every_wrong_type(files, tmp_path):
    """Each value of the description in turn, replaced by others: an error of ours, or a model."""
    path, faults, n = tmp_path / "m.cf", [], 0
    for kind in ("names", "rules"):
        tree = json.loads(
            json.loads(files[kind][8 : 8 + int.from_bytes(files[kind][:8], "little")])["__metadata__"]["chainfield"]
        )["config"]
        for where in places(tree):
            for strange in (None, True, -1, 10**30, 0.5, float("nan"), "x", [], {}, [[]], {"a": 1}):
                path.write_bytes(forged(files[kind], lambda c, t, w=where, s=strange: put(c, w, s)))
                n += 1
                try:
                    chainfield.load(path).predict([])
                except ChainfieldError:
                    continue
                except Exception as error:
                    faults.append((kind, where, strange, repr(error)))
    assert faults == []
    assert n > 500


def places(tree, before=()):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*before, key)
        yield from places(value, (*before, key))


def put(tree, where, value):
    for key in where[:-1]:
        tree = tree[key]
    tree[where[-1]] = value


HEADERS = {
    "a hole between tensors": {"a": ("U8", [1], [0, 1]), "b": ("U8", [1], [2, 3])},
    "tensors that overlap": {"a": ("U8", [2], [0, 2]), "b": ("U8", [2], [1, 3])},
    "bytes behind the last": {"a": ("U8", [2], [0, 2])},
    "beyond the end": {"a": ("U8", [9], [0, 9])},
    "a shape that is not the size": {"a": ("U16", [3], [0, 3])},
    "a product that wraps around": {"a": ("U8", [2**32, 2**32, 3], [0, 3])},
    "a negative size": {"a": ("U8", [-3], [0, 3])},
    "sizes that are fractions": {"a": ("U8", [3.0], [0, 3])},
    "ends before it begins": {"a": ("U8", [0], [3, 3]), "b": ("U8", [3], [3, 0])},
    "forty dimensions": {"a": ("U8", [1] * 39 + [3], [0, 3])},
    "a type that is none": {"a": ("X9", [3], [0, 3])},
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_lie(name, tmp_path):
    entries = {k: dict(zip(("dtype", "shape", "data_offsets"), v, strict=True)) for k, v in HEADERS[name].items()}
    text = json.dumps(entries | {"__metadata__": {"chainfield": "{}"}}).encode()
    (tmp_path / "m.cf").write_bytes(len(text).to_bytes(8, "little") + text + b"abc")
    with pytest.raises(ModelFileError):
        chainfield.load(tmp_path / "m.cf")


def test_a_name_that_stands_twice_in_the_header(tmp_path):
    one = '"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}'
    text = f"{{{one},{one}}}".encode()
    (tmp_path / "m.cf").write_bytes(len(text).to_bytes(8, "little") + text + b"abc")
    with pytest.raises(ModelFileError):
        chainfield.load(tmp_path / "m.cf")


def test_truth_values_that_are_none(files, tmp_path):
    data = forged(files["rules"], tensor("space.start", lambda a: (a.view(np.uint8) * 7).view(np.bool_)))
    (tmp_path / "m.cf").write_bytes(data)
    with pytest.raises(ModelFileError, match="truth values"):
        chainfield.load(tmp_path / "m.cf")


def test_markup_in_names_is_shown_as_it_is(tmp_path):
    from test_commands import run

    odd = "[/bold]"
    LinearCRF(max_iter=2).fit([[[odd], ["b"]]], [[odd, "[red]"]]).save(tmp_path / "m.cf", notes={odd: odd})
    result = run("show", str(tmp_path / "m.cf"))
    assert result.code == 0
    assert odd in result.stdout


# ---- groups ------------------------------------------------------------------------------------------------------


def test_a_chain_refuses_scorers_in_the_wrong_group():
    from chainfield.scorers import Boundary, Chain, Transition
    from chainfield.states import one_per_label

    space = one_per_label(2)
    with pytest.raises(ConfigError, match="Transition stands among the emissions"):
        Chain(space, (Transition(np.arange(4, dtype=np.int32)),), ())
    with pytest.raises(ConfigError, match="Boundary stands among the transitions"):
        Chain(space, (), (Boundary(2),))


def test_a_registered_scorer_says_where_it_belongs():
    from chainfield.scorers import Scorer, register

    class Lost(Scorer):
        def shapes(self):
            return {}

        def forward(self, params, batch, how, scores):
            raise NotImplementedError

    with pytest.raises(ConfigError, match='write group = "emissions" or "transitions"'):
        register(Lost)


def test_large_spaces_are_written_out(tmp_path, monkeypatch):
    monkeypatch.setattr("chainfield.files.parts.MOST_IMPLIED", 4)
    model = LinearCRF(max_iter=2).fit(WORDS, LABELS)
    model.save(tmp_path / "m.cf")
    assert "space.src" in load_tensors((tmp_path / "m.cf").read_bytes())
    assert chainfield.load(tmp_path / "m.cf").predict(WORDS) == model.predict(WORDS)
