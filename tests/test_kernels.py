"""Kernels: what they declare, both ways to run them, and what happens where neither works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import chainfield
from chainfield.commands.main import group
from chainfield.errors import KernelError
from chainfield.kernels import clock, declare, native
from chainfield.kernels.chain.sample import sample_paths
from chainfield.kernels.declare import Float2D, Int, Int32, Out, Real
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import NATIVE, way
from chainfield.kernels.text.columns import cut_cells
from chainfield.kernels.text.strings import rebuild
from chainfield.kernels.train.mixture import spread_components
from chainfield.states import one_per_label

PACKAGE = Path(chainfield.__file__).parent
HEAVY = {"numba", "llvmlite", "scipy", "sklearn", "torch", "pandas", "matplotlib", "click", "rich", "zstandard"}
compiled_only = pytest.mark.skipif(NATIVE is None, reason="kernels are compiled at first use here")
numba_only = pytest.mark.skipif(find_spec("numba") is None, reason="needs Numba")


def run(code, *, package=PACKAGE, **settings):
    """A process with its own environment; returns standard output and standard error."""
    env = {**os.environ, "PYTHONPATH": str(package.parent), **{name: str(value) for name, value in settings.items()}}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


# ---- declarations ------------------------------------------------------------------------------------------------


def test_annotations_become_formats():
    def some(graph: Graph, a: Int, b: Out[Float2D], n: int, x: float, yes: bool) -> None:
        """Nothing."""

    (version,) = declare.versions(some)
    fields = "i41r" + 2 * "b11r" + 15 * "i41r" + "lll?"
    assert version.format == f"({fields})i81rf82wld?"


def test_one_version_for_each_kind_of_real_numbers():
    def some(a: Real, b: Int32, c: Out[Real]) -> None:
        """Nothing."""

    assert [version.format for version in declare.versions(some)] == ["f81ri41rf81w", "f41ri41rf41w"]


def test_a_kernel_without_a_declaration_is_refused():
    def some(a, b: int) -> None:
        """Nothing."""

    with pytest.raises(TypeError, match="a of some"):
        declare.versions(some)


@numba_only
def test_every_kernel_has_a_declaration():
    code = """
from chainfield.kernels.dispatcher import all_kernels
print(*(f"{name} {len(kernel.versions)}" for name, kernel in all_kernels().items()), sep="\\n")"""
    lines, _ = run(code, CHAINFIELD_JIT=1)
    decorated = sum(len(re.findall("^@kernel$", p.read_text(), re.M)) for p in (PACKAGE / "kernels").rglob("*.py"))
    assert len(lines.splitlines()) == decorated
    if NATIVE is not None:
        assert [line.split()[0] for line in lines.splitlines()] == sorted(NATIVE.kernels)


GOOD = (np.zeros((2, 1)), 3, np.ones((2, 3)), np.empty((2, 3)))


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({0: np.zeros((2, 1), np.float32)}, id="other numbers"),
        pytest.param({0: np.zeros(2)}, id="other rank"),
        pytest.param({0: np.zeros((2, 2))[:, ::2]}, id="other order"),
        pytest.param({0: np.zeros((2, 1)).astype(">f8")}, id="other bytes"),
        pytest.param({0: [[0.0], [0.0]]}, id="no array"),
        pytest.param({1: 3.0}, id="no whole number"),
        pytest.param({1: None}, id="no number"),
        pytest.param({3: np.broadcast_to(0.0, (2, 3)).copy()[:, :2]}, id="a part"),
        pytest.param({3: np.frombuffer(bytes(48)).reshape(2, 3)}, id="read-only"),
    ],
)
def test_what_was_not_declared_is_refused_both_ways(bad):
    spread_components(*GOOD)
    with pytest.raises(TypeError, match="spread_components was not declared for these arguments"):
        spread_components(*(bad.get(i, value) for i, value in enumerate(GOOD)))
    with pytest.raises(TypeError, match="spread_components was not declared for these arguments"):
        spread_components(*GOOD[:3])


def test_read_only_arrays_are_good_enough_to_read():
    d = np.frombuffer(np.array([[2.0], [3.0]]).tobytes()).reshape(2, 1)
    out = np.empty((2, 3))
    spread_components(d, np.int32(3), np.ones((2, 3)), out)
    np.testing.assert_array_equal(out, [[2.0] * 3, [3.0] * 3])


def test_results_are_python_numbers():
    text = np.frombuffer(b"a b\nc d\n\ne f\n", np.uint8)
    starts, ends, offsets = np.zeros(20, np.int64), np.zeros(20, np.int64), np.zeros(10, np.int64)
    assert cut_cells(text, len(text), 0, 2, False, starts, ends, offsets) == (2, 3)
    assert rebuild(0, np.zeros(8, np.uint8), np.zeros(1, np.int64), np.zeros(2, np.uint64)) == -1


def test_errors_inside_of_kernels_reach_python():
    graph = one_per_label(2).graph
    huge = 2**50
    with pytest.raises(MemoryError):
        sample_paths(graph, np.zeros((1, 2)), np.zeros((1, 4)), 0, huge, np.zeros((1, 1)), np.zeros((1, 1), np.int32))


# ---- the extension -----------------------------------------------------------------------------------------------


@compiled_only
def test_training_and_prediction_import_what_they_need(tmp_path):
    """Neither a compiler nor SciPy, which takes longer to import than all of the library."""
    code = f"""
