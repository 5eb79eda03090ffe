"""Writes the tables of settings and options into the pages of the documentation: ``python docs/tables.py``.

A table stands between ``<!-- settings NAME -->`` (or ``<!-- options NAME -->``) and ``<!-- end -->``; what is between
them is written anew from the declarations. ``--check`` changes nothing and fails if a table is out of date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

import chainfield.models
from chainfield.commands.main import group
from chainfield.commands.model_options import SettingOption
from chainfield.settings import Choice, Configurable, Setting

DOCS = Path(__file__).parent
MARK = re.compile(r"(<!-- (settings|options) ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


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


def renewed(text: str) -> str:
    """A page with its tables written anew."""
    tables = {"settings": settings_table, "options": options_table}
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
