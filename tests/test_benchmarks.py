"""The harness of the benchmarks, with small corpora; what the figures are is not tested."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import chainfield

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
if not (BENCHMARKS / "run.py").is_file():
    pytest.skip("benchmarks/ is not part of an installed package", allow_module_level=True)
if str(BENCHMARKS) not in sys.path:
    sys.path.insert(0, str(BENCHMARKS))

commands = importlib.import_module("suite.commands")
empirical = importlib.import_module("suite.empirical")
engine = importlib.import_module("suite.engine")
made_up = importlib.import_module("suite.made_up")
measure = importlib.import_module("suite.measure")
peers = importlib.import_module("suite.peers")
render = importlib.import_module("suite.render")
scaling = importlib.import_module("suite.scaling")
tasks = importlib.import_module("suite.tasks")
trajectory = importlib.import_module("suite.trajectory")

ROWS = ["He PRP B-NP", "saw VBD B-VP", "the DT B-NP", "dog NN I-NP", "of IN B-PP", "her PRP B-NP", ". . O"]


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    for name, files in (("conll2000", ("train.txt", "test.txt")), ("conll2002", ("ned.train", "ned.testb"))):
        (tmp_path / name).mkdir()
        for file in files:
            text = "\n\n".join("\n".join(ROWS[start:]) for start in (0, 1, 2, 3, 0, 2))
            (tmp_path / name / file).write_text(text + "\n")
    monkeypatch.setenv("CHAINFIELD_DATA", str(tmp_path))
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(commands.main, [str(a) for a in arguments])


def test_list_is_one_line_a_benchmark_and_needs_nothing():
    program = [sys.executable, str(BENCHMARKS / "run.py"), "list"]
    listed = subprocess.run(program, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    assert names == list(commands.BENCHMARKS)
    assert {"train-conll2000", "tag-conll2000", "memory-conll2000", "startup", "latency", "load", "encode"} <= set(
        names
    )


def test_every_benchmark_is_where_the_list_says():
    for benchmark in commands.BENCHMARKS.values():
        try:
            function = benchmark.load()
        except ImportError:  # of an extra that is not installed
            continue
        assert callable(function)


def test_an_unknown_name_gets_one_sentence():
    near = call("train-conll200")
    assert (near.exit_code, near.output.count("\n")) == (1, 1)
    assert "did you mean 'train-conll2000" in near.output
    far = call("qqq")
    assert far.output.count("\n") == 1
    assert "choose one of train-conll2000, " in far.output


def test_samples_are_never_kept_and_targets_are_checked_first(tmp_path):
    assert "do not go together" in call("scaling", "--sample", 100, "--keep").output
    assert "There is no folder" in call("scaling", "--json", tmp_path / "nowhere" / "x.json").output


def test_missing_corpus_says_what_to_do(monkeypatch):
    monkeypatch.delenv("CHAINFIELD_DATA", raising=False)
    said = call("train-dutch-ner").output
    assert "CHAINFIELD_DATA" in said
    assert "ned.train" in said


def test_time_to_the_mark():
    path = trajectory.Trajectory()
    assert path.when(100.0) == (float("inf"), False)
    path.add(1.0, 200.0)
    path.add(2.0, 101.0, 3)
    path.add(3.0, 100.01, 1)
    seconds, reached = path.when(100.0)
    assert reached
    assert seconds == pytest.approx(2.5)  # the gap shrinks from 1 to 0.1 to 0.01
    assert path.when(90.0) == (3.0, False)
    assert path.per_evaluation(1) == pytest.approx(2.0 / 4)
    assert path.best == 100.01


def test_speedups_need_both_sides():
    result = measure.Measurements("x", samples={"own": [1.0, 3.0, 2.0], "peer": [8.0]})
    result.speedup("train_speedup_peer", "peer", "own")
    result.speedup("train_speedup_absent", "absent", "own")
    assert result.figures == {"train_speedup_peer": 4.0}
    assert json.loads(json.dumps(result.to_dict()))["samples"]["own"] == [1.0, 3.0, 2.0]


def test_a_missing_peer_is_a_note(monkeypatch):
    monkeypatch.setitem(peers.PACKAGES, "wapiti", "no_such_package")
    assert not peers.installed("wapiti")
    assert peers.missing_notes("wapiti") == [
        "libwapiti is not installed, so it did not take part (pip install -e '.[bench]')."
    ]


def test_features_are_those_that_templates_define(corpora):
    for task in (tasks.conll2000(), tasks.dutch_ner(3)):
        strings = tasks.feature_strings(task.templates, task.train.rows)
        assert strings == [task.templates.expand(rows)[0] for rows in task.train.rows]
    assert not task.whole
    assert len(task.train.rows) == 3
    assert tasks.feature_dicts([[["U00:He", "U01:a:b"]]]) == [[{"U00": "He", "U01": "a:b"}]]
    text = tasks.column_text(task.train.rows, task.train.labels)
    assert text.startswith("He PRP B-NP\nsaw VBD B-VP\n")
    assert text.count("\n\n") == 3


def test_a_fit_is_timed_from_encoded_data_on(corpora):
    task = tasks.conll2000()
    found = engine.fit(engine.linear(task, l2=1.0), task.train.rows, task.train.labels)
    assert found.problem.n_sequences == 6
    assert len(found.trajectory.seconds) == found.model.n_iter_
    assert 0 < found.trajectory.seconds[-1] <= found.seconds
    assert engine.optimum(task, l2=1.0) == pytest.approx(found.objective, rel=1e-3)
    assert len(engine.evaluation_seconds(found.problem, 2, 3)) == 3


def test_crfsuite_is_watched_and_stopped(corpora):
    crfsuite = importlib.import_module("suite.peers.crfsuite")
    task = tasks.conll2000()
    strings = tasks.feature_strings(task.templates, task.train.rows)
    whole = crfsuite.train(strings, task.train.labels, c2=1.0)
    best = engine.optimum(task, l2=1.0)
    assert whole.best == pytest.approx(best, rel=1e-3)
    part = crfsuite.train(strings, task.train.labels, optimum=best, c2=1.0)
    assert part.when(best)[1]
    assert len(part.seconds) <= len(whole.seconds)
    assert part.objective[:3] == whole.objective[:3]


@pytest.mark.skipif(not peers.installed("wapiti"), reason="libwapiti is not installed")
def test_wapiti_has_the_objective_of_all_pairs(corpora):
    wapiti = importlib.import_module("suite.peers.wapiti")
    task = tasks.conll2000()
    found = wapiti.train(task.train_path, task.template_path, l2=1.0, iterations=100)
    assert found.best == pytest.approx(engine.optimum(task, l2=1.0, all_features=True), rel=1e-3)


def test_training_benchmark_on_a_corpus_of_its_own(corpora, tmp_path):
    done = call("train-dutch-ner", "--sample", 4, "--repeats", 1, "--json", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "out.json").read_text())
    assert {"optimum", "objective", "gap", "train_seconds", "train_speedup_crfsuite"} <= set(result["figures"])
    assert {"chainfield", "crfsuite"} <= set(result["samples"])
    assert result["notes"][0].startswith("A trial with the first 4 sentences")
    assert str(tmp_path) not in json.dumps(result)


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("latency", {"latency_lists_ratio_crfsuite", "latency_columns_ratio_crfsuite", "tutorial_tag_us"}),
        ("encode", {"tag_dicts_1_speedup_crfsuite", "tag_lists_2_speedup_crfsuite", "encode_dicts_speedup_crfsuite"}),
        ("load", {"load_names_speedup_crfsuite", "peak_lists_ratio_crfsuite", "fresh_seconds_columns_own"}),
    ],
)
def test_benchmarks_of_all_styles_of_input(corpora, tmp_path, monkeypatch, name, figures):
    monkeypatch.setattr("suite.load.PROCESSES", 2)
    done = call(name, "--sample", 6, "--repeats", 1, "--json", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "out.json").read_text())
    assert figures <= set(result["figures"])
    assert all(value > 0 for value in result["figures"].values())
    assert str(tmp_path) not in json.dumps(result)


def test_regret_of_defaults_goes_on_where_it_was_stopped(corpora, tmp_path, monkeypatch):
    grids, regret, training = (importlib.import_module(f"defaults.{name}") for name in ("grids", "regret", "training"))
    two = tuple(f for f in grids.FAMILIES if f.name in ("LinearCRF", "LinearCRF, piecewise"))
    for module in (grids, regret):
        monkeypatch.setattr(module, "FAMILIES", two)
    monkeypatch.setenv("CHAINFIELD_CELLS", str(tmp_path / "cells"))
    monkeypatch.setattr(regret, "cells", lambda: [c for c in grids.cells() if not c.chosen or c.chosen[0][0] == "l2"])
    trained, real = [], training.train

    def train(cell, sample):
        if len(trained) == 5 and "stop" not in trained:
            trained.append("stop")
            raise KeyboardInterrupt
        trained.append(cell)
        return real(cell, sample)

    monkeypatch.setattr(training, "train", train)
    part = call("defaults", "--sample", 3, "--json", tmp_path / "out.json")
    assert part.exit_code == 0, part.output
    assert "stopped after 5 of " in part.output
    assert call("defaults", "--sample", 3, "--json", tmp_path / "out.json").exit_code == 0
    assert len(trained) == len(set(trained))  # none twice
    result = json.loads((tmp_path / "out.json").read_text())
    assert {"linearcrf_worst_regret", "linearcrf_piecewise_worst_below_likelihood"} <= set(result["figures"])
    assert result["tables"][0]["head"][:2] == ["model", "corpora"]
    assert all(row[4] >= 0 for row in result["tables"][0]["rows"])
    assert "Missing corpora: addresses" in " ".join(result["notes"])
    assert str(tmp_path) not in json.dumps(result)


def test_cells_of_other_code_count_where_they_are_trusted(tmp_path, monkeypatch):
    importlib.import_module("defaults")  # which knows where the harness of the papers is
    cells = importlib.import_module("harness.cells")
    experiment = importlib.import_module("harness.experiment")
    monkeypatch.setenv("CHAINFIELD_CELLS", str(tmp_path))
    context = experiment.Context("full", 0, 1, {}, lambda text: None)
    assert cells.earlier("a part", {"x": 1}) is None
    cells.kept("a part", {"x": 1}, context, lambda: {"score": 2.0})
    (tmp_path / "a-part-damaged.json").write_text("{")
    assert cells.earlier("a part", {"x": 1}) == {"score": 2.0}
    assert cells.earlier("a part", {"x": 2}) is None


def test_names_are_thinned():
    rare = importlib.import_module("defaults.rare_names")
    y = [["O"] * 20] * 50 + [["B-X", "O"]] * 40
    X, kept = rare.thinned([["w"] * len(labels) for labels in y], y, seed=0)
    tokens = [label for labels in kept for label in labels]
    assert len(X) == len(kept)
    assert 0.009 <= sum(label != "O" for label in tokens) / len(tokens) <= 0.01


def test_segments_and_stretched_sequences():
    sequences = importlib.import_module("defaults.sequences")
    x = sequences.np.arange(14.0).reshape(7, 2)
    assert sequences.statistics(x).shape == sequences.statistics(x[:2]).shape == (5 * 2 * 2 + 1,)
    assert sequences.stretched(x, 13)[::2].tolist() == x.tolist()


def test_dicts_of_the_tutorial_have_other_keys_at_the_ends(corpora):
    styles = importlib.import_module("suite.styles")
    first, *_, last = styles.tutorial_dicts(tasks.conll2000().train.rows)[0]
    assert ("BOS" in first, "EOS" in first, "BOS" in last, "EOS" in last) == (True, False, False, True)
    assert first["+1:word.lower()"] == "saw"
    assert "-1:postag" in last


def test_made_up_data_and_the_arithmetic_they_need():
    data = made_up.make(200, 5, length=10)
    assert (data.n_tokens, len(data.rows), {len(rows) for rows in data.rows}) == (200, 20, {10})
    assert {label for labels in data.labels for label in labels} == {f"L{i}" for i in range(5)}
    assert made_up.make(200, 5, length=10).labels == data.labels
    assert made_up.make(60, 3, dense=True).rows[0].shape == (20, made_up.COLUMNS)
    found = engine.fit(engine.LinearCRF(template=made_up.TEMPLATE, trainer="sgd", max_iter=1), data.rows, data.labels)
    features = [made_up.TEMPLATE.expand(rows)[0] for rows in data.rows]
    seen: dict[str, set[str]] = {}
    for names, labels in zip(features, data.labels, strict=True):
        for position, label in zip(names, labels, strict=True):
            for name in position:
                seen.setdefault(name, set()).add(label)
    expected = sum(len(seen[name]) for names in features for position in names for name in position) / 200
    assert scaling._active_weights(found, data) == pytest.approx(expected)


def test_render(tmp_path):
    result = measure.Measurements("scaling", {"a_ratio": 0.5, "b": 12345.6, "hidden": 1.0}, {"a": [1.0]}, ["A note."])
    result.tables = [measure.Table("Sizes", ["what", "MB"], [["this", 1.25], ["that", None]])]
    result.tabled = ["hidden"]
    (tmp_path / "scaling.json").write_text(json.dumps(result.to_dict()))
    page = render.render_all(tmp_path.glob("*.json"))
    assert "| a_ratio | 0.5 |" in page
    assert "| b | 12,346 |" in page
    assert "hidden" not in page
    assert "| what | MB |\n| --- | --: |\n| this | 1.25 |\n| that | – |" in page
    assert "- A note." in page
    assert "hidden" not in render.shown(result)


def test_results_that_are_kept_can_be_rendered():
    kept = sorted((BENCHMARKS / "results").glob("*.json"))
    page = render.render_all(kept)
    assert all(f"## {path.stem}" in page for path in kept)


def test_made_up_files_are_another_text_of_the_same_language(tmp_path):
    for seed in (0, 1):
        made_up.write_columns(tmp_path / f"{seed}.txt", 2000, 7, seed=seed)
    one, two = (chainfield.load_corpus(tmp_path / f"{seed}.txt") for seed in (0, 1))
    assert len(one.rows) == len(two.rows) == 100
    assert set(map(len, one.rows)) == {20}
    assert {label for labels in one.labels for label in labels} == {f"L{i}" for i in range(7)}
    assert list(one.rows) != list(two.rows)
    assert len({made_up.spell(number) for number in range(20_000)}) == 20_000


def test_sentences_with_all_labels():
    train = [(["a", "b"], ["X", "X"]), (["c"], ["X"]), (["d"], ["Y"]), (["e"], ["Y"])]
    assert empirical.with_all_labels(train, 0) == [train[0], train[2]]
    assert empirical.with_all_labels(train, 3) == [train[0], train[2], train[0]]
