"""Files that are replaced as a whole or not at all, whoever else writes to the same place at the same time.

What is written goes to a new file in the same folder, under a name that nobody else has; it is flushed to the disk and
renamed. While it is written it is locked, so that what a killed process left behind can be told from work in progress.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from chainfield.errors import ModelFileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Without locks, what is older than this many seconds was left behind.
STALE = 24 * 3600
# File systems allow names of 255 bytes; what stands around the name of the file takes less than the rest.
LONGEST_NAME = 200
# Folders cannot be opened and flushed everywhere; these faults say so.
_NOT_HERE = (errno.EACCES, errno.EINVAL, errno.ENOTSUP, errno.EBADF)
_FLAGS = (
    os.O_CREAT
    | os.O_EXCL
    | os.O_WRONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    target = _followed(path)
    with _worded(path, "cannot be written ({}); choose another place"):
        with _beside(target, 0o600):
            pass
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "permission denied")


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file; whatever fails, there is the old one or the new one, and nothing else is left."""
    target = _followed(path)
    with _worded(path, "could not be written: {}"):
        clean(target)
        with _beside(target, 0o666) as (temporary, file):
            _like_the_old(target, file)
            with os.fdopen(os.dup(file), "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(file)
            if os.name == "nt":  # an open file cannot be renamed there
                os.close(file)
            os.replace(temporary, target)
    with _worded(path, "was written, but the disk did not confirm it: {}"):
        _flush_folder(target.parent)


def clean(target: Path) -> None:
    """Remove what killed processes left behind when they wrote to this place."""
    pattern = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{16}\.tmp")
    with contextlib.suppress(OSError):
        for entry in os.scandir(target.parent):
            if pattern.fullmatch(entry.name):
                _remove_if_left(entry.path)


def _followed(path: str | os.PathLike[str]) -> Path:
    """The file behind links; refuses what is no file, and folders that are not there."""
    given = Path(path)
    try:
        target = Path(os.path.realpath(given))
        if not target.parent.is_dir():
            folder = target.parent if given.is_symlink() else given.parent
            raise ModelFileError(f"{given}: the folder {folder} does not exist; create it first.")
        mode = target.stat().st_mode if os.path.lexists(target) else stat.S_IFREG
    except (OSError, ValueError) as error:  # a loop of links, a name with a zero in it
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{given} cannot be written ({reason}); choose another place.") from None
    if stat.S_ISDIR(mode):
        raise ModelFileError(f"{given} is a folder; give the name of a file.")
    if not stat.S_ISREG(mode):
        raise ModelFileError(f"{given} is a device or a pipe; give the name of a file.")
    return target


@contextlib.contextmanager
def _worded(path: str | os.PathLike[str], sentence: str) -> Iterator[None]:
    """Faults of the system as one sentence."""
    try:
        yield
    except OSError as error:
        raise ModelFileError(f"{path} {sentence.format(error.strerror or error)}.") from None


def _prefix(target: Path) -> str:
    name = target.name if len(os.fsencode(target.name)) <= LONGEST_NAME else "chainfield"
    return f".{name}."


@contextlib.contextmanager
def _beside(target: Path, mode: int) -> Iterator[tuple[Path, int]]:
    """A new file in the same folder, open and locked; it is removed unless it was renamed."""
    while True:
        temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.tmp")
        file = os.open(temporary, _FLAGS, mode)
        try:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # there are file systems without locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file).st_nlink:  # else somebody took it for left behind, before it was locked
                yield temporary, file
                return
        finally:
            temporary.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                os.close(file)


def _remove_if_left(path: str) -> None:
    """Remove a file that nobody writes to any more; under its lock, which whoever makes such a file asks for next."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)
                return
            except BlockingIOError:
                return
            finally:
                os.close(file)
    with contextlib.suppress(OSError):
        if time.time() - os.lstat(path).st_mtime > STALE:
            os.unlink(path)


def _like_the_old(target: Path, file: int) -> None:
    """Owner, group and permissions of the file that is replaced; a new file has what the umask leaves."""
    if not hasattr(os, "fchmod") or not target.exists():
        return
    old, new = target.stat(), os.fstat(file)
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(file, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.fchown(file, -1, old.st_gid)
            except OSError:
                mode &= ~0o070  # what one group was allowed is not meant for another
    os.fchmod(file, mode)


def _flush_folder(folder: Path) -> None:
    """Make the new name as lasting as the content."""
    if os.name == "nt":
        return
    try:
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        if error.errno not in _NOT_HERE:
            raise
