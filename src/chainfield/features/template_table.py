"""The table of known features of a template program."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, overload

import numpy as np

from chainfield.arrays import Arrays, Int, Int32
from chainfield.data.coded_rows import CodedRows
from chainfield.parallel import ordered_map
from chainfield.schema import demand

from .program import Program, careful_templates
from .readings import LEAST, Readings, Selection, SingleSlots

# What a slot may read in place of a known text's number (>= 0).
ABSENT = -1  # its transform gave None: the feature does not exist here
UNKNOWN = -2  # a text that training never saw
UNKNOWN_FLAGGED = -3  # the same, and it contains a separator of the templates

# While learning, positions go through the kernel in runs of this many; room for their new keys is made before each.
CHUNK = 4096


class FeatureStrings(Sequence[str]):
    """Feature strings by number; ``make`` writes those of some keys, ``keys`` (F,) are the keys of all features."""

    def __init__(self, make: Callable[[Int], list[str]], keys: Int) -> None:
        self._make, self._keys = make, keys

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        return self._make(self._keys[at]) if isinstance(at, slice) else self._make(self._keys[[at]])[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._make(self._keys))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class Texts:
    """Numbers for texts, whichever column or transform they come from: equal texts have equal numbers."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.list = list(texts)
        self.number: dict[str | None, int] = {None: ABSENT}
        self.number |= {text: i for i, text in enumerate(self.list)}

    def add(self, texts: Sequence[str | None]) -> Int32:
        """The numbers of some texts, new ones where need be; ABSENT for None."""
        number = self.number
        fresh = [text for text in dict.fromkeys(texts) if text is not None and text not in number]
        number.update(zip(fresh, range(len(self.list), len(self.list) + len(fresh)), strict=True))
        self.list += fresh
        return np.fromiter(map(number.__getitem__, texts), np.int32, len(texts))


