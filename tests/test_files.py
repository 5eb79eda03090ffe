"""Model files and checkpoints: equal answers, equal bytes, hostile files, failed saves, resumed trainings."""

from __future__ import annotations

import datetime
import errno
import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from scipy import sparse

import chainfield
from chainfield import LinearCRF
from chainfield.errors import ConfigError, ModelFileError
from chainfield.files import check_writable, read_container, write_container
from chainfield.files.container import DIGEST
from chainfield.files.digest import digest

WORDS = ["der", "Hund", "läuft", "nach", "Berlin", "日本", "x-1", "😀", "42"]


def sentences(n=25, seed=0):
    rng = np.random.default_rng(seed)
    words = [[WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(1, 7))] for _ in range(n)]
    labels = [["B-X" if w in ("Berlin", "日本") else "O" if w != "42" else "I-X" for w in s] for s in words]
    return words, labels


TEXT, Y = sentences()
NEW = sentences(10, seed=1)[0]


def numbers(text):
    rng = np.random.default_rng(7)
    table = {w: rng.normal(size=3) for w in WORDS}
    return [np.array([table[w] for w in s]) for s in text]


KINDS = {
    "dicts": (lambda t: [[{"w": w, "n": len(w) / 7, "deep": {"is": [w[:1], "x"]}} for w in s] for s in t], {}),
    "lists of strings": (lambda t: [[[f"w={w}", "bias"] for w in s] for s in t], {"all_features": True}),
    "words": (lambda t: t, {}),
    "rows": (lambda t: [[(w, w.lower()) for w in s] for s in t], {"min_count": 2}),
    "template": (lambda t: [[(w, w[-1:]) for w in s] for s in t], {"template": "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\nB\n"}),
    "edge features": (lambda t: t, {"template": "U0:%x[0,0]\nB\nB0:%x[-1,0]/%x[0,0]\n"}),
    "edge features only": (lambda t: t, {"template": "U0:%x[0,0]\nB0:%x[0,0]\n", "order": 2}),
    "dense": (numbers, {}),
    "csr": (lambda t: [sparse.csr_array(x) for x in numbers(t)], {}),
    "second order": (lambda t: t, {"order": 2}),
    "rules": (lambda t: t, {"forbidden": [("B-X", "I-X")], "all_transitions": False}),
    "no boundary": (lambda t: t, {"boundary": False, "all_transitions": False}),
    "perceptron": (lambda t: t, {"objective": "perceptron"}),
}


def obeying(settings):
    labels = Y
    if "forbidden" in settings:
        labels = [["B-X" if a == "I-X" else a for a in s] for s in Y]
        labels[0] = ["I-X"] * len(labels[0])
    return labels


def train(kind="words", **settings):
    make, own = KINDS[kind]
    return LinearCRF(**{"max_iter": 8, "n_jobs": 1, **own, **settings}).fit(make(TEXT), obeying(own))


def same_answers(one, two, data):
    assert one.classes_ == two.classes_
    assert one.predict(data) == two.predict(data)
    for a, b in zip(one.predict_marginals(data), two.predict_marginals(data), strict=True):
        assert a.tobytes() == b.tobytes()


# ---- there and back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_gives_the_same_answers(kind, tmp_path):
    model, make = train(kind), KINDS[kind][0]
    data = list(make(NEW))
    if kind in ("words", "template"):
        data.append([("unseen", "n")] if kind == "template" else ["unseen", "Berlin"])
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf", n_jobs=1)
    assert type(loaded) is LinearCRF
    same_answers(model, loaded, data)
    assert loaded.predict_n_best(data, n=3) == model.predict_n_best(data, n=3)
    assert list(loaded.feature_names_) == list(model.feature_names_)
    assert loaded.feature_weights_ == model.feature_weights_
    assert loaded.transition_weights_ == model.transition_weights_
    assert str(loaded.explain(data[0])) == str(model.explain(data[0]))


