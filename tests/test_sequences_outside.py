"""Whole sequences from outside: arrays in files, the command line, plots, audio."""

from __future__ import annotations

import json
import wave

import numpy as np
import pytest

import chainfield
from chainfield.audio import normalise, phone_segments, read_phones
from chainfield.audio.timit import frame_range
from chainfield.data.array_corpus import load_arrays
from chainfield.errors import ChainfieldError, DataError
from chainfield.models import Alignment
from chainfield.plots import plot_alignment, plot_history
from test_commands import run
from test_hidden_crf import X_TEST, Y_TEST, X, Y


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("arrays")
    np.savez(place / "train.npz", X=np.concatenate(X), lengths=[len(x) for x in X], y=Y)
    np.savez(place / "test.npz", X=np.concatenate(X_TEST), lengths=[len(x) for x in X_TEST], y=Y_TEST)
    np.savez(place / "open.npz", X=np.concatenate(X_TEST[:4]), lengths=[len(x) for x in X_TEST[:4]])
    for s, (x, label) in enumerate(zip(X[:12], Y, strict=False)):
        (place / "tree" / label).mkdir(parents=True, exist_ok=True)
        np.save(place / "tree" / label / f"{s:02}.npy", x)
    return place


def test_arrays_from_files(folder):
    found = load_arrays(folder / "train.npz")
    assert found.labels == Y
    for a, b in zip(found.sequences, X, strict=True):
        np.testing.assert_array_equal(a, b)
    tree = load_arrays(folder / "tree")
    assert sorted(set(tree.labels)) == ["arch", "down", "up"]
    assert tree.names[0] == "arch/02.npy"
    assert not load_arrays(folder / "open.npz").labelled


def test_damaged_arrays(folder, tmp_path):
    cases = {
        "one.npz": {"X": np.zeros((3, 2)), "lengths": [1, 1]},
        "two.npz": {"X": np.zeros((2, 2))},
        "three.npz": {"X": np.zeros((2, 2)), "lengths": [1, 1], "y": ["a"]},
        "four.npz": {"X": np.zeros((2, 2)), "lengths": [0.5, 1.5]},
    }
    for (name, content), match in zip(
        cases.items(), ("add up to 2", "no array 'lengths'", "y has 1 labels", "whole numbers"), strict=True
    ):
        np.savez(tmp_path / name, **content)
        with pytest.raises(DataError, match=match):
            load_arrays(tmp_path / name)
    (tmp_path / "bad.npz").write_bytes(b"PK nothing")
    (tmp_path / "none").mkdir()
    np.save(tmp_path / "one.npy", np.zeros((2, 2)))
    np.savez(tmp_path / "objects.npz", X=np.array([{}], object), lengths=[1])
    for name, match in (
        ("bad.npz", "no archive of arrays"),
        ("one.npy", "a single array"),
        ("none", "no .npy files"),
        ("gone.npz", "does not exist"),
        ("objects.npz", "holds Python objects"),
    ):
        with pytest.raises(DataError, match=match):
            load_arrays(tmp_path / name)


@pytest.mark.parametrize("model", ["hmm", "hcrf"])
def test_training_and_classifying_from_the_command_line(folder, tmp_path, model):
    target = tmp_path / "model.cf"
    options = ["--model", model, "--max-iter", "3", "--states", "2", "--jobs", "1"]
    done = run("train", folder / "train.npz", target, *options, "--dev", folder / "test.npz")
    assert done.code == 0, done.stderr
    assert "60 sequences" in done.stderr
    assert "development accuracy" in done.stderr
    estimator = chainfield.load(target, n_jobs=1)
    assert estimator.n_states == 2
    done = run("classify", target, folder / "test.npz", "--jobs", "1")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [label for _, label, _ in lines] == estimator.predict(X_TEST).tolist()
    assert "accuracy" in done.stderr
    done = run("classify", target, folder / "open.npz", "--json", "--jobs", "1")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 4
    assert abs(sum(rows[0]["probabilities"].values()) - 1) < 1e-5
    assert len(rows[0]["states"]) == len(X_TEST[0])
    assert done.stderr == ""
    assert run("show", target).code == 0
    refused = run("tag", target, "-", stdin=b"a b\n")
    assert refused.code == 1
    assert "whole sequences" in refused.stderr


def test_the_command_line_refuses(folder, tmp_path):
    target = tmp_path / "model.cf"
    for options, match in (
        (["--model", "hmm", "--scheme", "bio"], "--scheme has no effect with --model hmm"),
        (["--model", "linear", "--states", "2"], "--states has no effect with --model linear"),
        (["--model", "hcrf", "--trainer", "em"], "'em'; choose one of auto, sgd"),
    ):
        done = run("train", folder / "train.npz", target, *options)
        assert done.code in (1, 2), options
        assert match in done.stderr
    done = run("train", folder / "open.npz", target, "--model", "hmm")
    assert "has no labels" in done.stderr
    done = run("train", folder / "train.npz", target)
    assert "holds arrays; --model hmm and --model hcrf learn from them" in done.stderr


