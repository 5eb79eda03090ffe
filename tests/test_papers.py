"""The harness of the papers' experiments, with a small experiment and corpus of its own."""

from __future__ import annotations

import dataclasses
import importlib
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from chainfield import EmpiricalCRF
from chainfield.errors import DataError

PAPERS = Path(__file__).resolve().parents[1] / "papers"
if not (PAPERS / "run.py").is_file():
    pytest.skip("papers/ is not part of an installed package", allow_module_level=True)
if str(PAPERS) not in sys.path:
    sys.path.insert(0, str(PAPERS))

commands = importlib.import_module("harness.commands")
corpora = importlib.import_module("harness.corpora")
claims = importlib.import_module("harness.claims")
experiment = importlib.import_module("harness.experiment")
figures = importlib.import_module("harness.figures")
grids = importlib.import_module("harness.grids")
matrix = importlib.import_module("harness.matrix")
registry = importlib.import_module("harness.registry")
results = importlib.import_module("harness.results")
tagging = importlib.import_module("harness.tagging")

FAKE = """
from harness.corpora import Corpus
from harness.experiment import Experiment, Row

def run(context):
    words = (context.data["tiny"] / "words.txt").read_text().split()
    if not context.quick:
        context.log("counting")
    yield Row("all", "words", 2, len(words[: 1 if context.quick else None]), 0.5, "a | b", "Counter 1999", (1.0, 3.0))
    yield Row("others", "words", 7, None, source="Counter 2001")

EXPERIMENT = Experiment(
    name="tiny-count", title="Counting", paper="Counter 1999", protocol="Words are counted.",
    differences=("The words are ours.",), subset="the first word", run=run,
    corpora=(Corpus("tiny", ("words.txt",), "two words", "the moon", "as it is", "free"),),
)
"""


@pytest.fixture
def places(tmp_path, monkeypatch):
    package = f"fakes_{tmp_path.name.replace('-', '_')}"
    folder = tmp_path / package
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "_shared.py").touch()
    (folder / "tiny.py").write_text(FAKE)
    (tmp_path / "data" / "tiny").mkdir(parents=True)
    (tmp_path / "data" / "tiny" / "words.txt").write_text("one two three")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv(corpora.VARIABLE, raising=False)
    found = commands.Places(package, tmp_path / "results", tmp_path / "RESULTS.md", claims=None)
    yield found
    forget(found)


def forget(places):
    """As a new process would find the experiments."""
    for name in [name for name in sys.modules if name.partition(".")[0] == places.package]:
        del sys.modules[name]
    importlib.invalidate_caches()


def call(places, *arguments, **environment):
    return CliRunner().invoke(commands.main, [str(a) for a in arguments], obj=places, env=environment)


def test_registry_finds_the_chunking_experiment():
    assert registry.find("conll2000-chunking").corpora == (corpora.CONLL2000,)
    with pytest.raises(registry.UnknownExperiment, match=r"there are: .*conll2000-chunking"):
        registry.find("nothing")


def test_chunking_template_has_19_templates_and_the_bigram():
    lines = (PAPERS / "experiments" / "conll2000_chunking.template").read_text().split()
    assert len(lines) == len(set(lines)) == 20
    assert lines[-1] == "B"


def test_a_module_without_experiment_is_refused(places, tmp_path):
    (tmp_path / places.package / "broken.py").touch()
    with pytest.raises(TypeError, match=r"broken\.py defines no EXPERIMENT"):
        registry.discover(places.package)


def test_list(places, tmp_path):
    missing = call(places, "list")
    assert missing.exit_code == 0
    assert "tiny-count" in missing.output
    assert "tiny: missing" in missing.output
    assert "tiny: found" in call(places, "list", "--data", tmp_path / "data").output
    assert "tiny: found" in call(places, "list", CHAINFIELD_DATA=str(tmp_path / "data")).output


def test_list_of_the_real_experiments_as_a_program():
    program = [sys.executable, str(PAPERS / "run.py"), "list"]
    listed = subprocess.run(program, capture_output=True, text=True, encoding="utf-8", check=True)
    assert "conll2000-chunking" in listed.stdout
    assert listed.stderr == ""