@pytest.mark.parametrize("kind", KINDS)
def test_equal_inputs_give_equal_bytes(kind, tmp_path):
    for name, n_jobs in (("a.cf", 1), ("b.cf", 2)):
        train(kind, n_jobs=n_jobs).save(tmp_path / name)
    first = (tmp_path / "a.cf").read_bytes()
    assert first == (tmp_path / "b.cf").read_bytes()
    chainfield.load(tmp_path / "a.cf").save(tmp_path / "c.cf")
    assert first == (tmp_path / "c.cf").read_bytes()
    train(kind, l2=0.123).save(tmp_path / "d.cf")
    assert first != (tmp_path / "d.cf").read_bytes()


def test_equal_bytes_in_another_process(tmp_path):
    train("dicts").save(tmp_path / "here.cf")
    code = f"import test_files as t; t.train('dicts').save({str(tmp_path / 'there.cf')!r})"
    environment = os.environ | {"PYTHONPATH": child_path(), "PYTHONHASHSEED": "77"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=120)
    assert (tmp_path / "here.cf").read_bytes() == (tmp_path / "there.cf").read_bytes()


def child_path():
    folders = [os.path.dirname(__file__), os.path.dirname(os.path.dirname(chainfield.__file__))]
    return os.pathsep.join(folders)


def test_settings_come_back(tmp_path):
    model = train("words", l2=0.25, class_weight={"O": 2.0}, max_iter=9, random_state=5)
    model.save(tmp_path / "m.cf")
    ours, theirs = model.get_params(), chainfield.load(tmp_path / "m.cf", n_jobs=1).get_params()
    assert ours == theirs


@pytest.mark.parametrize(
    "settings", [{"class_weight": {0: 2.0, 1: 1.0}}, {"forbidden": [(0, 0)]}, {"template": "set"}], ids=str
)
def test_settings_that_are_not_json_come_back(settings, tmp_path):
    if "template" in settings:
        model = train("words", template=chainfield.parse_template("U0:%x[0,0]\nB\n"))
    else:
        numbers = [[t % 2 for t in range(len(s))] for s in Y]
        model = LinearCRF(max_iter=2, n_jobs=1, **settings).fit(TEXT, numbers)
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf", n_jobs=1)
    assert loaded.get_params() == model.get_params()
    loaded.fit(TEXT, [[t % 2 for t in range(len(s))] for s in Y])


@pytest.mark.parametrize("kind", ["dicts", "words", "edge features", "dense", "csr"])
def test_a_loaded_model_learns_on(kind, tmp_path):
    make = KINDS[kind][0]
    model = train(kind)
    model.save(tmp_path / "m.cf")
    before = (tmp_path / "m.cf").read_bytes()
    loaded = chainfield.load(tmp_path / "m.cf", n_jobs=1)
    more, labels = make(NEW), [["O"] * len(s) for s in NEW]
    if kind == "words":
        more, labels = [["Neues", "Wort"]], [["B-NEW", "O"]]
    model.set_params(max_iter=1).partial_fit(more, labels)
    loaded.set_params(max_iter=1).partial_fit(more, labels)
    same_answers(model, loaded, make(NEW))
    assert (tmp_path / "m.cf").read_bytes() == before


def test_a_model_survives_its_file(tmp_path):
    model = train()
    wanted = model.predict(NEW)
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf")
    train("words", l2=100.0).save(tmp_path / "m.cf")
    assert loaded.predict(NEW) == wanted
    (tmp_path / "m.cf").unlink()
    assert loaded.predict(NEW) == wanted


def test_labels_that_cannot_be_saved(tmp_path):
    model = LinearCRF(max_iter=2).fit([[["a"], ["b"]]], [[frozenset({1}), frozenset({2})]])
    assert model.classes_ == [1, 2]  # a set of one label is that label
    for label in (1j, datetime.date(2020, 1, 1), "half \ud800", ("x", "\udfff"), 10**4000):
        for kind in (LinearCRF(max_iter=2), chainfield.EmpiricalCRF()):
            seen = []
            with pytest.raises(ConfigError, match="cannot be saved"):
                kind.fit(
                    [[["a"], ["b"]]],
                    [[label, "B"]],
                    **({"callback": seen.append} if "max_iter" in kind.settings else {}),
                )
            assert not seen
            assert not hasattr(kind, "fitted_")


