"""Checkpoints: forged ones are refused; Ctrl-C leaves one of the last whole iteration, and never a worse model."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import chainfield
from chainfield import LinearCRF
from chainfield.commands import train as command
from chainfield.errors import ModelFileError
from chainfield.files import replacing
from chainfield.files.container import DIGEST
from chainfield.files.digest import digest
from chainfield.trainers.interrupting import interruptible
from support.faults import FaultyOS

X = [[[f"w{i % 7}", f"s{i % 3}"] for i in range(k, k + 5)] for k in range(12)]
Y = [["ABC"[i % 3] for i in range(k, k + 5)] for k in range(12)]
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
TRAINERS = ("auto", "lbfgs", "owlqn", "sgd", "averaged", "adam", "rprop", "sdca")


def model(trainer, max_iter=5):
    return LinearCRF(trainer=trainer, max_iter=max_iter, l1=0.1 if trainer == "owlqn" else 0.0, n_jobs=1)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """A checkpoint of each trainer, after its third iteration."""
    folder, found = tmp_path_factory.mktemp("checkpoints"), {}

    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    for trainer in TRAINERS:
        with pytest.raises(KeyboardInterrupt):
            model(trainer).fit(X, Y, checkpoint=folder / "c", callback=stop)
        found[trainer] = (folder / "c").read_bytes()
    return found


def forged(data, change):
    size = 8 + int.from_bytes(data[:8], "little")
    description = json.loads(json.loads(data[8:size])["__metadata__"]["chainfield"])
    tensors = {name: array.copy() for name, array in load_tensors(data).items()}
    change(description["config"], tensors)
    del description[DIGEST]
    description[DIGEST] = digest(description, tensors)
    return save_tensors(tensors, {"chainfield": json.dumps(description)})


def resumed(trainer, data, tmp_path):
    (tmp_path / "c").write_bytes(data)
    return model(trainer).fit(X, Y, checkpoint=tmp_path / "c", resume=True)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_checkpoint_goes_on(trainer, checkpoints, tmp_path):
    whole = model(trainer).fit(X, Y)
    again = resumed(trainer, forged(checkpoints[trainer], lambda config, tensors: None), tmp_path)
    assert again.fitted_.theta.tobytes() == whole.fitted_.theta.tobytes()


def test_empty_arrays_of_another_type_are_refused(checkpoints, tmp_path):
    def change(config, tensors):
        assert tensors["state.metric"].shape == (0,)
        tensors["state.metric"] = np.empty(0, np.float32)

    with pytest.raises(ModelFileError, match="the type of metric"):
        resumed("lbfgs", forged(checkpoints["lbfgs"], change), tmp_path)


def test_a_pruned_training_goes_on(tmp_path):
    def pruned():
        return LinearCRF(prune=1e-3, max_iter=6, n_jobs=1)

    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pruned().fit(X, Y, checkpoint=tmp_path / "c", callback=stop)
    again = pruned().fit(X, Y, checkpoint=tmp_path / "c", resume=True)
    assert again.fitted_.theta.tobytes() == pruned().fit(X, Y).fitted_.theta.tobytes()


@pytest.mark.parametrize("trainer", TRAINERS)
def test_arrays_that_do_not_fit_are_refused(trainer, checkpoints, tmp_path):
    names = [name for name, array in load_tensors(checkpoints[trainer]).items() if array.size]
    for name in names:
        for make in (
            lambda a: a[:-1].copy(),
            lambda a: np.concatenate([a, a[:1]]),
            lambda a: a[None].copy(),
            lambda a: a.astype(np.int32),
            lambda a: np.full_like(a, np.nan),
            lambda a: np.full_like(a, np.inf),
            None,
        ):

            def change(config, tensors, name=name, make=make):
                array = tensors.pop(name)
                if make is not None:
                    tensors[name] = make(array)

            with pytest.raises(ModelFileError, match="does not describe this training"):
                resumed(trainer, forged(checkpoints[trainer], change), tmp_path)


@pytest.mark.parametrize("trainer", ["auto", "sgd"])
def test_values_of_wrong_types_are_refused(trainer, checkpoints, tmp_path):
    size = 8 + int.from_bytes(checkpoints[trainer][:8], "little")
    config = json.loads(json.loads(checkpoints[trainer][8:size])["__metadata__"]["chainfield"])["config"]
    for part in ("state", "session"):
        for key, value in config[part].items():
            for strange in (None, -1, 10**30, 2.5, float("nan"), "x", [], {}, ["x"], True):
                if type(strange) is type(value) or (key in ("best_score",) and strange in (None, -1, 2.5, 10**30)):
                    continue
                if isinstance(value, float) and isinstance(strange, int | float) and strange == strange:
                    continue

                def change(config, tensors, part=part, key=key, strange=strange):
                    config[part][key] = strange

                with pytest.raises(ModelFileError, match="does not describe this training"):
                    resumed(trainer, forged(checkpoints[trainer], change), tmp_path)


@pytest.mark.parametrize("key", ["iteration", "best_iteration"])
def test_iterations_that_do_not_add_up(key, checkpoints, tmp_path):
    def change(config, tensors):
        config["state" if key == "iteration" else "session"][key] = 4

    with pytest.raises(ModelFileError, match="the number of iterations"):
        resumed("lbfgs", forged(checkpoints["lbfgs"], change), tmp_path)


def test_a_stage_without_its_arrays(checkpoints, tmp_path):
    def change(config, tensors):
        for name in ("steps", "changes"):
            tensors[f"state.{name}"] = np.empty((0, 0), np.float32)

    with pytest.raises(ModelFileError, match="an empty array"):
        resumed("lbfgs", forged(checkpoints["lbfgs"], change), tmp_path)


def test_a_checkpoint_of_an_older_version(checkpoints, tmp_path):
    def older(data):
        size = 8 + int.from_bytes(data[:8], "little")
        description = json.loads(json.loads(data[8:size])["__metadata__"]["chainfield"])
        tensors = load_tensors(data)
        description["version"] = 1
        del description[DIGEST]
        description[DIGEST] = digest(description, tensors)
        return save_tensors(tensors, {"chainfield": json.dumps(description)})

    with pytest.raises(ModelFileError, match="written by an older chainfield"):
        resumed("lbfgs", older(checkpoints["lbfgs"]), tmp_path)


# ---- Ctrl-C ------------------------------------------------------------------------------------------------------


def test_a_stop_between_iterations_is_where_resuming_begins(tmp_path):
    """However rarely checkpoints are written."""
    path, at = tmp_path / "c", []

    def stop(progress):
        if progress.iteration == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model("lbfgs", 9).fit(X, Y, checkpoint=path, callback=stop)
    model("lbfgs", 9).fit(X, Y, checkpoint=path, resume=True, callback=lambda progress: at.append(progress.iteration))
    assert at[0] == 5


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal: what a shell starts in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix
def test_ctrl_c_waits_for_the_iteration(tmp_path, capfd, ctrl_c):
    seen = []

    def press(progress):
        seen.append(progress.iteration)
        if progress.iteration == 2:
            os.kill(os.getpid(), signal.SIGINT)
            seen.append("still here")

    crf, before = model("lbfgs", 9), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        crf.fit(X, Y, checkpoint=tmp_path / "c", callback=press)
    assert seen == [1, 2, "still here"]
    assert crf.n_iter_ == 2
    assert crf.stop_reason_ == "interrupted"
    assert signal.getsignal(signal.SIGINT) is before
    assert "press Ctrl-C again" in capfd.readouterr().err


@posix
def test_a_second_ctrl_c_does_not_wait(ctrl_c):
    with interruptible() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


CORPUS = "\n".join(
    "\n".join(f"w{i % 7}\t{'ABC'[i % 3]}" for i in range(k, k + 5)) + "\n" for k in range(40)
)  # fmt: skip
PRESSED = """
    import os, signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from chainfield.commands import main, progress

    presses, at = int(sys.argv[1]), int(sys.argv[2])
    real = progress.Reporter.show

    def show(self, found):
        real(self, found)
        if found.iteration == at:
            for _ in range(presses):
                os.kill(os.getpid(), signal.SIGINT)

    progress.Reporter.show = show
    sys.argv[1:] = sys.argv[3:]
    main.entry()
