"""Settings are declared once: signature, checks, docstring, documentation and options follow from the declaration."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from sklearn.base import clone

import chainfield
from chainfield.commands.model_options import NONE, Value, given_settings, options_of
from chainfield.commands.train import train
from chainfield.errors import ConfigError, SettingError
from chainfield.models import MODELS
from chainfield.models.kinds import Forbidden, LabelWeights, Template
from chainfield.settings import Configurable, Flag, flag, number, whole
from test_commands import run

SOURCE = Path(chainfield.__file__).parent
DECLARING = {"whole", "number", "choice", "flag", "given"}


def declarations() -> list[tuple[str, str]]:
    """(setting, module) of everything that is declared, not derived, in the body of a class."""
    found = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                for line in node.body:
                    value = getattr(line, "value", None)
                    if isinstance(line, ast.AnnAssign) and isinstance(value, ast.Call):
                        name = getattr(value.func, "id", "")
                        if name in DECLARING and isinstance(line.target, ast.Name):
                            found.append((line.target.id, path.relative_to(SOURCE).as_posix()))
    return found


#: What two models mean by one name, each in its own way.
OWN_MEANINGS = {"n_states": 3, "rank": 3, "scheme": 2, "start_scale": 2}


def test_every_setting_is_declared_once() -> None:
    counts = Counter(name for name, _ in declarations())
    assert {name: n for name, n in counts.items() if n > 1} == OWN_MEANINGS
    assert set(counts) >= {name for kind in MODELS.values() for name in kind.settings}


def test_no_model_writes_a_constructor() -> None:
    for path in (SOURCE / "models").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any("Settings" in ast.unparse(base) for base in node.bases):
                assert not any(isinstance(f, ast.FunctionDef) and f.name == "__init__" for f in node.body), path


def test_a_setting_in_one_line_appears_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    class Extended(chainfield.models.ChainTagger):
        """A model."""

        made_up: float = number(0.25, "A made-up number.", above=True)

        _space = chainfield.LinearCRF._space
        _chain = chainfield.LinearCRF._chain
        order, boundary, all_transitions = 1, True, True

    assert inspect.signature(Extended).parameters["made_up"].default == 0.25
    assert "made_up : float, default 0.25\n    A made-up number." in inspect.getdoc(Extended)
    with pytest.raises(ConfigError, match=r"^made_up is 0; a number above 0 is expected\.$"):
        Extended(made_up=0).fit([["a"]], [["x"]])
    monkeypatch.setitem(MODELS, "linear", Extended)
    context = click.Context(train)
    context.meta.update(model="linear", help=True)
    shown = train.get_help(context)
    assert "--made-up X" in shown
    assert "A made-up number. [default: 0.25]" in " ".join(shown.split())
    spec = importlib.util.spec_from_file_location("tables", SOURCE.parent.parent / "docs" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    monkeypatch.setattr(chainfield.models, "Extended", Extended, raising=False)
    assert "| `made_up` | `0.25` | A made-up number. |" in tables.settings_table("Extended")


def test_tables_of_the_documentation_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("tables", SOURCE.parent.parent / "docs" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    for page in tables.DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert tables.renewed(text) == text, f"{page.name}: run python docs/tables.py"
    text = (tables.DOCS / "models.md").read_text(encoding="utf-8")
    assert all(f"<!-- settings {kind.__name__} -->" in text for kind in MODELS.values())


@pytest.mark.parametrize("kind", MODELS.values(), ids=lambda kind: kind.__name__)
class TestEveryModel:
    def test_defaults_are_possible(self, kind: type[Configurable]) -> None:
        kind().check_settings()

    def test_settings_are_what_scikit_learn_sees(self, kind: type[Configurable]) -> None:
        model = kind(n_jobs=3)
        assert model.get_params() == {name: getattr(model, name) for name in inspect.signature(kind).parameters}
        again = clone(model)
        assert type(again) is kind
        assert again.get_params() == model.get_params()
        assert repr(model) == f"{kind.__name__}(n_jobs=3)"
        assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
        assert kind.__name__ in model._repr_html_()

    def test_unknown_settings_are_refused(self, kind: type[Configurable]) -> None:
        with pytest.raises(SettingError, match=f"{kind.__name__} has no setting colour; .*n_jobs"):
            kind(colour="red")
        with pytest.raises(SettingError, match="did you mean n_jobs"):
            kind().set_params(n_job=2)
        with pytest.raises(SettingError, match="takes its settings by name"):
            kind(1)

    def test_every_setting_refuses_what_cannot_be(self, kind: type[Configurable]) -> None:
        for name, setting in kind.settings.items():
            for bad in (object(), float("nan"), -(10**9) if name != "n_jobs" else 0, "no such value"):
                if name in ("template", "vectors", "device", "topology") and isinstance(bad, str | object):
                    continue  # texts and matrices are read later
                with pytest.raises(ConfigError, match=f"^{name} is "):
                    kind(**{name: bad}).check_settings()
            assert setting.help.endswith("."), name

    def test_every_setting_has_one_option(self, kind: type[Configurable]) -> None:
        options = options_of(kind)
        flags = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
        assert len(flags) == len(set(flags))
        assert {option.setting.name for option in options} == {s.name for s in kind.settings.values() if s.option != ""}

    def test_both_doors_refuse_in_the_same_words(self, kind: type[Configurable]) -> None:
        for setting in kind.settings.values():
            if setting.option == "" or isinstance(setting.kind, OWN_NOTATION):
                continue
            for text in ("no such value", "-1000000000", "nan", "", "1e400", "none", "1.5"):
                try:
                    value = setting.kind.parse(text)
                except (ValueError, StopIteration):
                    value = text
                if text == "none" and setting.optional and setting.default is not None:
                    value = None
                assert refusal(Value(setting).convert, text, None, None) == refusal(setting.check, value)
                if value is not None and not setting.kind.fits(value):
                    with pytest.raises(ConfigError, match=f"^{setting.name} is "):
                        kind(**{setting.name: value}).check_settings()


#: Kinds that the command line writes in its own way: a file, JSON, FROM,TO; or with two options.
OWN_NOTATION = (Template, LabelWeights, Forbidden, Flag)


def refusal(check: Callable[..., Any], *values: Any) -> str:
    """What a check says against values; empty: nothing."""
    try:
        check(*values)
    except ConfigError as error:
        return str(error)
    return ""


def test_none_can_be_chosen_on_the_command_line() -> None:
    for name, none in (("linear", "prune"), ("hcrf", "flatten"), ("neural", "patience")):
        settings = MODELS[name].settings
        found = Value(settings[none]).convert("none", None, None)
        assert given_settings(MODELS[name], {none: found}) == {none: None}
        (option,) = [option for option in options_of(MODELS[name]) if option.name == none]
        assert str(option.metavar).endswith(f"|{NONE}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--trainer", "lbfgs", "--learning-rate", "0.1"], "learning_rate has no effect with trainer='lbfgs'"),
        (["--model", "latent", "--triple-features"], "triple_features has no effect with order=1; it needs order=2"),
        (["--prune", "0.7"], "prune is 0.7; a number of at least 0 and at most 0.5"),
        (["--max-iter", "many"], "max_iter is 'many'; a whole number of at least 1"),
    ],
)
def test_the_command_line_refuses_before_it_reads_data(options: list[str], says: str, tmp_path: Path) -> None:
    result = run("train", "no-such-file", tmp_path / "m.cf", *options)
    assert result.code == 1
    assert result.stderr.startswith(f"chainfield: {says}")


@pytest.mark.parametrize(
    ("foreign", "ours"),
    [
        ("c1", "l1"),
        ("c2", "l2"),
        ("algorithm", "trainer"),
        ("all_possible_transitions", "all_transitions"),
        ("all_possible_states", "all_features"),
        ("max_iterations", "max_iter"),
    ],
)
def test_names_of_crfsuite_are_recognised(foreign: str, ours: str) -> None:
    with pytest.raises(SettingError, match=f"LinearCRF has no setting {foreign}; here it is {ours}"):
        chainfield.LinearCRF(**{foreign: 1})
    result = run("train", "a", "b", f"--{foreign.replace('_', '-')}", "1")
    assert result.code == 2
    assert f"here it is --{ours.replace('_', '-')}" in result.stderr or f"here it is {ours}" in result.stderr


def test_contradictions_are_refused_before_any_work() -> None:
    with pytest.raises(SettingError, match="triple_features has no effect with order=1; it needs order=2"):
        chainfield.LatentCRF(triple_features=True).fit(None, None)
    with pytest.raises(ConfigError, match="learning_rate has no effect with trainer='lbfgs'"):
        chainfield.LinearCRF(trainer="lbfgs", learning_rate=0.1).fit([["a"]], [["x"]])


def test_a_model_does_without_settings() -> None:
    class Base(Configurable, group="Own"):
        """A base."""

        size: int = whole(3, "How large.")
        quick: bool = flag(False, "How quick.")

    class Small(Base, without=("quick",)):
        """Without one."""

    assert list(Small.settings) == ["size"]
    assert Small(size=4).quick is False
    assert Small().settings["size"].group == "Own"
    with pytest.raises(SettingError, match="Small has no setting quick; Small has size"):
        Small(quick=True)
    assert Small(size=np.int64(4)).check_settings() is None


def test_help_shows_models_and_groups() -> None:
    shown = run("train", "--help").stdout
    for name in MODELS:
        assert f"--model {name}" in shown
    assert "--states" not in shown
    latent = run("train", "--model", "latent", "--help").stdout
    for title in ("Model:", "Objective:", "Training:", "Features:", "Rules:", "Prediction:", "Running:"):
        assert f"\n{title}\n" in latent
    assert "--states" in latent
    assert "--hidden-units" not in latent