def test_settings_and_notes_that_cannot_be_saved(tmp_path):
    with pytest.raises(ConfigError, match="half a character"):
        LinearCRF(max_iter=2, template="U0:\ud800%x[0,0]\nB\n").fit(TEXT, Y)
    model = train()
    for notes in ({"x": 1j}, {"when": datetime.date(2020, 1, 1)}, {"t": "\ud800"}, {(1, 2): 3}, nested(5000)):
        with pytest.raises(ConfigError, match="The notes cannot be saved"):
            model.save(tmp_path / "m.cf", notes=notes)
    assert list(tmp_path.iterdir()) == []


# ---- hostile files -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "m.cf"
    train("words").save(path)
    return path.read_bytes()


def refused(path, *parts):
    with pytest.raises(ModelFileError) as caught:
        chainfield.load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert message.endswith(".")
    for part in parts:
        assert part in message, message


def header_size(data):
    return 8 + int.from_bytes(data[:8], "little")


def rebuilt(data, change):
    """The same file with its description and tensors changed, and a checksum that fits."""
    size = header_size(data)
    description = json.loads(json.loads(data[8:size])["__metadata__"]["chainfield"])
    tensors = load_tensors(data)
    change(description, tensors)
    del description[DIGEST]
    description[DIGEST] = digest(description, tensors)
    return save_tensors(tensors, {"chainfield": json.dumps(description)})


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nowhere\.cf"):
        chainfield.load(tmp_path / "nowhere.cf")
    refused(tmp_path, "is a folder")


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", b"\0" * 8, b"\0" * 4096, b"\xff" * 64, b"B-NP\tthe\n" * 40, b"{}", b"\x80\x04K\x01.", b"PK\x03\x04"],
    ids=repr,
)
def test_files_that_are_not_ours(content, tmp_path):
    (tmp_path / "m.cf").write_bytes(content)
    refused(tmp_path / "m.cf", "not a chainfield file")


def test_a_safetensors_file_of_another_program(tmp_path):
    for metadata in (None, {"format": "pt"}, {"chainfield": "no JSON"}, {"chainfield": "[]"}, {"chainfield": "{}"}):
        (tmp_path / "m.cf").write_bytes(save_tensors({"theta": np.zeros(3)}, metadata))
        refused(tmp_path / "m.cf", "chainfield did not write it")