"""


def pressed(folder, presses, at, *options):
    import textwrap

    code = textwrap.dedent(PRESSED)
    command_line = [
        sys.executable,
        "-c",
        code,
        str(presses),
        str(at),
        "train",
        "d.txt",
        "m.cf",
        "--trainer",
        "lbfgs",
        *options,
    ]
    source = str(Path(chainfield.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": source}
    return subprocess.run(command_line, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@posix
def test_interrupted_trainings_of_the_command_line(tmp_path):
    """One Ctrl-C, then five quick ones; a later stop at an earlier iteration leaves the better model."""
    (tmp_path / "d.txt").write_text(CORPUS, encoding="utf-8")
    first = pressed(tmp_path, 1, 5)
    assert first.returncode == 130
    assert "holds the best model so far" in first.stderr
    better = (tmp_path / "m.cf").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.txt", "m.cf", "m.cf.checkpoint"]
    worse = pressed(tmp_path, 5, 2)
    assert worse.returncode == 130
    assert "Traceback" not in worse.stderr
    assert "keeps the model of this training after 5 iterations" in worse.stderr
    assert (tmp_path / "m.cf").read_bytes() == better
    further = pressed(tmp_path, 1, 7, "--resume")
    assert further.returncode == 130
    assert (tmp_path / "m.cf").read_bytes() != better
    assert command._iterations_of(tmp_path / "m.cf", None) == 0


# ---- faults ------------------------------------------------------------------------------------------------------


def test_every_call_fails_in_turn_while_training(tmp_path, monkeypatch):
    """Whatever fails, there is the old checkpoint or the new one, the model of the last iteration, and nothing else."""
    monkeypatch.setattr("chainfield.models.run.CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "c"

    def stop(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model("lbfgs").fit(X, Y, checkpoint=path, callback=stop)
    before, failed = path.read_bytes(), 0
    for n in range(1, 100):
        path.write_bytes(before)
        crf, broken = model("lbfgs", 3), FaultyOS(n, OSError(errno.ENOSPC, "No space left on device"))
        with monkeypatch.context() as patch:
            patch.setattr(replacing, "os", broken)
            try:
                crf.fit(X, Y, checkpoint=path, resume=True)
            except ModelFileError:
                failed += 1
        if len(broken.calls) < n:
            break
        assert [p.name for p in tmp_path.iterdir()] == ["c"], broken.calls
        if hasattr(crf, "fitted_"):
            assert crf.n_iter_ == 3
            assert np.isfinite(crf.fitted_.theta).all()
        again = model("lbfgs").fit(X, Y, checkpoint=path, resume=True)  # whichever it is, it is whole
        assert again.history_[0]["iteration"] == 1
        assert len(again.history_) == 5
    assert failed > 10