def test_files_of_a_folder_are_named(folder, tmp_path):
    files = {"arch/0.npy": X[2][:1], "down/1.npy": X[1], "down/2.npy": X[1][:, :1], "up/3.npy": X[0]}
    for name, x in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        np.save(tmp_path / name, x)
    done = run("train", tmp_path, tmp_path / "model.cf", "--model", "hcrf")
    assert f"{tmp_path / 'down' / '2.npy'}: Sequence 2 has 1 columns" in done.stderr
    (tmp_path / "down" / "2.npy").unlink()
    done = run("train", tmp_path, tmp_path / "model.cf", "--model", "hcrf", "--states", "3")
    assert f"{tmp_path / 'arch' / '0.npy'}: Sequence 0 has 1 positions" in done.stderr
    done = run("train", folder / "train.npz", tmp_path / "model.cf", "--model", "hmm", "--dev", tmp_path)
    assert "X_dev: Sequence 0 has 1 positions" in done.stderr


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    alignment = Alignment("up", np.array([0, 0, 1, 2]), np.array([1, 0, 0, 1]))
    figure = plot_alignment(np.arange(8.0).reshape(4, 2), alignment, tmp_path / "a.png", columns=["x", "y"])
    states, components, image = figure.axes[:3]
    assert [t.get_text() for t in states.texts] == ["state 0", "1", "2"]  # by number where there is little room
    assert [t.get_text() for t in components.texts] == ["1", "component 0", "1"]
    assert [t.get_text() for t in image.get_yticklabels()] == ["x", "y"]
    assert (image.get_xlabel(), image.get_ylabel()) == ("position", "column")
    assert states.get_title(loc="left") == "up"
    assert (tmp_path / "a.png").stat().st_size > 0
    history = [
        {"iteration": 1, "objective": 2.0, "dev_score": 0.5},
        {"iteration": 2, "objective": 1.0, "dev_score": 0.75},
    ]
    figure = plot_history({"SGA": history}, tmp_path / "b.svg")
    assert figure.axes[0].lines[0].get_ydata().tolist() == [50.0, 25.0]
    plain = [{k: v for k, v in record.items() if k != "dev_score"} for record in history]
    assert plot_history({"SGA": plain, "RProp": history}).axes[0].get_ylabel() == "objective"
    with pytest.raises(DataError, match="nothing to plot"):
        plot_history({})
    with pytest.raises(DataError, match="alignment has 4 positions"):
        plot_alignment(np.zeros((3, 2)), alignment)
    with pytest.raises(DataError, match="columns has 1 names, but the sequence has 2 columns"):
        plot_alignment(np.zeros((4, 2)), alignment, columns=["x"])


# ---- speech ------------------------------------------------------------------------------------------------------


def test_frames_of_a_segment():
    assert frame_range(0, 1600, 160, 100, 3) == (0, 10)
    assert frame_range(1601, 1700, 160, 100, 3) == (9, 12)
    assert frame_range(15990, 16000, 160, 100, 3) == (97, 100)
    assert frame_range(0, 10, 160, 2, 3)[1] <= 2


def test_normalising():
    x = np.c_[np.arange(5.0), np.ones(5)]
    found = normalise(x)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), [1, 0], atol=1e-12)


def test_label_files(tmp_path):
    good = tmp_path / "a.phn"
    good.write_text("0 1600 h#\n1600 3200 sh\n\n")
    assert read_phones(good) == [(0, 1600, "h#"), (1600, 3200, "sh")]
    for text, match in (("0 h#\n", "line 1: a beginning"), ("0 5 a\n9 5 b\n", "line 2: the segment ends at 5")):
        good.write_text(text)
        with pytest.raises(DataError, match=match):
            read_phones(good)
    with pytest.raises(DataError, match=r"no \.phn files"):
        phone_segments(tmp_path / "nowhere")
    good.write_text("0 5 a\n")
    with pytest.raises(ChainfieldError, match="no recording beside"):
        phone_segments(tmp_path)


def test_segments_of_a_recording(tmp_path):
    pytest.importorskip("librosa")
    speaker = tmp_path / "fabc0"
    speaker.mkdir()
    signal = (3000 * np.sin(np.arange(16000) ** 1.3 / 40)).astype("<i2")
    for name in ("si1", "sa1"):
        with wave.open(str(speaker / f"{name}.wav"), "wb") as out:
            out.setparams((1, 2, 16000, 16000, "NONE", ""))
            out.writeframes(signal.tobytes())
        (speaker / f"{name}.phn").write_text("0 8000 h#\n8000 8100 q\n8100 8200 ax-h\n8200 16000 sh\n")
    classes = {"h#": "sil", "q": None, "ax-h": "ax", "sh": "sh"}
    found = phone_segments(tmp_path, fold=classes.__getitem__)
    assert [(s.phone, s.frames.shape, s.speaker) for s in found] == [
        ("sil", (50, 39), "fabc0"), ("ax", (3, 39), "fabc0"), ("sh", (48, 39), "fabc0"),
    ]  # fmt: skip
    assert all(np.isfinite(s.frames).all() for s in found)
