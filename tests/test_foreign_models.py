"""Models of CRFsuite, CRF++ and Wapiti: read strictly, the same answers, written back."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import pickle
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import chainfield
from chainfield.commands.main import group
from chainfield.compat.bytes_reader import Bytes
from chainfield.compat.crfpp import from_crfpp, parse_crfpp
from chainfield.compat.crfsuite import parse_crfsuite, to_crfsuite, write_crfsuite
from chainfield.compat.crfsuite.cqdb import lookup3, read_strings, write_strings
from chainfield.compat.crfsuite.pickles import pickled_model
from chainfield.compat.foreign import parse_foreign, read_foreign
from chainfield.compat.sklearn_crfsuite._fileresource import FileResource
from chainfield.compat.wapiti import from_wapiti, parse_wapiti
from chainfield.errors import ChainfieldError, ConfigError, ModelFileError
from chainfield.features.template import parse_template
from support.foreign import (
    LABELS,
    MODELS,
    ROWS,
    TEMPLATE,
    crfpp_binary,
    crfpp_features,
    crfpp_text,
    crfpp_weights,
    crfsuite_model,
    damages,
    wapiti_model,
)

PEERS = os.environ.get("CHAINFIELD_PEER_MODELS", "")
with_peers = pytest.mark.skipif(not PEERS, reason="CHAINFIELD_PEER_MODELS names no folder of models and answers")


# ---- CRFsuite ----------------------------------------------------------------------------------------------------


def test_the_hash_is_lookup3():
    # The values of the author's own test program (lookup3.c, driver5).
    text = np.frombuffer(b"Four score and seven years ago" * 2, np.uint8)
    assert lookup3(text, np.array([30, 30])).tolist() == [0x17770551] * 2


def test_strings_take_the_first_free_slot():
    rng = np.random.default_rng(0)
    names = [f"n{i}".encode() * int(rng.integers(1, 9)) for i in range(3000)] + [b"", "ключ".encode(), b"\xff\xfe"]
    content = write_strings(names)
    found = read_strings(Bytes(content, "m"), 0, len(names), "names")
    assert list(found) == names
    assert (found[-1], found[1:3], found.is_text(), found.take(np.array([2, 0]))[1]) == (
        names[-1], names[1:3], False, names[0],
    )  # fmt: skip
    refs = np.frombuffer(content, "<u4", 512, 24).reshape(256, 2)
    joined = np.frombuffer(b"".join(names), np.uint8)
    hashes = lookup3(joined, np.array([len(name) for name in names]), 1).tolist()
    places = np.frombuffer(content, "<u4", len(names), len(content) - 4 * len(names)).tolist()
    for table, (at, n) in enumerate(refs.tolist()):
        expected = [(0, 0)] * n
        for value, place in zip(hashes, places, strict=True):
            if value % 256 == table:
                slot = (value >> 8) % n
                while expected[slot] != (0, 0):
                    slot = (slot + 1) % n
                expected[slot] = (value, place)
        assert np.frombuffer(content, "<u4", 2 * n, at).reshape(n, 2).tolist() == [list(pair) for pair in expected]


def test_names_that_are_the_same_are_not_written():
    with pytest.raises(ConfigError, match="Two names are the same"):
        write_strings([b"a", b"b", b"a"])


def test_a_model_is_written_as_it_was_read():
    content = crfsuite_model()
    assert write_crfsuite(parse_crfsuite(content)) == content
    model = parse_foreign(content, "m")
    again = parse_crfsuite(write_crfsuite(to_crfsuite(model)))
    first = parse_crfsuite(content)
    assert again.labels == first.labels
    assert set(again.attributes) == set(first.attributes)
    assert weights(again) == weights(first)


def weights(model):
    names = model.attributes
    return {(names[a], y): w for a, y, w in zip(*(part.tolist() for part in model.state), strict=True)}


def test_what_is_written_opens_in_crfsuite(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    rng = np.random.default_rng(0)
    X = [[{f"w={rng.integers(14)}": 1.0, "w=1": 0.5} for _ in range(rng.integers(1, 9))] for _ in range(40)]
    model = parse_foreign(crfsuite_model(), "m")
    (tmp_path / "m.crfsuite").write_bytes(write_crfsuite(to_crfsuite(model)))
    tagger = pycrfsuite.Tagger()
    with tagger.open(str(tmp_path / "m.crfsuite")):
        for x, guess, marginals in zip(X, model.predict(X), model.predict_marginals(X), strict=True):
            assert tagger.tag(x) == guess
            theirs = [[tagger.marginal(label, t) for label in tagger.labels()] for t in range(len(x))]
            np.testing.assert_allclose(marginals, theirs, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "first and the last label"),
        ({"boundary": False, "forbidden": [("O", "I")]}, "rules"),
        ({"boundary": False, "order": 2}, "several states"),
        ({"boundary": False, "decoder": "posterior"}, "posterior"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(settings, message):
    crf = chainfield.LinearCRF(max_iter=3, **settings).fit([[["a"], ["b"], ["c"]]] * 3, [["B", "I", "O"]] * 3)
    with pytest.raises(ConfigError, match=message):
        to_crfsuite(crf)


def test_labels_and_names_without_a_nul_only():
    crf = chainfield.LinearCRF(max_iter=3, boundary=False).fit([[["a\0b"], ["c"]]] * 3, [["B", "I"]] * 3)
    with pytest.raises(ConfigError, match="NUL"):
        to_crfsuite(crf)


# ---- CRF++ and Wapiti --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [crfpp_text(), crfpp_binary()], ids=["text", "binary"])
@pytest.mark.parametrize("factor", [1.0, 2.5])
def test_crfpp_scores(content, factor):
    model = from_crfpp(parse_crfpp(content), None if factor == 1.0 else factor)
    nodes, edges = parse_template("\n".join(TEMPLATE), dialect="crfpp").expand(ROWS)
    at, w = crfpp_features(), factor * crfpp_weights()
    node = [sum((w[at[f] :][:3] for f in found if f in at), np.zeros(3)) for found in nodes]
    edge = [sum((w[at[f] :][:9] for f in ["B", *found] if f in at), np.zeros(9)).reshape(3, 3) for found in edges]
    check_by_enumeration(model, node, edge)


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_wapiti_scores(kind):
    parsed = parse_wapiti(wapiti_model(kind))
    w = np.zeros(3 * 7 + 12 * 2 + 9)
    w[parsed.index] = parsed.weight
    at, place = 0, {}
    for name in map(bytes.decode, parsed.observations):
        place[name] = at
        at += {"u": 3, "b": 9, "*": 12}[name[0]]
    lines = "\n".join(map(bytes.decode, parsed.patterns))
    nodes, edges = parse_template(lines, dialect="wapiti").expand(ROWS)
    node = [sum((w[place[f] :][:3] for f in found if f in place), np.zeros(3)) for found in nodes]
    edge = []
    for found in edges:
        pairs = [w[place[f] + 3 * (f[0] == "*") :][:9] for f in ["b", *found] if f in place]
        edge.append(sum(pairs, np.zeros(9)).reshape(3, 3) * (kind > 0))
    check_by_enumeration(from_wapiti(parsed), node, edge, local=kind == 1)


def check_by_enumeration(model, node, edge, *, local=False):
    """All label sequences of one sentence by their scores."""
    assert tuple(model.classes_) == LABELS

    def step(t, before, y):
        scores = node[t] + (edge[t][before] if t else 0.0)
        return scores[y] - (np.logaddexp.reduce(scores) if local else 0.0)

    paths = list(itertools.product(range(3), repeat=len(node)))
    scores = np.array([sum(step(t, p[t - 1], p[t]) for t in range(len(p))) for p in paths])
    expected = scores - np.logaddexp.reduce(scores)
    guess = model.log_likelihood([ROWS] * len(paths), [[LABELS[y] for y in p] for p in paths])
    np.testing.assert_allclose(guess, expected, atol=1e-10)
    assert model.predict([ROWS])[0] == [LABELS[y] for y in paths[int(scores.argmax())]]


def test_a_match_may_cut_a_character_in_two():
    content = wapiti_model().replace("6:u:p=é,".encode(), b"5:u:p=\xc3,")
    features = from_wapiti(parse_wapiti(content)).tagger_.features
    cut, plain = (features.encode([[(word, "x")]]).sparse.indices for word in ("été", "ete"))
    assert (cut >= 0).sum() == (plain >= 0).sum() + 1


def test_older_and_decimal_files_of_wapiti():
    old = re.sub(rb"#mdl#2#", b"#mdl#", wapiti_model()).replace(b"5/1/0", b"5/1")
    decimal = re.sub(rb"=(-?0x\S+)", lambda m: b"=%.17e" % float.fromhex(m.group(1).decode()), old)
    first, second = from_wapiti(parse_wapiti(wapiti_model())), from_wapiti(parse_wapiti(decimal))
    np.testing.assert_allclose(first.tagger_.theta, second.tagger_.theta, rtol=1e-15)


# ---- all of them -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_an_imported_model_is_an_ordinary_one(name, tmp_path):
    (tmp_path / "m").write_bytes(MODELS[name]())
    model = read_foreign(tmp_path / "m")
    X = [[{"w=1": 1.0}, {"w=2": 2.0}, ["w=3"]]] if name == "crfsuite" else [ROWS]
    model.save(tmp_path / "m.cf")
    again = chainfield.load(tmp_path / "m.cf")
    assert again.predict(X) == model.predict(X)
    np.testing.assert_array_equal(again.predict_marginals(X)[0], model.predict_marginals(X)[0])
    assert len(again.predict_n_best(X, 3)[0]) == 3
    assert again.predict(X, given=[["B", *[None] * (len(X[0]) - 1)]])[0][0] == "B"
    assert again.explain(X[0])[0].contributions
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)


@pytest.mark.parametrize("name", MODELS)
def test_damaged_files_are_refused_in_a_sentence(name, tmp_path):
    content = MODELS[name]()
    for cut in range(0, len(content), max(1, len(content) // 40)):
        with pytest.raises(ModelFileError):
            parse_foreign(content[:cut], "m")
    refused = 0
    for data in damages(content, 300, seed=3):
        try:
            model = parse_foreign(data, "m")
        except ChainfieldError:
            refused += 1
        else:
            X = [[["w=1"], ["w=2"]]] if name == "crfsuite" else [[tuple(["New"] * model.tagger_.features.width)] * 3]
            assert len(model.predict(X)[0]) == len(X[0])
    assert refused > 50


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, b"FRCl", "byte order"),
        (4, struct.pack("<I", 7), "bytes, not 7"),
        (8, b"SEMI", "type"),
        (12, struct.pack("<I", 99), "version 99"),
        (20, struct.pack("<I", 2**31), "not to be believed"),
        (24, struct.pack("<I", 2**31), "attributes"),
        (28, struct.pack("<I", 2**32 - 4), "outside"),
        (60, struct.pack("<I", 7), "no known kind"),
        (64, struct.pack("<I", 10**6), "does not exist"),
        (72, struct.pack("<d", np.nan), "NaN"),
    ],
)
def test_every_field_of_a_crfsuite_model_is_checked(at, value, message):
    content = bytearray(crfsuite_model())
    content[at : at + len(value)] = value
    with pytest.raises(ModelFileError, match=message):
        parse_crfsuite(bytes(content))


def test_other_files_are_refused(tmp_path):
    for content in (b"", b"hello", b"\x80\x04N.", b"\x1f\x8bno", bytes(64)):
        with pytest.raises(ModelFileError):
            parse_foreign(content, "m")
    with pytest.raises(ModelFileError, match="folder"):
        read_foreign(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_foreign(tmp_path / "none")
    with pytest.raises(ModelFileError, match="cost factor"):
        parse_foreign(crfsuite_model(), "m", 2.0)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_models_in_pickles(protocol, tmp_path):
    resource = FileResource()
    resource.ensure_name()
    Path(resource.name).write_bytes(crfsuite_model())
    content = pickle.dumps({"crf": resource, "rest": [1, "x"]}, protocol)
    assert pickled_model(content) == crfsuite_model()
    assert pickled_model(zlib.compress(content)) == crfsuite_model()
    assert parse_foreign(content, "m").classes_ == list(LABELS)


def test_models_in_pickles_of_python_2():
    quoted = repr(crfsuite_model())[1:].encode()
    state = b"(dp5\nS'verbose'\np6\nI00\nsS'__FILE_RESOURCE_DATA__'\np26\nS" + quoted + b"\np27\nsb."
    content = (
        b"ccopy_reg\n_reconstructor\np0\n(csklearn_crfsuite.estimator\nCRF\np1\nc__builtin__\nobject\np2\nNtp3\nRp4\n"
    )
    assert pickled_model(content + state) == crfsuite_model()
    assert parse_foreign(content + state, "m").classes_ == list(LABELS)
    with pytest.raises(ModelFileError, match="can be read"):
        parse_foreign(content + state.replace(b"lCRF", b"lCRF\\x"), "m")
    with pytest.raises(ModelFileError, match="no model"):
        parse_foreign(content, "m")


def test_bytes_in_a_pickle_that_were_written_like_others_before():
    first = pickle.dumps({"c1": b"\x89", "__FILE_RESOURCE_DATA__": crfsuite_model()}, 2)
    assert first.count(b"c_codecs\nencode") == 1
    assert pickled_model(first) == crfsuite_model()


def test_pickles_are_not_executed(tmp_path):
    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "evil"),))

    with pytest.raises(ModelFileError, match="no model"):
        parse_foreign(pickle.dumps(Evil()), "m")
    assert not (tmp_path / "evil").exists()


def test_commands(tmp_path, capsys):
    (tmp_path / "m.crfsuite").write_bytes(crfsuite_model())
    source, made, back = (str(tmp_path / name) for name in ("m.crfsuite", "m.cf", "back.crfsuite"))
    group.main(["import", source], standalone_mode=False)
    assert "A model of CRFsuite: 3 labels, 16 features" in capsys.readouterr().out
    group.main(["export", made, "--crfsuite", back], standalone_mode=False)
    assert "3 labels, 16 attributes" in capsys.readouterr().out
    assert weights(parse_crfsuite(Path(back).read_bytes())) == weights(parse_crfsuite(crfsuite_model()))
    with pytest.raises(ModelFileError):
        group.main(["import", made, "-o", str(tmp_path / "x.cf")], standalone_mode=False)
    with pytest.raises(ModelFileError):
        group.main(["import", source, "-o", str(tmp_path / "none" / "x.cf")], standalone_mode=False)


# ---- real models with their programs' own answers ----------------------------------------------------------------


@with_peers
@pytest.mark.parametrize("name", ["usaddress/usaddr", "probablepeople_person/person_learned_settings"])
def test_crfsuite_answers(name):
    path = Path(PEERS, f"{name}.crfsuite")
    model = read_foreign(path)
    answers = json.loads(gzip.decompress(path.with_name("expected.json.gz").read_bytes()))
    assert model.classes_ == answers["labels"]
    found = answers["sequences"]
    X, tags = [s["x"] for s in found], [s["tags"] for s in found]
    assert model.predict(X) == tags
    for labels, key in ((tags, "probability"), ([s["other"] for s in found], "probability_other")):
        ours = np.exp(model.log_likelihood(X, labels))
        np.testing.assert_allclose(ours, [s[key] for s in found], atol=1e-9)
    for ours, s in zip(model.predict_marginals(X), found, strict=True):
        theirs = [[row[y] for y in answers["labels"]] if isinstance(row, dict) else row for row in s["marginals"]]
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert write_crfsuite(parse_crfsuite(path.read_bytes())) == path.read_bytes()


def sentences(text):
    return [[line.split() for line in block.splitlines()] for block in re.split(r"\n\n+", text.strip())]


def printed(name):
    """(numbers behind #, rows) of every sequence that a program printed."""
    text = gzip.decompress(Path(PEERS, name).read_bytes()).decode("utf-8", "surrogateescape")
    blocks = [block.splitlines() for block in re.split(r"\n\n+", text.strip())]
    return [(lines[0][2:].split(), [line.split("\t") for line in lines[1:]]) for lines in blocks]


def probability(cell):
    return float(cell.rsplit("/", 1)[1])


@with_peers
@pytest.mark.parametrize("form", ["model", "model.txt"])
@pytest.mark.parametrize("name", ["l2", "l1_f2", "l2_bigram", "mira"])
def test_crfpp_answers(name, form):
    model = read_foreign(Path(PEERS, "crfpp", f"{name}.{form}"))
    X = [[tuple(row[:2]) for row in s] for s in sentences(Path(PEERS, "snips.test.txt").read_text(encoding="utf-8"))]
    check_crfpp(model, X, f"crfpp/{name}.v2.gz")
    best = [(labels, p) for found in model.predict_n_best(X, 3) for labels, p in found]
    for (labels, p), (head, rows) in zip(best, printed(f"crfpp/{name}.nbest3.gz"), strict=True):
        assert labels == [row[3].rsplit("/", 1)[0] for row in rows]
        assert p == pytest.approx(float(head[1]), abs=1e-6)
    if name == "l2":
        sharper = read_foreign(Path(PEERS, "crfpp", f"{name}.{form}"), cost_factor=2.5)
        check_crfpp(sharper, X, "crfpp/l2.cost2.5.v2.gz")


def check_crfpp(model, X, name):
    for labels, marginals, (_, rows) in zip(model.predict(X), model.predict_marginals(X), printed(name), strict=True):
        assert labels == [row[3].rsplit("/", 1)[0] for row in rows]
        np.testing.assert_allclose(marginals, [[probability(cell) for cell in row[4:]] for row in rows], atol=1e-6)


@with_peers
@pytest.mark.parametrize("name", ["crf_lbfgs", "crf_rprop", "crf_compact", "maxent", "memm"])
def test_wapiti_answers(name):
    model = read_foreign(Path(PEERS, "wapiti", f"{name}.mod"))
    X = [[tuple(row[:2]) for row in s] for s in sentences(Path(PEERS, "snips.test.txt").read_text(encoding="utf-8"))]
    assert model.predict(X) == [[row[1] for row in rows] for _, rows in printed(f"wapiti/{name}.scores.gz")]
    if name.startswith("crf"):
        best = [labels for found in model.predict_n_best(X, 3) for labels, _ in found]
        assert best == [[row[1] for row in rows] for _, rows in printed(f"wapiti/{name}.nbest3.gz")]
        posterior = printed(f"wapiti/{name}.posterior.gz")
        for marginals, (_, rows) in zip(model.predict_marginals(X), posterior, strict=True):
            ours = [p[model.classes_.index(row[1])] for p, row in zip(marginals, rows, strict=True)]
            np.testing.assert_allclose(ours, [probability(row[2]) for row in rows], atol=6e-7)
            assert [model.classes_[k] for k in marginals.argmax(axis=1)] == [row[1] for row in rows]
    if name == "crf_lbfgs":
        known = sentences(Path(PEERS, "wapiti", "forced.txt").read_text(encoding="utf-8"))
        given = [[None if row[2] == "?" else row[2] for row in s] for s in known]
        forced = printed("wapiti/crf_lbfgs.forced.gz")
        assert model.predict(X, given=given) == [[row[1] for row in rows] for _, rows in forced]
