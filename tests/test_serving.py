"""The server: what it answers, what it refuses and how, files that change under load, hostile clients."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("uvicorn", reason="needs the extra serve")
pytest.importorskip("httpx2", reason="Starlette's client needs it")

from starlette.testclient import TestClient

import chainfield
from chainfield import HMMClassifier, LinearCRF, TextTagger
from chainfield.errors import ConfigError, ModelFileError
from chainfield.kernels.jit import NATIVE
from chainfield.serving import Bounds, Registry, Source, make_application
from chainfield.serving.log import Log
from chainfield.serving.refusal import Refusal
from chainfield.serving.tagging import join_best
from chainfield.serving.workers import Workers
from test_commands import run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Starlette's client
TEXTS = ["Anna Smith lives in Oslo.", "Oslo is cold", "We met Ben Jones in Rome .", "Rome and Paris", "Ben and Anna"]
SPANS = [[(0, 10, "PER"), (20, 24, "LOC")], [(0, 4, "LOC")], [(7, 16, "PER"), (20, 24, "LOC")],
         [(0, 4, "LOC"), (9, 14, "LOC")], [(0, 3, "PER"), (8, 12, "PER")]]  # fmt: skip
TEXT = "Anna Jones came to Rome"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    TextTagger(model=LinearCRF(l2=0.01)).fit(TEXTS, SPANS).save(folder / "text.cf")
    TextTagger(model=LinearCRF(l2=0.01), sentences=True).fit(TEXTS, SPANS).save(folder / "sentences.cf")
    LinearCRF().fit([[("a", "X"), ("b", "Y")], [("b", "Y")]], [["1", "2"], ["2"]]).save(folder / "columns.cf")
    LinearCRF().fit([[{"w": "a"}, {"w": "b"}]], [["1", "2"]]).save(folder / "dicts.cf")
    rng = np.random.default_rng(0)
    X = [rng.normal(3 * (i % 2), 1, (4, 2)) for i in range(20)]
    HMMClassifier(n_states=1).fit(X, ["low", "high"] * 10).save(folder / "hmm.cf")
    return folder


@pytest.fixture(scope="module")
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture(scope="module")
def client(folder: Path, log: io.StringIO) -> Iterator[TestClient]:
    names = ("text", "sentences", "columns", "dicts", "hmm")
    sources = [Source.of(f"{name}={folder / name}.cf") for name in names]
    bounds = Bounds(body=100_000, tokens=500, texts=20, values=5_000)
    with TestClient(
        make_application(sources, bounds=bounds, watch=0, log=Log(log)), raise_server_exceptions=False
    ) as c:
        yield c


def ask(client: TestClient, path: str = "/v1/tag", **body: Any) -> Any:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


def refused(response: Any, status: int, sentence: str) -> None:
    assert response.status_code == status, response.text
    assert response.json()["status"] == status
    assert re.search(sentence, response.json()["error"]), response.text


# ---- answers ---------------------------------------------------------------------------------------------------------


def test_texts_are_answered_as_by_the_library(client: TestClient, folder: Path) -> None:
    model = chainfield.load(folder / "text.cf")
    found = ask(client, texts=[TEXT, "", "Ω 한국어 😀 Oslo"], alternatives=1)
    assert found["model"] == "text"
    wanted = model.predict([TEXT, "", "Ω 한국어 😀 Oslo"], alternatives=1)
    assert [answer["spans"] for answer in found["answers"]] == [[span.to_dict() for span in own] for own in wanted]
    sure = model.certainty([TEXT, "", "Ω 한국어 😀 Oslo"])
    assert [answer["probability"] for answer in found["answers"]] == pytest.approx(sure, abs=1e-6)


def test_tokens_marginals_n_best_and_explanations(client: TestClient, folder: Path) -> None:
    model = chainfield.load(folder / "text.cf").model_
    words = TEXT.split()
    found = ask(client, text=TEXT, with_tokens=True, marginals=True, n_best=4, explain={"positions": [1], "top": 3})
    answer = found["answers"][0]
    assert [token["text"] for token in answer["tokens"]] == words
    assert [token["label"] for token in answer["tokens"]] == model.predict([words])[0]
    np.testing.assert_allclose(answer["marginals"], model.predict_marginals([words])[0], atol=1e-6)
    assert found["labels"] == model.classes_
    for one, (labels, p) in zip(answer["n_best"], model.predict_n_best([words], 4)[0], strict=True):
        assert (one["labels"], one["probability"]) == (labels, pytest.approx(p, abs=1e-6))
    assert answer["n_best"][0]["spans"] == [{k: span[k] for k in ("start", "end", "label")} for span in answer["spans"]]
    why, wanted = answer["explanations"][0], model.explain(words)[1]
    assert (why["position"], why["label"], why["against"]) == (1, wanted.label, wanted.runner_up)
    kept = [part for part in wanted.contributions if part.difference]
    assert [part["feature"] for part in why["parts"]] == [part.feature for part in kept[:3]]
    assert why["n_parts"] == len(kept)
    other = ask(client, text=TEXT, explain={"positions": [0], "against": "O"})["answers"][0]["explanations"][0]
    assert other["against"] == "O"


def test_known_labels_change_the_rest(client: TestClient, folder: Path) -> None:
    model = chainfield.load(folder / "text.cf").model_
    words = TEXT.split()
    given = [{"position": 4, "label": "O"}, {"position": 0, "label": ["B-LOC", "O"]}]
    answer = ask(client, text=TEXT, given=given, with_tokens=True, marginals=True)["answers"][0]
    fixed = [{"B-LOC", "O"}, None, None, None, "O"]
    assert [token["label"] for token in answer["tokens"]] == model.predict([words], given=[fixed])[0]
    np.testing.assert_allclose(answer["marginals"], model.predict_marginals([words], given=[fixed])[0], atol=1e-6)
    assert answer["given_probability"] == pytest.approx(np.exp(model.log_likelihood([words], [fixed])[0]))
    # The probability of a span that is fixed, and shut in, is 1.
    given = [{"position": t, "label": y} for t, y in enumerate(["B-LOC", "O", "O", "O", "O"])]
    assert ask(client, text=TEXT, given=given)["answers"][0]["spans"][0]["probability"] == 1.0


def test_sentences_of_a_text(client: TestClient, folder: Path) -> None:
    model = chainfield.load(folder / "sentences.cf")
    text = "Anna lives here. Ben Jones is in Rome. Oslo!"
    answer = ask(client, text=text, model="sentences", n_best=5, with_tokens=True, marginals=True,
                 given=[{"position": 5, "label": "O"}], explain={"positions": [5, 11]})["answers"][0]  # fmt: skip
    assert len(answer["tokens"]) == len(answer["marginals"]) == len(answer["n_best"][0]["labels"])
    assert [one["position"] for one in answer["explanations"]] == [5, 11]
    assert answer["tokens"][5]["label"] == "O"
    p = [one["probability"] for one in answer["n_best"]]
    assert p == sorted(p, reverse=True)
    assert ask(client, text=text, model="sentences")["answers"][0]["probability"] == pytest.approx(
        model.certainty([text])[0], abs=1e-6
    )


def test_the_best_answers_of_sentences_are_joined() -> None:
    a = [(["x"], 0.6), (["y"], 0.3), (["z"], 0.1)]
    b = [(["u"], 0.7), (["v"], 0.3)]
    every = sorted(((s + t, p * q) for s, p in a for t, q in b), key=lambda pair: -pair[1])
    assert join_best([a, b], 4) == every[:4]
    assert len(join_best([a, b], 100)) == 6
    assert join_best([], 3) == [([], 1.0)]


def test_token_lists_of_every_kind(client: TestClient, folder: Path) -> None:
    rows = [[["a", "X"], ["b", "Y"]]]
    model = chainfield.load(folder / "columns.cf")
    answer = ask(client, model="columns", tokens=rows, marginals=True, n_best=2)["answers"][0]
    sure = model.predict_confidence([[tuple(row) for row in rows[0]]])[0]
    assert answer["labels"] == sure.labels
    assert answer["probabilities"] == pytest.approx(sure.tokens, abs=1e-6)
    assert ask(client, model="columns", tokens=rows, probabilities=False)["answers"] == [{"labels": sure.labels}]
    assert ask(client, model="dicts", tokens=[[{"w": "a"}, {"w": "b"}]])["answers"][0]["labels"] == ["1", "2"]
    assert ask(client, model="text", tokens=[["Oslo", "is"]])["answers"][0]["spans"][0]["label"] == "LOC"


def test_classifying(client: TestClient) -> None:
    found = ask(client, "/v1/classify", model="hmm", tokens=[[[0.0, 0.1]] * 4, [[3.0, 3]] * 2])
    assert [answer["label"] for answer in found["answers"]] == ["low", "high"]
    assert sum(found["answers"][0]["probabilities"].values()) == pytest.approx(1.0, abs=1e-5)


def test_hugging_faces_form(client: TestClient) -> None:
    spans = ask(client, text=TEXT)["answers"][0]["spans"]
    own = ask(client, text=TEXT, format="huggingface")["answers"][0]
    theirs = ask(client, "/huggingface/text", inputs=TEXT, parameters={"aggregation_strategy": "simple"})
    for found in (own, theirs):
        assert [set(one) for one in found] == [{"entity_group", "score", "word", "start", "end"}] * len(spans)
        assert [one["word"] for one in found] == [span["text"] for span in spans]
    assert len(ask(client, "/huggingface/text", inputs=[TEXT, ""])) == 2


def test_label_studio(client: TestClient) -> None:
    config = (
        '<View><Labels name="ner" toName="doc"><Label value="PER"/></Labels><Text name="doc" value="$body"/></View>'
    )
    tasks = [{"id": 7, "data": {"body": "😀 " + TEXT}}, {"data": {"body": ""}}]
    found = ask(client, "/predict", tasks=tasks, label_config=config, project="1.2")["results"]
    first = found[0]["result"][0]
    assert (first["from_name"], first["to_name"], first["type"]) == ("ner", "doc", "labels")
    assert first["value"]["start"] == 3  # in UTF-16 units: the emoji counts twice
    assert 0 < found[0]["score"] < 1
    assert found[1] == {"model_version": found[0]["model_version"], "score": 1.0, "result": []}
    refused(
        client.post("/predict", json={"tasks": [{"data": {"x": 1}}]}), 422, "Task 0 has no text in its field 'text'"
    )
    assert "model_version" in ask(client, "/label-studio/text/setup", project="1", schema=config)
    assert client.get("/health").json()["status"] == "UP"


def test_streams(client: TestClient) -> None:
    lines = [{"text": TEXT, "id": 1}, {"tokens": ["Oslo"]}, {"text": ""}, {"text": 1}, {"text": "Oslo " * 600}, {}]
    body = "\n".join([*map(json.dumps, lines), "not JSON", ""]).encode()
    kind = {"content-type": "application/x-ndjson"}
    response = client.post("/v1/stream?n_best=2&with_tokens=true", content=body, headers=kind)
    found = [json.loads(line) for line in response.text.splitlines()]
    assert found[0]["id"] == 1
    assert found[0]["spans"] == ask(client, text=TEXT)["answers"][0]["spans"]
    assert found[1]["labels"] == ["B-LOC"]
    assert [one.get("status") for one in found] == [None, None, None, 422, 413, 422, 400]
    assert found[3]["line"] == 3
    many = ("\n".join([json.dumps({"text": TEXT})] * 300)).encode()
    assert len(client.post("/v1/stream", content=many, headers=kind).text.splitlines()) == 300
    refused(client.post("/v1/stream?n_best=x", content=body, headers=kind), 422, "n_best")
    refused(client.post("/v1/stream", content=body), 415, "Content-Type")


def test_streams_of_anything(client: TestClient) -> None:
    rng = np.random.default_rng(0)
    seeds = [
        b'{"text": "Anna in Oslo", "id": 7}', b'{"tokens": ["Anna", "in"]}', b'{"text": "", "id": null}', b"", b"[]",
        b'{"text": "a", "tokens": []}', b'{"tokens": [["a", "b"]]}', b'{"text": "\xc3\xa9\xf0\x9f\x98\x80"}', b"{",
    ]  # fmt: skip
    for _ in range(60 if not os.environ.get("CHAINFIELD_NIGHTLY") else 5_000):
        lines = [bytearray(seeds[i]) for i in rng.integers(len(seeds), size=rng.integers(1, 12))]
        for line in lines:
            for at in rng.integers(0, max(len(line), 1), size=rng.integers(0, 3)):
                line[at : at + int(rng.integers(0, 3))] = rng.bytes(int(rng.integers(0, 3)))
        body = b"\n".join(map(bytes, lines))
        found = client.post("/v1/stream", content=body, headers={"content-type": "application/x-ndjson"})
        assert found.status_code == 200
        answers = [json.loads(line) for line in found.text.splitlines()]
        assert len(answers) == sum(bool(line.strip()) for line in body.split(b"\n"))
        assert all("spans" in one or 400 <= one["status"] < 500 for one in answers)


def test_models_health_metrics_openapi(client: TestClient) -> None:
    models = client.get("/v1/models").json()["models"]
    assert [model["name"] for model in models] == ["text", "sentences", "columns", "dicts", "hmm"]
    assert client.get("/v1/models/text").json()["labels"] == ["B-LOC", "B-PER", "I-PER", "O"]
    assert client.get("/v2/health/live").status_code == client.get("/v2/health/ready").status_code == 200
    text = client.get("/metrics").text
    assert re.search(r'chainfield_requests_total\{method="POST",route="/v1/tag",status="200"\} [1-9]', text)
    assert 'chainfield_tokens_total{model="text"}' in text
    assert re.search(r'request_seconds_bucket\{route="/v1/tag",le="\+Inf"\} ', text)
    document = client.get("/openapi.json").json()
    routes = {path for path in document["paths"]}
    served = {route.path for route in client.app.service.routes()} - {"/", "/openapi.json"}  # type: ignore[attr-defined]
    assert routes == served


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"text": "a", "model": "nothing"}, 404, r"no model 'nothing'; there is text, sentences"),
        ({"text": "a", "model": "text", "version": "9"}, 404, "has no version '9'"),
        ({}, 422, "exactly one of the fields text, texts, tokens"),
        ({"text": "a", "texts": ["b"]}, 422, "exactly one"),
        ({"text": 1}, 422, r"text is 1 \(int\); a string is expected"),
        ({"texts": ["a", None]}, 422, "texts, entry 1 is None"),
        ({"text": "a", "n_best": True}, 422, "n_best is True"),
        ({"text": "a", "n_best": 1000}, 422, "between 0 and 100"),
        ({"text": "a", "strange": 1}, 422, "the field 'strange', which means nothing here"),
        ({"text": "a", "path": "/etc/passwd"}, 422, "the field 'path'"),
        ({"text": "\ud800"}, 422, "half of a character at 0"),
        ({"text": "a", "given": [{"position": 3, "label": "O"}]}, 422, "no token 3: it has 1"),
        ({"text": "a", "given": [{"position": 0, "label": "X"}]}, 422, "no label 'X'; it has B-LOC"),
        ({"text": "a", "given": [{"input": 4, "position": 0, "label": "O"}]}, 422, "no input 4"),
        ({"text": "a", "given": [{"position": 0, "label": "I-PER"}]}, 422, "no allowed path"),
        ({"text": "a", "explain": {"against": "X"}}, 422, "no label 'X' to compare with"),
        ({"text": "a", "explain": {"positions": [-1]}}, 422, "between 0"),
        ({"text": "a", "model": "columns"}, 422, "does not read texts"),
        ({"text": "a", "model": "hmm"}, 422, "ask /v1/classify"),
        ({"tokens": [["a"]], "model": "columns"}, 422, "is not a row; a tuple of strings"),
        ({"tokens": [[1.5]], "model": "text"}, 422, "entry 0 is 1.5"),
        ({"tokens": [["a"]], "format": "huggingface"}, 422, "are about texts"),
        ({"texts": ["a"] * 21}, 413, "21 inputs"),
        ({"text": "a " * 501}, 413, "501 tokens; 500 are allowed"),
        ({"text": "a " * 400, "n_best": 100}, 413, "40,000 values"),
    ],
)  # fmt: skip
def test_bad_requests(client: TestClient, body: Any, status: int, sentence: str) -> None:
    refused(
        client.post("/v1/tag", content=json.dumps(body), headers={"content-type": "application/json"}), status, sentence
    )
    assert client.get("/v2/health/ready").status_code == 200


@pytest.mark.parametrize(
    ("content", "status", "sentence"),
    [
        (b'{"text": "\xff"}', 400, "is not UTF-8: byte 10"),
        (b'{"text": ', 400, "is not JSON"),
        (b"[" * 50_000, 400, "nested too deeply|is not JSON"),
        (b'{"text": NaN}', 400, "NaN is no number"),
        (b"[]", 422, "an object is expected"),
        (b'{"n_best": ' + b"9" * 5000 + b"}", 400, "is not JSON"),
        (b" " * 100_001, 413, "larger than 100,000 bytes"),
    ],
)
def test_bad_bodies(client: TestClient, content: bytes, status: int, sentence: str) -> None:
    refused(client.post("/v1/tag", content=content, headers={"content-type": "application/json"}), status, sentence)


def test_a_body_without_a_length_has_an_end(client: TestClient) -> None:
    chunks = (b" " * 50_000 for _ in range(1_000))
    refused(client.post("/v1/tag", content=chunks, headers={"content-type": "application/json"}), 413, "larger than")


def test_addresses_and_types(client: TestClient) -> None:
    refused(client.get("/nothing"), 404, "nothing at this address")
    refused(client.get("/v1/models/../../etc/passwd"), 404, "")
    refused(client.get("/v1/tag"), 405, "does not take that method")
    refused(client.post("/v1/tag", content=b"{}", headers={"content-type": "text/plain"}), 415, "send Content-Type")
    assert "access-control-allow-origin" not in client.get("/v1/models", headers={"origin": "http://x"}).headers


def test_keys_and_origins(folder: Path) -> None:
    app = make_application([Source.of(f"{folder / 'text.cf'}")], keys=["secret", "other"], cors=["http://x"], watch=0)
    with TestClient(app) as client:
        assert client.get("/v2/health/ready").status_code == client.get("/").status_code == 200
        refused(client.get("/v1/models"), 401, "needs a key")
        refused(client.get("/metrics", headers={"x-api-key": "wrong"}), 401, "needs a key")
        for headers in ({"x-api-key": "other"}, {"authorization": "Bearer secret"}):
            assert client.get("/v1/models", headers=headers).status_code == 200
        assert client.get("/v1/models", auth=("label studio", "secret")).status_code == 200
        assert (
            "key" in client.get("/openapi.json", headers={"x-api-key": "other"}).json()["components"]["securitySchemes"]
        )
        found = client.get("/v1/models", headers={"x-api-key": "other", "origin": "http://x"})
        assert found.headers["access-control-allow-origin"] == "http://x"


def test_logs_hold_no_text(client: TestClient, log: io.StringIO, folder: Path) -> None:
    ask(client, text="Anna has a secret")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    last = lines[-1]
    assert (last["route"], last["status"], last["model"], last["tokens"]) == ("/v1/tag", 200, "text", 4)
    assert "secret" not in log.getvalue()
    own = io.StringIO()
    app = make_application([Source.of(f"{folder / 'text.cf'}")], watch=0, log=Log(own, texts=True))
    with TestClient(app) as other:
        ask(other, text="Anna has a secret")
    assert "secret" in own.getvalue()


# ---- threads and files -----------------------------------------------------------------------------------------------


def test_the_queue_has_an_end_and_answers_a_time() -> None:
    async def crowd() -> tuple[list[Any], float]:
        workers = Workers(1, Bounds(queue=2, seconds=0.2))
        gate = threading.Event()
        started = time.monotonic()
        found = await asyncio.gather(*(workers.run(gate.wait) for _ in range(5)), return_exceptions=True)
        took = time.monotonic() - started
        gate.set()
        workers.close()
        return found, took

    found, took = asyncio.run(crowd())
    assert [error.status for error in found] == [503, 503, 503, 429, 429]
    assert all(error.retry >= 1 for error in found)
    assert took < 2


def test_questions_that_arrive_together_are_answered_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chainfield.serving import gathering
    from chainfield.serving.question import Question, Wanted
    from chainfield.serving.tagging import tag

    model = Registry([Source.of(f"text={folder / 'text.cf'}")]).find(None, None)
    bounds = Bounds(tokens=8)
    asked = [Question([text], None, Wanted()) for text in (*TEXTS, "", *TEXTS)]
    asked += [Question(TEXTS[:2], None, Wanted()), Question([TEXT], None, Wanted(probabilities=False))]
    wrong = Question(["one two three four five six seven eight nine"], None, Wanted())  # too many tokens
    calls = []
    together = gathering.tag_each
    monkeypatch.setattr(gathering, "tag_each", lambda *known: calls.append(known[1].n) or together(*known))

    async def crowd(questions: list[Question], bounds: Bounds) -> list[Any]:
        gathered = gathering.Gathering(bounds)
        return await asyncio.gather(*(gathered.ask(model, one) for one in questions), return_exceptions=True)

    large = Bounds()
    assert asyncio.run(crowd(asked, large)) == [tag(model, one, large) for one in asked]
    assert calls == [13]  # those that want the same go together; a single one by itself
    *good, refused = asyncio.run(crowd([asked[1], asked[3], wrong], bounds))
    assert good == [tag(model, one, bounds) for one in (asked[1], asked[3])]
    assert refused.status == 413
    many = [asked[1]] * 40
    assert asyncio.run(crowd(many, large)) == [tag(model, asked[1], large)] * 40
    assert calls[2:] == [32, 8]


def test_folders_of_versions_and_files_that_change(folder: Path, tmp_path: Path) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    for version in ("9", "10"):
        (tmp_path / f"{version}.cf").write_bytes((folder / "text.cf").read_bytes())
    registry = Registry([Source(tmp_path, "ner")])
    registry.told = lambda event, **facts: told.append((event, facts))
    assert [served.version for served in registry] == ["9", "10"]
    old = registry.find("ner")
    assert (old.version, registry.find("ner", "9").version, registry.refresh()) == ("10", "9", False)
    (tmp_path / "10.cf").write_bytes(b"damaged")
    assert not registry.refresh()
    assert registry.find("ner") is old
    assert told[-1][0] == "reload_failed"
    n = len(told)
    assert not registry.refresh()  # the same damaged file is not read again
    assert len(told) == n
    (tmp_path / "10.cf").write_bytes((folder / "sentences.cf").read_bytes())
    (tmp_path / "11.cf").write_bytes((folder / "text.cf").read_bytes())
    (tmp_path / "9.cf").unlink()
    assert registry.refresh()
    assert [served.version for served in registry] == ["10", "11"]
    assert registry.find("ner", "10") is not old
    for path in tmp_path.iterdir():
        path.unlink()
    assert not registry.refresh()
    assert len(list(registry)) == 2  # nothing is there: what was loaded stays


def test_a_reload_loses_no_request(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.cf"
    path.write_bytes((folder / "text.cf").read_bytes())
    with TestClient(make_application([Source.of(f"m={path}")], watch=0.02)) as client:
        versions, stop = set(), time.monotonic() + 0.8
        turn = 0
        while time.monotonic() < stop:
            versions.add(ask(client, text=TEXT)["version"])
            turn += 1
            if turn % 40 == 20:
                other = tmp_path / "next"
                other.write_bytes((folder / ("sentences.cf" if turn % 80 == 20 else "text.cf")).read_bytes())
                os.replace(other, path)
    assert len(versions) == 2


def test_models_that_cannot_be_served(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.cf").write_bytes(b"nothing")
    with pytest.raises(ModelFileError):
        make_application([Source.of(str(tmp_path / "bad.cf"))])
    with pytest.raises(ConfigError, match="two models a@1"):
        make_application([Source.of(f"a@1={folder / 'text.cf'}"), Source.of(f"a@1={folder / 'dicts.cf'}")])
    with pytest.raises(ConfigError, match="no model to serve"):
        make_application([])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConfigError, match="holds no model"):
        make_application([Source.of(str(empty))])
    with pytest.raises(ConfigError, match="NAME=PATH"):
        Source.of("=x")
    with pytest.raises(Refusal):
        Registry([Source.of(f"{folder / 'text.cf'}")]).find("other")


def test_the_command(folder: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("serve", folder / "text.cf", "--port", port)
        assert result.code == 1
        assert f"Port {port} of 127.0.0.1 is in use; give another one with --port." in result.stderr
    assert "No such file" in run("serve", tmp_path / "none.cf", "--port", 0).stderr
    (tmp_path / "keys").write_text("# none\n")
    assert "holds no key" in run("serve", folder / "text.cf", "--api-keys", tmp_path / "keys").stderr


# ---- a real process --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", "chainfield", "serve", str(folder / "text.cf"), "--port", "0", "--quiet"]
    process = subprocess.Popen([*command, "--max-seconds", "2"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    port = int(re.search(r":(\d+)/", line)[1])  # type: ignore[index]
    yield process, port
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) in (0, -signal.SIGTERM)
    process.stderr.close()


def exchange(port: int, *parts: bytes, pause: float = 0.0) -> bytes:
    """What comes back on a connection to which some bytes are sent, until it is closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        for part in parts:
            sock.sendall(part)
            time.sleep(pause)
        found = b""
        try:
            while chunk := sock.recv(65536):
                found += chunk
        except ConnectionResetError:
            pass
        return found


