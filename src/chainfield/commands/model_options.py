"""Options of ``chainfield train`` that are settings of models: they come from the declarations of the settings."""

from __future__ import annotations

import json
from typing import Any

import click

from chainfield.errors import ConfigError, SettingError
from chainfield.settings import Choice, Configurable, Flag, Setting
from chainfield.settings.configurable import unknown_setting

NONE = "none"  # how the command line writes None, where that is not the default


class Value(click.ParamType):  # type: ignore[type-arg]
    """A value of a setting's kind."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.name = setting.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read and check it."""
        if not isinstance(value, str):
            return value
        setting = self.setting
        if value == NONE and _nullable(setting):
            return value
        try:
            found = setting.kind.parse(value)
        except ConfigError:
            raise
        except (ValueError, StopIteration):
            found = value  # of another type than the kind's: the check says so, in the words that Python's users see
        setting.check(found)
        return found


class SettingOption(click.Option):
    """An option that is a setting."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        kind, name = setting.kind, setting.name
        more: dict[str, Any] = {"help": _help(setting), "metavar": kind.metavar}
        declared = [name, setting.flag]
        if isinstance(kind, Flag):
            declared = [name, f"{setting.flag}/--no-{setting.flag.removeprefix('--')}"]
            more = {"help": _help(setting), "default": None}
        elif isinstance(kind, Choice):
            more |= {
                "type": Value(setting),
                "metavar": "|".join(map(str, (*kind.values, *[NONE] * _nullable(setting)))),
            }
        elif kind.several:
            more |= {"multiple": True}
        else:
            more |= {"type": Value(setting)}
        if _nullable(setting):
            more["metavar"] += f"|{NONE}"
        super().__init__(declared, **more)


def options_of(kind: type[Configurable]) -> list[SettingOption]:
    """The options of a model, in the order of its groups."""
    return [SettingOption(setting) for setting in kind.settings.values() if setting.option != ""]


def given_settings(kind: type[Configurable], values: dict[str, Any]) -> dict[str, Any]:
    """The settings that stand on the command line; what is not given is left to the model."""
    found: dict[str, Any] = {}
    for name, setting in kind.settings.items():
        value = values.get(name)
        if value is None or value == ():
            continue
        if value == NONE and _nullable(setting):
            found[name] = None
        else:
            found[name] = setting.kind.parse(value) if setting.kind.several else value
    return found


def _nullable(setting: Setting) -> bool:
    """Whether None can be chosen: where it is the default, leaving the option out does."""
    return setting.optional and setting.default is not None


def refuse_option(
    ctx: click.Context, option: str, model: str, kind: type[Configurable], owners: list[str]
) -> Exception:
    """The error for an option that a model does not have; ``owners``: the models that have it."""
    hyphened = option.replace("_", "-")
    if hyphened != option and any(hyphened in param.opts for param in ctx.command.get_params(ctx)):
        return click.UsageError(f"There is no option {option}; did you mean {hyphened}?", ctx)
    if owners:
        return SettingError(f"{option} has no effect with --model {model}; it belongs to {', '.join(owners)}.")
    return click.UsageError(unknown_setting(kind, option.removeprefix("--").replace("-", "_"), flags=True), ctx)


def _help(setting: Setting) -> str:
    text = setting.help.replace("None or -1: ", "-1: ")
    text = text.replace("None: ", f"{NONE}: " if _nullable(setting) else "If not given: ")
    if isinstance(setting.kind, Flag):
        default = setting.flag if setting.default else f"--no-{setting.flag.removeprefix('--')}"
    elif setting.default is None:
        return text
    else:
        default = setting.default if isinstance(setting.default, str) else json.dumps(setting.default)
    return f"{text}  [default: {default}]"
