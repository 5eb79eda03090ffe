"""Features of a word by itself: what is left to go by when a word was never met."""

from __future__ import annotations

from chainfield.errors import ConfigError

from .template import TemplateSet, parse_template

#: "Whether a spelling begins with a number or upper case letter, whether it contains a hyphen, and whether it ends in
#: one of the following suffixes" (Lafferty, McCallum and Pereira 2001, section 5).
LAFFERTY_SUFFIXES = ("ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies")
_FLAGS = ("has-digit", "has-hyphen", "has-upper", "is-upper", "is-title", "is-digits", "is-punctuation")


def lafferty_template() -> TemplateSet:
    """The word, and the spelling features of Lafferty et al. (2001); column 0 is the word."""
    lines = [r"U:word=%x[0,0]", r"U:begins with a digit=%x[0,0,has:^\d]", r"U:begins with a capital=%x[0,0,has:^\u]"]
    lines += ["U:has a hyphen=%x[0,0,has-hyphen]"]
    lines += [f"U:ends in -{suffix}=%x[0,0,has:{suffix}$]" for suffix in LAFFERTY_SUFFIXES]
    return parse_template("\n".join([*lines, "B", ""]), "spelling features", "chainfield")


def spelling_template(n_columns: int = 1) -> TemplateSet:
    """The word, and a richer set: its beginnings and ends, its shape, its kind; whatever other columns there are."""
    if n_columns < 1:
        raise ConfigError(f"Spelling features need one column or more (the word first), but there are {n_columns}.")
    lines = ["U:word=%x[0,0]"]
    lines += [f"U:suffix{n}=%x[0,0,suffix:{n}]" for n in (1, 2, 3, 4, 5)]
    lines += [f"U:prefix{n}=%x[0,0,prefix:{n}]" for n in (1, 2, 3)]
    lines += ["U:short-shape=%x[0,0,short-shape]", *(f"U:{flag}=%x[0,0,{flag}]" for flag in _FLAGS)]
    lines += [f"U:column{column}=%x[0,{column}]" for column in range(1, n_columns)]
    return parse_template("\n".join([*lines, "B", ""]), "spelling features", "chainfield")
