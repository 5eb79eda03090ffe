"""Reports: their data for every kind of model, true sentences, pages that nothing escapes from, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import chainfield
from chainfield import EmpiricalCRF, HiddenUnitCRF, HMMClassifier, LatentCRF, LinearCRF
from chainfield.errors import ConfigError, DataError
from chainfield.pages import script_json
from chainfield.reports import report, report_data
from chainfield.reports.findings import findings
from chainfield.reports.page import LIMIT, fit_page
from test_commands import run

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
WORDS = ["the", "in", "rome", "oslo", "anna", "runs", "new", "york"]


def corpus(n, seed=0, tags=False):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = rng.choice(
            ["the", "in", "rome", "oslo", "anna", "runs", "new", "york"], int(rng.integers(3, 9))
        ).tolist()
        kind = {"rome": "B-LOC", "oslo": "B-LOC", "anna": "B-PER", "new": "B-LOC", "york": "I-LOC"}
        labels = [kind.get(word, "O") if rng.random() < 0.9 else "O" for word in words]
        labels = [
            "O" if label == "I-LOC" and (t == 0 or labels[t - 1] != "B-LOC") else label
            for t, label in enumerate(labels)
        ]
        X.append(words)
        y.append([label[-1] for label in labels] if tags else labels)
    return X, y


TRAIN, TEST = corpus(80), corpus(40, seed=1)


def arrays(n, seed=0):
    rng = np.random.default_rng(seed)
    y = [["up", "down"][k] for k in rng.integers(2, size=n)]
    X = [
        np.cumsum(rng.normal(0.3 if label == "up" else -0.3, 1.0, size=(int(rng.integers(4, 9)), 2)), axis=0)
        for label in y
    ]
    return X, y


def made(kind):
    """Models and test data of every kind that a report knows."""
    if kind == "hmm":
        return HMMClassifier(n_states=2, max_iter=4).fit(*arrays(60)), arrays(40, 1)
    if kind == "tags":
        return LinearCRF(max_iter=20).fit(*corpus(80, tags=True)), corpus(40, 1, tags=True)
    model = {
        "linear": lambda: LinearCRF(max_iter=20, scheme="bio"),
        "second order": lambda: LinearCRF(max_iter=20, scheme="bio", order=2),
        "latent": lambda: LatentCRF(n_states=2, max_iter=5),
        "units": lambda: HiddenUnitCRF(hidden_units=6, max_iter=3),
        "empirical": lambda: EmpiricalCRF(),
    }[kind]()
    return model.fit(*TRAIN), TEST


KINDS = ("linear", "second order", "latent", "units", "empirical", "tags", "hmm")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for kind in KINDS:
        model, data = made(kind)
        found[kind] = report(model, *data, folder / f"{kind}.html", source="test data")
    a, b = (LinearCRF(max_iter=n, scheme="bio").fit(*TRAIN) for n in (20, 1))
    found["compared"] = report([a, b], *TEST, folder / "compared.html", names=["long", "short"])
    model = LinearCRF(max_iter=10)
    found["trained"] = report(model.fit(*TRAIN), *TEST, folder / "trained.html", train=TRAIN)
    return folder, found


# Objects whose keys are data, and those that are described elsewhere: intervals, facts of training, a row like others.
OPEN = ("about.settings", "mistakes.kinds", "sentences[].why", "inside.features.labels")
CLOSED = ("about.training", "scores.all", ".precision", ".recall", ".f1", "bins[].share")


def keys_of(value, path=""):
    """All paths of an object, as the documentation writes them."""
    if isinstance(value, dict) and not path.endswith(CLOSED):
        for key, inner in value.items():
            place = f"{path}.*" if path.endswith(OPEN) else f"{path}.{key}".lstrip(".")
            yield place
            yield from keys_of(inner, place)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):
                yield from keys_of(inner, f"{path}[]")


def expanded(path):
    """a.{b,c} is a.b and a.c."""
    before, brace, rest = path.partition("{")
    inside, _, after = rest.partition("}")
    return [f"{before}{name}{after}" for name in inside.split(",")] if brace else [path]


def test_the_documentation_names_every_key(pages):
    found = {key for page in pages[1].values() for key in keys_of(page.data)}
    text = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8").split("<!-- report keys -->")[1]
    told = [key for path in re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE) for key in expanded(path)]
    assert len(told) == len(set(told))
    assert found == set(told)


@pytest.mark.parametrize("kind", [*KINDS, "compared", "trained"])
def test_a_page_stands_alone(kind, pages):
    page = pages[1][kind]
    html = page.html
    assert (pages[0] / f"{kind}.html").read_text(encoding="utf-8") == html
    assert len(html.encode()) < LIMIT
    assert not re.search(r"""(src|href)=["']?(?!data:|#)[a-z]""", html.split("<script")[0])
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert json.loads(json.dumps(page.data, allow_nan=False)) == page.data
    assert all(sentence.endswith(".") for model in page.data["models"] for sentence in model["findings"])


