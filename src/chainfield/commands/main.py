"""The command ``chainfield``. Nothing heavy is imported before a command really runs."""

from __future__ import annotations

import importlib
import keyword
import os
import signal
import sys
import threading
import warnings
from types import FrameType
from typing import Any

import click

import chainfield
from chainfield.errors import ChainfieldError

READER = "chainfield-reader"  # the thread that reads ahead
# Command → module that defines it, in the order in which help lists them.
NAMES = (
    "demo",
    "train",
    "encode",
    "tag",
    "classify",
    "evaluate",
    "report",
    "review",
    "serve",
    "convert",
    "show",
    "import",
    "export",
    "update",
    "compile",
)
# A module and its command cannot be called by a keyword of Python.
COMMANDS = {name: f"chainfield.commands.{name}{'_' * keyword.iskeyword(name)}" for name in NAMES}


class Lazy(click.Group):
    """A group that imports a command only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), module.rpartition(".")[2])
        return command


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"chainfield, version {chainfield.__version__}")
        if ctx.params.get("verbose"):
            from chainfield.kernels.jit import way

            click.echo(way())
        ctx.exit()


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--verbose", is_flag=True, is_eager=True, help="With --version: tell how kernels run as well.")
@click.option("--version", is_flag=True, expose_value=False, callback=_version, help="Show the version and exit.")
def group(verbose: bool) -> None:
    """Train and use taggers on column files: conditional random fields, fast and exact.

    Start with: chainfield demo
    """


def entry() -> Any:
    """Run the command line as a program of its own: the first Ctrl-C ends it, however many follow."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt_once)
    return main()


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(args: list[str] | None = None) -> Any:
    """Run the command line; errors become one line on standard error and exit code 1."""
    warnings.showwarning = _show_warning
    try:
        return group.main(args, prog_name="chainfield", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        leave(141)
    except (ChainfieldError, OSError, MemoryError, UnicodeError) as error:
        click.echo(f"chainfield: {_told(error)}", err=True)
        leave(1)


def _told(error: BaseException) -> str:
    """An error in words; those of the system name the file first."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error) or type(error).__name__


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    click.echo(f"chainfield: warning: {message}", err=True)


def leave(code: int) -> None:
    """Exit, even if a thread is waiting for standard input: Python would wait for its lock, and abort."""
    waiting = any(thread.name == READER for thread in threading.enumerate())
    if waiting and sys.stdin is sys.__stdin__:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