def test_full_run_is_kept_and_rendered(places, tmp_path):
    done = call(places, "run", "tiny-count", "--data", tmp_path / "data", "--seed", 3, "--jobs", 1)
    assert done.exit_code == 0, done.output
    data = json.loads((places.results / "tiny-count.json").read_text())
    assert (data["name"], data["protocol"], data["mode"]) == ("tiny-count", "Words are counted.", "full")
    assert (data["seed"], data["jobs"], data["subset"]) == (3, 1, "")
    assert set(data["machine"]) == {"processor", "cores", "python", "chainfield"}
    assert {"setting", "metric", "published", "ours", "seconds"} <= set(data["rows"][0])
    assert data["rows"][0]["ours"] == 3
    assert data["rows"][1]["ours"] is None
    assert str(tmp_path) not in json.dumps(data)

    assert call(places, "render").exit_code == 0
    page = places.report.read_text()
    assert "| all | words | 2 | Counter 1999 | 3 | 1.00 – 3.00 | 0.5 | a \\| b |" in page
    assert "| others | words | 7 | Counter 2001 | - |" in page
    assert "- The words are ours." in page
    assert "Quick run" not in page


def test_results_know_their_code_and_grow_stale(places, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # the module changes faster than the clock of files
    data = ("--data", tmp_path / "data")
    assert call(places, "run", "tiny-count", *data).exit_code == 0
    kept = results.read_json(places.results / "tiny-count.json")
    assert kept.code is not None
    assert len(kept.code.experiment) == len(kept.code.library) == 16
    assert kept.seconds is not None
    assert kept.processor is not None
    module = tmp_path / places.package / "tiny.py"
    committed = dataclasses.replace(kept, code=dataclasses.replace(kept.code, commit="0123456789ab"))
    results.write_json(committed, places.results / "tiny-count.json")

    def rendered():
        forget(places)
        assert call(places, "render").exit_code == 0
        return places.report.read_text()

    module.write_text('"""Another docstring."""  # and a comment\n' + FAKE)
    assert "Stale" not in rendered()
    assert "commit 0123456789ab; the whole run took 0 s of processor time." in rendered()
    told = "| [tiny-count](#tiny-count-counting) | 0 s | 0123456789ab | {} |"
    assert told.format("") in rendered()
    module.write_text(FAKE.replace("0.5", "0.6"))
    assert "**Stale: the experiment has changed since commit 0123456789ab." in rendered()
    assert told.format("stale") in rendered()
    results.write_json(dataclasses.replace(kept, code=None), places.results / "tiny-count.json")
    assert "Stale: it was kept without a record" in rendered()
    module.unlink()
    assert "Stale: there is no such experiment any more" in rendered()


def test_digests_follow_imports_but_not_english(tmp_path):
    provenance = importlib.import_module("harness.provenance")
    files = provenance.closure([PAPERS / "experiments" / "hucrf_ocr.py"])
    names = {path.name for path in files}
    assert {"_hucrf.py", "_hucrf_data.py", "cells.py", "corpora.py"} <= names
    assert "_elcrf.py" not in names
    library = provenance.closure((provenance.LIBRARY / "models").rglob("*.py"))
    parts = {path.relative_to(provenance.LIBRARY).parts[0] for path in library}
    assert {"kernels", "inference", "trainers", "features"} <= parts
    assert "commands" not in parts
    one, two = tmp_path / "one" / "m.py", tmp_path / "two" / "m.py"
    for path, text in ((one, '"""A."""\nx = 1\n'), (two, "# a remark\nx = 1  # more\n")):
        path.parent.mkdir()
        path.write_text(text)
    assert provenance.digest([one]) == provenance.digest([two])
    two.write_text("x = 2")
    assert provenance.digest([one]) != provenance.digest([two])


def test_digests_follow_what_is_computed_but_not_what_is_said_of_it(tmp_path):
    digest = importlib.import_module("harness.provenance").digest
    module = """
EXPERIMENT = Experiment(
    name="a", protocol="{words}", differences=("{words}",), run=lambda context: {run}, picture=picture
)

def picture(rows):
    return "{drawn}"
"""

    def of(**parts):
        (tmp_path / "m.py").write_text(module.format(**{"words": "", "run": "1", "drawn": ""} | parts))
        return digest([tmp_path / "m.py"])

    assert of() == of(words="Ten folds.") == of(drawn="<svg/>")
    assert of() != of(run="2")


def test_a_fresh_result_is_told_in_the_words_of_today(places, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("harness.provenance"), "commit", lambda: "0123456789ab")
    module = tmp_path / places.package / "tiny.py"
    assert call(places, "run", "tiny-count", "--data", tmp_path / "data").exit_code == 0
    importlib.invalidate_caches()
    text = module.read_text()
    assert 'protocol="' in text
    module.write_text(text.replace('protocol="', 'protocol="Plainly said: '))
    sys.modules.pop(f"{places.package}.tiny", None)
    assert call(places, "render").exit_code == 0
    rendered = places.report.read_text()
    assert "Protocol: Plainly said: " in rendered
    assert "Stale" not in rendered


def test_parts_are_kept_by_settings_and_code(tmp_path, monkeypatch):
    cells = importlib.import_module("harness.cells")
    said, calls = [], []
    context = experiment.Context("full", 0, 1, {}, said.append)

    def compute():
        calls.append(None)
        return {"n": len(calls)}

    assert cells.kept("a", {}, context, compute) == {"n": 1}
    monkeypatch.setenv(cells.CELLS, str(tmp_path / "cells"))
    assert cells.kept("a", {"l2": 1}, context, compute) == {"n": 2}
    assert cells.kept("a", {"l2": 1}, context, compute) == {"n": 2}
    assert cells.kept("a", {"l2": 2}, context, compute) == {"n": 3}
    assert cells.kept("b", {"l2": 2}, context, compute) == {"n": 4}
    assert cells.kept("a", {"l2": 1}, dataclasses.replace(context, seed=1), compute) == {"n": 5}
    monkeypatch.setattr(
        cells, "provenance_of", lambda module: importlib.import_module("harness.provenance").Provenance("", "e", "l")
    )
    assert cells.kept("a", {"l2": 1}, context, compute) == {"n": 6}
    for path in (tmp_path / "cells").iterdir():
        path.write_text('{"value"')
    assert cells.kept("a", {"l2": 1}, context, compute) == {"n": 7}
    assert "is damaged and is computed again" in said[-1]
    assert len(context.earlier) == 1  # one part was met again, and its time counts


def test_parts_are_known_by_all_the_code_of_their_experiment(tmp_path, monkeypatch):
    """What reads the data is in another module than what trains on them."""
    cells, provenance = (importlib.import_module(f"harness.{name}") for name in ("cells", "provenance"))
    asked = []
    monkeypatch.setenv(cells.CELLS, str(tmp_path))
    monkeypatch.setattr(
        cells, "provenance_of", lambda module: asked.append(module) or provenance.Provenance("", module, "l")
    )
    context = experiment.Context("full", 0, 1, {}, print, module="experiments.hucrf_faq")
    cells.kept("a", {}, context, dict)
    assert asked == ["experiments.hucrf_faq"]
    closure = {path.name for path in provenance.closure([PAPERS / "experiments" / "hucrf_faq.py"])}
    assert {"_hucrf.py", "_hucrf_data.py"} <= closure
    audio = provenance.library_digest(PAPERS / "experiments" / "hcrf_timit.py")
    assert audio != provenance.library_digest(PAPERS / "experiments" / "hucrf_faq.py")


def test_what_a_result_lacks_is_said(places, tmp_path):
    assert call(places, "run", "tiny-count", "--data", tmp_path / "data").exit_code == 0
    kept = places.results / "tiny-count.json"
    results.write_json(dataclasses.replace(results.read_json(kept), missing=("the second row",)), kept)
    assert call(places, "render").exit_code == 0
    rendered = places.report.read_text()
    assert "**Not complete: the second row.**" in rendered
    assert "not complete |" in rendered


def test_a_picture_is_kept_beside_the_result_and_shown(places, tmp_path):
    drawn = FAKE.replace('free"),),', 'free"),), picture=lambda rows: f"<svg>{len(rows)} rows</svg>",')
    (tmp_path / places.package / "tiny.py").write_text(drawn)
    assert call(places, "run", "tiny-count", "--data", tmp_path / "data").exit_code == 0
    assert (places.results / "tiny-count.svg").read_text() == "<svg>2 rows</svg>"
    assert call(places, "render").exit_code == 0
    assert "![Counting](results/tiny-count.svg)" in places.report.read_text()


def test_curves_are_a_picture_with_all_points():
    lines = {"a & b": [(10.0, 8.0), (100.0, 4.0), (1000.0, 3.5)], "level": [(10.0, 12.0), (1000.0, 12.0)]}
    drawn = importlib.import_module("harness.curves").curves(lines, "units", "error, %")
    root = ElementTree.fromstring(drawn)
    names = [element.tag.rpartition("}")[2] for element in root]
    assert names.count("circle") == 5
    assert names.count("polyline") == 2
    texts = {element.text for element in root if element.text}
    assert {"a & b", "level", "units", "error, %", "10", "100", "1000", "0", "12"} <= texts


@pytest.mark.parametrize(("top", "marks"), [(0.4, {"0", "0.05", "0.4"}), (9.0, {"1", "9"}), (540.0, {"100", "600"})])
def test_marks_of_an_axis_suit_any_size(top, marks):
    drawn = importlib.import_module("harness.curves").curves({"a": [(1.0, 0.1 * top), (2.0, top)]}, "x", "y")
    assert marks <= {element.text for element in ElementTree.fromstring(drawn) if element.text}


def test_a_matrix_is_a_picture_with_its_groups():
    drawn = matrix.matrix(["019", "900", "090"], ["O", "I-PER", "I-PER"], "to <state>", "from state")
    root = ElementTree.fromstring(drawn)
    names = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert names.count("O") == names.count("I-PER") == 2
    assert "to <state>" in names[-1]
    assert drawn.count("M") == 4  # one run of equal numbers each; zeros are left white


def test_grids_go_on_at_their_edges():
    seen = []

    def loss(settings):
        seen.append((settings["l2"], settings["kind"]))
        return abs(settings["l2"] - 0.011) + (settings["kind"] == "b")

    found = grids.best_of({"kind": ("a", "b"), "l2": (0.1, 0.3, 1.0)}, loss)
    assert (found.settings, found.edges) == ({"kind": "a", "l2": 0.011}, ())
    assert seen[6:] == [(0.033, "a"), (0.011, "a"), (0.0037, "a")]
    assert found.told() == "kind = a, l2 = 0.011"
    beyond = grids.best_of({"l2": (1.0, 2.0, 4.0)}, lambda settings: -settings["l2"])
    assert (beyond.settings, beyond.edges) == ({"l2": 64.0}, ("l2",))
    assert "edge" in beyond.told()
    for values, best in (((1.0, 2.0), 1.0), ((1, 2, 3), 3), (("a", "b", "c"), "a"), ((1.0, 2.0, 4.0), 2.0)):
        assert grids.beyond(values, best) is None


def test_json_elsewhere_leaves_the_results_alone(places, tmp_path):
    target = tmp_path / "deep" / "out.json"
    done = call(places, "run", "tiny-count", "--data", tmp_path / "data", "--json", target)
    assert done.exit_code == 0, done.output
    assert results.read_json(target).rows[0].interval == (1.0, 3.0)
    assert not places.results.exists()
    assert sorted(path.name for path in target.parent.iterdir()) == ["out.json"]


def test_quick_run_says_so_and_is_never_kept(places, tmp_path):
    data = ("--data", tmp_path / "data")
    shown = call(places, "run", "tiny-count", "--quick", *data)
    assert "Quick run" in shown.stdout
    assert "the first word" in shown.stdout
    printed = json.loads(call(places, "run", "tiny-count", "--quick", "--json", "-", *data).stdout)
    assert (printed["mode"], printed["rows"][0]["ours"]) == ("quick", 1)
    assert not places.results.exists()

    refused = call(places, "run", "tiny-count", "--quick", "--json", places.results / "tiny-count.json", *data)
    assert refused.exit_code == 2
    assert "Quick runs are not kept" in refused.output
    assert call(places, "run", "tiny-count", "--quick", "--full", *data).exit_code == 2


def test_an_unwritable_target_is_refused_before_the_run(places, tmp_path):
    (tmp_path / "file").touch()
    target = tmp_path / "file" / "out.json"
    refused = call(places, "run", "tiny-count", "--data", tmp_path / "data", "--json", target)
    assert refused.exit_code == 2
    assert "cannot be written" in refused.output
    assert "counting" not in refused.output


def test_missing_corpus_says_what_to_do(places, tmp_path):
    nowhere = call(places, "run", "tiny-count")
    assert nowhere.exit_code == 1
    assert "--data DIR" in nowhere.output
    assert corpora.VARIABLE in nowhere.output
    (tmp_path / "data" / "tiny" / "words.txt").unlink()
    message = call(places, "run", "tiny-count", "--data", tmp_path / "data").output
    for part in (str(tmp_path / "data" / "tiny" / "words.txt"), "the moon", "as it is", "free"):
        assert part in message
    with pytest.raises(corpora.MissingCorpus, match=r"conll2000\.zip"):
        corpora.locate(corpora.CONLL2000, tmp_path)


def test_data_option_comes_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(corpora.VARIABLE, "elsewhere")
    assert corpora.data_root(tmp_path) == tmp_path
    assert corpora.data_root(None) == Path("elsewhere")


def test_render_refuses_what_is_no_result(places):
    places.results.mkdir()
    assert call(places, "render").exit_code == 0
    assert "There is no result yet." in places.report.read_text()
    (places.results / "odd.json").write_text("{}")
    refused = call(places, "render")
    assert refused.exit_code == 1
    assert "odd.json is no result" in refused.output


def test_rows_refuse_nan_and_figures_without_a_source():
    with pytest.raises(ValueError, match="holds nan"):
        experiment.Row("s", "m", None, float("nan"))
    with pytest.raises(ValueError, match="say in source"):
        experiment.Row("s", "m", 1.0, 1.0)


def test_rows_of_taggers():
    gold = [["B-X", "I-X", "O"], ["O", "B-X"], ["O", "O"]]
    worse = [["B-X", "O", "O"], ["O", "B-X"], ["O", "O"]]
    f1, accuracy = tagging.score_rows("s", gold, worse, 1.0, 0, "n", tagging.Figure(90.0, "paper"))
    assert (f1.ours, f1.published, f1.note) == (pytest.approx(50.0), 90.0, "n")
    assert accuracy.ours == pytest.approx(100 * 6 / 7)
    assert accuracy.published is None
    tokens, sequences, difference = tagging.comparison_rows("s", gold, gold, worse, 0)
    assert tokens.ours == sequences.ours == 1.0
    assert difference.ours == pytest.approx(50.0)
    assert tagging.hold_out(range(20)) == (range(18), range(18, 20))


def test_chunking_experiment_on_a_corpus_of_its_own(tmp_path, monkeypatch):
    module = importlib.import_module("experiments.conll2000_chunking")
    monkeypatch.setattr(module, "WARM_UP", 2)
    rows = ["He PRP B-NP", "saw VBD B-VP", "the DT B-NP", "dog NN I-NP", "of IN B-PP", "her PRP B-NP", ". . O"]
    sentences = ["\n".join(rows[start:]) for start in (0, 1, 2, 3)]
    for file, times in (("train.txt", 5), ("test.txt", 1)):
        (tmp_path / file).write_text("\n\n".join(sentences * times) + "\n")
    said = []
    context = experiment.Context("full", 0, 1, {"conll2000": tmp_path}, said.append)
    result = experiment.perform(module.EXPERIMENT, context)
    assert len({row.setting for row in result.rows}) == 6 + 1 + 2
    ours = {(row.setting[:3], row.metric): row.ours for row in result.rows}
    assert all(ours[f"({letter})", "F1"] > 90 for letter in "abcdef")
    assert ours["(f)", "non-zero weights"] < ours["(a)", "non-zero weights"]
    assert said


def test_phones_fold_to_48_and_39():
    phones = importlib.import_module("harness.phones")
    to_48, fold_39, fold_48 = phones.TO_48, phones.fold_39, phones.fold_48
    assert len(to_48) >= 61
    classes = {phone for phone in to_48.values() if phone is not None}
    assert len(classes) == 48
    assert len({fold_39(phone) for phone in classes}) == 39
    assert (fold_48("axr"), fold_48("q"), fold_39("zh"), fold_39("vcl")) == ("er", None, "sh", "sil")
    for fold in (fold_48, fold_39):
        with pytest.raises(DataError, match="'nope'"):
            fold("nope")


def test_other_parametrisations_fail_as_the_paper_says():
    bias = importlib.import_module("experiments.empirical_label_bias")
    own = importlib.import_module("experiments._parametrisations")
    rng = np.random.default_rng(0)
    train, test = bias.draw(rng, 2000, bias.LONGER), bias.draw(rng, 200, bias.LONGER)
    words, tags = [x for x, _ in train], [y for _, y in train]
    gold = np.array([y for _, y in test])

    def accuracy(model):
        found = model.fit(words, tags).predict([x for x, _ in test])
        return float(np.mean(np.array([list(labels) for labels in found]) == gold))

    # (10): the objective rises by as much with the last steps as with earlier ones, and ψ leaves the data far behind.
    quotient = own.Quotient(2000).fit(words, tags)
    gains = np.diff(quotient.objectives)
    assert (gains > 0).all()
    assert gains[-1] > 0.5 * gains[len(gains) // 2]
    seen = quotient.tables.inside > 0
    assert np.exp(quotient.log_psi)[seen].min() < 1e-6
    # (11): local probabilities keep whatever label came first.
    assert accuracy(own.Local()) < 0.8
    assert accuracy(EmpiricalCRF(template=bias.TEMPLATE)) > 0.9


def kept_results():
    return {path.stem: results.read_json(path) for path in sorted((PAPERS / "results").glob("*.json"))}


def test_claims_rest_on_rows_that_exist_and_the_page_tells_their_figures():
    kept, page = kept_results(), (PAPERS / "README.md").read_text(encoding="utf-8")
    for paper in importlib.import_module("claims").PAPERS:
        assert f"### {paper.title}" in page
        for picture in paper.pictures:
            place = PAPERS / picture.path
            assert (f"![{picture.words}]({picture.path})" in page) == place.is_file()
            drawn = picture.draw(kept)
            assert drawn is None or drawn == place.read_text(encoding="utf-8")
        for claim in paper.claims:
            row = next(line for line in page.splitlines() if line.startswith(f"| {claim.text} |"))
            told = [cell.strip(" †") for cell in row.split("|")[2:5]]
            if told[2] == claims.PENDING:
                with pytest.raises(LookupError):
                    claims.judge(claim, kept)
                continue
            holds, published, ours = claims.judge(claim, kept)
            assert told == [published, ours, "yes" if holds else "**no**"]


def test_a_claim_is_judged_by_figures():
    def row(setting, ours, published=None):
        return experiment.Row(setting, "error", published, ours, source="Counter 1999" if published else "")

    figure = {name: figures.Figure("tiny", name, "error") for name in ("a", "b", "none")}
    kept = {"tiny": dataclasses.replace(next(iter(kept_results().values())), rows=(row("a", 3.0, 4.0), row("b", 5.0)))}
    assert claims.judge(claims.Claim("", figure["a"], figure["b"], lower=True), kept)[0]
    assert not claims.judge(claims.Claim("", figure["a"], figure["b"]), kept)[0]
    assert claims.judge(claims.Claim("", figure["a"], lower=True), kept) == (True, "4.00", "3.00")
    assert not claims.judge(claims.Claim("", figure["a"]), kept)[0]
    assert claims.judge(claims.Claim("", figure["a"], within=1.0), kept)[0]
    for impossible in (claims.Claim("", figure["none"]), claims.Claim("", figure["b"])):
        with pytest.raises(LookupError, match="claim"):
            claims.judge(impossible, kept)
    with pytest.raises(ValueError, match="no part"):
        claims.replaced("a page", "claims")


def test_tests_that_claims_name_are_there_unless_results_are_old():
    kept = kept_results()
    known = registry.discover()
    for paper in importlib.import_module("claims").PAPERS:
        for claim in paper.claims:
            result = kept.get(claim.tested.experiment) if claim.tested else None
            if result is not None and result.code is not None:
                provenance = importlib.import_module("harness.provenance")
                if not provenance.reason_to_repeat(result.code, provenance.provenance_of(known[result.name].module)):
                    assert claims.certainty(claim, kept)


def test_times_are_claims_too_and_differences_are_told_with_their_test():
    def row(setting, ours, seconds, interval=None):
        return experiment.Row(setting, "error", None, ours, seconds=seconds, interval=interval)

    rows = (row("a", 3.0, 2.0), row("b", 2.0, 90.0), row("p", 0.04, None), row("gap", 0.5, None, (-0.2, 1.2)))
    kept = {"tiny": dataclasses.replace(next(iter(kept_results().values())), rows=rows)}
    figure = {name: figures.Figure("tiny", name, "error") for name in ("a", "b", "p", "gap", "none")}
    claim = claims.Claim("fast", figure["a"], figure["b"], seconds=True)
    assert claims.judge(claim, kept) == (True, "-", "2.0 s against 90.0 s")
    with pytest.raises(LookupError, match="has none"):
        claims.judge(dataclasses.replace(claim, against=figure["p"]), kept)
    for name, told in (("p", "p = 0.04."), ("gap", "Difference -0.20 to 1.20 (95 %)."), ("none", "")):
        assert claims.certainty(dataclasses.replace(claim, tested=figure[name]), kept) == told
    assert claims.tally(["yes", "yes", "**no**"]) == "Of 3 claims, 2 hold and 1 does not."
    assert claims.tally(["yes", "to be run"]) == "Of 2 claims, 1 holds, 0 do not and 1 is to be run."