def test_figures_are_those_of_evaluate(pages):
    model, (X, y) = made("linear")
    data = pages[1]["linear"].data["models"][0]
    scores = chainfield.evaluate(y, model.predict(X)).spans
    assert data["scores"]["all"]["f1"]["estimate"] == pytest.approx(scores.micro.f1, abs=1e-4)
    assert {row["type"]: row["gold"] for row in data["scores"]["rows"]} == {
        k: s.support for k, s in scores.types.items()
    }
    wrong = sum(data["mistakes"]["kinds"].values())
    shown = sum(len(s["mistakes"]) for s in data["errors"]["sentences"])
    assert shown == wrong
    assert data["calibration"]["n"] == scores.micro.predicted
    assert data["coverage"][0][2:] == [
        pytest.approx(scores.micro.precision, abs=1e-4),
        pytest.approx(scores.micro.recall, abs=1e-4),
    ]
    assert sum(map(sum, data["mistakes"]["confusion"]["counts"])) == scores.micro.support + sum(
        data["mistakes"]["confusion"]["counts"][-1]
    )


def test_what_each_kind_can_tell(pages):
    inside = {kind: set(page.data["models"][0]["inside"]) for kind, page in pages[1].items()}
    assert inside["linear"] == {"transitions", "features"}
    assert inside["latent"] >= {"states", "features"}
    assert "units" in inside["units"]
    assert inside["hmm"] == {"hmm"}
    hmm = pages[1]["hmm"].data["models"][0]
    moves = hmm["inside"]["hmm"]["classes"][0]
    assert sum(p for a, _, p in moves["moves"] if a == 0) + moves["states"][0]["end"] == pytest.approx(1.0, abs=0.01)
    assert all(s["states"] is not None for s in hmm["errors"]["sequences"])
    assert pages[1]["trained"].data["models"][0]["curve"]["points"][-1]["n"] == 80
    assert pages[1]["trained"].data["models"][0]["doubtful"]["of"] == "training"
    (compared,) = pages[1]["compared"].data["comparison"]
    assert compared["n_different"] == len(compared["sentences"]) > 0


def test_the_training_data_are_recognised():
    model = LinearCRF(max_iter=5).fit(*TRAIN)
    data = report_data(model, *TRAIN)["models"][0]
    assert data["seen_in_training"]
    assert "remembers" in data["findings"][0]
    assert "doubtful" not in data


