"""Text, cut into tokens with offsets by compiled code: the rules stand in :mod:`chainfield.text.rules`.

A document is read once from left to right. A *run* is what stands between two spaces, at most :data:`LONGEST`
characters of it: it is decoded into codes and kinds, and cut into tokens by looking at these alone. So memory is
bounded, and every rule may look ahead without leaving the run. Every search that fails remembers how far it looked, and
is not tried again before that place: time is linear, whatever the text.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Bytes, Int, Int32, Out, UInt16
from chainfield.kernels.jit import inner, kernel

LONGEST = 4096  # characters of a run; a token has no more
SHORT = 2  # characters beside an apostrophe that take it with them

# Kinds of characters, and what else is known of them: one byte in the table.
SPACE, WORD, DIGIT, PUNCTUATION, SYMBOL, SINGLE, EXTEND = 0, 1, 2, 3, 4, 5, 6
KIND = 7
LOWER, TERMINAL, CLOSING = 8, 16, 32

# Places of the numbers that tell where the kernel is.
DOCUMENT, BYTE, CHARACTER, ENDED, INITIAL, N_STATE = 0, 1, 2, 3, 4, 5
_NEAR, _WIDE = 1, 2  # how a sentence ended: a space has to follow, or nothing

_NEWLINE = 10
_QUOTE, _APOSTROPHE, _COMMA, _HYPHEN, _DOT, _SLASH = 34, 39, 44, 45, 46, 47
_COLON, _LESS, _GREATER, _AT, _UNDERSCORE, _PERCENT, _PLUS = 58, 60, 62, 64, 95, 37, 43
_RIGHT_QUOTE = 0x2019
_JOINER = 0x200D
_FLAG_A, _FLAG_Z = 0x1F1E6, 0x1F1FF


@inner
def is_letter_like(kind: int) -> bool:
    """Whether a character continues a word."""
    return kind in (WORD, DIGIT, EXTEND)


@inner
def is_apostrophe(code: int) -> bool:
    """' or ’."""
    return code in (_APOSTROPHE, _RIGHT_QUOTE)


@inner
def is_ascii_letter(code: int) -> bool:
    """A to Z, in upper or lower case."""
    return (65 <= code <= 90) or (97 <= code <= 122)


@inner
def is_ascii_alphanumeric(code: int) -> bool:
    """The same, or 0 to 9."""
    return is_ascii_letter(code) or (48 <= code <= 57)


@inner
def extended(kinds: Any, j: int, m: int) -> int:
    """Behind the marks that follow."""
    while j < m and kinds[j] & KIND == EXTEND:
        j += 1
    return j


@inner
def letters_after(kinds: Any, j: int, m: int) -> int:
    """How many letters, digits and marks follow, counted up to one more than is short."""
    n = 0
    while n <= SHORT and j + n < m and is_letter_like(kinds[j + n] & KIND):
        n += 1
    return n


@inner
def scheme_end(codes: Any, i: int, m: int) -> int:
    """Where ``name:`` with ``//`` behind it ends, from i on; -1 - the place where the search stopped if it does not."""
    j = i
    while j < m and (is_ascii_alphanumeric(codes[j]) or codes[j] in (_PLUS, _HYPHEN, _DOT)):
        j += 1
    if j + 3 < m and j > i and codes[j] == _COLON and codes[j + 1] == _SLASH and codes[j + 2] == _SLASH:
        return j + 3
    return -1 - max(j, i + 1)


@inner
def is_www(codes: Any, i: int, m: int) -> bool:
    """Whether ``www.`` and something behind it stand here."""
    if i + 4 >= m or codes[i + 3] != _DOT or not is_ascii_alphanumeric(codes[i + 4]):
        return False
    return (codes[i] | 32) == 119 and (codes[i + 1] | 32) == 119 and (codes[i + 2] | 32) == 119


@inner
def bracket(code: int) -> int:
    """1 for an opening bracket, -1 for a closing one."""
    if code in (40, 91, 123):
        return 1
    return -1 if code in (41, 93, 125) else 0


@inner
def address_end(codes: Any, kinds: Any, lo: int, m: int) -> int:
    """Where an address of the web ends whose text begins at lo: punctuation behind it is not part of it."""
    end = lo
    depth = 0
    while end < m:
        code, kind = codes[end], kinds[end] & KIND
        if code in (_LESS, _GREATER, _QUOTE) or (code >= 128 and not is_letter_like(kind)):
            break
        depth += bracket(code)
        end += 1
    while end > lo:
        code = codes[end - 1]
        if bracket(code) == -1 and depth < 0:
            depth += 1
        elif bracket(code) == 1:
            depth -= 1
        elif not (code in (_DOT, _COMMA, 59, _COLON, 33, 63, 42, 96) or is_apostrophe(code)):
            break
        end -= 1
    return end


