"""``chainfield serve``: models behind HTTP, with a page to try them."""

from __future__ import annotations

import os
from pathlib import Path

import click

from chainfield.errors import ConfigError

KEYS = "CHAINFIELD_API_KEYS"
EXTRA = "Serving needs Starlette and uvicorn; install them with: pip install 'chainfield[serve]'."


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0: from everywhere.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0: any free one.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1: one per processor.")
@click.option("--watch", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Seconds; 0: never.")
@click.option("--api-keys", type=click.Path(path_type=Path), help=f"File of keys, one per line; or set {KEYS}.")
@click.option("--cors", multiple=True, metavar="ORIGIN", help="An origin whose pages may ask; may be repeated.")
@click.option("--max-body", type=click.IntRange(min=1), default=4 << 20, show_default=True, help="Bytes of a request.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=50_000, show_default=True, help="Of a request.")
@click.option("--max-seconds", type=click.FloatRange(min=0.01), default=10.0, show_default=True, help="Of a request.")
@click.option("--max-queue", type=click.IntRange(min=1), default=64, show_default=True, help="Requests that wait.")
@click.option("--title", default="", help="Title of the page.")
@click.option("--example", "examples", multiple=True, metavar="TEXT", help="A text that the page offers.")
@click.option("--log-texts", is_flag=True, help="Write what users send into the log.")
@click.option("--quiet", is_flag=True, help="Log no requests.")
def serve(
    models: tuple[str, ...],
    host: str,
    port: int,
    jobs: int,
    watch: float,
    api_keys: Path | None,
    cors: tuple[str, ...],
    max_body: int,
    max_tokens: int,
    max_seconds: float,
    max_queue: int,
    title: str,
    examples: tuple[str, ...],
    log_texts: bool,
    quiet: bool,
) -> None:
    """Serve MODELs over HTTP: an interface for programs, and a page at / to try them.

    MODEL is PATH, NAME=PATH or NAME@VERSION=PATH; a folder holds one file per version (1.cf, 2.cf, ...). The first
    model is the default. A file that changes is loaded again (--watch), without losing a request. /openapi.json
    describes the interface.
    """
    from concurrent.futures import ThreadPoolExecutor

    from chainfield.serving.bounds import Bounds
    from chainfield.serving.registry import Registry, Source

    bounds = Bounds(body=max_body, tokens=max_tokens, seconds=max_seconds, queue=max_queue)
    keys = read_keys(api_keys)
    sources = [Source.of(model) for model in models]
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(Registry, sources)  # beside imports, which take as long
        try:
            from chainfield.serving.application import make_application
            from chainfield.serving.log import Log
            from chainfield.serving.running import bind, run
        except ImportError as error:
            if error.name not in ("starlette", "uvicorn"):
                raise
            raise ConfigError(EXTRA) from None
        sock = bind(host, port)
    with sock:
        door = make_application(
            loading.result(),
            bounds=bounds,
            jobs=jobs,
            keys=keys,
            cors=cors,
            watch=watch,
            log=Log(requests=not quiet, texts=log_texts),
            title=title,
            examples=examples,
        )
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{sock.getsockname()[1]}/"
        names = ", ".join(f"{served.name}@{served.version}" for served in door.service.registry)
        run(door, sock, started=lambda: click.echo(f"Serving {names} on {address} (Ctrl-C ends it)", err=True))


def read_keys(path: Path | None) -> list[str]:
    """Keys of a file, or of the environment; never of the command line, which every user of a machine can read."""
    if path is None:
        found = os.environ.get(KEYS, "").replace(",", "\n").splitlines()
    else:
        try:
            found = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeError) as error:
            raise ConfigError(f"{path}: the keys cannot be read: {error}.") from None
    keys = [line.strip() for line in found if line.strip() and not line.startswith("#")]
    if path is not None and not keys:
        raise ConfigError(f"{path} holds no key; write one per line.")
    return keys
