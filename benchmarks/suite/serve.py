"""The server under load on loopback: requests per second and how long they take, peers behind the same kind of server.

Needs wrk. Every contestant answers the same 20 words with the spans that it finds and, where it has some, their
probabilities.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import click

from chainfield import LinearCRF, TextTagger, load

from .children import environment
from .measure import Measurements, Options, Table
from .serve_worker import TEXT, strings

CONNECTIONS = (1, 8, 64)
FOUND = ("per_second", "p50_ms", "p95_ms", "p99_ms", "failed")
SECONDS = 2
ROUNDS = 3
RESTARTS = 3
SCRIPT = """
wrk.method, wrk.body = "POST", [[{"text": "%s"}]]
wrk.headers["Content-Type"] = "application/json"
function done(summary, latency, requests)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  local p = function(q) return latency:percentile(q) / 1000 end
  local rate = 1e6 * summary.requests / summary.duration
  print(string.format("FOUND %%f %%f %%f %%f %%d", rate, p(50), p(95), p(99), failed))
end
"""


def run(options: Options) -> Measurements:
    """Each contestant is started, warmed up, and asked over 1, 8 and 64 connections."""
    result = Measurements("serve")
    if shutil.which("wrk") is None:
        raise click.ClickException("This benchmark needs wrk; install it with: apt install wrk")
    X, y = _sentences(options.sample)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        LinearCRF(max_iter=8, scheme="bio").fit(X, y).save(folder / "ner.cf")
        (folder / "wrk.lua").write_text(SCRIPT % TEXT, encoding="utf-8")
        contestants = {"chainfield": ["chainfield", "serve", str(folder / "ner.cf"), "--quiet", "--port", "{port}"]}
        contestants |= _peers(folder, X, y, result)
        with contextlib.ExitStack() as servers:
            ports = {who: port for port, who in enumerate(contestants, 18_700)}
            running = {who: servers.enter_context(_server(contestants[who], ports[who])) for who in contestants}
            for _ in range(1 if options.sample else options.repeats or ROUNDS):
                for n, who in itertools.product(CONNECTIONS, contestants):
                    found = _load(folder, ports[who], n, 1 if options.sample else SECONDS)
                    click.echo(f"{who}, {n}: {found}", err=True)
                    for key, value in zip(FOUND, found, strict=True):
                        result.add(f"{who}_{n}_{key}", value)
            for who, process in running.items():
                result.figures[f"{who}_megabytes"] = _memory(process.pid)
        for who, n in itertools.product(contestants, CONNECTIONS):
            medians = [result.middle(f"{who}_{n}_{key}") for key in FOUND]
            rows.append([who, n, *medians])
            result.figures |= {f"{who}_{n}_{key}": value for key, value in zip(FOUND, medians, strict=True)}
        _restarts(contestants["chainfield"], result)
        result.figures["reload_failed"] = _reload(folder, contestants["chainfield"])
    for who in contestants:
        if who != "chainfield":
            ratio = result.figures["chainfield_8_per_second"] / result.figures[f"{who}_8_per_second"]
            result.figures[f"serve_ratio_{who}"] = ratio
    head = ["server", "connections", "requests/s", "p50 ms", "p95 ms", "p99 ms", "failed"]
    result.tables.append(Table("20 words of CoNLL-2003 over loopback, spans as JSON", head, rows))
    result.tabled += [name for name in result.figures if re.search(r"_\d+_(per|p\d|failed)", name)]
    result.notes.append(
        "Medians of alternating rounds. Models are trained briefly: that changes answers, not how long they take. "
        "All servers are uvicorn with one process, and wrk runs on the same machine. chainfield: `chainfield serve`, "
        "spans with exact probabilities. crfsuite: python-crfsuite behind Starlette, features made in Python, without "
        "probabilities. spacy: a blank English pipeline with `ner` behind FastAPI, without probabilities."
    )
    return result


def _sentences(sample: int | None) -> tuple[list[list[str]], list[list[str]]]:
    """The training data of CoNLL-2003, words alone, in BIO."""
    X: list[list[str]] = [[]]
    y: list[list[str]] = [[]]
    before = "O"
    path = Path(os.environ.get("CHAINFIELD_DATA", "")) / "conll2003" / "eng.train"
    if not path.is_file():
        raise click.ClickException(
            "The corpus conll2003 is missing: set CHAINFIELD_DATA to a folder that holds conll2003/eng.train."
        )
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split()
        if not cells or cells[0] == "-DOCSTART-":
            if X[-1]:
                X.append([])
                y.append([])
            before = "O"
            continue
        label = cells[-1]
        new = label.startswith("I-") and (before == "O" or before[2:] != label[2:])
        X[-1].append(cells[0])
        y[-1].append("B-" + label[2:] if new else label)
        before = label
    return [x for x in X if x][:sample], [labels for labels in y if labels][:sample]


def _peers(folder: Path, X: list[list[str]], y: list[list[str]], result: Measurements) -> dict[str, list[str]]:
    found = {}
    worker = [sys.executable, "-m", "suite.serve_worker"]
    try:
        import pycrfsuite

        trainer = pycrfsuite.Trainer(verbose=False)
        for words, labels in zip(X[:2000], y[:2000], strict=True):
            trainer.append(strings(words), labels)
        trainer.set_params({"max_iterations": 10})
        trainer.train(str(folder / "peer.crfsuite"))
        found["crfsuite"] = [*worker, "crfsuite", str(folder / "peer.crfsuite"), "{port}"]
    except ImportError:
        result.notes.append("python-crfsuite is not installed.")
    try:
        import spacy
        from spacy.training import Example

        pipeline = spacy.blank("en")
        pipeline.add_pipe("ner")
        examples = []
        for words, labels in zip(X[:200], y[:200], strict=True):
            document = spacy.tokens.Doc(pipeline.vocab, words=words)
            examples.append(Example.from_dict(document, {"entities": _biluo(labels)}))
        pipeline.initialize(lambda: examples)
        for _ in range(3):
            pipeline.update(examples)
        pipeline.to_disk(folder / "spacy")
        found["spacy"] = [*worker, "spacy", str(folder / "spacy"), "{port}"]
    except ImportError:
        result.notes.append("spaCy is not installed.")
    return found


def _biluo(labels: list[str]) -> list[str]:
    from spacy.training import iob_to_biluo

    return list(iob_to_biluo(labels))


@contextlib.contextmanager
def _server(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    process = _start(command, port)
    try:
        _wait(port)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _start(command: list[str], port: int) -> subprocess.Popen[bytes]:
    own = [part.replace("{port}", str(port)) for part in command]
    own = [sys.executable, "-m", *own] if own[0] == "chainfield" else own
    return subprocess.Popen(own, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait(port: int, seconds: float = 25) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/ready", timeout=1):
                return
        except OSError:
            time.sleep(0.002)
    raise RuntimeError("A server did not start.")


def _load(folder: Path, port: int, connections: int, seconds: int) -> list[float]:
    command = ["wrk", "-t1", f"-c{connections}", "-s", str(folder / "wrk.lua"), f"http://127.0.0.1:{port}/v1/tag"]
    subprocess.run([*command, "-d1s"], check=True, capture_output=True)
    said = subprocess.run([*command, f"-d{seconds}s"], check=True, capture_output=True, text=True).stdout
    line = next(line for line in said.splitlines() if line.startswith("FOUND"))
    return [float(part) for part in line.split()[1:]]


def _memory(pid: int) -> float:
    with open(f"/proc/{pid}/statm", encoding="ascii") as found:
        return int(found.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _restarts(command: list[str], result: Measurements) -> None:
    """Killed without mercy, and started again: seconds until it is ready."""
    for turn in range(RESTARTS):
        port = 18_750 + turn
        started = time.perf_counter()
        process = _start(command, port)
        _wait(port)
        result.add("restart", time.perf_counter() - started)
        process.kill()
        process.wait()
    middle = result.middle("restart")
    assert middle is not None
    result.figures["restart_seconds"] = middle


def _reload(folder: Path, command: list[str]) -> float:
    """Requests that fail while the model's file is replaced again and again."""
    model = folder / "ner.cf"
    other = load(model)
    with _server(command, 18_760):
        wrk = ["wrk", "-t1", "-c8", "-d6s", "-s", str(folder / "wrk.lua"), "http://127.0.0.1:18760/v1/tag"]
        running = subprocess.Popen(wrk, stdout=subprocess.PIPE, text=True)
        for turn in range(4):
            time.sleep(1.3)
            TextTagger.around(other).save(folder / "next.cf", {"turn": turn})
            os.replace(folder / "next.cf", model)
        said = running.communicate()[0]
        with urllib.request.urlopen("http://127.0.0.1:18760/metrics") as found:
            text = found.read().decode()
    reloads = int(re.search(r'reloads_total\{event="reloaded"\} (\d+)', text)[1])  # type: ignore[index]
    assert reloads >= 3, "the model was not loaded again"
    line = next(line for line in said.splitlines() if line.startswith("FOUND"))
    return float(json.loads(line.split()[-1]))