@inner
def mail_end(codes: Any, kinds: Any, i: int, m: int) -> int:
    """Where an address of e-mail ends that begins at i; -1 - the place where the search stopped if there is none."""
    j = i
    while j < m and (is_letter_like(kinds[j] & KIND) or codes[j] in (_DOT, _PLUS, _HYPHEN, _PERCENT)):
        j += 1
    if j == i or j >= m or codes[j] != _AT:
        return -1 - max(j, i + 1)
    k = j + 1
    end = -1
    dotted = False
    while k < m:
        if is_letter_like(kinds[k] & KIND):
            k += 1
            end = k if dotted else end
        elif codes[k] == _HYPHEN:
            k += 1
        elif codes[k] == _DOT and k > j + 1 and k + 1 < m and is_letter_like(kinds[k + 1] & KIND):
            dotted = True
            k += 1
        else:
            break
    return end if end > 0 else -1 - (j + 1)


@inner
def acronym_end(codes: Any, kinds: Any, i: int, m: int) -> int:
    """Where letters with dots end that begin at i (U.S., e.g.); -1 - the place where the search stopped if none do."""
    k = i
    while k + 1 < m and kinds[k] & KIND == WORD and codes[k + 1] == _DOT:
        k += 2
    if k - i < 4:
        return -1 - max(k, i + 1)
    if k < m and is_letter_like(kinds[k] & KIND):
        if kinds[k] & KIND != WORD or (k + 1 < m and is_letter_like(kinds[k + 1] & KIND)):
            return -1 - k
        return k + 1
    return k


@inner
def word_end(codes: Any, kinds: Any, i: int, m: int) -> int:
    """Where a word or number ends."""
    before = kinds[i] & KIND
    j = i + 1
    while j < m:
        kind = kinds[j] & KIND
        if is_letter_like(kind):
            before = before if kind == EXTEND else kind
            j += 1
            continue
        after = kinds[j + 1] & KIND if j + 1 < m else SPACE
        if codes[j] in (_DOT, _COMMA) and before == DIGIT and after == DIGIT:
            j += 1
        elif is_apostrophe(codes[j]) and before == WORD and after == WORD:
            if letters_after(kinds, j + 1, m) <= SHORT:
                return j
            j += 1
            if j - i - 1 <= SHORT:
                return j
        else:
            return j
    return j


@inner
def other_end(codes: Any, kinds: Any, i: int, m: int) -> int:
    """Where a token ends that is no word: punctuation, a symbol, a character of a script without spaces."""
    kind = kinds[i] & KIND
    j = i + 1
    if kind == PUNCTUATION:
        clitic = is_apostrophe(codes[i]) and i > 0 and kinds[i - 1] & KIND in (WORD, EXTEND)
        if clitic and j < m and kinds[j] & KIND == WORD:
            n = letters_after(kinds, j, m)
            if n <= SHORT:
                return j + n
        while j < m and codes[j] == codes[i]:
            j += 1
        return extended(kinds, j, m)
    if kind == SYMBOL:
        if _FLAG_A <= codes[i] <= _FLAG_Z and j < m and _FLAG_A <= codes[j] <= _FLAG_Z:
            j += 1
        while j < m and (kinds[j] & KIND == EXTEND or (kinds[j] & KIND == SYMBOL and codes[j - 1] == _JOINER)):
            j += 1
        return j
    return extended(kinds, j, m)


