"""Writes the tables of settings, options, limits and file parts into the pages: ``python docs/tables.py``.

A table stands between ``<!-- settings NAME -->`` (or ``options``, ``values``, ``tensors``, ``scorers``, ``limits``) and
``<!-- end -->``; what is between them is written anew from the declarations. ``<!-- results NAME -->`` is the first
table of a benchmark's kept results.
``--check`` changes nothing and fails if a table is out of date.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import click

import chainfield.models
from chainfield.commands.main import group
from chainfield.commands.model_options import SettingOption
from chainfield.features import MAPS
from chainfield.files import model, parts
from chainfield.limits import LIMITS
from chainfield.models.hidden_units.herding import HerdState
from chainfield.models.hmm.ebw import EBW
from chainfield.models.hmm.em import EM
from chainfield.models.neural.state import NeuralState
from chainfield.schema import Part, Tensor
from chainfield.scorers import SCORERS, Pruner
from chainfield.settings import Choice, Configurable, Setting
from chainfield.text.tagging import reader
from chainfield.trainers import LBFGS, SDCA, SGD, Adam, Auto, RProp
from chainfield.trainers.session import SESSION

TRAINERS = (LBFGS, Auto, SDCA, SGD, Adam, RProp, EM, EBW)
DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results"
KINDS = "settings|options|values|tensors|scorers|limits|results"
MARK = re.compile(rf"(<!-- ({KINDS}) ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def settings_table(name: str) -> str:
    """The settings of a model; those that it shares with LinearCRF are only named."""
    kind: type[Configurable] = getattr(chainfield.models, name)
    plain = chainfield.models.LinearCRF.settings
    own = [s for s in kind.settings.values() if kind is chainfield.models.LinearCRF or s is not plain.get(s.name)]
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    lines += [f"| `{s.name}` | `{shown(s)}` | {described(s)} |" for s in own]
    shared = [f"`{s.name}`" for s in kind.settings.values() if s not in own]
    if shared:
        lines += ["", f"As for `LinearCRF`: {', '.join(shared)}."]
    return "\n".join(lines) + "\n"


def shown(setting: Setting) -> str:
    """A default; of a function, its name."""
    return setting.default.__name__ if callable(setting.default) else repr(setting.default)


def described(setting: Setting) -> str:
    """Help, with the values that are possible."""
    text = setting.help.replace("|", "\\|")
    if isinstance(setting.kind, Choice):
        text = f"{', '.join(f'`{value}`' for value in setting.kind.values)}. {text}"
    return text


def options_table(name: str) -> str:
    """The options of a command, without those that are settings of a model."""
    context = click.Context(group, info_name="chainfield")
    command = group.get_command(context, name)
    assert command is not None
    inner = click.Context(command, parent=context, info_name=name, help_option_names=["-h", "--help"])
    lines = ["| option | default | meaning |", "|---|---|---|"]
    for param in command.get_params(inner):
        if isinstance(param, SettingOption) or not isinstance(param, click.Option) or "--help" in param.opts:
            continue
        default = f"`{param.default}`" if param.show_default and param.default is not None else ""
        names = ", ".join(f"`{o}`" for o in param.opts)
        help_text = (param.help or "").replace("|", "\\|")
        if isinstance(param.type, click.Choice):
            help_text += f" One of {', '.join(f'`{choice}`' for choice in param.type.choices)}."
        lines.append(f"| {names} | {default} | {help_text} |")
    return "\n".join(lines) + "\n"


def part_named(name: str) -> tuple[str, Part]:
    """A part of files, and what stands in front of the names of its tensors."""
    plain = {
        "model": ("", model.MODEL),
        "estimator": ("", model.ESTIMATOR),
        "training": ("", model.TRAINING),
        "parameters": ("", model.PARAMETERS),
        "text": ("", reader.SCHEMA),
        "chain": ("", parts.CHAIN),
        "pruner": ("pruner.", Pruner.schema),
        "counted-space": ("space.", parts.COUNTED_SPACE),
        "space": ("space.", parts.SPACE),
        "session": ("", SESSION),
    }
    return plain[name] if name in plain else ("features.", MAPS[name].schema)


def values_table(name: str) -> str:
    """The values of a part."""
    lines = ["| key | value | content |", "|---|---|---|"]
    lines += [f"| `{v.name}` | {v.range} | {v.content} |" for v in part_named(name)[1].values]
    return "\n".join(lines) + "\n"


def tensors_table(name: str) -> str:
    """The tensors of a part."""
    if name == "states":
        states = (kind.state_type for kind in TRAINERS)
        found = {t.name: t for state in (*states, HerdState, NeuralState) for t in state.schema().tensors}
        return tensors(("state.", found[own], "") for own in sorted(found))
    prefix, part = part_named(name)
    return tensors((prefix, tensor, "") for tensor in part.tensors)


def tensors(found: Iterable[tuple[str, Tensor, str]]) -> str:
    """A line for each tensor: what stands before its name, and before its content."""
    lines = ["| tensor | dtype | shape | numbers | content |", "|---|---|---|---|---|"]
    lines += [
        f"| `{prefix}{t.name}` | {t.dtypes} | {t.dimensions} | {t.range} | {owner}{t.content} |"
        for prefix, t, owner in found
    ]
    return "\n".join(lines) + "\n"


def scorers_table(name: str) -> str:
    """The scorers of files, or their tensors: those that several have are listed once."""
    kinds = {own: SCORERS[own] for own in sorted(SCORERS) if SCORERS[own].__module__.startswith("chainfield.")}
    if name == "tensors":
        owners: dict[tuple[str, Tensor], list[str]] = {}
        for own, kind in kinds.items():
            assert kind.schema is not None
            for inside, part in {"": kind.schema, **kind.schema.parts}.items():
                for tensor in part.tensors:
                    place = (f"scorer.{{name}}.{inside}{'.' if inside else ''}", tensor)
                    owners.setdefault(place, []).append(f"`{own}`")
        return tensors((prefix, tensor, f"{', '.join(own)}: ") for (prefix, tensor), own in owners.items())
    lines = ["| type | group | settings | parameters in `theta` |", "|---|---|---|---|"]
    for own, kind in kinds.items():
        assert kind.schema is not None
        values = [f"`{v.name}` ({v.range}): {v.content}" for v in kind.schema.values if v.name != "name"]
        values += [f"`{inside}` (an object)" for inside in kind.schema.parts]
        lines.append(f"| `{own}` | {kind.group} | {'; '.join(values)} | {(kind.shapes.__doc__ or '').strip()} |")
    return "\n".join(lines) + "\n"


def limits_table(_: str) -> str:
    """Every limit, as an environment sets it."""
    lines = ["| variable | default | counts |", "|---|---|---|"]
    lines += [f"| `{limit.variable}` | {limit.default:,} | {limit.what} |" for limit in LIMITS.values()]
    return "\n".join(lines) + "\n"


def results_table(name: str) -> str:
    """The first table of a benchmark; numbers have two decimals."""
    table = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["tables"][0]

    def cell(value: str | float | None) -> str:
        return "–" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)

    lines = [f"| {' | '.join(table['head'])} |", "|---" * len(table["head"]) + "|"]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in table["rows"]]
    return "\n".join(lines) + "\n"


def renewed(text: str) -> str:
    """A page with its tables written anew."""
    tables = {
        "settings": settings_table,
        "options": options_table,
        "values": values_table,
        "tensors": tensors_table,
        "scorers": scorers_table,
        "limits": limits_table,
        "results": results_table,
    }
    return MARK.sub(lambda found: found[1] + tables[found[2]](found[3]) + found[4], text)


def main() -> None:
    """Write or check all pages."""
    stale = []
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = renewed(text)
        if new != text:
            stale.append(page.name)
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    print("out of date:" if stale and "--check" in sys.argv else "written:", ", ".join(stale) or "nothing")
    sys.exit(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    main()
