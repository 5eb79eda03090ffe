#!/usr/bin/env -S pipx run nox
# /// script
# dependencies = ["nox>=2025.10.14"]
# ///
"""The tasks of a developer, each in an environment of its own: ``nox -l`` lists them, ``nox -s tests`` runs one.

Arguments behind ``--`` go to the program that a session runs: ``nox -s tests -- tests/test_inference.py -x``.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|virtualenv"

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
EXTRAS = "test,torch,plot,dask,frames,serve,docs,spacy,transformers,watch,tune"  # those of .ci/run
PEERS = ("dask[dataframe]", "accelerate", "duckdb", "httpx2", "playwright", "polars", "pytorch-crf", "usaddress")
RELEASE = nox.project.dependency_groups(PROJECT, "release")


@nox.session(python=PYTHONS, default=False)
def tests(session: nox.Session) -> None:
    """The suite as the README runs it, for every version of Python that is supported and installed."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session(default=False)
def tests_all(session: nox.Session) -> None:
    """The suite with all extras, so that nothing is skipped for want of a library."""
    session.install("-c", ".ci/constraints.txt", "-e", f".[{EXTRAS}]", *PEERS)
    session.run("pytest", *session.posargs)


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """The suite with all extras, and which branches of the library it takes; kernels are compiled, and not counted."""
    session.install("-c", ".ci/constraints.txt", "-e", f".[{EXTRAS}]", *PEERS, "pytest-cov")
    session.run("pytest", "--cov", "--cov-report=term:skip-covered", *session.posargs)


@nox.session(default=False)
def tests_jit(session: nox.Session) -> None:
    """The suite with kernels that Numba compiles at first use."""
    session.install("-c", ".ci/constraints.txt", "-e", ".[test,jit,plot,torch]", "pytorch-crf")
    session.run("pytest", *session.posargs, env={"CHAINFIELD_JIT": "1"})


@nox.session
def lint(session: nox.Session) -> None:
    """Every hook of pre-commit on all files, except for mypy, which has a session of its own."""
    session.install("pre-commit")
    session.run("pre-commit", "run", "--all-files", "--show-diff-on-failure", *session.posargs, env={"SKIP": "mypy"})


@nox.session
def types(session: nox.Session) -> None:
    """Strict types."""
    session.install("-e", ".[test]")
    session.run("mypy", *session.posargs)


@nox.session
def review(session: nox.Session) -> None:
    """The repository by the checks of Scientific Python; pyproject.toml says which do not apply, and why."""
    session.install("sp-repo-review[cli]")
    session.run("sp-repo-review", ".", *session.posargs)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Every snippet, link, default and option of the documentation."""
    session.install("-e", ".[test,plot]")
    session.run("pytest", "tests/test_docs.py", *session.posargs)


@nox.session(default=False)
def site(session: nox.Session) -> None:
    """The documentation as a site, into build/site; a warning is an error."""
    session.install("-c", ".ci/constraints.txt", "-e", ".[docs,dask,audio,torch]")
    session.run("sphinx-build", "-W", "--keep-going", *session.posargs, "docs", "build/site")


@nox.session(default=False)
def benchmarks(session: nox.Session) -> None:
    """Do the benchmarks run? A small sample; the figures mean nothing."""
    session.install("-e", ".[test]")
    session.run("pytest", "tests/test_benchmarks.py")
    session.run("python", "benchmarks/run.py", "scaling", "--sample", "200", "--repeats", "1", *session.posargs)


@nox.session(default=False)
def checked(session: nox.Session) -> None:
    """The suite and some input of the fuzzers with kernels that check all bounds; compiling them takes minutes."""
    session.install("-c", ".ci/constraints.txt", "-e", ".[test,jit,torch,plot]")
    session.run("pytest", *session.posargs, env={"CHAINFIELD_CHECKED": "1"})
    session.run("python", "fuzz/run.py", "--inputs", "20000", env={"CHAINFIELD_CHECKED": "1"})


@nox.session(default=False)
def sanitised(session: nox.Session) -> None:
    """The encoder in C against its twin in Python, built with AddressSanitizer and UndefinedBehaviorSanitizer (gcc)."""
    session.install("-e", ".[test]")
    runtime = [
        session.run("gcc", f"-print-file-name=lib{name}.so", silent=True, external=True) for name in ("asan", "ubsan")
    ]
    settings = {
        "CHAINFIELD_SANITISE": "1",
        "LD_PRELOAD": " ".join(str(path).strip() for path in runtime),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps what it has to the end
    }
    session.run("pytest", "-n", "0", "tests/test_encoder.py", *session.posargs, env=settings)
    session.run("python", "fuzz/run.py", "encoder", "--inputs", "50000", env=settings)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Every fuzzer for a while; ``-- --inputs 1000000`` for longer."""
    session.install("-e", ".[test]")
    session.run("python", "fuzz/run.py", *(session.posargs or ["--inputs", "20000"]))


@nox.session(default=False)
def nightly(session: nox.Session) -> None:
    """What takes too long for every change: random compositions, lives of models, many threads."""
    session.install("-c", ".ci/constraints.txt", "-e", ".[test,torch]")
    tests = ["tests/test_compositions.py", "tests/test_life.py", "tests/test_threads.py"]
    session.run("pytest", *tests, *session.posargs, env={"CHAINFIELD_NIGHTLY": "1"})


@nox.session
def build(session: nox.Session) -> None:
    """Source distribution and wheel, into dist/, and whether PyPI would take them."""
    session.install(*RELEASE)
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", *session.posargs)
    session.run("twine", "check", "--strict", *(str(path) for path in sorted(Path("dist").iterdir())))


@nox.session(default=False)
def sbom(session: nox.Session) -> None:
    """What an installation brings along, as a bill of materials: dist/chainfield.cdx.json (CycloneDX)."""
    session.install(*RELEASE)
    target = Path("dist", "chainfield.cdx.json")
    target.parent.mkdir(exist_ok=True)
    installed = Path(session.create_tmp(), "installed").resolve()
    session.run("python", "-m", "venv", "--clear", str(installed))
    python = installed / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    session.run(str(python), "-m", "pip", "install", "--quiet", *(session.posargs or ["."]), external=True)
    # pip is a part of the environment, not of the installation.
    session.run(str(python), "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip", external=True)
    session.run(
        "cyclonedx-py", "environment", str(python), "--pyproject", "pyproject.toml", "--mc-type", "library",
        "--output-reproducible", "--validate", "--output-format", "JSON", "--output-file", str(target),
    )  # fmt: skip
    # pyproject.toml holds no version: it is read from the package.
    told = session.run(
        str(python), "-c", "import chainfield; print(chainfield.__version__)", silent=True, external=True
    )
    bill = json.loads(target.read_text(encoding="utf-8"))
    bill["metadata"]["component"]["version"] = str(told).strip()
    target.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    nox.main()