import sys
import chainfield
x, y = [[("a",), ("b",)]] * 20, [["A", "B"]] * 20
chainfield.LinearCRF(max_iter=2).fit(x, y).save({str(tmp_path / "model.cf")!r})
assert chainfield.load({str(tmp_path / "model.cf")!r}).predict(x[:1]) == y[:1]
print(sorted({HEAVY} & set(sys.modules)))"""
    assert run(code)[0] == "[]"


@compiled_only
@pytest.mark.parametrize(
    "call", ["predict(x[:1])", "tag(x[0])", "predict_marginals(x[:1])", "predict_confidence(x[:1])"]
)
def test_loading_and_tagging_import_no_more_than_numpy(tmp_path, call):
    x, y = [[{"a": 1.0}, {"b": True, "c": "d"}]] * 20, [["A", "B"]] * 20
    chainfield.LinearCRF(max_iter=2).fit(x, y).save(tmp_path / "model.cf")
    code = f"""
import sys
import chainfield
x = [[{{"a": 1.0}}, {{"b": True, "c": "d"}}]]
chainfield.load({str(tmp_path / "model.cf")!r}).{call}
print(sorted(({HEAVY} | {{"threadpoolctl", "chainfield.kernels.train.linear_chain"}}) & set(sys.modules)))"""
    assert run(code)[0] == "[]"


@pytest.fixture
def extension(monkeypatch):
    """A stand-in for the extension, installed as from a wheel, without Numba; change its attributes."""
    module = SimpleNamespace(
        STAMP=native.stamp(), levels=lambda: ["x86-64-v2", "x86-64-v3"], kernels=lambda level: {}, flatten=None
    )
    module.supported = lambda: ["x86-64-v2", "x86-64-v3"]
    for name in ("CHAINFIELD_JIT", "CHAINFIELD_CHECKED", "CHAINFIELD_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(native, "import_module", lambda name: module)
    monkeypatch.setattr(native, "is_checkout", lambda: False)
    monkeypatch.setattr(native, "_has_numba", lambda: False)
    return module


def test_the_best_level_is_taken_or_the_one_that_is_asked_for(extension, monkeypatch):
    assert native.load().level == "x86-64-v3"
    monkeypatch.setenv("CHAINFIELD_LEVEL", "x86-64-v2")
    assert native.load().level == "x86-64-v2"
    monkeypatch.setenv("CHAINFIELD_LEVEL", "x86-64-v4")
    with pytest.raises(KernelError, match="CHAINFIELD_LEVEL=x86-64-v4: here are x86-64-v2, x86-64-v3"):
        native.load()


def test_a_processor_below_all_levels_is_told_what_to_do(extension):
    extension.supported = list
    with pytest.raises(KernelError, match="need a processor of level x86-64-v2, and this one is below; set CHAINF"):
        native.load()


def test_an_extension_of_other_sources_is_refused(extension, monkeypatch, capsys):
    extension.STAMP = "another"
    with pytest.raises(KernelError, match="belong to other sources than these; install chainfield again"):
        native.load()
    monkeypatch.setattr(native, "is_checkout", lambda: True)
    monkeypatch.setattr(native, "_has_numba", lambda: True)
    assert native.load() is None
    assert re.fullmatch(
        "chainfield: The compiled kernels belong .*; build: pip install -e .\n", capsys.readouterr().err
    )


def test_a_broken_extension_is_told(extension, monkeypatch):
    def fail(name):
        raise ImportError("file too short")

    monkeypatch.setattr(native, "import_module", fail)
    with pytest.raises(KernelError, match=r"cannot be loaded \(file too short\); install chainfield again, or set"):
        native.load()


def test_a_missing_extension_needs_numba(extension, monkeypatch):
    def fail(name):
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(native, "import_module", fail)
    with pytest.raises(KernelError, match="has no compiled kernels, and Numba, which would compile them, is missing"):
        native.load()
    monkeypatch.setattr(native, "_has_numba", lambda: True)
    assert native.load() is None


def test_the_compiler_can_be_asked_for_if_it_is_there(extension, monkeypatch):
    monkeypatch.setenv("CHAINFIELD_JIT", "1")
    with pytest.raises(KernelError, match="CHAINFIELD_JIT=1 asks Numba to compile the kernels, but it is not insta"):
        native.load()
    monkeypatch.setattr(native, "_has_numba", lambda: True)
    assert native.load() is None
    monkeypatch.setenv("CHAINFIELD_JIT", "0")
    assert native.load().level == "x86-64-v3"


# ---- installations that are not sound -----------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path):
    """A copy of the library as a wheel would install it, without any extension."""
    package = tmp_path / "chainfield"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd"))
    return package


def command_line(package, extension=None, numba=False):
    """What ``chainfield tag`` says in such an installation: one line on standard error, and the exit code 1."""
    if extension is not None:
        (package / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}").write_bytes(extension)
    hidden = "" if numba else "sys.modules['numba'] = None; "
    code = f"import sys; {hidden}from chainfield.commands.main import main; main(['tag', 'none.cf'])"
    env = {**os.environ, "PYTHONPATH": str(package.parent)}
    env = {name: value for name, value in env.items() if not name.startswith("CHAINFIELD_")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, cwd=package.parent)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


def test_a_missing_extension_is_one_line(installed):
    assert command_line(installed) == (
        "chainfield: This installation has no compiled kernels, and Numba, which would compile them, is missing; "
        "install a wheel of chainfield, or Numba."
    )


@pytest.mark.skipif(sys.platform != "linux", reason="loaders word this differently elsewhere")
def test_a_broken_extension_is_one_line(installed):
    for content in (b"", b"no machine code", b"\x7fELF\x02\x01\x01" + bytes(200)):
        line = command_line(installed, content)
        assert line.startswith("chainfield: The compiled kernels cannot be loaded (")
        assert line.endswith(
            "; install chainfield again, or set CHAINFIELD_JIT=1 and install Numba to compile the kernels "
            "for this machine."
        )


@compiled_only
def test_an_extension_of_another_version_is_one_line(installed):
    (own,) = PACKAGE.glob("_native*.so") or PACKAGE.glob("_native*.pyd")
    with (installed / "kernels" / "layout.py").open("a") as source:
        source.write("# changed\n")
    assert command_line(installed, own.read_bytes()) == (
        "chainfield: The compiled kernels belong to other sources than these; install chainfield again."
    )


@compiled_only
def test_nothing_is_written_to_an_installation(installed, tmp_path):
    """It may be read-only: whoever has compiled kernels needs no place for others."""
    (own,) = PACKAGE.glob("_native*.so") or PACKAGE.glob("_native*.pyd")
    shutil.copy(own, installed)
    before = sorted(installed.rglob("*"))
    code = """