def test_groups_are_resampled():
    model, (X, y) = made("linear")
    data = report_data(model, X, y, groups=[i // 5 for i in range(len(X))])
    assert data["models"][0]["scores"]["unit"] == "group"
    assert data["data"]["n_groups"] == 8


def test_errors_are_capped_and_sampled_openly():
    model, (X, y) = made("linear")
    whole = report_data(model, X, y)["models"][0]["errors"]
    assert whole["n"] > 8
    some = report_data(model, X, y, max_errors=8)["models"][0]["errors"]
    assert (some["n"], some["n_surest"], some["n_sampled"]) == (whole["n"], 4, 4)
    assert [s["i"] for s in some["sentences"][:4]] == [s["i"] for s in whole["sentences"][:4]]


def test_a_long_sentence_is_cut_around_its_mistake():
    model, _ = made("linear")
    words, labels = ["the"] * 5000, ["O"] * 5000
    labels[4000] = "B-PER"
    data = report_data(model, [words, ["anna"]], [labels, ["B-PER"]])["models"][0]
    (sentence,) = data["errors"]["sentences"]
    assert len(sentence["tokens"]) == 120
    assert sentence["cut"][0] + 120 + sentence["cut"][1] == 5000
    assert sentence["mistakes"][0]["gold"] == ["PER", 4000 - sentence["cut"][0], 4001 - sentence["cut"][0]]


def test_no_page_is_too_large():
    model, (X, y) = made("linear")
    data = report_data(model, X, y)
    sentence = data["models"][0]["errors"]["sentences"][0]
    data["models"][0]["errors"]["sentences"] = [{**sentence, "tokens": ["x" * 60] * 120} for _ in range(2000)]
    data["models"][0]["errors"] |= {"n": 2000, "n_surest": 1000, "n_sampled": 1000}
    page = fit_page(data)
    errors = page.data["models"][0]["errors"]
    assert len(page.html.encode()) <= LIMIT
    assert errors["n_surest"] + errors["n_sampled"] == len(errors["sentences"]) < 2000
    assert errors["n"] == 2000


def test_nothing_ends_the_script():
    hostile = "</script><script>alert(1)</script>\u2028<!--"
    assert "<" not in script_json([hostile])
    assert json.loads(script_json([hostile])) == [hostile]


def test_sentences_have_conditions():
    base = {
        "seen_in_training": False,
        "unknown_labels": [],
        "mistakes": {"kinds": {"missed": 0, "type": 0}},
        "calibration": {"n": 1000, "mean": 0.9, "share": 0.9, "error": 0.01},
    }
    assert findings(base) == [
        "There is no mistake.",
        "Its probabilities can be taken at their word: they promise 90 right answers of 100, and 90 are.",
    ]
    sure = base | {"calibration": {"n": 1000, "mean": 0.95, "share": 0.85, "error": 0.1}}
    assert "far too sure of itself" in findings(sure)[1]
    uneven = base | {"calibration": {"n": 1000, "mean": 0.9, "share": 0.9, "error": 0.08}}
    assert "off by 8 points" in findings(uneven)[1]
    few = base | {"calibration": {"n": 50, "mean": 0.9, "share": 0.1, "error": 0.8}}
    assert len(findings(few)) == 1
    rows = [
        {"type": name, "gold": gold, "f1": {"estimate": f1, "low": f1, "high": f1}}
        for name, gold, f1 in (("city", 30, 0.9), ("country", 20, 0.75), ("genre", 3, 0.0))
    ]
    whole = {name: {"estimate": 0.8} for name in ("f1", "precision", "recall")}
    scores = {"of": "spans", "all": whole, "rows": rows, "n_types": 3}
    told = "Of the 2 most frequent types (10 gold spans or more), city (90) is easiest, country (75) hardest, by F1."
    assert findings(base | {"scores": scores})[0].endswith(f"are right. {told}")
    common = {**scores, "rows": rows[:2], "n_types": 2}
    assert findings(base | {"scores": common})[0].endswith(
        "are right. city (90) is easiest, country (75) hardest, by F1."
    )
    flat = {"points": [{"n": 5, "test": 0.8}, {"n": 10, "test": 0.81}], "still_rising": False}
    assert "no more than chance can" in findings(base | {"curve": flat})[0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: report_data(m, [["anna"]], None), DataError, "give y"),
        (lambda m: report_data(m, [["anna"]], [[None]]), DataError, "no label is known"),
        (lambda m: report_data(m, [["anna"]], [["X-PER"]]), DataError, "knows none of the gold labels"),
        (lambda m: report_data(m, [["anna"]], []), DataError, "1 sequences but labels for 0"),
        (lambda m: report_data([], [["anna"]], [["O"]]), ConfigError, "at least one model"),
        (lambda m: report_data([m, m], [["anna"]], [["O"]], names=["a", "a"]), ConfigError, "a name of its own"),
        (lambda m: report(m, [["anna"]], [["O"]], "report.pdf"), ConfigError, "must end in .html or .json"),
    ],
)
def test_bad_requests(call, error, message):
    model, _ = made("empirical")
    with pytest.raises(error, match=message):
        call(model)


def test_labels_that_the_model_does_not_know_count_as_mistakes():
    model, _ = made("linear")
    data = report_data(model, [["anna", "runs"]] * 3, [["B-ORG", "O"]] * 3)["models"][0]
    assert data["unknown_labels"] == ["B-ORG"]
    assert "never seen the gold labels B-ORG" in " ".join(data["findings"])
    assert data["mistakes"]["kinds"]["type"] + data["mistakes"]["kinds"]["missed"] == 3


# ---- the command -------------------------------------------------------------------------------------------------


