"""Model files and checkpoints, mutated with knowledge of their structure and signed anew.

A mutated file is loaded; if it loads, it must predict, explain itself, show its weights, and survive being saved. An
error of the library is a good answer; anything else is a finding. ``TARGETS`` are the entry points: functions of bytes,
as atheris and OSS-Fuzz call them. The bytes decide all that is chosen, so that an input can be repeated.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import json
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import choices
import numpy as np
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from scratch import folder

import chainfield
from chainfield.errors import ChainfieldError
from chainfield.files import model as model_files
from chainfield.files.container import DIGEST, KEY, OLD_DIGEST
from chainfield.files.digest import digest
from chainfield.fitted.eight_bit import eight_bit, restored

ROOT = Path(__file__).parent.parent
SMALL = 20_000  # bytes
Tree = dict[str, Any]
File = tuple[Tree, dict[str, np.ndarray]]

NUMBERS = (*choices.NUMBERS, 65_536, 10**9, 2 * 10**9, -(2**63), 10**30)
STRANGE: tuple[Any, ...] = (
    None, True, False, "", "x", "sum", "dense", "sparse", "lstm", [], {}, [1], {"a": 1}, 0.5, -0.5, 1e308, float("inf"),
    float("nan"), "\ud800", "ä" * 40, [[[]]], {"tuple": [1]}, {"bytes": "?"}, {"set": [[1]]}, {"dict": 5}, 10**400,
)  # fmt: skip


# ---- what is mutated ---------------------------------------------------------------------------------------------


@functools.cache
def seeds() -> list[bytes]:
    """One file of every kind: those of version 0.1.0, and as they are written today."""
    found, path = [], Path(folder()) / "m.cf"
    for kept in sorted((ROOT / "tests" / "data").glob("models-*/*.cf")):
        data = kept.read_bytes()
        if len(data) < SMALL and not (b'"Neural' in data and not find_spec("torch")):
            found.append(data)
            chainfield.load(kept, n_jobs=1).save(path)
            found.append(path.read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in _trained():
            model.save(path)
            found.append(path.read_bytes())
        found.append(_in_bytes(path))
    return found


def _in_bytes(path: Path) -> bytes:
    """A file whose parameters have eight bits, as those of large models have."""
    model = chainfield.HiddenUnitCRF(hidden_units=2, n_jobs=1).fit([[("a",), ("bc",)], [("d",)]], [["x", "y"], ["x"]])
    theta = model.fitted_.theta
    rounded = eight_bit(theta)
    assert rounded is not None
    model.fitted_ = replace(model.fitted_, theta=restored(*rounded, str(theta.dtype)))
    least, model_files.FEW_BITS = model_files.FEW_BITS, 0
    try:
        model.save(path)
    finally:
        model_files.FEW_BITS = least
    return path.read_bytes()


def _trained() -> Iterator[Any]:
    """Models of words with few features: their files are small."""
    X, y = [[("a",), ("bc",)], [("d",)]] * 2, [["B-x", "I-x"], ["O"]] * 2
    for model in (
        chainfield.LinearCRF(scheme="bio"),
        chainfield.LinearCRF(l1=0.1),
        chainfield.LinearCRF(order=2),
        chainfield.LinearCRF(prune=1e-3),
        chainfield.MEMM(),
        chainfield.LatentCRF(n_init=1),
        chainfield.EmpiricalCRF(),
        chainfield.EmpiricalCRF(oov="exponential"),
        chainfield.HiddenUnitCRF(hidden_units=2),
        chainfield.ComposedTagger(),
    ):
        yield model.set_params(n_jobs=1).fit(X, y)
    yield chainfield.HiddenCRF(n_states=1, n_jobs=1).fit(X, ["p", "q"] * 2)
    texts, spans = ["In New York.", "Rome, ok", "a b"], [[(3, 11, "place")], [(0, 4, "place")], []]
    for tokeniser in (None, r"\w+|[^\w\s]"):
        model = chainfield.TextTagger(tokeniser=tokeniser).fit(texts * 3, spans * 3)
        if tokeniser is None:
            model.calibrate(texts * 10, spans * 10, per_label=1)
        yield model


def taken_apart(data: bytes) -> File:
    """Description and tensors."""
    size = 8 + int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8:size])["__metadata__"][KEY]), {
        k: v.copy() for k, v in load_tensors(data).items()
    }


def signed(description: Tree, tensors: dict[str, np.ndarray]) -> bytes:
    """A file whose digest fits."""
    for key in (DIGEST, OLD_DIGEST):
        description.pop(key, None)
    description[DIGEST] = digest(description, tensors)
    return save_tensors(tensors, {KEY: json.dumps(description)})


def mutated(data: bytes, choose: random.Random) -> bytes:
    """A file with one to four changes."""
    if choose.random() < 0.05:
        return _bytes_changed(data, choose)
    description, tensors = taken_apart(data)
    for _ in range(choose.choice((1, 1, 1, 2, 4))):
        change = choose.choice((change_value, change_value, change_tensor, change_tensor, _move_scorer, _cross))
        change(description, tensors, choose)
    try:
        return signed(description, tensors)
    except (ValueError, UnicodeError, OverflowError):  # what JSON or safetensors cannot write
        return _bytes_changed(data, choose)


def _bytes_changed(data: bytes, choose: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(choose.choice((1, 2, 8))):
        found[choose.randrange(len(found))] = choose.randrange(256)
    return bytes(found[: choose.randrange(len(found))] if choose.random() < 0.2 else found)


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every value."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(items):
        yield tree, key
        yield from _places(value)


def change_value(description: Tree, tensors: dict[str, np.ndarray], choose: random.Random) -> None:
    """Another value somewhere in the description, or none."""
    inside, key = choose.choice(list(_places(description)))
    value, what = inside[key], choose.random()
    if what < 0.15:
        del inside[key]
    elif what < 0.3 and isinstance(inside, list):
        inside.insert(key, copy.deepcopy(value))
    elif type(value) is int and what < 0.8:
        inside[key] = choose.choice((value + 1, value - 1, -value, 2 * value, choose.choice(NUMBERS)))
    elif isinstance(value, str) and what < 0.8:
        inside[key] = choose.choice(
            (value[:-1], value + "x", value * 3, value.upper(), _other_text(description, choose))
        )
    else:
        inside[key] = copy.deepcopy(
            choose.choice((*STRANGE, choose.choice(NUMBERS), choose.choice(list(_places(description)))))
        )
        if isinstance(inside[key], tuple):
            other, at = inside[key]
            inside[key] = copy.deepcopy(other[at])


def _other_text(description: Tree, choose: random.Random) -> str:
    texts = [inside[key] for inside, key in _places(description) if isinstance(inside[key], str)]
    templates = ["U0:%x[1000000000,0]\nB\n", "U0:%x[0,0]/%x[0,7]\n", 'u:%m[0,0,"(a*)*b"]\n', "B0:%x[-3,0]\nU\n"]
    return choose.choice((choose.choice(texts), choose.choice(templates)))


def change_tensor(description: Tree, tensors: dict[str, np.ndarray], choose: random.Random) -> None:
    """Another type, shape or number in a tensor, or none."""
    if not tensors:  # an earlier change removed the only one
        return
    name = choose.choice(sorted(tensors))
    array, what = tensors[name], choose.randrange(10)
    if what == 0:
        del tensors[name]
    elif what == 1:
        kind = choose.choice(("f8", "f4", "i8", "i4", "u8", "u4", "u2", "u1", "?"))
        with np.errstate(all="ignore"):
            tensors[name] = array.astype(kind)
    elif what == 2 and array.ndim:
        tensors[name] = array[: choose.randrange(len(array) + 1)].copy()
    elif what == 3 and array.ndim:
        tensors[name] = np.concatenate([array, array[: choose.randrange(1, 4)]])
    elif what == 4:
        shape = choose.choice(((-1,), (1, -1), (-1, 1), (1, 1, -1)))
        tensors[name] = array.reshape(shape).copy()
    elif what == 5:
        tensors[name] = tensors[choose.choice(sorted(tensors))].copy()
    elif what == 6 and array.ndim:
        tensors[name] = array[::-1].copy()
    elif array.size:
        flat = array.reshape(-1)
        limits = [1, 0] if array.dtype == bool else _extremes(array.dtype)
        for _ in range(choose.choice((1, 1, 3, flat.size))):
            at = choose.randrange(flat.size)
            with np.errstate(all="ignore"):
                near = flat[at] + flat.dtype.type(choose.choice((1, 1, 2))) if array.dtype != bool else not flat[at]
                flat[at] = choose.choice((choose.choice(limits), near, flat[choose.randrange(flat.size)]))


def _extremes(dtype: np.dtype[Any]) -> list[Any]:
    if dtype.kind == "f":
        return [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300 if dtype.itemsize == 8 else 1e30, 1e-300]
    limits = np.iinfo(dtype)
    return [limits.max, limits.min, 0, 1, limits.max // 2]


def _move_scorer(description: Tree, tensors: dict[str, np.ndarray], choose: random.Random) -> None:
    config = description.get("config")
    chain = config.get("chain") if isinstance(config, dict) else None
    if not isinstance(chain, dict) or not all(isinstance(chain.get(g), list) for g in ("emissions", "transitions")):
        return
    groups = [chain["emissions"], chain["transitions"]]
    choose.shuffle(groups)
    if groups[0]:
        scorer = choose.choice(groups[0])
        if choose.random() < 0.7:
            groups[0].remove(scorer)
        groups[1].append(copy.deepcopy(scorer))


def _cross(description: Tree, tensors: dict[str, np.ndarray], choose: random.Random) -> None:
    """A part of another file."""
    other, theirs = taken_apart(choose.choice(seeds()))
    config = description.get("config")
    if not isinstance(config, dict):
        return
    part = choose.choice(("features", "chain", "labels", "estimator", "how", "task"))
    if part in other["config"]:
        config[part] = other["config"][part]
    prefixes = {"features": ("features.",), "chain": ("scorer.", "space.", "theta")}.get(part, ())
    if choose.random() < 0.8:
        for name in [name for name in tensors if name.startswith(prefixes or ("?",))]:
            del tensors[name]
        tensors.update({name: v for name, v in theirs.items() if name.startswith(prefixes or ("?",))})


# ---- what is asked of them ---------------------------------------------------------------------------------------


def small_input(model: Any) -> Any:
    """Three sequences that a model of these features can read, one of them empty."""
    features = model.fitted_.features
    if features.kind == "dense":
        return [np.linspace(-2, 2, 3 * features.n_columns).reshape(3, -1), np.ones((1, features.n_columns))]
    if features.kind == "sparse":
        from scipy import sparse

        return [sparse.csr_array(np.eye(3, features.n_features)), sparse.csr_array((1, features.n_features))]
    if features.kind == "attributes":
        names = [*features.feature_names()][:40]
        return [[names, names[::2], ["unheard of"]], [[]]]
    columns = getattr(features, "width", 1)
    words = ["the", "in", "ä", "", "a|b", "book", "12"]
    return [[(word,) * columns for word in words], [("x",) * columns]]


def ask(model: Any) -> None:
    """All that kernels and tables are used for."""
    if isinstance(model, chainfield.TextTagger):
        with contextlib.suppress(ChainfieldError):
            model.predict(["In New York, ok", "", "é\n\nb"], alternatives=1)
        with contextlib.suppress(ChainfieldError):
            model.certainty(["In New York, ok"])
        model = model.model_
    X = small_input(model)
    questions: list[Callable[[], Any]] = [
        lambda: model.predict(X),
        lambda: model.predict_states(X),
        lambda: model.predict_state_marginals(X),
        lambda: list(model.feature_names_)[:5],
        lambda: model.feature_weights_,
        lambda: model.transition_weights_,
        lambda: model.states_,
    ]
    if hasattr(model, "predict_marginals"):
        questions += [
            lambda: model.predict_marginals(X),
            lambda: model.predict_n_best(X, n=2),
            lambda: model.explain(X[0]),
        ]
    for question in questions:
        with contextlib.suppress(ChainfieldError):
            question()


def model_file(data: bytes) -> None:
    """A mutated model: loaded, asked, shown, saved and loaded again."""
    choose = random.Random(data)
    path = Path(folder()) / "m.cf"
    path.write_bytes(mutated(choose.choice(seeds()), choose))
    try:
        model = chainfield.load(path, n_jobs=1)
    except ChainfieldError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ask(model)
    if choose.random() < 0.2:  # tables take longest
        _show(path)
    with contextlib.suppress(ChainfieldError):
        model.save(path)
        chainfield.load(path, n_jobs=1)


def _show(path: Path) -> None:
    from chainfield.commands.show import show

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(ChainfieldError):
        show.main([str(path), "--top", "3"], standalone_mode=False)


def model_bytes(data: bytes) -> None:
    """Any bytes as a model file."""
    path = Path(folder()) / "m.cf"
    path.write_bytes(data)
    with contextlib.suppress(ChainfieldError):
        chainfield.load(path, n_jobs=1)


CHECKPOINT_X = [[[f"w{i % 7}", f"s{i % 3}"] for i in range(k, k + 5)] for k in range(8)]
CHECKPOINT_Y = [["ABC"[i % 3] for i in range(k, k + 5)] for k in range(8)]


def _interrupted(trainer: str) -> Any:
    return chainfield.LinearCRF(trainer=trainer, max_iter=4, l1=0.1 if trainer == "owlqn" else 0.0, n_jobs=1)


@functools.cache
def checkpoints() -> dict[str, bytes]:
    """A checkpoint of each trainer, after its second iteration."""
    found, path = {}, Path(folder()) / "c"

    def stop(progress: Any) -> None:
        if progress.iteration == 2:
            raise KeyboardInterrupt

    for trainer in ("auto", "lbfgs", "owlqn", "sgd", "averaged", "adam", "rprop", "sdca"):
        with contextlib.suppress(KeyboardInterrupt):
            _interrupted(trainer).fit(CHECKPOINT_X, CHECKPOINT_Y, checkpoint=path, callback=stop)
        found[trainer] = path.read_bytes()
    return found


def checkpoint_file(data: bytes) -> None:
    """A mutated checkpoint: training goes on from it, or refuses it; a model that comes out is finite."""
    choose = random.Random(data)
    trainer = choose.choice(sorted(checkpoints()))
    description, tensors = taken_apart(checkpoints()[trainer])
    mark = description["config"]["mark"]
    for _ in range(choose.choice((1, 1, 2, 4))):
        choose.choice((change_value, change_tensor, change_tensor))(description, tensors, choose)
        if not tensors:
            return
    if isinstance(description.get("config"), dict):
        description["config"]["mark"] = mark
    path = Path(folder()) / "c"
    try:
        path.write_bytes(signed(description, tensors))
    except (ValueError, UnicodeError, OverflowError):
        return
    with warnings.catch_warnings(), contextlib.suppress(ChainfieldError), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _interrupted(trainer).fit(CHECKPOINT_X, CHECKPOINT_Y, checkpoint=path, resume=True)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "model_file": model_file,
    "model_bytes": model_bytes,
    "checkpoint_file": checkpoint_file,
}