from chainfield import LinearCRF
x, y = [[("a",), ("b",)]] * 20, [["A", "B"]] * 20
print(LinearCRF(max_iter=2).fit(x, y).predict(x[:1]))"""
    settings = {"HOME": tmp_path / "none", "PYTHONDONTWRITEBYTECODE": 1, "CHAINFIELD_JIT": 0}
    assert run(code, package=installed, **settings) == ("[['A', 'B']]", "")
    assert sorted(installed.rglob("*")) == before


@numba_only
def test_without_a_place_for_machine_code_a_process_compiles_for_itself():
    code = """
import chainfield.kernels.dispatcher as dispatcher
dispatcher._CacheImpl._locator_classes = []  # no folder can be written
import numpy as np
from chainfield.kernels.train.lbfgs import combine
out = np.zeros(8)
none = np.zeros((0, 8), np.float32)
combine(0, 8, none, none, np.zeros(0, np.int64), np.zeros(0), np.zeros(0), 1.0, np.ones(8), np.zeros(0), out)
print(out[0])"""
    value, notice = run(code, CHAINFIELD_JIT=1)
    assert float(value) == 1.0
    assert notice.startswith("chainfield: compiling, once")


LEVELS = import_module(native.MODULE).supported() if NATIVE is not None else []


@pytest.mark.skipif(len(LEVELS) < 2, reason="the extension was built for one level")
def test_levels_agree_to_rounding():
    """CHAINFIELD_LEVELS=all pip install -e . builds them."""
    code = """
