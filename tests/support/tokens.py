"""The definition of the built-in tokeniser in Python, one rule after the other: the compiled one must do the same."""

from __future__ import annotations

import re

from chainfield.kernels.text import tokens as k
from chainfield.text.properties import describe_character

# Each character as a letter for its kind, so that the rules are regular expressions over kinds.
LETTERS = {k.SPACE: " ", k.WORD: "w", k.DIGIT: "d", k.PUNCTUATION: "p", k.SYMBOL: "s", k.SINGLE: "1", k.EXTEND: "x"}
APOSTROPHES = "'’"


def tokens(text: str) -> list[tuple[int, int]]:
    """(start, end) of every token."""
    kinds = "".join(LETTERS[describe_character(ord(c)) & k.KIND] for c in text)
    found = []
    for match in re.finditer(rf"[^ ]{{1,{k.LONGEST}}}", kinds):
        lo, hi = match.span()
        at = lo
        while at < hi:
            end = lo + _end(text[lo:hi], kinds[lo:hi], at - lo)
            found.append((at, end))
            at = end
    return found


def _end(run: str, kinds: str, i: int) -> int:
    kind = kinds[i]
    if kind in "wd":
        return _web(run, kinds, i) or _mail(run, kinds, i) or _acronym(run, kinds, i) or _word(run, kinds, i)
    if kind == "x":
        return _word(run, kinds, i)
    return _other(run, kinds, i)


def _web(run: str, kinds: str, i: int) -> int:
    scheme = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://(?=.)", re.DOTALL).match(run, i)
    www = re.compile(r"[wW]{3}\.(?=[A-Za-z0-9])").match(run, i)
    for start in (scheme, www):
        if start is None:
            continue
        lo = hi = start.end()
        while hi < len(run) and run[hi] not in '<>"' and (ord(run[hi]) < 128 or kinds[hi] in "wdx"):
            hi += 1
        while hi > lo:
            inside = run[lo:hi]
            unmatched = sum(map(inside.count, ")]}")) > sum(map(inside.count, "([{"))
            last = run[hi - 1]
            if not (last in ".,;:!?*`([{" + APOSTROPHES or (last in ")]}" and unmatched)):
                break
            hi -= 1
        if hi > lo or start is www:
            return hi
    return 0


def _mail(run: str, kinds: str, i: int) -> int:
    j = i
    while j < len(run) and (kinds[j] in "wdx" or run[j] in ".+-%"):
        j += 1
    if j == len(run) or run[j] != "@":
        return 0
    coded = "".join("w" if kind in "wdx" else c if c in "-." else " " for c, kind in zip(run, kinds, strict=True))
    domain = re.compile(r"(?!\.)(?:[w-]|\.(?=w))*").match(coded, j + 1)
    if domain is None:
        return 0
    text = coded[j + 1 : domain.end()]
    if "." not in text or "w" not in text[text.index(".") :]:
        return 0
    return j + 1 + text.rindex("w") + 1


def _acronym(run: str, kinds: str, i: int) -> int:
    k_ = i
    while k_ + 1 < len(run) and kinds[k_] == "w" and run[k_ + 1] == ".":
        k_ += 2
    if k_ - i < 4:
        return 0
    rest = kinds[k_:]
    if re.match(r"w(?![wdx])", rest):
        return k_ + 1
    return 0 if re.match("[wdx]", rest) else k_


def _word(run: str, kinds: str, i: int) -> int:
    j = i
    while True:
        j += len(re.match("[wdx]*", kinds[j:])[0])  # type: ignore[index]
        before, after = kinds[i:j].rstrip("x")[-1:], kinds[j + 1 : j + 2]
        if j < len(run) and run[j] in ".," and before == after == "d":
            j += 1
        elif j < len(run) and run[j] in APOSTROPHES and before == after == "w":
            if len(re.match("[wdx]*", kinds[j + 1 :])[0]) <= k.SHORT:  # type: ignore[index]
                return j
            if j - i <= k.SHORT:
                return j + 1
            j += 1
        else:
            return j


def _other(run: str, kinds: str, i: int) -> int:
    marks = re.compile("x*")
    if kinds[i] == "p":
        clitic = re.match(rf"w[wdx]{{0,{k.SHORT - 1}}}(?![wdx])", kinds[i + 1 :])
        if run[i] in APOSTROPHES and i > 0 and kinds[i - 1] in "wx" and clitic:
            return i + 1 + clitic.end()
        row = len(run[i:]) - len(run[i:].lstrip(run[i]))
        return marks.match(kinds, i + row).end()  # type: ignore[union-attr]
    if kinds[i] == "s":
        flags = re.compile("[\U0001f1e6-\U0001f1ff]{2}").match(run, i)
        j = flags.end() if flags else i + 1
        while j < len(run) and (kinds[j] == "x" or (kinds[j] == "s" and run[j - 1] == "\u200d")):
            j += 1
        return j
    return marks.match(kinds, i + 1).end()  # type: ignore[union-attr]
