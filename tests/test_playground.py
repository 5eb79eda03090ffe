"""The page: every function of it in Chromium, with a server and with the model inside; the same answers as Python's."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainfield
from chainfield import EmpiricalCRF, LatentCRF, LinearCRF, TextTagger, load_corpus
from chainfield.errors import ConfigError
from chainfield.playground import carry, model_page
from chainfield.playground.characters import kind_runs, letter_runs
from chainfield.text.properties import CODES, describe_character
from test_commands import run

NIGHTLY = bool(os.environ.get("CHAINFIELD_NIGHTLY"))
CHROMIUM = shutil.which("chromium")
NODE = shutil.which("node")
AXE = os.environ.get("CHAINFIELD_AXE")  # axe.min.js of axe-core
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update"]
TEXT = "play the newest album by Miles Davis on Spotify"
# Letters with and without pairs, digits of other scripts, emoji, flags, marks, addresses, apostrophes, no spaces.
STRANGE = [
    "İstanbul ΣΊΣΥΦΟΣ ǅ ß ﬁ x² Ⅷ ⅷ ⓐ ªº", "😀👨‍👩‍👧 🇩🇪🇫🇷 e\u0301a ١٢٣", "東京 ไทย \u1c89\ua7dc Ꭰ ꭰ ŉ ǰ ẞ",
    "http://a.b/c(d). www.x.org, me@x.org; U.S. e.g. 1,000.50 don't l'homme aujourd'hui", "...!!! a--b \u200b\ufeffc",
    "J. Smith went. he said so.\n\nX 'tis “So.” Yes! No? 1.5. B2B snake_case", "", "   ", "word " * 40,
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    corpus = load_corpus(files("chainfield.data") / "demo" / "snips.train.conll.xz")
    X = [[row[0] for row in rows] for rows in corpus.rows]
    for name, step in (("full", 6), ("half", 12)):
        LinearCRF(l1=0.3, max_iter=25, scheme="bio").fit(X[::step], corpus.labels[::step]).save(folder / f"{name}.cf")
    texts, spans = ["Anna Li is in Oslo. Ben too."] * 3, [[(0, 7, "PER"), (14, 18, "LOC"), (20, 23, "PER")]] * 3
    tagger = TextTagger(model=LinearCRF(max_iter=20), sentences=True, scheme="bioes").fit(texts, spans)
    tagger.save(folder / "sentences.cf")
    return folder


@pytest.fixture(scope="module")
def test_texts() -> list[str]:
    corpus = load_corpus(files("chainfield.data") / "demo" / "snips.test.conll.xz")
    texts = [" ".join(row[0] for row in rows) for rows in corpus.rows]
    return texts if NIGHTLY else texts[:12]


# ---- the engine ------------------------------------------------------------------------------------------------------


DRIVER = """
const fs = require('fs'), html = fs.readFileSync(process.argv[2], 'utf8');
const between = (a, b) => html.split(a)[1].split(b)[0], script = between('<script>', '</script>');
const document = {getElementById: () => ({textContent: between('type="application/json">', '</script>')})};
const engine = script.slice(script.indexOf('// The built-in tokeniser'), script.indexOf('const D = JSON.parse'));
const backend = new Function('document', engine + '; return backend;')(document);
const tag = q => { try { return backend.engines[0].tag(q); } catch (e) { return e.status ? e : String(e); } };
console.log(JSON.stringify(JSON.parse(fs.readFileSync(process.argv[3], 'utf8')).map(tag)));
"""


def questions(texts: list[str], tagger: TextTagger) -> list[dict[str, Any]]:
    rng, labels = np.random.default_rng(0), tagger.model_.classes_
    found: list[dict[str, Any]] = []
    for text in texts:
        n = len(tagger.tokens([text]))
        question: dict[str, Any] = {
            "text": text,
            "with_tokens": True,
            "marginals": True,
            "n_best": 3,
            "alternatives": 4,
        }
        if n:
            question["explain"] = {"positions": [int(rng.integers(n))], "top": 10}
        found.append(question)
        if n:
            given = [{"position": int(rng.integers(n)), "label": str(rng.choice(labels))}]
            found.append({"text": text, "given": given, "explain": {"against": labels[-1]}})
    return found


def agree(found: Any, wanted: Any, place: str = "") -> None:
    assert type(found) in (int, float) if isinstance(wanted, float) else type(found) is type(wanted), place
    if isinstance(wanted, dict):
        assert list(found) == list(wanted), place
        for key in wanted:
            agree(found[key], wanted[key], f"{place}.{key}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), place
        for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
            agree(a, b, f"{place}[{i}]")
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-6, abs=2e-6), place
    else:
        assert found == wanted, place


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.parametrize("name", ["full", "sentences"])
def test_the_engine_answers_as_the_library(name: str, folder: Path, tmp_path: Path, test_texts: list[str]) -> None:
    pytest.importorskip("starlette", reason="the server's answers are compared with")
    from chainfield.errors import ChainfieldError
    from chainfield.serving.bounds import Bounds
    from chainfield.serving.question import Question
    from chainfield.serving.refusal import Refusal
    from chainfield.serving.registry import Source, load_served
    from chainfield.serving.tagging import tag

    assert run("export", folder / f"{name}.cf", "--html", tmp_path / "page.html").code == 0
    served = load_served(Source.of(f"{name}@1={folder / name}.cf"))
    asked = questions([*test_texts, *STRANGE], TextTagger.around(chainfield.load(folder / f"{name}.cf")))
    (tmp_path / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    (tmp_path / "driver.js").write_text(DRIVER, encoding="utf-8")
    command = [str(NODE), "driver.js", "page.html", "asked.json"]
    answered = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, timeout=300, encoding="utf-8")
    for question, found in zip(asked, json.loads(answered.stdout), strict=True):
        try:
            wanted = tag(served, Question.of(question, Bounds()), Bounds())[0][0]
        except (Refusal, ChainfieldError):
            assert found["status"] == 422
        else:
            agree(found, json.loads(json.dumps(wanted)), question["text"][:60])


def test_tables_of_characters() -> None:
    def entries(runs: list[int]) -> np.ndarray[Any, Any]:
        firsts = np.cumsum(runs[::2])
        return np.repeat(runs[1::2], np.diff(np.append(firsts, CODES)))

    kinds, letters = entries(kind_runs()), entries(letter_runs())
    for code in [*range(0x3000), 0x1F600, 0x1F1E6, 0x10400, 0x1D7CE, 0xE000, 0xD800]:
        if unicodedata.category(chr(code)) != "Cn":
            assert (letters[code] & 1, letters[code] & 8) == (chr(code).isupper(), 8 * chr(code).isdecimal())
    if unicodedata.unidata_version == "14.0.0":
        assert all(kinds[code] == describe_character(code) for code in range(0x3000))


def test_what_a_page_cannot_carry(folder: Path, tmp_path: Path) -> None:
    X, y = [["a", "b"]] * 3, [["1", "2"]] * 3
    rows = [[("a", "X"), ("b", "Y")]] * 3

    def refused(model: Any, sentence: str) -> None:
        with pytest.raises(ConfigError, match=sentence):
            carry(model, "it")

    refused(LatentCRF(n_states=2, max_iter=2).fit(X, y), "it is more than a linear chain. Serve it instead")
    refused(EmpiricalCRF().fit(X, y), "it is more than a linear chain|not written by templates")
    refused(LinearCRF(max_iter=2).fit(rows, y), "reads 2 columns")
    refused(LinearCRF(max_iter=2, decoder="posterior").fit(X, y), "it decodes by 'posterior'")
    refused(LinearCRF(max_iter=2, template="U:%x[0,0]\nB:%x[0,0]").fit(X, y), "more than a linear chain")
    refused(LinearCRF(max_iter=2, template="U:a=%x[0,0,has:^a]\nB").fit(X, y), "its template uses has")
    pattern = TextTagger(model=LinearCRF(max_iter=2), tokeniser=r"\S+").fit(["a b"], [[(0, 1, "X")]])
    refused(pattern, "its tokeniser is of the kind 'pattern'")
    with pytest.raises(ConfigError, match="more than a browser likes"):
        model_page([{"name": "x" * 21_000_000}])
    assert "either --crfsuite FILE or --html FILE" in run("export", folder / "full.cf").stderr
    assert "must end in .html" in run("export", folder / "full.cf", "--html", tmp_path / "page.txt").stderr


def test_nothing_escapes_from_a_page(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    model = LinearCRF(max_iter=5, scheme=None).fit([[hostile, "b"]] * 3, [[hostile, "O"]] * 3)
    html = model_page([carry(model, hostile)], hostile, [hostile]).html
    assert html.count("<script") == 2
    assert "alert(1)</script>" not in html
    assert re.search(r"script-src &#x27;sha256-.{44}&#x27;; style-src-elem", html)
    assert not re.search(r"https?://", re.sub(r'<script id="data".*?</script>', "", html, flags=re.DOTALL))


# ---- the page --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="module", params=["server", "file"])
def address(request: pytest.FixtureRequest, browser: Any, folder: Path) -> Iterator[str]:
    models = [str(folder / "full.cf"), str(folder / "half.cf")]
    examples = ["--example", TEXT, "--example", "book a table in Oslo"]
    if request.param == "file":
        page = folder / "page.html"
        assert run("export", *models, "--html", page, "--title", "Slots", *examples).code == 0
        yield page.as_uri()
        return
    pytest.importorskip("uvicorn", reason="needs the extra serve")
    command = [sys.executable, "-m", "chainfield", "serve", *models, "--port", "0", "--quiet", "--title", "Slots"]
    process = subprocess.Popen([*command, *examples], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    yield re.search(r"http://\S+/", process.stderr.readline())[0]  # type: ignore[index]
    process.terminate()
    process.wait(10)
    process.stderr.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, bypass_csp=True)  # tests run scripts
    context.set_default_timeout(30_000)
    found = context.new_page()
    wrong: list[str] = []
    found.on("pageerror", lambda error: wrong.append(str(error)))
    # That labels which break the rules are refused (422) is an error to the browser alone.
    found.on("console", lambda m: wrong.append(m.text) if m.type == "error" and "status of 422" not in m.text else None)
    own = (address.rsplit("/", 1)[0], "blob:", "data:")
    found.on("request", lambda request: None if request.url.startswith(own) else wrong.append(request.url))
    found.goto(address)
    found.wait_for_selector("#why h3")
    yield found
    assert wrong == []
    context.close()


def words(page: Any) -> list[str]:
    return page.locator("#out .tok .w").all_inner_texts()


def test_answers_come_while_typing(page: Any) -> None:
    assert page.locator("h1").inner_text() == "Slots"
    assert words(page) == TEXT.split()
    model_spans = page.locator("#out .bar.down.first").count()
    assert model_spans > 0
    page.locator("#text").fill("")
    page.locator("#text").type("book a table in Oslo for four")
    page.wait_for_function("document.querySelectorAll('#out .tok').length === 7")
    assert re.fullmatch(r"Whole answer: \d\.\d\d", page.locator("#status > span").first.inner_text())
    assert page.locator("#out .mini").count() == 7  # marginals, as bars
    page.locator("#examples button").nth(0).click()
    page.wait_for_function(f"document.querySelectorAll('#out .tok').length === {len(TEXT.split())}")
    page.locator("#text").fill("  ")
    page.wait_for_function("document.querySelector('#out').textContent.startsWith('Write something')")


def test_spans_are_those_of_the_library(page: Any, folder: Path) -> None:
    model = TextTagger.around(chainfield.load(folder / "full.cf"))
    wanted = [(s.label.replace("_", " "), f"{s.probability:.2f}") for s in model.predict([TEXT])[0]]
    shown = [tuple(bar.split("\n")) for bar in page.locator("#out .bar.down.first i").all_inner_texts()]
    assert [(a + b).replace("\n", "") for a, b in wanted] == ["".join(one).replace("\n", "") for one in shown]
    best = [float(p) for p in page.locator("#best li > .num:last-child").all_inner_texts()]
    several = model.model_.predict_n_best([TEXT.split()], 5)[0]
    assert best == pytest.approx([p for _, p in several], abs=6e-4)


def test_forcing_a_label_changes_the_rest(page: Any) -> None:
    before = page.locator("#best").inner_text()
    page.locator("#out .tok").nth(5).click()
    page.wait_for_selector("#why h3")
    assert page.locator(".word").inner_text() == "Miles"
    page.locator("#another").select_option(label="B-city")
    page.wait_for_selector("#out .pin")
    assert "1 forced label; the model had given it" in page.locator("#status").inner_text()
    assert any("city" in bar for bar in page.locator("#out .bar.down.first").all_inner_texts())
    assert page.locator("#best").inner_text() != before
    assert page.locator('.lab[aria-pressed="true"]').inner_text().startswith("B-city")
    # Labels that break the rules: the newest stays, and the page says so.
    page.locator("#out .tok").nth(6).click()
    page.locator("#another").select_option(label="I-artist")
    page.wait_for_function("/released/.test(document.querySelector('#status').textContent)")
    page.locator("#release").click()
    page.wait_for_function("!document.querySelector('.pin')")
    page.locator("#best button").nth(1).click()
    page.wait_for_selector("#out .pin")


def test_lines_stay_and_spans_have_alternatives(page: Any) -> None:
    page.locator("#text").fill("book a table\nin Oslo\n\nfor four 😀\nplease")
    page.wait_for_selector("#out .tok:has-text('please')")
    tops = page.evaluate("[...document.querySelectorAll('#out .tok .w')].map(w => w.getBoundingClientRect().top)")
    rows = [[w for w, top in zip(words(page), tops, strict=True) if abs(top - row) < 5] for row in sorted(set(tops))]
    assert [" ".join(row) for row in rows if row] == ["book a table", "in Oslo", "for four 😀", "please"]
    page.locator("#examples button").nth(0).click()
    page.wait_for_selector("#out .tok:has-text('Spotify')")
    page.locator("#out .tok:has(.bar.down.first)").first.click()
    others = page.locator("#inspector [data-span]")
    assert others.count() == 5
    chances = [float(p.lstrip("<")) for p in others.locator(".num").all_inner_texts()]
    assert chances[1:] == sorted(chances[1:], reverse=True)
    others.nth(1).click()  # forced: the words have this type now
    page.wait_for_selector("#out .pin")
    page.locator("#release").click()
    page.wait_for_selector("#out .pin", state="detached")


@pytest.mark.skipif(AXE is None, reason="needs axe-core: npm install axe-core, CHAINFIELD_AXE=…/axe.min.js")
@pytest.mark.parametrize("width", [1280, 390])
def test_everybody_can_use_it(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.locator("#out .tok:has(.bar.down.first)").first.click()
    page.locator("#inspector [data-span]").nth(1).click()
    page.wait_for_selector("#out .pin")
    page.locator("#accept").click()
    page.evaluate(Path(str(AXE)).read_text(encoding="utf-8"))
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        found = page.evaluate("axe.run()")
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []
        assert len(found["passes"]) > 20


def test_reasons_and_rivals(page: Any) -> None:
    page.locator("#out .tok").nth(5).click()
    page.wait_for_selector("#why .feats")
    rows = page.locator("#why .feats .num").all_inner_texts()
    assert all(re.fullmatch(r"[+−]\d+\.\d\d|rule", row) for row in rows)
    before = page.locator("#why").inner_text()
    page.locator("#against").select_option("O")
    page.wait_for_function("before => document.querySelector('#why').innerText !== before", arg=before)
    assert page.locator("#against").input_value() == "O"


def test_only_its_own_script_runs(browser: Any, address: str) -> None:
    page = browser.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.goto(address)
    page.wait_for_selector("#why h3")
    assert wrong == []
    page.evaluate("() => { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 1\">'); }")
    page.wait_for_timeout(200)
    assert page.evaluate("() => window.ran === undefined")
    page.close()


def test_keys_alone_are_enough(page: Any) -> None:
    page.locator("#out .tok").nth(2).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#why h3")
    assert page.locator(".word").inner_text() == "album"
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    assert page.locator(".word").inner_text() == "album by Miles"
    page.locator('.types button[data-type="album"]').focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('.pin').length === 3")
    assert page.locator("#out .tok:focus").count() == 1


def test_two_models_beside_each_other(page: Any) -> None:
    page.locator("#b").select_option(label="half")
    page.wait_for_selector("#compared table")
    assert page.locator("#compared thead th").all_inner_texts() == ["Found", "full", "half"]
    assert page.locator("#out .bar.up").count() > 0
    page.locator("#a").select_option(label="half")
    page.wait_for_function("!document.querySelector('#compared table') || document.querySelector('#compared').hidden")
    assert page.locator("#foot").inner_text().startswith("LinearCRF with")


def test_corrections_become_training_data(page: Any, tmp_path: Path) -> None:
    page.locator("#text").fill("😀 play Kind of Blue")
    page.wait_for_function("document.querySelectorAll('#out .tok').length === 5")
    page.locator("#out .tok").nth(2).click()
    page.locator("#out .tok").nth(4).click(modifiers=["Shift"])
    page.locator('.types button[data-type="album"]').click()
    page.wait_for_function("document.querySelectorAll('.pin').length === 3")
    page.locator("#accept").click()
    texts = {}
    for kind, name in (("conll", "a.txt"), ("jsonl", "a.jsonl"), ("studio", "a.json")):
        page.locator(f'#format [data-k="{kind}"]').click()
        with page.expect_download() as download:
            page.locator("#download").click()
        download.value.save_as(tmp_path / name)
        texts[kind] = (tmp_path / name).read_text(encoding="utf-8")
    assert "Kind\tB-album\nof\tI-album\nBlue\tI-album\n" in texts["conll"]
    for name in ("a.jsonl", "a.json"):
        converted = run("convert", tmp_path / name, tmp_path / "out.jsonl")
        assert converted.code == 0, converted.stderr
        document = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
        assert {"start": 7, "end": 19, "label": "album"} in document["spans"]
    page.locator("#undo").click()
    assert page.locator("#download").is_disabled()


def test_a_phone_and_the_dark(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("#theme").inner_text() == "Light"