def test_slow_and_broken_clients(server: tuple[subprocess.Popen[str], int]) -> None:
    port = server[1]
    started = time.monotonic()
    assert exchange(port, b"POST /v1/tag HTTP/1.1\r\nHost: x\r\n") == b""  # a head that never ends
    assert time.monotonic() - started < 8
    head = b"POST /v1/tag HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    assert b" 408 " in exchange(port, head, b"{").splitlines()[0]
    assert b" 400 " in exchange(port, b"nonsense\r\n\r\n").splitlines()[0]
    large = head.replace(b"99", b"10000000")
    assert b" 413 " in exchange(port, large).splitlines()[0]
    assert b" 413 " in exchange(port, large, b"x" * 10_000_000).splitlines()[0]  # who still writes reads it as well
    assert b" 413 " in exchange(port, large.replace(b"Host", b"Expect: 100-continue\r\nHost")).splitlines()[0]


def test_many_connections(server: tuple[subprocess.Popen[str], int]) -> None:
    port, body = server[1], b'{"text": "Anna"}'
    request = (
        b"POST /v1/tag HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )

    async def one() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        found = await reader.read()
        writer.close()
        return found

    async def crowd() -> list[bytes]:
        return await asyncio.gather(*(one() for _ in range(200)))

    assert {found.split(b" ", 2)[1] for found in asyncio.run(crowd())} == {b"200"}


def test_a_server_imports_nothing_of_training() -> None:
    heavy = ("chainfield.models", "chainfield.trainers", *([] if NATIVE is None else ["scipy"]))  # Numba imports SciPy
    code = (
        "import sys, chainfield.serving, chainfield.serving.running\n"
        f"print([m for m in sys.modules if m.startswith({heavy!r})])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8")
    assert found.stdout.strip() == "[]"