@kernel
def cut_tokens(
    buffer: Bytes, first: Int, stage: UInt16, blocks: Bytes, state: Out[Int], codes: Out[Int32], kinds: Out[Bytes],
    places: Out[Int], starts: Out[Int], ends: Out[Int], char_starts: Out[Int], char_ends: Out[Int], breaks: Out[Bytes],
    counts: Out[Int],
) -> int:  # fmt: skip
    """Tokens of documents buffer[first[d] : first[d + 1]], valid UTF-8 each; returns how many were found.

    starts, ends in bytes of the buffer; char_starts, char_ends in characters of the document; breaks: 1 where a
    sentence begins; counts (documents,): tokens of each are added to it. The kind of a character c is
    blocks[256 · stage[c >> 8] + (c & 255)]. codes, kinds and places have room for LONGEST and one more. ``state``
    (N_STATE,) tells where to begin and, at the return, where to go on: what is found stops where the next run might not
    fit. All is done when state[DOCUMENT] is the number of documents.
    """
    n = 0
    d = state[DOCUMENT]
    at = state[BYTE]
    char = state[CHARACTER]
    ended = state[ENDED]
    initial = state[INITIAL]
    while d < len(first) - 1:
        stop = first[d + 1]
        at = max(at, first[d])
        while at < stop:
            # What is between two runs, and the run.
            space = char == 0
            newlines = 0
            m = 0
            special_scheme = False
            special_www = False
            special_mail = False
            special_dot = False
            before_byte, before_char, run_char = at, char, char
            while at < stop and m < LONGEST:
                c = np.int64(buffer[at])
                size = 1
                if c >= 240:
                    c = ((c & 7) << 18) | ((buffer[at + 1] & 63) << 12) | ((buffer[at + 2] & 63) << 6)
                    c |= buffer[at + 3] & 63
                    size = 4
                elif c >= 224:
                    c = ((c & 15) << 12) | ((buffer[at + 1] & 63) << 6) | (buffer[at + 2] & 63)
                    size = 3
                elif c >= 192:
                    c = ((c & 31) << 6) | (buffer[at + 1] & 63)
                    size = 2
                kind = blocks[256 * np.int64(stage[c >> 8]) + (c & 255)]
                if kind & KIND == SPACE:
                    if m > 0:
                        break
                    space = True
                    newlines += c == _NEWLINE
                    at += size
                    char += 1
                    run_char = char
                    continue
                codes[m] = c
                kinds[m] = kind
                places[m] = at
                special_scheme = special_scheme or c == _COLON
                special_www = special_www or (c | 32) == 119
                special_mail = special_mail or c == _AT
                special_dot = special_dot or c == _DOT
                m += 1
                at += size
                char += 1
            if m == 0:
                break
            if n + m > len(starts):
                state[DOCUMENT], state[BYTE], state[CHARACTER] = d, before_byte, before_char
                state[ENDED], state[INITIAL] = ended, initial
                return n
            places[m] = at
            i = 0
            no_scheme, no_mail, no_acronym = 0, 0, 0
            while i < m:
                kind = kinds[i]
                j = -1
                if kind & KIND in (WORD, DIGIT):
                    if special_scheme and i >= no_scheme and is_ascii_letter(codes[i]):
                        j = scheme_end(codes, i, m)
                        if j > 0:
                            lo = j
                            j = address_end(codes, kinds, lo, m)
                            j = j if j > lo else -1
                        else:
                            no_scheme = -1 - j
                    if j < 0 and special_www and is_www(codes, i, m):
                        j = address_end(codes, kinds, i + 4, m)
                    if j < 0 and special_mail and i >= no_mail:
                        j = mail_end(codes, kinds, i, m)
                        if j < 0:
                            no_mail = -1 - j
                    if j < 0 and special_dot and i >= no_acronym:
                        j = acronym_end(codes, kinds, i, m)
                        if j < 0:
                            no_acronym = -1 - j
                    if j < 0:
                        j = word_end(codes, kinds, i, m)
                elif kind & KIND == EXTEND:
                    j = word_end(codes, kinds, i, m)
                else:
                    j = other_end(codes, kinds, i, m)
                starts[n] = places[i]
                ends[n] = places[j]
                char_starts[n] = run_char + i
                char_ends[n] = run_char + j
                # A sentence ends at a full stop and what closes behind it; it begins with the next token that is not
                # in lower case.
                spaced = space and i == 0
                breaks[n] = 0
                if (spaced and newlines > 1) or counts[d] == 0:
                    breaks[n] = 1
                    ended = 0
                if kind & TERMINAL:
                    wide = codes[i] >= 128 and codes[i] != 0x2026
                    ended = 0 if initial != 0 and codes[i] == _DOT else _WIDE if wide else _NEAR
                elif not (kind & CLOSING and ended > 0 and not spaced):
                    if ended == _WIDE or (ended == _NEAR and spaced):
                        breaks[n] = breaks[n] if kind & LOWER else 1
                    ended = 0
                initial = 1 if j == i + 1 and kind & KIND == WORD and not kind & LOWER else 0
                counts[d] += 1
                n += 1
                i = j
        d += 1
        char = 0
        ended = 0
        initial = 0
    state[DOCUMENT], state[BYTE], state[CHARACTER], state[ENDED], state[INITIAL] = d, at, 0, 0, 0
    return n
