"""Small pieces of HTML in which objects show themselves in notebooks: offline, in light and dark, in the reports' look.

Every text is escaped. Colours only help: the name of a label is always written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

N_HUES = 8
_LIGHT = ("#0072b2", "#b35c00", "#00805e", "#a8487f", "#1b7f9e", "#bf4519", "#857000", "#6a4fb3")
_DARK = ("#6fb7e6", "#e6a45c", "#5cc7a4", "#e39ac3", "#7fcfe6", "#f0956d", "#d4c25a", "#b3a1ee")


def _colours(values: Sequence[str]) -> str:
    return "".join(f"--cf{i}:{value};" for i, value in enumerate(values))


_DARK_RULES = f"{_colours(_DARK)}--cfi:#e7e9eb;--cfm:#9ca5ae;--cfr:#3d444c;--cfa:#7fb6f2;--cfo:#d08a3c;"
STYLE = (
    f"<style>.chainfield{{{_colours(_LIGHT)}--cfi:#1b1e22;--cfm:#59616a;--cfr:#c9ccc8;--cfa:#1b5fa6;--cfo:#b35c00;"
    "color:var(--cfi);font:14px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;font-variant-numeric:tabular-nums;"
    "max-width:70em;overflow-x:auto}"
    f"@media(prefers-color-scheme:dark){{.chainfield{{{_DARK_RULES}}}}}"
    f"[data-jp-theme-light='false'] .chainfield{{{_DARK_RULES}}}"
    f"[data-jp-theme-light='true'] .chainfield{{{_colours(_LIGHT)}--cfi:#1b1e22;--cfm:#59616a;--cfr:#c9ccc8;"
    "--cfa:#1b5fa6;--cfo:#b35c00;}"
    ".chainfield table{border-collapse:collapse;margin:4px 0 8px}.chainfield caption{text-align:left;font-weight:600}"
    ".chainfield td,.chainfield th{padding:2px 12px 2px 0;text-align:left;border:0;border-bottom:1px solid var(--cfr);"
    "background:none;color:inherit;vertical-align:top}.chainfield .n{text-align:right}"
    ".chainfield .m{color:var(--cfm);font-size:12px}.chainfield .t{font:17px/2.3 Georgia,serif;white-space:pre-wrap}"
    ".chainfield mark{color:inherit;background:none;border-bottom:3px solid var(--h);padding:0 1px 1px;border-radius:0}"
    ".chainfield mark b{font:600 11px system-ui,sans-serif;color:var(--h);margin-left:5px}"
    ".chainfield .b{display:inline-block;height:10px;border-radius:2px;background:var(--cfa);vertical-align:middle}"
    ".chainfield .b.o{background:var(--cfo)}.chainfield code{font-size:13px}</style>"
)


def framed(*parts: str) -> str:
    """Parts in one frame, with their style."""
    return f"{STYLE}<div class='chainfield'>{''.join(parts)}</div>"


def note(text: str) -> str:
    """A line in small print."""
    return f"<div class='m'>{escape(text)}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> str:
    """A table; numbers stand to the right. What begins with ``<`` by :class:`Raw` is HTML already."""
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    top = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


class Raw(str):
    """HTML that needs no escaping."""

    __slots__ = ()


def _cell(value: Any) -> str:
    if isinstance(value, Raw):
        return f"<td>{value}</td>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"<td class='n'>{value:,}</td>"
    return f"<td>{escape(str(value))}</td>"


def bar(amount: float, most: float, width: int = 120) -> Raw:
    """A signed amount as a bar: blue above zero, orange below."""
    long = round(width * min(abs(amount) / most, 1.0)) if most else 0
    return Raw(f"<span class='b{' o' if amount < 0 else ''}' style='width:{long}px'></span> {amount:+.2f}")


def marked(text: str, spans: Iterable[tuple[int, int, str, float | None]]) -> str:
    """A text with spans [start, end) under their names; of spans that overlap, the first is shown."""
    hue: dict[str, int] = {}
    parts, at = [], 0
    for start, end, label, probability in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < at or end <= start:
            continue
        number = hue.setdefault(label, len(hue)) % N_HUES
        sure = "" if probability is None else f" {100 * probability:.0f} %"
        parts.append(
            f"{escape(text[at:start])}<mark style='--h:var(--cf{number})'>{escape(text[start:end])}"
            f"<b>{escape(label)}{sure}</b></mark>"
        )
        at = end
    return f"<div class='t'>{''.join(parts)}{escape(text[at:])}</div>"