class KeyTable:
    """Keys (form, text, text …) of the features of one program, and the tables that its views need."""

    def __init__(self, program: Program, texts: Texts) -> None:
        self.program = program
        self.texts = texts
        self.n_features = 0
        self._keys = np.empty((0, 1 + program.arity), np.int32)
        self._assign(np.empty(0, np.int32))
        self._hash = np.zeros((2, 2), np.uint64)
        self._bits = 0  # of a text in a key's code, if all of a key fits into 64 bits
        self._tables: list[Int32] = [np.empty(0, np.int32) for _ in program.views]
        self._pads = np.empty((0, 2 * program.reach), np.int32)  # (views, 2 reach), once values are known
        # A feature string can be cut into slots in two ways only if a text contains a separator, or if one template's
        # beginning continues another's. Such keys are compared as strings.
        self._separators = {c for i in range(len(program.form)) for text in program.literals(i)[1:-1] for c in text}
        self._careful = careful_templates(program)
        self._whole = Selection.of(program, self._careful, np.arange(len(program.form)))
        self._single = SingleSlots.of(program, self._careful)
        several = np.repeat(np.diff(program.first), np.diff(program.first)) > 1
        self._joined = np.zeros(len(program.views), np.bool_)  # views that a template reads beside others
        self._joined[program.slot_view[several]] = True
        self._flagged = np.empty(0, np.bool_)  # (texts,) contains a separator
        self._strings: dict[str, int] = {}  # features behind such keys, by string

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Tools that unpickle arrays as maps of a file (joblib) give them read-only; the kernel wants these open."""
        vars(self).update(state)
        self._keys = np.require(self._keys, requirements="W")
        self._hash = np.require(self._hash, requirements="W")

    def see_values(self, values: list[list[str]]) -> None:
        """Extend the tables of the views to all values of the columns."""
        for v, view in enumerate(self.program.views):
            fresh = values[view.column][len(self._tables[v]) :]
            self._tables[v] = np.concatenate([self._tables[v], self.texts.add(view.texts(fresh))])
        pads = [self.texts.add(pads) for pads in self.program.pad_texts()]
        self._pads = np.array(pads, np.int32).reshape(-1, 2 * self.program.reach)

    def _prepare(self) -> None:
        """What the kernel needs besides keys; made anew whenever texts or values were added."""
        separators = self._separators
        texts = self.texts.list
        self._flagged = np.zeros(len(texts), np.bool_)
        if separators:
            self._flagged[:] = [not separators.isdisjoint(text) for text in texts]
        self._flat = np.concatenate(self._tables) if self._tables else np.empty(0, np.int32)
        self._first = np.cumsum([0] + [len(t) for t in self._tables])
        self._column = np.array([view.column for view in self.program.views], np.int32)
        bits = max(1, len(self.texts.list).bit_length())
        fits = int(self.program.form.max(initial=0)).bit_length() + bits * self.program.arity <= 64
        self._bits = bits if fits else 0

    def _assign(self, number: Int32) -> None:
        """Give every key its feature; keys whose strings are equal have the same."""
        self._number = number
        self._plain = np.array_equal(number, np.arange(len(number)))  # a key's number is that of its feature

    def learn(self, numbers: Int32, offsets: Int, min_count: int, *, first: bool) -> Int32:
        """Feature numbers (N, T); new keys become features if they are frequent enough."""
        self._prepare()
        known = n_keys = len(self._keys)
        self._rehash(n_keys, 2 * n_keys + 2)  # there may be more texts now, and longer codes
        out = np.empty((numbers.shape[1], len(self.program.form)), np.int32)
        none = np.empty((len(self.program.views), 0), np.int32)
        lo = 0
        while lo < len(offsets) - 1:
            hi = max(int(np.searchsorted(offsets, offsets[lo] + CHUNK, side="right")) - 1, lo + 1)
            room = n_keys + int(offsets[hi] - offsets[lo]) * len(self.program.form)
            if room > len(self._keys):
                grown = np.empty((2 * room, self._keys.shape[1]), np.int32)
                grown[:n_keys] = self._keys[:n_keys]
                self._keys = grown
            if 2 * room > len(self._hash):
                self._rehash(n_keys, 4 * room)
            n_keys = self._run(self._whole, numbers, offsets, lo, hi, none, n_keys, True, first, out)
            lo = hi
        self._keys = self._keys[:n_keys].copy()
        return self._settle(out, known, min_count)

    def encode(
        self,
        numbers: Int32,
        rows: CodedRows,
        fresh: list[list[str]],
        n_jobs: int = 1,
        *,
        first: bool,
    ) -> Int32:
        """Feature numbers (N, T), -1 where a feature is absent or unknown; fresh: values behind the known ones.

        rows: the cells behind ``numbers``, for the rare keys that must be compared as strings.
        """
        offsets = rows.offsets
        program = self.program
        if not program.templates:
            return np.empty((numbers.shape[1], 0), np.int32)
        extra = self._fresh_texts(fresh)
        out = np.empty((numbers.shape[1], len(program.form)), np.int32)
        readings = self._read(numbers, extra) if first and len(out) >= LEAST else None

        def part(bounds: tuple[int, int]) -> None:
            if readings is not None:
                readings.place(offsets, *bounds, out)
            which = self._whole if readings is None else self._single.rest
            self._run(which, numbers, offsets, *bounds, extra, len(self._keys), False, first, out)

        parts = list(rows.ragged.blocks(CHUNK))
        for _ in ordered_map(part, parts, n_jobs if len(parts) > 1 else 1):
            pass
        careful = out == UNKNOWN_FLAGGED
        if len(self._number) == 0:
            features = np.full_like(out, -1)
        elif self._plain:
            features = np.maximum(out, -1)
        else:
            features = np.where(out >= 0, self._number[np.maximum(out, 0)], -1)
        for at, i in np.argwhere(careful) if careful.any() else ():
            s = int(np.searchsorted(offsets, at, side="right")) - 1
            string = program.templates[i].expand(rows[s], int(at) - int(offsets[s]), program.dialect)
            features[at, i] = -1 if string is None else self._strings.get(string, -1)
        return features.astype(np.int32, copy=False)

    def _fresh_texts(self, fresh: list[list[str]]) -> Int32:
        """(V, new values) the texts that views show of values behind the known ones, or why there are none."""
        extra = np.empty((len(self.program.views), max(map(len, fresh), default=0)), np.int32)
        get, separators = self.texts.number.get, self._separators
        for v, view in enumerate(self.program.views):
            new = fresh[view.column]
            if not new:
                continue
            texts = view.texts(new)
            own = extra[v, : len(new)]
            own[:] = np.fromiter(map(get, texts, repeat(UNKNOWN)), np.int32, len(new))
            if self._joined[v]:  # only where texts stand side by side
                for i in np.flatnonzero(own == UNKNOWN).tolist():
                    if not separators.isdisjoint(texts[i] or ""):
                        own[i] = UNKNOWN_FLAGGED
        return extra

    def _read(self, numbers: Int32, extra: Int32) -> Readings:
        """What templates of one slot read off the values of a batch, and off what is beyond the ends."""
        known = (numbers.max(axis=1, initial=-1) + 1).tolist()
        for v, column in enumerate(self._column.tolist()):
            known[column] = int(self._first[v + 1] - self._first[v])
        values, rows = self._single.distinct(numbers, known, extra.shape[1])
        n = values.shape[1]
        keys = np.empty((n, len(self._single.column)), np.int32)
        texts = np.concatenate([extra, self._pads], axis=1)
        self._run(self._single.alone, values, np.arange(n + 1), 0, n, texts, len(self._keys), False, True, keys)
        return Readings(self._single, keys, rows)

    def _run(
        self, p: Selection, numbers: Int32, offsets: Int, lo: int, hi: int, extra: Int32, n_keys: int, insert: bool,
        first: bool, out: Int32,
    ) -> int:  # fmt: skip
        from chainfield.kernels.text.templates import encode_templates

        return int(
            encode_templates(
                numbers, offsets, lo, hi, self._flat, self._first, extra, self._pads, self._column, p.form, p.first,
                p.slot_view, p.slot_offset, p.slot_absolute, self.program.reach, self._flagged, p.careful, not first,
                self._keys, n_keys, self._bits, self._hash, insert, p.target, out,
            )
        )  # fmt: skip

    def _settle(self, out: Int32, known: int, min_count: int) -> Int32:
        """Merge keys of equal strings, drop rare features, number the rest; ``out`` holds key numbers."""
        number = self._numbered(known, out if min_count > 1 else None, min_count)
        keep = number >= 0
        self._keys = self._keys[keep].copy()
        self._assign(number[keep])
        self._rehash(len(self._keys), 2 * len(self._keys) + 2)
        if np.array_equal(number, np.arange(len(number))):
            return out
        return np.where(out >= 0, number[out], -1).astype(np.int32)

    def _numbered(self, known: int, out: Int32 | None = None, min_count: int = 1) -> Int32:
        """The feature of each key, -1 where it is too rare; the first ``known`` keys have theirs already."""
        keys = self._keys
        representative = np.arange(len(keys))
        careful = self._careful_keys()
        strings = self._key_strings(careful)
        first_of: dict[str, int] = {}
        for key, string in zip(careful.tolist(), strings, strict=True):
            representative[key] = first_of.setdefault(string, key)
        often = np.ones(len(keys), np.bool_)
        if out is not None:
            often = np.bincount(representative[out[out >= 0]], minlength=len(keys)) >= min_count
        number = np.concatenate([self._number, np.full(len(keys) - known, -1, np.int32)])
        fresh = (representative == np.arange(len(keys))) & (number < 0) & often
        number[fresh] = self.n_features + np.arange(np.count_nonzero(fresh))
        number = number[representative].astype(np.int32)
        self.n_features += int(np.count_nonzero(fresh))
        self._strings = {s: int(number[k]) for k, s in zip(careful.tolist(), strings, strict=True) if number[k] >= 0}
        return number

    def merge(self, other: KeyTable) -> Int32:
        """Add the keys of another table of the same program, whose values were seen here; the new numbers of its
        features.
        """
        from chainfield.kernels.text.templates import insert_keys

        moved = np.append(self.texts.add(other.texts.list), -1).astype(np.int32)
        rows = np.ascontiguousarray(np.column_stack([other._keys[:, :1], moved[other._keys[:, 1:]]]), np.int32)
        self._prepare()
        known, room = len(self._keys), len(self._keys) + len(rows)
        grown, where = np.empty((room, self._keys.shape[1]), np.int32), np.empty(len(rows), np.int32)
        grown[:known] = self._keys
        self._keys = grown
        self._rehash(known, 2 * room + 2)
        self._keys = grown[: insert_keys(rows, grown, known, self._bits, self._hash, where)].copy()
        self._assign(self._numbered(known))
        numbers = np.empty(other.n_features, np.int32)
        numbers[other._number] = self._number[where]
        return numbers

    def renumber(self, numbers: Int32) -> None:
        """Give every feature a new number, and order the keys by it."""
        renumbered = numbers[self._number]
        order = np.argsort(renumbered, kind="stable")
        self._keys = self._keys[order].copy()
        self._assign(renumbered[order])
        self._strings = {string: int(numbers[f]) for string, f in self._strings.items()}
        self._rehash(len(self._keys), 2 * len(self._keys) + 2)

    def selected(self, numbers: Int32) -> KeyTable:
        """A table of some of the features: their new numbers, -1 for those to be left out."""
        other = copy.copy(self)
        wanted = numbers[self._number]
        order = np.argsort(wanted, kind="stable")[np.count_nonzero(wanted < 0) :]
        other._keys = self._keys[order].copy()
        other._assign(wanted[order])
        other.n_features = int(np.count_nonzero(numbers >= 0))
        other._strings = {string: int(numbers[f]) for string, f in self._strings.items() if numbers[f] >= 0}
        other._rehash(len(other._keys), 2 * len(other._keys) + 2)
        return other

    def _rehash(self, n_keys: int, size: int) -> None:
        from chainfield.kernels.text.templates import rebuild_table

        self._hash = np.empty((1 << size.bit_length(), 2), np.uint64)
        rebuild_table(self._keys, n_keys, self._bits, self._hash)

    def _careful_keys(self) -> Int:
        keys = self._keys
        forms = np.zeros(int(self.program.form.max(initial=-1)) + 1, np.bool_)
        forms[self.program.form[self._careful]] = True
        careful = forms[keys[:, 0]] if forms.any() else np.zeros(len(keys), np.bool_)
        if self._flagged.any() and keys.shape[1] > 2:
            flagged, several = np.append(self._flagged, False), keys[:, 2] >= 0
            for texts in keys.T[1:]:
                careful |= flagged[texts] & several  # -1: no text
        return np.flatnonzero(careful)

    def _key_strings(self, keys: Int) -> list[str]:
        template_of, texts = self._template_of, self.texts.list
        rows = self._keys[keys].tolist()
        return [self.program.string(template_of[form], [texts[t] for t in slots if t >= 0]) for form, *slots in rows]

    @cached_property
    def _template_of(self) -> dict[int, int]:
        """The first template of each form."""
        return {form: i for i, form in reversed(list(enumerate(self.program.form.tolist())))}

    def names(self) -> Sequence[str]:
        """Feature strings by number, each made when it is asked for: there may be millions, and few are asked for."""
        _, first = np.unique(self._number, return_index=True)
        return FeatureStrings(self._key_strings, first)

    def save(self) -> Arrays:
        """Keys and tables; everything else follows from them."""
        tables = np.concatenate(self._tables) if self._tables else np.empty(0, np.int32)
        arrays = {"keys": self._keys, "tables": tables, "pads": self._pads}
        if not self._plain:  # several keys of one string
            arrays["number"] = self._number
        return arrays

    def adopt(self, of_form: Sequence[int], texts: Sequence[Sequence[str]], kept: Int, numbers: Int32) -> Int:
        """Take keys from elsewhere: forms, texts of slots, and numbers of features. :meth:`restore` comes after it.

        Returns ``kept``, the numbers that these features had there.
        """
        keys = np.full((len(of_form), 1 + self.program.arity), -1, np.int32)
        keys[:, 0] = of_form
        flat = self.texts.add([text for own in texts for text in own])
        lengths = np.array([len(own) for own in texts], np.int64)
        within = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        keys[np.repeat(np.arange(len(keys)), lengths), 1 + within] = flat
        order = np.argsort(numbers, kind="stable")
        self._keys = keys[order]
        self._assign(numbers[order])
        return kept

    def restore(self, arrays: Arrays, n_values: list[int]) -> None:
        """The inverse of save; n_values: how many values each column has. Refuses numbers that lead nowhere."""
        program, n_texts = self.program, len(self.texts.list)
        sizes = [n_values[view.column] for view in program.views]
        keys, tables, pads = arrays["keys"], arrays["tables"], arrays["pads"]
        number = arrays.get("number", np.arange(len(keys), dtype=np.int32))
        shapes = (keys.shape[1], len(tables), pads.shape)
        wanted = (1 + program.arity, sum(sizes), (len(program.views), 2 * program.reach))
        demand(shapes == wanted, "the size of the template's tables")
        forms = np.zeros(int(program.form.max(initial=-1)) + 1, np.int64)
        forms[program.form] = np.diff(program.first)  # slots of each form
        form, texts = keys[:, 0], keys[:, 1:]
        demand(form.min(initial=0) >= 0 and form.max(initial=-1) < len(forms), "the form of a key")
        demand(texts.max(initial=-1) < n_texts, "a text of a key")
        slots = forms[form]
        demand(all(np.array_equal(column >= 0, slots > i) for i, column in enumerate(texts.T)), "the slots of a key")
        demand(len(number) == 0 or bool(np.bincount(number)[: number.max()].all()), "the number of a feature")
        self._keys = np.ascontiguousarray(arrays["keys"])
        self._assign(number)
        self._pads = np.ascontiguousarray(pads)
        cuts = np.cumsum(sizes)[:-1]
        self._tables = np.split(arrays["tables"], cuts) if self.program.views else []
        self.n_features = int(self._number.max(initial=-1)) + 1
        self._prepare()
        self._rehash(len(self._keys), 2 * len(self._keys) + 2)
        careful = self._careful_keys()
        strings = self._key_strings(careful)
        self._strings = dict(zip(strings, self._number[careful].tolist(), strict=True))