def test_cut_off_files(good, tmp_path):
    size = header_size(good)
    for length in (1, 7, 8, 9, size // 2, size - 1, size, size + 1, (size + len(good)) // 2, len(good) - 1):
        (tmp_path / "m.cf").write_bytes(good[:length])
        refused(tmp_path / "m.cf", "not a chainfield file, or is cut off")
    (tmp_path / "m.cf").write_bytes(good + b"\0")
    refused(tmp_path / "m.cf")


def test_a_flipped_byte_among_the_tensors(good, tmp_path):
    size = header_size(good)
    for at in np.random.default_rng(0).integers(size, len(good), 40):
        damaged = bytearray(good)
        damaged[at] ^= 1 << int(at % 8)
        (tmp_path / "m.cf").write_bytes(damaged)
        refused(tmp_path / "m.cf", "checksum")


def contents(model):
    """All that a model knows, without running compiled code on what may be damaged."""
    tagger = model.tagger_
    theta = (tagger.theta.dtype, tagger.theta.tobytes())
    names = [*model.feature_names_], model.feature_weights_, model.transition_weights_, model.classes_
    return [*names, model.get_params(), tagger.how, theta, tagger.features.save()[0]]


def flipped(good, tmp_path, places):
    """Load the file with one bit wrong, at each of the places; what was wrong with the outcome, if anything."""
    wanted = contents(chainfield.load(write(tmp_path / "original.cf", good)))
    faults = []
    for at in places:
        damaged = bytearray(good)
        damaged[at] ^= 1
        path = write(tmp_path / "m.cf", damaged)
        try:
            found = contents(chainfield.load(path))
        except ModelFileError:
            continue
        except Exception as error:
            faults.append((at, good[at - 12 : at + 6], repr(error)))
        else:
            if found != wanted:
                faults.append((at, good[at - 12 : at + 6], "loaded as another model"))
    return faults


def write(path, data):
    path.write_bytes(data)
    return path


def test_a_flipped_bit_in_the_first_bytes(good, tmp_path):
    assert flipped(good, tmp_path, range(8)) == []


def test_a_flipped_bit_in_the_list_of_tensors(good, tmp_path):
    assert flipped(good, tmp_path, range(good.rindex(b'}"},') + 3, header_size(good), 2)) == []


def test_a_flipped_bit_in_the_description(good, tmp_path):
    assert flipped(good, tmp_path, range(8, good.rindex(b'}"},') + 3, 2)) == []


def test_a_newer_file(good, tmp_path):
    def newer(description, tensors):
        description["version"] = 99
        description["config"] = {"unheard": "of"}

    refused(write(tmp_path / "m.cf", rebuilt(good, newer)), "newer chainfield", "99", "upgrade")


def test_a_file_of_version_1(good, tmp_path):
    """It names neither task nor decoder."""

    def older(description, tensors):
        description["version"] = 1
        del description["config"]["task"], description["config"]["decoder"]
        del description["config"]["estimator"]["settings"]["decoder"]

    model = chainfield.load(write(tmp_path / "m.cf", rebuilt(good, older)))
    assert model.tagger_.decoder == model.decoder == "viterbi"
    assert contents(model) == contents(chainfield.load(write(tmp_path / "n.cf", good)))


def test_another_kind_of_file(tmp_path, monkeypatch):
    monkeypatch.setattr("chainfield.models.run.CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "c.checkpoint"
    LinearCRF(max_iter=2, n_jobs=1).fit(TEXT, Y, checkpoint=path)
    refused(path, "is a checkpoint file", "a model file is expected")
    train().save(tmp_path / "m.cf")
    with pytest.raises(ModelFileError, match="is a model file; a checkpoint file is expected"):
        LinearCRF(max_iter=2, n_jobs=1).fit(TEXT, Y, checkpoint=tmp_path / "m.cf", resume=True)


def remove(*path):
    def change(description, tensors):
        inside = description["config"]
        for key in path[:-1]:
            inside = inside[key]
        del inside[path[-1]]

    return change


def replace(value, *path):
    def change(description, tensors):
        inside = description["config"]
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = value

    return change


def drop(name):
    return lambda description, tensors: tensors.pop(name)


def overwrite(name, make):
    def change(description, tensors):
        tensors[name] = make(tensors[name])

    return change


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


FORGED = {
    "no labels": remove("labels"),
    "fewer labels": replace(["O"], "labels"),
    "labels of a strange kind": replace([{"x": 1}, "B", "C"], "labels"),
    "no features": remove("features"),
    "features of a strange kind": replace("hash", "features", "kind"),
    "no chain": remove("chain"),
    "no theta": drop("theta"),
    "too short a theta": overwrite("theta", lambda a: a[:-1].copy()),
    "a theta of another type": overwrite("theta", lambda a: a.astype(np.float16)),
    "a template that cannot be read": replace("U0:%x[", "features", "template"),
    "fewer columns": replace(0, "features", "n_columns"),
    "ties of another number": overwrite("scorer.transition.tie", lambda a: np.full_like(a, -7)),
}
FORGED_UNSEEN = {
    "no way to gather": remove("how"),
    "no estimator": remove("estimator"),
    "an estimator of a strange class": replace("Neural", "estimator", "class"),
    "a way to gather that is none": replace("mean", "how"),
    "a strange task": replace("parsing", "task"),
    "a task that is no name": replace(["tagging"], "task"),
    "a task that the space cannot serve": replace("classifying", "task"),
    "a strange decoder": replace("beam", "decoder"),
    "labels that are the same": replace(["O", "O", "O"], "labels"),
    "rows out of range": overwrite("scorer.features.pairs.row", lambda a: np.full_like(a, 250)),
    "more pairs than weights": overwrite("scorer.features.pairs.counts", lambda a: a + np.uint8(3)),
    "fewer features than names": overwrite("scorer.features.pairs.counts", lambda a: a[:-5].copy()),
    "more ties than edges": overwrite("scorer.transition.tie", lambda a: np.concatenate([a, a])),
    "more states than weights": replace([2, 1, 1], "chain", "space", "states_per_label"),
    "settings nested deeply": replace({"l2": nested(100)}, "estimator", "settings"),
    "a strange scorer": replace("Neural", "chain", "emissions", 0, "type"),  # refused without the file's name
}


def test_the_forged_files_change_what_is_there(good, tmp_path):
    chainfield.load(write(tmp_path / "m.cf", rebuilt(good, lambda d, t: None)))  # the checksum does fit
    for change in (FORGED | FORGED_UNSEEN).values():
        rebuilt(good, change)


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_with_a_fitting_checksum(name, good, tmp_path):
    refused(write(tmp_path / "m.cf", rebuilt(good, FORGED[name])))


@pytest.mark.parametrize("name", FORGED_UNSEEN)
def test_forged_files_are_seen_through(name, good, tmp_path):
    refused(write(tmp_path / "m.cf", rebuilt(good, FORGED_UNSEEN[name])))


def test_a_description_nested_deeper_than_json_is_read(good, tmp_path):
    deep = "[" * 100_000 + "]" * 100_000
    refused(write(tmp_path / "m.cf", save_tensors(load_tensors(good), {"chainfield": deep})), "did not write it")


def test_a_forged_file_runs_no_code(tmp_path):
    """There is no pickle inside, whatever the file says."""
    with pytest.raises(ModelFileError):
        chainfield.load(write(tmp_path / "m.cf", b"cos\nsystem\n(S'touch hacked'\ntR."))
    assert not os.path.exists("hacked")


# ---- failed saves ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["replace", "fsync"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_failed_save_leaves_the_old_file(function, error, tmp_path, monkeypatch):
    path = tmp_path / "m.cf"
    train().save(path)
    before = path.read_bytes()
    other = train("words", l2=3.0)

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(os, function, fail)
    kind = ModelFileError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(kind, match="No space left on device" if kind is ModelFileError else None):
        other.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.cf"]
    other.save(path)
    assert path.read_bytes() != before


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    with pytest.raises(ModelFileError, match=r"the folder .*nowhere does not exist; create it"):
        check_writable(tmp_path / "nowhere" / "m.cf")
    with pytest.raises(ModelFileError, match="is a folder; give the name of a file"):
        check_writable(tmp_path)
    check_writable(tmp_path / "m.cf")
    assert list(tmp_path.iterdir()) == []

    def fail(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("os.open", fail)
    with pytest.raises(ModelFileError, match=r"cannot be written \(Permission denied\)"):
        check_writable(tmp_path / "m.cf")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        with pytest.raises(ModelFileError, match="cannot be written"):
            check_writable(folder / "m.cf")
    finally:
        folder.chmod(0o700)


def test_an_unwritable_checkpoint_is_refused_before_training(tmp_path):
    seen = []
    model = LinearCRF(max_iter=3, n_jobs=1)
    with pytest.raises(ModelFileError, match="does not exist"):
        model.fit(TEXT, Y, checkpoint=tmp_path / "nowhere" / "c", callback=seen.append)
    assert not seen
    assert not hasattr(model, "tagger_")


def test_saved_files_can_be_read_by_others(tmp_path):
    old = os.umask(0o022)
    try:
        train().save(tmp_path / "m.cf")
    finally:
        os.umask(old)
    assert (tmp_path / "m.cf").stat().st_mode & 0o777 == 0o644


def test_containers_of_every_type(tmp_path):
    arrays = {
        f"a.{dtype}": np.arange(6).reshape(2, 3).astype(dtype)
        for dtype in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
    }
    arrays |= {"empty": np.empty((0, 4)), "strided": np.arange(10.0)[::2], "scalar": np.array(3.5)}
    write_container(tmp_path / "x", "test", 1, {"ä": [1, None, "\u2028"]}, arrays)
    config, found, version = read_container(tmp_path / "x", "test", 1)
    assert version == 1
    assert config == {"ä": [1, None, "\u2028"]}
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


# ---- checkpoints -------------------------------------------------------------------------------------------------

KILLED = """
    import os, signal, sys
    import chainfield.models.run as run
    import test_files as t
    run.CHECKPOINT_SECONDS = 0.0

    def callback(progress):
        if progress.iteration == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    t.slow(sys.argv[2]).fit(t.TEXT, t.Y, checkpoint=sys.argv[1], callback=callback)
"""

LONG = {
    "lbfgs": {"trainer": "lbfgs", "max_iter": 12},
    "averaged": {"trainer": "averaged", "max_iter": 9, "tol": 1e-12},
    "sdca": {"trainer": "sdca", "max_iter": 7},
}


def slow(name):
    return LinearCRF(**LONG[name], n_jobs=1, random_state=3)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("name", LONG)
def test_a_killed_training_resumes_to_the_last_bit(name, tmp_path, monkeypatch):
    path = tmp_path / "c.checkpoint"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path), name]
    environment = os.environ | {"PYTHONPATH": child_path()}
    killed = subprocess.run(command, env=environment, timeout=120, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert [p.name for p in tmp_path.iterdir()] == ["c.checkpoint"]
    whole = slow(name).fit(TEXT, Y)
    resumed_at = []
    resumed = slow(name).fit(
        TEXT, Y, checkpoint=path, resume=True, callback=lambda progress: resumed_at.append(progress.iteration)
    )
    assert resumed_at[0] == 5
    assert resumed.n_iter_ == whole.n_iter_ > 5
    assert resumed.tagger_.theta.tobytes() == whole.tagger_.theta.tobytes()
    resumed.save(tmp_path / "a.cf")
    whole.save(tmp_path / "b.cf")
    assert (tmp_path / "a.cf").read_bytes() == (tmp_path / "b.cf").read_bytes()


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """A checkpoint after three iterations."""
    monkeypatch.setattr("chainfield.models.run.CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "c.checkpoint"

    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LinearCRF(max_iter=8, n_jobs=1).fit(TEXT, Y, checkpoint=path, callback=stop)
    return path


def test_resuming_counts_on(interrupted):
    model = LinearCRF(max_iter=8, n_jobs=2, verbose=False).fit(TEXT, Y, checkpoint=interrupted, resume=True)
    assert [h["iteration"] for h in model.history_] == list(range(1, 9))
    again = LinearCRF(max_iter=8, n_jobs=1).fit(TEXT, Y, checkpoint=interrupted, resume=True)
    assert again.tagger_.theta.tobytes() == model.tagger_.theta.tobytes()
    assert again.n_iter_ == 8


def test_resuming_without_a_checkpoint_starts_anew(tmp_path):
    model = LinearCRF(max_iter=4, n_jobs=1).fit(TEXT, Y, checkpoint=tmp_path / "c", resume=True)
    assert model.n_iter_ == 4


def test_resume_must_be_asked_for(interrupted):
    model = LinearCRF(max_iter=8, n_jobs=1).fit(TEXT, Y, checkpoint=interrupted)
    assert model.history_[0]["iteration"] == 1
    assert len(model.history_) == 8


OTHER = {
    "settings": lambda: (LinearCRF(max_iter=8, l2=0.7), TEXT, Y),
    "trainer": lambda: (LinearCRF(max_iter=8, trainer="sgd"), TEXT, Y),
    "fewer sequences": lambda: (LinearCRF(max_iter=8), TEXT[:-1], Y[:-1]),
    "labels": lambda: (LinearCRF(max_iter=8), TEXT, [["O", *s[1:]] for s in Y]),
    "label names": lambda: (LinearCRF(max_iter=8), TEXT, [[a.lower() for a in s] for s in Y]),
    "features": lambda: (LinearCRF(max_iter=8), [["x", *s[1:]] for s in TEXT], Y),
}


@pytest.mark.parametrize("name", OTHER)
def test_a_checkpoint_of_another_training_is_refused(name, interrupted):
    model, data, labels = OTHER[name]()
    before = interrupted.read_bytes()
    with pytest.raises(ModelFileError, match="other data or settings") as caught:
        model.fit(data, labels, checkpoint=interrupted, resume=True)
    assert str(interrupted) in str(caught.value)
    assert interrupted.read_bytes() == before


def test_sample_weights_belong_to_the_training(interrupted):
    with pytest.raises(ModelFileError, match="other data or settings"):
        LinearCRF(max_iter=8).fit(TEXT, Y, [2.0] * len(Y), checkpoint=interrupted, resume=True)


def test_sets_of_labels_belong_to_the_training(tmp_path, monkeypatch):
    monkeypatch.setattr("chainfield.models.run.CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "c"
    data = [[["a"], ["b"], ["c"], ["d"]]]
    LinearCRF(max_iter=2).fit(data, [[{"A", "B"}, "A", "B", "C"]], checkpoint=path)
    with pytest.raises(ModelFileError, match="other data or settings"):
        LinearCRF(max_iter=2).fit(data, [[{"A", "C"}, "A", "B", "C"]], checkpoint=path, resume=True)


def test_a_warm_start_belongs_to_the_training(tmp_path, monkeypatch):
    monkeypatch.setattr("chainfield.models.run.CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "c"
    LinearCRF(max_iter=3, warm_start=True, n_jobs=1).fit(TEXT, Y, checkpoint=path)
    warm = LinearCRF(max_iter=3, warm_start=True, n_jobs=1).fit(TEXT, Y)
    with pytest.raises(ModelFileError, match="other data or settings"):
        warm.fit(TEXT, Y, checkpoint=path, resume=True)


def test_damaged_checkpoints_are_refused(interrupted):
    data = interrupted.read_bytes()
    for damaged in (b"", data[: len(data) // 2], data[:-1], data[:-9] + b"\x55" + data[-8:]):
        interrupted.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            LinearCRF(max_iter=8, n_jobs=1).fit(TEXT, Y, checkpoint=interrupted, resume=True)
        assert interrupted.read_bytes() == damaged


def test_a_checkpoint_that_cannot_be_written_any_more_loses_nothing(interrupted, monkeypatch):
    before = interrupted.read_bytes()
    model = LinearCRF(max_iter=8, n_jobs=1)

    def fail(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ModelFileError, match="No space left"):
        model.fit(TEXT, Y, checkpoint=interrupted, resume=True)
    assert interrupted.read_bytes() == before
    assert model.n_iter_ == 4
    assert model.predict(NEW)


def test_a_composed_model_with_the_usual_parts(tmp_path):
    """Parts are functions, which JSON holds by their names, also where they stand at their defaults."""
    model = chainfield.ComposedTagger(max_iter=2).fit([[{"a": 1.0}, {"b": 1.0}]] * 5, [["A", "B"]] * 5)
    model.save(tmp_path / "model.cf")
    assert chainfield.load(tmp_path / "model.cf").predict([[{"a": 1.0}]]) == model.predict([[{"a": 1.0}]])