import numpy as np
from chainfield import LatentCRF, LinearCRF
rng = np.random.default_rng(0)
x = [[{"w": str(w), "v": float(w % 3)} for w in rng.integers(20, size=n)] for n in rng.integers(1, 9, 60)]
y = [[("ABC"[(len(i["w"]) + t) % 3]) for t, i in enumerate(s)] for s in x]
for model in (LinearCRF(max_iter=30), LinearCRF(objective="perceptron", max_iter=3), LatentCRF(n_states=2, max_iter=5)):
    model.set_params(n_jobs=1).fit(x, y)
    print(*np.concatenate(model.predict_marginals(x)).ravel().tolist())"""
    found = [np.fromstring(run(code, CHAINFIELD_LEVEL=level)[0], sep=" ") for level in LEVELS]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-4, atol=1e-6)


# ---- the compiler ------------------------------------------------------------------------------------------------


@numba_only
def test_old_machine_code_never_runs(tmp_path):
    """A kernel is compiled again when a function in another file that it calls has changed; the notice is told once."""
    package = tmp_path / "chainfield"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "demo"))
    code = """
import numpy as np
from chainfield.kernels.train.lbfgs import combine
out = np.zeros(8)
none = np.zeros((0, 8), np.float32)
combine(0, 8, none, none, np.zeros(0, np.int64), np.zeros(0), np.zeros(0), 1.0, np.ones(8), np.zeros(0), out)
print(out[0])"""
    settings = {"package": package, "CHAINFIELD_JIT": 1, "NUMBA_CACHE_DIR": tmp_path / "cache"}
    value, notice = run(code, **settings)
    assert float(value) == 1.0
    assert notice.startswith("chainfield: compiling, once")
    assert len(notice.splitlines()) == 1
    assert run(code, **settings) == (value, "")
    vector = package / "kernels" / "vector.py"
    text = vector.read_text()
    changed = text.replace("builder.fmul(", "builder.fadd(")
    assert changed != text
    vector.write_text(changed)
    assert float(run(code, **settings)[0]) == 2.0


def test_the_clock_stands_still_while_kernels_are_compiled(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])
    started = clock.working_time()
    now[0] += 2
    with clock.compiling():
        now[0] += 30
        assert clock.working_time() - started == pytest.approx(2, abs=1e-9)
        with clock.compiling():
            now[0] += 10
    now[0] += 1
    assert clock.working_time() - started == pytest.approx(3, abs=1e-9)


def test_version_tells_how_kernels_run():
    plain = CliRunner().invoke(group, ["--version"]).output
    assert plain == f"chainfield, version {chainfield.__version__}\n"
    assert CliRunner().invoke(group, ["--version", "--verbose"]).output == f"{plain}{way()}\n"
    assert ("Numba" in way()) == (NATIVE is None)


@compiled_only
def test_there_is_nothing_to_compile_twice():
    assert CliRunner().invoke(group, ["compile"]).output == f"Nothing to do. {way()}\n"


# ---- building ----------------------------------------------------------------------------------------------------


def test_levels_are_asked_for_by_name(monkeypatch):
    from chainfield.native import levels

    monkeypatch.setattr(levels.platform, "machine", lambda: "x86_64")
    assert levels.chosen("all") == ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
    assert levels.chosen("x86-64-v3, x86-64-v2") == ["x86-64-v2", "x86-64-v3"]
    with pytest.raises(ValueError, match="names pentium, but this platform has x86-64-v2, x86-64-v3, x86-64-v4"):
        levels.chosen("pentium")
    monkeypatch.setattr(levels.platform, "machine", lambda: "aarch64")
    assert levels.chosen("all") == ["generic"]
    assert levels.cpu("generic") == ""


@numba_only
def test_a_build_without_a_compiler_says_so(tmp_path):
    code = """
