"""Rows of text columns, turned into features by templates."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, ClassVar, cast, final, get_args

import numpy as np

from chainfield.arrays import Arrays, Int, Int32, offsets_of
from chainfield.data.coded_rows import CodedRows, encode_columns
from chainfield.errors import DataError
from chainfield.schema import Part, Tensor, Value, demand, texts_tensors, whole

from .batch import Batch, Sparse
from .feature_map import FeatureMap, pack_strings, unpack_strings
from .program import compile_templates
from .template import TemplateSet, parse_template
from .template_line import Dialect
from .template_strings import compact, cut_strings, slot_values
from .template_table import KeyTable, Texts


def _tables(prefix: str, label: str) -> tuple[Tensor, ...]:
    """The tensors of one table of keys."""
    keys = f"keys of {prefix}"
    return (
        Tensor(
            f"{prefix}.keys", ("I32",), (keys, f"1 + slots of {prefix}"),
            f"features of {label}: form, then the texts of its slots, then -1", least=-1,
        ),
        Tensor(
            f"{prefix}.number", ("I32",), (keys,), "the feature of each key; missing: key i is feature i. Keys that "
            "write the same string have the same feature", least=0, below=keys, optional=True,
        ),
        Tensor(
            f"{prefix}.tables", ("I32",), (f"entries of {prefix}",), "for each view, for each value of its column: the "
            "text that the transform gives, or -1 where the feature is absent", least=-1, below="known texts",
        ),
        Tensor(
            f"{prefix}.pads", ("I32",), (f"views of {prefix}", f"2 · reach of {prefix}"), "the texts beyond the ends: "
            "1, 2, … positions before the start, then 1, 2, … after the end; -1: absent", least=-1, below="known texts",
        ),
    )  # fmt: skip


@final
class TemplateFeatures(FeatureMap):
    """Columns become integers once; templates run over integers (see :mod:`chainfield.features.program`)."""

    kind: ClassVar[str] = "templates"
    schema = Part(
        (
            Value("template", "text", "the text of the template"),
            Value("dialect", "text", "how it is written", choices=get_args(Dialect)),
            whole("n_columns", "columns of the data", "columns", most="file"),
            whole("n_texts", "texts that features have; those behind them are values of columns only", "known texts"),
        ),
        (
            *texts_tensors("texts.", "texts", "texts"),
            Tensor(
                "values.{c}", ("I32",), ("values of {c}",), "the texts of the values of column c, by value", least=0,
                below="texts", distinct=True, each="columns",
            ),
            *_tables("nodes", "labels"),
            *_tables("edges", "label pairs"),
        ),
    )  # fmt: skip

    def __init__(self, templates: TemplateSet, n_columns: int = 0) -> None:
        self.templates = templates
        self.width: int = n_columns
        self.plain_transitions = templates.has_plain_bigram
        self._values: list[dict[str, int]] = [{} for _ in range(n_columns)]
        self._connect(Texts())

    def _connect(self, texts: Texts) -> None:
        dialect = self.templates.dialect
        self._texts = texts
        self._nodes = KeyTable(compile_templates(self.templates.unigrams, dialect), texts)
        self._edges = KeyTable(compile_templates(self.templates.conditioned_bigrams, dialect), texts)

    @property
    def offers(self) -> frozenset[str]:  # type: ignore[override]
        """Features of transitions where the template has some."""
        return frozenset({"sparse", "edges"} if self.templates.conditioned_bigrams else {"sparse"})

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """How many node features are known."""
        return self._nodes.n_features

    @property
    def n_edge_features(self) -> int:  # type: ignore[override]
        """How many features of transitions are known."""
        return self._edges.n_features

    def learn(self, sequences: Sequence[Any], min_count: int = 1) -> Batch:
        """Number the new texts and features."""
        rows = self._coded(sequences)
        numbers, fresh = rows.renumbered(self._values)
        for known, values in zip(self._values, fresh, strict=True):
            known.update({value: i for i, value in enumerate(values, len(known))})
        for keys in (self._nodes, self._edges):
            keys.see_values([list(known) for known in self._values])
        node = self._nodes.learn(numbers, rows.offsets, min_count, first=True)
        edge = self._edges.learn(numbers, rows.offsets, min_count, first=False)
        return self._batch(rows.offsets, node, edge)

    def encode(self, sequences: Sequence[Any], n_jobs: int = 1) -> Batch:
        """Values that training never saw still have known shapes, affixes and neighbours."""
        rows = self._coded(sequences)
        numbers, fresh = rows.renumbered(self._values)
        node = self._nodes.encode(numbers, rows, fresh, n_jobs, first=True)
        edge = self._edges.encode(numbers, rows, fresh, n_jobs, first=False)
        return self._batch(rows.offsets, node, edge)

    def _coded(self, sequences: Sequence[Any]) -> CodedRows:
        """The rows, checked."""
        if isinstance(sequences, CodedRows):
            if not self.width:
                self._widen(sequences.n_columns)
            if sequences.n_columns == self.width:
                return sequences
        offsets = offsets_of([len(sequence) for sequence in sequences])
        rows = list(chain.from_iterable(sequences))
        kinds = set(map(type, rows))
        if self.width <= 1 and any(issubclass(kind, str) for kind in kinds):
            rows = [(str(row),) if isinstance(row, str) else row for row in rows]
            kinds = set(map(type, rows))
        if not self.width:
            self._widen(len(rows[0]) if rows else max(1, self.templates.n_columns_needed))
        if kinds - {str, tuple, list} or len(kinds) > 1 or set(map(len, rows)) - {self.width}:
            for at, row in enumerate(rows):
                self._check_row(row, at, offsets)
        columns = [list(map(itemgetter(c), rows)) for c in range(self.width)]
        for c, column in enumerate(columns):
            if set(map(type, column)) - {str}:
                for at, value in enumerate(column):
                    if not isinstance(value, str):
                        raise DataError(f"{_place(at, offsets)}: a column holds {value!r:.40}, not a string.")
                columns[c] = list(map(str, column))
        return encode_columns(columns, offsets)

    def _widen(self, n_columns: int) -> None:
        """Learn how many columns there are."""
        self.width = n_columns
        self.templates.check_columns(n_columns, "X")
        self._values = [{} for _ in range(n_columns)]

    def _check_row(self, row: Any, at: int, offsets: Int) -> None:
        if not isinstance(row, tuple | list):
            wanted = "a string" if self.width == 1 else "a tuple of strings"
            raise DataError(f"{_place(at, offsets)}: {row!r:.40} is not a row; {wanted} is expected.")
        if len(row) != self.width:
            raise DataError(
                f"{_place(at, offsets)}: there are {len(row)} columns; {self.width} are expected (labels not counted)."
            )

    def _batch(self, offsets: Int, node: Int32, edge: Int32) -> Batch:
        edges = _regular(edge, self.n_edge_features) if self.templates.conditioned_bigrams else None
        return Batch(offsets, sparse=_regular(node, self.n_features), edges=edges)

    def renumber(self, numbers: Int32) -> None:
        """Reorder the keys of node features."""
        self._nodes.renumber(numbers)

    def selected(self, numbers: Int32, edges: Int32) -> TemplateFeatures:
        """A map of some of the keys."""
        other = copy.copy(self)
        other._nodes, other._edges = self._nodes.selected(numbers), self._edges.selected(edges)
        return other

    def merge(self, other: TemplateFeatures) -> tuple[Int32, Int32]:
        """Values, texts and keys."""
        if self.width != other.width:
            raise DataError(f"Rows of {self.width} and of {other.width} columns cannot be merged.")
        if (self.templates.text, self.templates.dialect) != (other.templates.text, other.templates.dialect):
            raise DataError("Features of different templates cannot be merged; use one template for all data.")
        for known, theirs in zip(self._values, other._values, strict=True):
            fresh = [value for value in theirs if value not in known]
            known.update(zip(fresh, range(len(known), len(known) + len(fresh)), strict=True))
        for keys in (self._nodes, self._edges):
            keys.see_values([list(known) for known in self._values])
        return self._nodes.merge(other._nodes), self._edges.merge(other._edges)

    def feature_names(self) -> Sequence[str]:
        """The feature strings, by number."""
        return self._nodes.names()

    def edge_feature_names(self) -> Sequence[str]:
        """The feature strings of transitions, by number."""
        return self._edges.names()

    def save(self) -> tuple[dict[str, Any], Arrays]:
        """Templates, texts, values and keys."""
        config = {"template": self.templates.text, "dialect": self.templates.dialect, "n_columns": self.width}
        # Most values are texts themselves; the others are added behind them, for the file only.
        texts = Texts(self._texts.list)
        arrays: Arrays = {}
        for c, known in enumerate(self._values):
            arrays[f"values.{c}"] = texts.add(list(known))
        arrays |= {f"texts.{name}": array for name, array in pack_strings(texts.list).items()}
        arrays |= {f"nodes.{name}": array for name, array in self._nodes.save().items()}
        arrays |= {f"edges.{name}": array for name, array in self._edges.save().items()}
        return config | {"n_texts": len(self._texts.list)}, arrays

    @classmethod
    def from_strings(
        cls, templates: TemplateSet, n_columns: int, nodes: Sequence[str], edges: Sequence[str]
    ) -> tuple[TemplateFeatures, Int, Int]:
        """A map that knows these feature strings; and which of them its templates can write: those are numbered."""
        templates.check_columns(n_columns, "The model")
        features = cls(templates, n_columns)
        tables = (features._nodes, features._edges)
        cuts = [cut_strings(t.program, strings) for t, strings in zip(tables, (nodes, edges), strict=True)]
        for table, (_, of_form, texts) in zip(tables, cuts, strict=True):
            for column, values in slot_values(table.program, of_form, texts).items():
                known = features._values[column]
                known.update({v: i for i, v in enumerate((v for v in values if v not in known), len(known))})
        for table in tables:
            table.see_values([list(known) for known in features._values])
        kept = [
            table.adopt(of_form, texts, *compact(of_string, len(strings)))
            for table, (of_string, of_form, texts), strings in zip(tables, cuts, (nodes, edges), strict=True)
        ]
        for table in tables:
            table.restore(table.save(), [len(known) for known in features._values])
        return features, kept[0], kept[1]

    @classmethod
    def load(cls, config: dict[str, Any], arrays: Arrays) -> TemplateFeatures:
        """The inverse of save."""
        dialect, n_columns, n_texts = cast(Dialect, config["dialect"]), config["n_columns"], config["n_texts"]
        templates = parse_template(config["template"], "the model's template", dialect)
        templates.check_columns(n_columns, "the model")
        texts = unpack_strings({name: arrays[f"texts.{name}"] for name in ("bytes", "lengths")})
        demand(len(set(texts)) == len(texts), "a text that occurs twice")
        demand(n_texts <= len(texts), "the number of texts")
        features = cls(templates)
        features.width = n_columns
        features._connect(Texts(texts[:n_texts]))
        features._values = [
            {texts[i]: n for n, i in enumerate(arrays[f"values.{c}"].tolist())} for c in range(n_columns)
        ]
        for prefix, keys in (("nodes", features._nodes), ("edges", features._edges)):
            own = {k.removeprefix(prefix + "."): v for k, v in arrays.items() if k.startswith(prefix + ".")}
            keys.restore(own, [len(known) for known in features._values])
        return features


def _place(at: int, offsets: Int) -> str:
    s = int(np.searchsorted(offsets, at, side="right")) - 1
    return f"Sequence {s}, position {at - int(offsets[s])}"


def _regular(numbers: Int32, n_features: int) -> Sparse:
    n, width = numbers.shape
    indptr = np.arange(n + 1, dtype=np.int64) * width
    return Sparse(indptr, numbers.ravel(), None, n_features)
