"""Input without end, or made to fill memory: refused within a limit that is declared, documented and can be raised."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import zstandard

from chainfield import limits
from chainfield.data import load_corpus, read_columns
from chainfield.data.array_corpus import load_arrays
from chainfield.data.column_blocks import read_blocks
from chainfield.data.opening import open_bytes, open_text
from chainfield.errors import ConfigError, DataError
from chainfield.features import load_template, parse_template
from chainfield.features.wapiti_regex import first_matches, matched
from chainfield.limits import LIMITS

ROOT = Path(__file__).parent.parent


def test_every_limit_is_a_row_of_the_documentation():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    for limit in LIMITS.values():
        assert f"| `{limit.variable}` | {limit.default:,} | {limit.what} |" in text


def test_limits_can_be_raised(monkeypatch):
    assert LIMITS["columns"].value() == 10_000
    monkeypatch.setenv("CHAINFIELD_COLUMNS", "12")
    assert LIMITS["columns"].value() == 12
    with limits.raised(columns=14):
        assert LIMITS["columns"].value() == 14
        with limits.raised(columns=15):
            assert LIMITS["columns"].value() == 15
        assert LIMITS["columns"].value() == 14
    for bad in ("-1", "0", "1e9", "x", "٣", "9" * 30):
        monkeypatch.setenv("CHAINFIELD_COLUMNS", bad)
        with pytest.raises(ConfigError, match="CHAINFIELD_COLUMNS"):
            LIMITS["columns"].value()
    for name, value in (("colums", 3), ("columns", 0), ("columns", True), ("columns", 2.5)):
        with pytest.raises(ConfigError), limits.raised(**{name: value}):
            pass


class Endless(io.RawIOBase):
    """The same bytes for ever; counts how many were asked for."""

    def __init__(self, some, most=1 << 30):
        self.some, self.n, self.most = some, 0, most

    def read(self, n=-1):
        if n == 0:
            return b""
        self.n += n
        assert self.n < self.most, "nobody stopped reading"
        return (self.some * (n // len(self.some) + 1))[:n]


def both_readers(readable, **options):
    list(read_columns(readable(), **options))
    list(read_blocks(readable(), **options))


@pytest.mark.parametrize(
    ("some", "message"),
    [
        pytest.param(b"\0", "line 1: the line is too long", id="zeros"),
        pytest.param(b"ab", "line 1: the line is too long", id="one line"),
        pytest.param(b"y\n", "the sentence does not end", id="one sentence"),
        pytest.param(b"\n", "the sentence does not end", id="blank lines"),
        pytest.param(b"# a comment of a file\n", "the sentence does not end", id="comments"),
        pytest.param(b"a " * 20_000 + b"\n", "20,000 columns", id="columns"),
    ],
)
def test_endless_files(some, message, monkeypatch):
    monkeypatch.setenv("CHAINFIELD_LINE_BYTES", "100000")
    monkeypatch.setenv("CHAINFIELD_SENTENCE_LINES", "20000")
    with pytest.raises(DataError, match=message) as caught:
        list(read_columns(Endless(some, 20 << 20)))
    assert "CHAINFIELD_" in str(caught.value)


@pytest.mark.parametrize("some", [b"\0", b"\n", b"y y\n", b"# a comment of a file\n"])
def test_endless_files_by_the_block(some, tmp_path, monkeypatch):
    """What a path gives goes another way: as bytes, a block at a time."""
    monkeypatch.setenv("CHAINFIELD_LINE_BYTES", "100000")
    monkeypatch.setenv("CHAINFIELD_SENTENCE_LINES", "20000")
    path = tmp_path / "endless"
    path.write_bytes(b"a b\n\n" + some * (12_000_000 // len(some)))
    began = time.perf_counter()
    with pytest.raises(DataError, match=r"too long|does not end"):
        list(read_blocks(path))
    with pytest.raises(DataError, match=r"too long|does not end"):
        load_corpus(path)
    assert time.perf_counter() - began < 20


def test_a_long_line_is_refused_on_every_road(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINFIELD_LINE_BYTES", "1000")
    text = "a b\n\n" + "x" * 1001 + " b\n\n"
    path = tmp_path / "long"
    path.write_text(text)
    roads = [
        lambda: list(read_columns(path)),
        lambda: list(read_blocks(path)),
        lambda: list(read_blocks(path, encoding="latin-1")),
        lambda: list(read_columns(io.BytesIO(text.encode()))),
        lambda: list(read_columns(io.StringIO(text))),
        lambda: list(read_columns(text.splitlines())),
        lambda: load_corpus(path),
    ]
    for road in roads:
        with pytest.raises(DataError, match="line 3: the line is too long; the limit is 1,000 bytes"):
            road()
    monkeypatch.setenv("CHAINFIELD_LINE_BYTES", "1100")
    for road in roads:
        road()


def test_a_line_of_the_full_length_passes(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINFIELD_LINE_BYTES", "1000")
    path = tmp_path / "long"
    path.write_text("a b\n\n" + "x" * 998 + " b\n\n" + "c d\n\n" * 1000)
    assert len(list(read_columns(path))) == sum(len(block.rows) for block in read_blocks(path)) == 1002


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no such devices here")
def test_devices():
    for road in (read_columns, read_blocks):
        with pytest.raises(DataError, match="/dev/zero, line 1: the line is too long"):
            list(road("/dev/zero"))
    with pytest.raises(DataError, match="too long"):
        load_template("/dev/zero")
    assert list(read_columns("/dev/null")) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_a_fifo_is_read_once_like_a_file(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("a b\nc d\n\n"))
    writer.start()
    assert [sentence.rows for sentence in read_columns(path)] == [(("a", "b"), ("c", "d"))]
    writer.join()


PACKERS = {
    ".gz": lambda data: gzip.compress(data, 9),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_bombs(suffix, tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINFIELD_UNPACKED_BYTES", str(1 << 18))
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(PACKERS[suffix](b"a b\n\n" * 300_000))
    with pytest.raises(DataError, match="made to fill memories") as caught:
        for _ in read_blocks(path):
            pass
    assert "CHAINFIELD_UNPACKED_RATIO" in str(caught.value)
    with limits.raised(unpacked_ratio=10**6), open_text(path) as lines:
        assert next(lines) == "a b"


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_files_unpack_as_they_were(suffix, tmp_path):
    text = os.urandom(100_000) + b"x" * 100_000
    pack, path = PACKERS[suffix], tmp_path / f"data{suffix}"
    for whole, expected in (
        (pack(text), text),
        (pack(text) + pack(b"more"), text + b"more"),
        (pack(b""), b""),
        (b"", b""),
    ):
        path.write_bytes(whole)
        with open_bytes(path) as read:
            assert b"".join(iter(read, b"")) == expected
    damaged = [pack(text)[:-9], pack(text) + b"garbage"]
    if suffix != ".zst":  # which has no sum over its contents
        damaged.append(pack(text)[:1000] + b"???" + pack(text)[1003:])
    for whole in damaged:
        path.write_bytes(whole)
        with pytest.raises(DataError, match="damaged or cut short"), open_bytes(path) as read:
            list(iter(read, b""))


def test_memory_that_a_compressed_file_may_ask_for(tmp_path, monkeypatch):
    """The header of a small .xz file may ask for a dictionary of gigabytes."""
    path = tmp_path / "dictionary.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 26}]
    path.write_bytes(lzma.compress(b"a b\n\n", filters=filters))
    assert len(list(read_columns(path))) == 1
    monkeypatch.setenv("CHAINFIELD_UNPACKING_MEMORY", str(1 << 24))
    with pytest.raises(DataError, match="damaged or cut short"):
        list(read_columns(path))


def test_arrays_that_say_they_are_larger(tmp_path):
    header = np.lib.format.magic(1, 0)
    described = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 8), }"
    described += b" " * (118 - len(described) - 1) + b"\n"
    huge = header + len(described).to_bytes(2, "little") + described + bytes(64)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.npy").write_bytes(huge)
    with pytest.raises(DataError, match="cut short"):
        load_arrays(folder)
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", huge)
        archive.writestr("lengths.npy", huge)
    with pytest.raises(DataError, match="cut short"):
        load_arrays(tmp_path / "a.npz")
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((5_000_000, 1)), lengths=[5_000_000])
    with limits.raised(unpacked_bytes=1 << 24), pytest.raises(DataError, match="unpacks to"):
        load_arrays(tmp_path / "bomb.npz")
    for wrong in ({"X": np.array(3.0), "lengths": [1]}, {"X": np.zeros((2, 1)), "lengths": [2], "y": np.array("a")},
                  {"X": np.zeros((2, 1)), "lengths": np.array([2**63, 2**63 + 2], np.uint64)}):  # fmt: skip
        np.savez(tmp_path / "wrong.npz", **wrong)
        with pytest.raises(DataError):
            load_arrays(tmp_path / "wrong.npz")


# ---- templates ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "U:%x[-999999999,0]",
        "U:%x[1001,0]",
        "U:%x[0,999999999]",
        "U:" + "%x[0,0]" * 51,
        "U:" + "a" * 10_000,
        "U:a=%x[0,0,prefix:" + "9" * 5000 + "]",
        "U:a=%x[0,0,has:" + "a" * 101 + "]",
        'u:%x[@999999999,0]',
    ],
    ids=lambda line: line[:20],
)  # fmt: skip
def test_templates_that_ask_for_too_much(line):
    with pytest.raises(ConfigError, match="line 1") as caught:
        parse_template(line)
    assert len(str(caught.value)) < 300


def test_long_templates(monkeypatch, tmp_path):
    with pytest.raises(ConfigError, match="4,097 templates"):
        parse_template("\n".join(f"U{i}:%x[0,0]" for i in range(4097)))
    with pytest.raises(ConfigError, match="too long"):
        parse_template("# comment\n" * 200_000)
    path = tmp_path / "template"
    path.write_text("# comment\n" * 200_000)
    with pytest.raises(ConfigError, match="too long"):
        load_template(path)


def test_the_dialect_is_told_in_time():
    """One expression of the syntax could be tried from every %x[ on to the end of the line."""
    began = time.perf_counter()
    with pytest.raises(ConfigError):
        parse_template("\n".join(["%x[" * 3333] * 100))
    assert time.perf_counter() - began < 5


def test_expressions_take_no_longer_than_their_text():
    text = "a" * 50_000
    began = time.perf_counter()
    assert matched("a*" * 20 + "b", [text]) == [False]
    assert matched("a?" * 50 + "b", [text]) == [False]
    assert first_matches("^" + ".*" * 20 + "b$", [text + "b"]) == [text + "b"]
    assert time.perf_counter() - began < 10


# ---- memory, in a process of its own -----------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no such devices here")
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited and measured otherwise there")
def test_what_is_refused_takes_little_memory(tmp_path):
    path = tmp_path / "token"
    with path.open("wb") as file:
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b" b\n")
    columns = tmp_path / "columns"
    columns.write_bytes(b"a " * 2_000_000 + b"\n")
    code = """
import sys
from chainfield.data import load_corpus
from chainfield.errors import DataError
for path in sys.argv[1:]:
    try:
        load_corpus(path)
    except DataError as error:
        print(error)
# Not ru_maxrss, which a process inherits from the one that started it.
status = open("/proc/self/status").read()
print(status.partition("VmHWM:")[2].split()[0])"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(columns), "/dev/zero"], env=env, capture_output=True, text=True
    )
    *messages, peak = done.stdout.splitlines()
    assert len(messages) == 3, done.stderr
    assert int(peak) < 700_000, f"{peak} kilobytes"


def test_a_pipe_is_read_as_it_comes():
    """The first sentence is there before the writer ends."""
    from_there, to_there = os.pipe()
    with os.fdopen(from_there, "rb") as reader, os.fdopen(to_there, "wb") as writer:
        writer.write(b"a b\n\nc d\n\n")
        writer.flush()
        writer.close()
        assert len(list(islice(read_columns(reader), 2))) == 2
