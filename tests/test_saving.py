"""Saving: one whole model at the end, whatever fails, whoever else saves, whatever stands at the place."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

import chainfield
from chainfield import LinearCRF
from chainfield.errors import ModelFileError
from chainfield.files import check_writable, container, read_container, replacing, write_container
from chainfield.files.replacing import clean, replace_file
from support.faults import FaultyOS

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and permissions of POSIX")
X = [[["a"], ["b"]], [["b"]], [["c"], ["a"], ["b"]]]
Y = [["A", "B"], ["B"], ["C", "A", "B"]]


@pytest.fixture(scope="module")
def models():
    return [LinearCRF(max_iter=3, l2=l2, n_jobs=1).fit(X, Y) for l2 in (0.1, 1.0, 5.0)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fault_of(function, *args) -> BaseException | None:
    try:
        function(*args)
    except BaseException as error:
        return error
    return None


# ---- faults, one by one ------------------------------------------------------------------------------------------

FAULTS = {
    "disk full": OSError(errno.ENOSPC, "No space left on device"),
    "input/output": OSError(errno.EIO, "Input/output error"),
    "too many files": OSError(errno.EMFILE, "Too many open files"),
    "too many files of all": OSError(errno.ENFILE, "Too many open files in system"),
    "quota": OSError(errno.EDQUOT, "Disk quota exceeded"),
    "too large": OSError(errno.EFBIG, "File too large"),
    "read-only": OSError(errno.EROFS, "Read-only file system"),
    "stale": OSError(errno.ESTALE, "Stale file handle"),
    "exit": SystemExit(1),
    "interrupt": KeyboardInterrupt(),
    "memory": MemoryError(),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("there", [True, False], ids=["replaced", "new"])
def test_every_call_fails_in_turn(fault, there, models, tmp_path, monkeypatch):
    """There is the old model or the new one, and nothing else; faults of the system are one sentence."""
    path, made = tmp_path / "m.cf", []
    models[1].save(path)
    new = path.read_bytes()
    for n in range(1, 100):
        path.unlink(missing_ok=True)
        if there:
            models[0].save(path)
        before = path.read_bytes() if there else None
        broken = FaultyOS(n, FAULTS[fault])
        monkeypatch.setattr(replacing, "os", broken)
        error = fault_of(models[1].save, path)
        monkeypatch.undo()
        if error is None:
            assert len(broken.calls) < n or broken.calls[n - 1] in ("scandir", "close"), broken.calls
        elif isinstance(FAULTS[fault], OSError):
            assert type(error) is ModelFileError, broken.calls
            assert str(error).startswith(str(path))
        else:
            assert error is FAULTS[fault], broken.calls
        after = path.read_bytes() if path.exists() else None
        assert after in (new, before), broken.calls
        assert names(tmp_path) == (["m.cf"] if after else []), broken.calls
        made.append(len(broken.calls))
        if len(broken.calls) < n:
            break
    assert len(made) > 10  # so many calls were made to fail
    assert chainfield.load(path).predict(X)


def test_faults_are_real(tmp_path, monkeypatch):
    broken = FaultyOS(1, OSError(errno.EIO, "Input/output error"))
    monkeypatch.setattr(replacing, "os", broken)
    with pytest.raises(ModelFileError, match="Input/output error"):
        check_writable(tmp_path / "m.cf")


# ---- several at once ---------------------------------------------------------------------------------------------


def test_threads_that_save_to_one_path(models, tmp_path):
    path, faults = tmp_path / "m.cf", []
    wanted = set()
    for model in models:
        model.save(path)
        wanted.add(path.read_bytes())

    def save(k: int) -> None:
        try:
            for _ in range(5):
                models[k % len(models)].save(path)
                assert chainfield.load(path, n_jobs=1).predict(X)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=save, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert path.read_bytes() in wanted
    assert names(tmp_path) == ["m.cf"]


@posix
def test_what_a_killed_process_left_is_removed(models, tmp_path):
    left = tmp_path / ".m.cf.0123456789abcdef.tmp"
    left.write_bytes(b"half")
    other = tmp_path / ".n.cf.0123456789abcdef.tmp"
    other.write_bytes(b"of another file")
    models[0].save(tmp_path / "m.cf")
    assert names(tmp_path) == [other.name, "m.cf"]


@posix
def test_what_is_being_written_stays(tmp_path):
    with replacing._beside(tmp_path / "m.cf", 0o600) as (temporary, _):
        clean(tmp_path / "m.cf")
        assert temporary.exists()
    assert names(tmp_path) == []


def test_without_locks_only_old_files_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(replacing, "fcntl", None)
    young, old = (tmp_path / f".m.cf.{sign * 16}.tmp" for sign in "ab")
    young.write_bytes(b"")
    old.write_bytes(b"")
    os.utime(old, (1.0, 1.0))
    clean(tmp_path / "m.cf")
    assert names(tmp_path) == [young.name]


# ---- what stands at the place ------------------------------------------------------------------------------------


@posix
def test_links_are_followed(models, tmp_path):
    real, link = tmp_path / "real" / "m.cf", tmp_path / "m.cf"
    real.parent.mkdir()
    link.symlink_to(real)
    models[0].save(link)  # where it leads is not there yet
    assert link.is_symlink()
    before = real.read_bytes()
    models[1].save(link)
    assert link.is_symlink()
    assert real.read_bytes() != before
    assert names(real.parent) == ["m.cf"]
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(ModelFileError, match="cannot be written"):
        models[0].save(link)


@posix
def test_pipes_and_devices_are_refused(models, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null"), Path("/dev/full")):
        with pytest.raises(ModelFileError, match="is a device or a pipe; give the name of a file"):
            models[0].save(path)
        with pytest.raises(ModelFileError, match="is a device or a pipe, not a file"):
            chainfield.load(path)
    assert names(tmp_path) == ["pipe"]


@posix
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_the_old_file_or_the_masks(mask, models, tmp_path):
    before = os.umask(mask)
    try:
        models[0].save(tmp_path / "new.cf")
        (tmp_path / "old.cf").write_bytes(b"")
        (tmp_path / "old.cf").chmod(0o640)
        models[0].save(tmp_path / "old.cf")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.cf").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE((tmp_path / "old.cf").stat().st_mode) == 0o640


def test_names_that_are_long_or_odd(tmp_path):
    for name in ("x" * 251 + ".cf", "ä" * 120 + ".cf", "-rf", "a b\n.cf"):
        replace_file(tmp_path / name, b"data")
        assert (tmp_path / name).read_bytes() == b"data"
    assert len(names(tmp_path)) == 4
    with pytest.raises(ModelFileError, match="cannot be written"):
        check_writable(tmp_path / ("x" * 300))
    with pytest.raises(ModelFileError, match="cannot be written"):
        check_writable(f"{tmp_path}/zero\0inside")


# ---- files that change under a running process -------------------------------------------------------------------

CHANGES = {
    "another model": lambda path, new: path.write_bytes(new),
    "cut off": lambda path, new: os.truncate(path, 10),
    "empty": lambda path, new: path.write_bytes(b""),
    "garbage of the same size": lambda path, new: path.write_bytes(b"\xff" * path.stat().st_size),
    "removed": lambda path, new: path.unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_loaded_model_does_not_depend_on_its_file(change, models, tmp_path):
    models[0].save(tmp_path / "m.cf")
    models[2].save(tmp_path / "other.cf")
    loaded = chainfield.load(tmp_path / "m.cf", n_jobs=1)
    CHANGES[change](tmp_path / "m.cf", (tmp_path / "other.cf").read_bytes())
    assert [m.tobytes() for m in loaded.predict_marginals(X)] == [m.tobytes() for m in models[0].predict_marginals(X)]
    assert loaded.feature_weights_ == models[0].feature_weights_


def test_a_file_that_shrinks_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "x"
    write_container(path, "test", 1, {}, {"numbers": np.zeros(1 << 17)})

    def shrinking(file, size):
        found = real(file, size)
        os.truncate(path, size - 8)
        return found

    real = container.read_header
    monkeypatch.setattr(container, "read_header", shrinking)
    with pytest.raises(ModelFileError, match="became shorter"):
        read_container(path, "test", 1)
