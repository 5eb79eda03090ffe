"""python-crfsuite's module on this library's engine: the same calls, files, answers and exceptions."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from chainfield.compat import pycrfsuite
from chainfield.compat.crfsuite import CrfsuiteModel, write_crfsuite
from chainfield.compat.pycrfsuite import ItemSequence, Tagger, Trainer
from support.foreign import crfsuite_model

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")


def corpus(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = [str(rng.choice(["N", "V", "D"])) for _ in range(rng.integers(1, 9))]
        X.append([{"w": f"{label}{rng.integers(4)}", "b": 1.0, "x": float(rng.normal())} for label in labels])
        y.append([label if rng.random() < 0.9 else "N" for label in labels])
    return X, y


X, Y = corpus()


def trained(path, algorithm="lbfgs", params=None, module=pycrfsuite, **more):
    trainer = module.Trainer(algorithm, params or {}, verbose=False)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        trainer.append(x, y, i % 4)
    trainer.train(str(path), **more)
    return trainer


@pytest.fixture
def tagger():
    found = Tagger()
    found.open_inmemory(crfsuite_model())
    return found


# ---- tagging -----------------------------------------------------------------------------------------------------


def test_answers_are_those_of_the_model(tagger):
    x = [["w=1"], {"w=2": 0.5, "w": "3"}, []]
    marginals = tagger.model.predict_marginals([x])[0]
    assert tagger.tag(x) == tagger.model.predict([x])[0] == tagger.tag() == tagger.tag(ItemSequence(x))
    for t in range(3):
        for k, label in enumerate(tagger.labels()):
            assert tagger.marginal(label, t) == pytest.approx(marginals[t, k], abs=1e-12)
            assert tagger.marginal(label.encode(), t) == tagger.marginal(label, t)
    probability = np.exp(tagger.model.log_likelihood([x], [["B", "I", "O"]])[0])
    assert tagger.probability(["B", b"I", "O"]) == pytest.approx(probability, rel=1e-12)
    assert tagger.tag_many([x, [], x]) == [tagger.tag(x), [], tagger.tag(x)]
    assert [list(row.values()) for row in tagger.marginals(x)] == pytest.approx(marginals)


class Text(str):
    """Strings of a class of their own are read by the definition, not by compiled code."""


@pytest.mark.parametrize("kind", [str, Text])
def test_items_are_those_given(kind):
    items = ItemSequence([[kind("foo"), kind("é")], {kind("bar"): {"baz": 2}}, []]).items()
    assert items == [{"foo": 1.0, "é": 1.0}, {"bar:baz": 2.0}, {}]


def test_taggers_can_be_pickled_copied_and_shared(tagger):
    sequences = [[[f"w={i % 12}"]] * (i % 5 + 1) for i in range(60)]
    expected = [tagger.tag(x) for x in sequences]
    for other in (pickle.loads(pickle.dumps(tagger)), copy.deepcopy(tagger)):
        assert [other.tag(x) for x in sequences] == expected
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tagger.tag, sequences)) == expected


def test_info_and_dump_are_complete(tagger, tmp_path, capsys):
    info = tagger.info()
    assert list(info.labels) == ["B", "I", "O"]
    assert info.header["num_attrs"] == str(len(info.attributes))
    tagger.dump(tmp_path / "dump.txt")
    parser = pycrfsuite._dumpparser.CRFsuiteDumpParser()
    for line in (tmp_path / "dump.txt").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        parser.feed(line + "\n")
    assert parser.result.state_features == info.state_features  # to the last digit
    assert parser.result.transitions == info.transitions
    assert parser.result.header == info.header
    tagger.dump()
    assert "LABELS = {" in capsys.readouterr().out


def test_faults_of_the_original_do_not_crash(tagger):
    closed = Tagger()
    for call in (closed.labels, closed.info, closed.dump, closed.tag, lambda: closed.set([])):
        with pytest.raises((ValueError, RuntimeError), match="not opened"):
            call()
    with pytest.raises(OSError):
        closed.open("no such file")
    for content in (b"", b"lCRFabc", b"lCRFfoo" * 100, crfsuite_model()[:-1]):
        with pytest.raises(ValueError):
            closed.open_inmemory(content)
    model = crfsuite_model()
    for content, message in (
        (b"FRCl" + model[4:], "another byte order"),
        (model[:8] + b"XXXX" + model[12:], "not FOMC"),
        (model[:12] + b"\x65" + model[13:], "version 101 of CRFsuite's format; only 100 is known"),
    ):
        with pytest.raises(ValueError, match=message):
            closed.open_inmemory(content)
    with pytest.raises(TypeError):
        closed.open_inmemory(bytearray(crfsuite_model()))
    tagger.set([["w=1"]])
    with pytest.raises(RuntimeError, match="no label 'Z'; it knows B, I, O"):
        tagger.probability(["Z"])
    with pytest.raises(ValueError, match="1 items, but there are 2 labels"):
        tagger.probability(["B", "B"])
    with pytest.raises(ValueError, match="position 1 is outside"):
        tagger.marginal("B", 1)
    with pytest.raises(TypeError, match="strings or bytes"):
        tagger.marginal(3, 0)
    for wrong_place in ("0", 0.5, None):
        with pytest.raises(TypeError, match="a whole number is expected"):
            tagger.marginal("B", wrong_place)
    for wrong in ("foo", ["foo"], [[{"foo": 1.0}]], [{"a": None}], [{"a": float("nan")}], [{"a": (1,)}], 5):
        with pytest.raises((ValueError, TypeError)):
            tagger.tag(wrong)
    empty = Tagger()
    empty.open_inmemory(write_crfsuite(CrfsuiteModel([], [], *[(np.empty(0, int),) * 2 + (np.empty(0),)] * 2)))
    assert empty.labels() == []
    with pytest.raises(ValueError, match="without any data"):
        empty.tag([["a"]])


# ---- training ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"c2": 0.3},
        {"c1": 0.2, "c2": 0.01},
        {"c2": 0.5, "feature.possible_states": True, "feature.possible_transitions": True},
        {"c2": 0.5, "feature.minfreq": 3},
    ],
)
def test_the_objective_is_crfsuites(params, tmp_path):
    peer = pytest.importorskip("pycrfsuite")
    exact = {"delta": 1e-10, "epsilon": 1e-9, "max_iterations": 2000}
    global X
    kept, X = X, [[{k: abs(v) if k == "x" else v for k, v in item.items()} for item in x] for x in X]
    try:
        theirs, ours = (trained(tmp_path / "m", "lbfgs", params | exact, module) for module in (peer, pycrfsuite))
    finally:
        X = kept
    loss = theirs.logparser.last_iteration["loss"]
    assert ours.logparser.last_iteration["loss"] == pytest.approx(loss, rel=1e-5)
    assert ours.logparser.featgen_num_features == theirs.logparser.featgen_num_features


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_models_of_every_algorithm_open_in_both(algorithm, tmp_path):
    trainer = trained(tmp_path / "m.crfsuite", algorithm, {"max_iterations": 20}, holdout=3)
    ours = Tagger()
    ours.open(tmp_path / "m.crfsuite")
    guess = [ours.tag(x) for x in X]
    accuracy = np.mean([a == b for p, q in zip(guess, Y, strict=True) for a, b in zip(p, q, strict=True)])
    assert accuracy > 0.85
    last = trainer.logparser.last_iteration
    assert last["item_accuracy_float"] > 0.7
    assert set(last["scores"]) == {"N", "V", "D"}
    assert {"num", "loss", "feature_norm", "time", "avg_f1", "instance_accuracy"} <= set(last)
    peer = pytest.importorskip("pycrfsuite").Tagger()
    peer.open(str(tmp_path / "m.crfsuite"))
    assert [peer.tag(x) for x in X] == guess
    assert peer.labels() == ours.labels()


def test_a_refused_sequence_leaves_the_data_as_they_were(tmp_path):
    trainer = Trainer(verbose=False)
    for x, y in (([{"a": 1}], ["x", "y"]), ([{"a": None}], ["x"]), ([{"a": 1}], [3])):
        with pytest.raises((ValueError, TypeError)):
            trainer.append(x, y)
    with pytest.raises(TypeError, match="The group is 'g'"):
        trainer.append([{"a": 1}], ["x"], "g")
    assert trainer._data.labels == {}
    trainer.append([{b"k": b"v"}], [b"x"])
    trainer.train(tmp_path / "m")
    assert Tagger().open(tmp_path / "m").thing.labels() == ["x"]
    trainer.clear()
    trainer.train(tmp_path / "m")
    assert Tagger().open(tmp_path / "m").thing.labels() == []


def test_places_that_cannot_be_written_are_named_before_training(tmp_path):
    with pytest.raises(OSError, match="does not exist"):
        trained(tmp_path / "none" / "m")
    trainer = trained("", params={"max_iterations": 2})
    assert trainer.logparser.last_iteration["num"] == 2


def test_parameters():
    trainer = Trainer("pa")
    assert trainer.get("type") == 1
    assert trainer.get_params()["averaging"] is True
    for name, value in (("nope", 1), ("c", "abc"), ("c", float("nan"))):
        with pytest.raises(ValueError, match=name):
            trainer.set(name, value)
    trainer.set("max_iterations", "3.7")
    assert trainer.get("max_iterations") == 3
    with pytest.raises(ValueError, match="Bad arguments"):
        trainer.select("lbfgs", "crf2d")
    assert trainer.params()[3] == "type"  # what was selected before stays
    trainer.select("arow")
    assert trainer.get("gamma") == 1.0
    assert all(map(trainer.help, trainer.params()))


def test_hooks_stop_training(tmp_path):
    class Stop(Exception):
        pass

    class Stopping(Trainer):
        def on_iteration(self, log, info):
            if info["num"] == 2:
                raise Stop

    trainer = Stopping("lbfgs")
    trainer.append(X[0], Y[0])
    with pytest.raises(Stop):
        trainer.train(tmp_path / "m")
    assert len(trainer.logparser.iterations) == 2
    assert not (tmp_path / "m").exists()


def test_other_programs_find_these_modules():
    pytest.importorskip("sklearn")
    code = """
from chainfield.compat import install
install()
import pycrfsuite, sklearn_crfsuite, pycrfsuite._logparser
from sklearn_crfsuite import CRF, metrics
assert pycrfsuite.Tagger.__module__.startswith("chainfield.compat")
assert sklearn_crfsuite._fileresource.FileResource is CRF().modelfile.__class__
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