@pytest.fixture
def column_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def text(X, y, documents):
        blocks = []
        for s, (words, labels) in enumerate(zip(X, y, strict=True)):
            blocks += ["-DOCSTART- O\n"] if documents and s % 10 == 0 else []
            blocks.append("".join(f"{w} {label}\n" for w, label in zip(words, labels, strict=True)))
        return "\n".join(blocks)

    Path("train.txt").write_text(text(*TRAIN, False), encoding="utf-8")
    Path("test.txt").write_text(text(*TEST, True), encoding="utf-8")
    assert run("train", "train.txt", "model.cf", "--max-iter", 5, "--quiet").code == 0


def test_the_command_writes_a_page(column_files):
    result = run("report", "model.cf", "test.txt", "-o", "report.html")
    assert result.code == 0
    assert "Wrote report.html" in result.stderr
    assert "of 100" in result.stdout
    assert run("report", "model.cf", "test.txt", "-o", "report.json", "--quiet").stdout == ""
    data = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert (data["data"]["n_sequences"], data["data"]["n_groups"]) == (40, 4)
    assert data["models"][0]["name"] == "model"


def test_the_command_refuses(column_files):
    Path("plain.txt").write_text("anna\nruns\n", encoding="utf-8")
    Path("other.txt").write_text("anna X-PER\nruns Y\n", encoding="utf-8")
    Path("broken.cf").write_bytes(b"no model")
    for arguments, message in (
        (("model.cf",), "Give a model and labelled data"),
        (("model.cf", "plain.txt"), "plain.txt has no gold labels"),
        (("model.cf", "other.txt"), "knows none of the gold labels"),
        (("model.cf", "nowhere.txt"), "nowhere.txt"),
        (("broken.cf", "test.txt"), "broken.cf"),
    ):
        result = run("report", *arguments, "-o", "report.html")
        assert result.code == 1, arguments
        assert message in result.stderr
        assert result.stderr.count("chainfield: ") == 1
        assert "Traceback" not in result.stderr
        assert not Path("report.html").exists()
    assert "must end in .html" in run("report", "model.cf", "test.txt", "-o", "report.pdf").stderr


# ---- in a browser ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield opened
        opened.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_draws_itself(browser, pages, width):
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if width < 500 else "light"
    )
    page = context.new_page()
    problems, requests = [], []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: requests.append(request.url))
    for kind in pages[1]:
        page.goto((pages[0] / f"{kind}.html").as_uri())
        page.wait_for_selector("#scores")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, kind
    assert problems == []
    assert all(url.startswith(("file:", "data:")) for url in requests)
    context.close()


def test_the_error_browser(browser, pages):
    page = browser.new_page()
    page.goto((pages[0] / "linear.html").as_uri())
    data = pages[1]["linear"].data["models"][0]
    assert page.inner_text("h1") == pages[1]["linear"].data["title"]
    everything = page.inner_text("#count")
    page.click("#kinds button:has-text('missed')")
    assert page.inner_text("#count").startswith(str(data["mistakes"]["kinds"]["missed"]))
    page.click("#kinds button:has-text('missed')")
    assert page.inner_text("#count") == everything
    page.focus(".tok.live[tabindex='0']")
    page.keyboard.press("Enter")
    assert "What speaks for" in page.inner_text(".why")
    page.keyboard.press("Enter")
    assert page.query_selector(".why") is None
    cell = page.query_selector("#matrix tbody tr:first-child td:last-of-type button")
    number = int(cell.inner_text())
    cell.click()
    assert page.inner_text("#count").startswith(f"{number} mistake")
    page.close()


def test_the_page_escapes_what_it_shows(browser, tmp_path):
    evil = "<img src=x onerror=document.title='caught'>"
    model = LinearCRF(max_iter=5).fit([[evil, "b"], ["c", evil]] * 10, [["B-<i>", "O"], ["O", "B-<i>"]] * 10)
    path = tmp_path / "r.html"
    report(model, [[evil, "b"], ["b", "c"]], [["O", "O"], ["O", "B-<i>"]], path, title=evil, source=evil)
    page = browser.new_page()
    page.goto(path.as_uri())
    page.click(".tok.live")
    page.wait_for_timeout(100)
    assert "caught" not in page.title() or "<img" in page.title()
    assert page.query_selector("main img") is None
    assert page.query_selector("main i i") is None
    page.close()