import os, sys
from pathlib import Path
from chainfield.native.build import BuildError, c_compiler, link
for command, work in (("no-such-compiler", c_compiler), ("false", lambda: link(c_compiler(), [], [], Path("x.so")))):
    os.environ["CC"] = command
    try:
        work()
    except BuildError as error:
        print(error)"""
    lines, _ = run(code, CHAINFIELD_JIT=1)
    assert lines.splitlines() == [
        "there is no C compiler (no-such-compiler)",
        "the C compiler failed: false gave no reason",
    ]


@numba_only
def test_of_what_a_compiler_says_the_error_is_told():
    code = """
from chainfield.native.build import first_error
print(first_error("In file included from a.c:1:\\na.h:3:10: fatal error: Python.h: No such file\\nstopped\\n"))
print(first_error("cc: cannot find it\\n"))"""
    lines, _ = run(code, CHAINFIELD_JIT=1)
    assert lines.splitlines() == ["a.h:3:10: fatal error: Python.h: No such file", "cc: cannot find it"]


# ---- the checked build -------------------------------------------------------------------------------------------


@numba_only
def test_the_checked_build_checks_elements_and_vectors(tmp_path):
    """A call that would read or write behind an array's end is an IndexError there, and only there."""
    code = """
import numpy as np
from chainfield.kernels.jit import kernel, way
from chainfield.kernels.declare import Float, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.vector import load, load_part, store, store_part

@kernel
def element(a: Float, at: int) -> float:
    return a[at]

@kernel
def vector(a: Float, at: int, n: int, how: int, out: Out[Float]) -> None:
    if how == 0:
        store(out, 0, load(a, at))
    elif how == 1:
        store(out, at, load(a, 0))
    elif how == 2:
        store(out, 0, load_part(a, at, n, 0.0))
    elif how == 3:
        store_part(out, at, n, load(a, 0))
    elif how == 4:
        put(out, 0, get(a, at))
    else:
        put(out, at, get(a, 0))

assert "check all bounds" in way()
a = np.arange(16.0)
def refused(f, *args):
    try:
        f(*args)
    except IndexError:
        return True
    return False
assert [refused(element, a, at) for at in (0, 15, 16, -17)] == [False, False, True, True]
for how, last in ((0, 8), (1, 8), (4, 15), (5, 15)):
    found = [refused(vector, a, at, 8, how, np.empty(16)) for at in (0, last, last + 1, -1, 10**9)]
    assert found == [False, False, True, True, True], how
for how in (2, 3):
    found = [refused(vector, a, at, n, how, np.empty(16)) for at, n in ((13, 3), (13, 4), (8, 9), (16, 0), (-1, 2))]
    assert found == [False, True, False, False, True], how
print("checked")
"""
    script = tmp_path / "checked.py"  # Numba keeps compiled code beside a file
    script.write_text(code)
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "CHAINFIELD_CHECKED": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "checked", done.stderr


@numba_only
def test_kernels_do_not_run_interpreted():
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "CHAINFIELD_JIT": "1", "NUMBA_DISABLE_JIT": "1"}
    code = "from chainfield.commands.main import main; main(['demo'])"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("chainfield: NUMBA_DISABLE_JIT is set")
    assert "Traceback" not in done.stderr
