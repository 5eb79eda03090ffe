"""Tagging texts inside of engines: Arrow batches and arrays, DuckDB, Polars, Spark and Ray, each where it is there."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chainfield import HMMClassifier, LinearCRF, TextTagger
from chainfield.errors import ConfigError, DataError
from chainfield.frames import span_type, tag_array, tag_arrow
from support.texts import corpus

arrow = pytest.importorskip("pyarrow")
TEXTS = [*corpus(5, 1)[0], None, ""]
STRUCT = '"start" BIGINT, "end" BIGINT, label VARCHAR, "text" VARCHAR, probability DOUBLE'


@pytest.fixture(scope="module")
def tagger() -> TextTagger:
    return TextTagger(model=LinearCRF(max_iter=15)).fit(*corpus(40))


@pytest.fixture(scope="module")
def path(tagger: TextTagger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("engines") / "text.cf"
    tagger.save(file)
    return file


@pytest.fixture(scope="module")
def expected(tagger: TextTagger) -> list[Any]:
    """The spans of each text, as dicts; None for the missing text."""
    answers = iter(tagger.predict([text for text in TEXTS if text is not None]))
    names = [field.name for field in span_type().value_type]
    return [
        None if text is None else [dict(zip(names, span, strict=False)) for span in next(answers)] for text in TEXTS
    ]


def table() -> Any:
    return arrow.table({"id": list(range(len(TEXTS))), "text": TEXTS})


def test_batches(tagger: TextTagger, expected: list[Any]) -> None:
    given = table().replace_schema_metadata({"who": "me"})
    found = list(tag_arrow(tagger, given.to_batches(max_chunksize=3)))
    assert [batch.num_rows for batch in found] == [3, 3, 1]
    assert found[0].schema.metadata == {b"who": b"me"}
    whole = arrow.Table.from_batches(found)
    assert whole["spans"].to_pylist() == expected
    assert whole.drop_columns("spans").equals(given)
    without = next(tag_arrow(tagger, given.to_batches(), into="found", probabilities=False))
    assert {span["probability"] for row in without["found"].to_pylist() for span in row or []} == {None}


def test_arrays(tagger: TextTagger, path: Path, expected: list[Any]) -> None:
    for kind in (arrow.string(), arrow.large_string(), arrow.dictionary(arrow.int32(), arrow.string())):
        assert tag_array(tagger, arrow.array(TEXTS).cast(kind)).to_pylist() == expected
    assert tag_array(path, arrow.chunked_array([TEXTS[:2], TEXTS[2:]])).to_pylist() == expected
    for nothing in ([], [None], [""]):
        empty = tag_array(tagger, arrow.array(nothing, arrow.string()))
        assert empty.type == span_type()
        assert len(empty) == len(nothing)


def test_bad_batches(tagger: TextTagger, path: Path, tmp_path: Path) -> None:
    batches = table().to_batches()
    for settings, message in (
        ({"column": "x"}, "The batch has no column 'x'; it has 'id', 'text'"),
        ({"column": "id"}, "Row 0 of the column 'id' is 0; a text is expected"),
        ({"into": "id"}, "The batch has a column 'id' already; give another name as into="),
    ):
        with pytest.raises(DataError, match=message):
            list(tag_arrow(tagger, batches, **settings))
    with pytest.raises(DataError, match=r"Row 1 of the array is 2\.5; a text is expected"):
        tag_array(tagger, arrow.array([None, 2.5]))
    with pytest.raises(DataError, match=r"no model file .*none\.cf; every process of the engine has to see it"):
        list(tag_arrow(tmp_path / "none.cf", batches))
    classifier = HMMClassifier(n_states=1, max_iter=1).fit([[[0.0]], [[1.0]]] * 3, ["a", "b"] * 3)
    classifier.save(tmp_path / "other.cf")
    with pytest.raises(ConfigError, match=r"other\.cf labels whole sequences, not texts"):
        list(tag_arrow(tmp_path / "other.cf", batches))


def test_a_file_is_loaded_once(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chainfield.text.tagging import arrow as module

    loaded: list[Any] = []
    real = module.load
    monkeypatch.setattr(module, "load", lambda file, n_jobs: loaded.append((file, n_jobs)) or real(file, n_jobs))
    own = tmp_path / "own.cf"
    own.write_bytes(path.read_bytes())
    list(tag_arrow(own, table().to_batches(max_chunksize=1)))
    tag_array(str(own), table()["text"])
    assert loaded == [(own, 1)]
    TextTagger(model=LinearCRF(max_iter=1)).fit(*corpus(5)).save(own)  # another model in its place
    tag_array(own, table()["text"])
    assert loaded == [(own, 1)] * 2


def test_duckdb(path: Path, expected: list[Any]) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("documents", table())
    function = partial(tag_array, path)
    connection.create_function(
        "find_spans", lambda texts: function(texts), ["VARCHAR"], f"STRUCT({STRUCT})[]", type="arrow"
    )
    rows = connection.sql("select find_spans(text) from documents order by id").fetchall()
    assert [row for (row,) in rows] == expected
    reader = connection.sql("select * from documents order by id")
    if not hasattr(reader, "to_arrow_reader"):
        pytest.skip("this DuckDB has another name for readers")
    reader = reader.to_arrow_reader(2)
    schema = reader.schema.append(arrow.field("spans", span_type()))
    other = duckdb.connect()
    other.register("tagged", arrow.RecordBatchReader.from_batches(schema, tag_arrow(path, reader)))
    assert [row for (row,) in other.execute("select spans from tagged order by id").fetchall()] == expected


def test_polars(path: Path, expected: list[Any]) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(table().to_pydict())
    kind = polars.from_arrow(arrow.array([], span_type())).dtype
    by_column = polars.col("text").map_batches(
        lambda texts: polars.from_arrow(tag_array(path, texts.to_arrow())), return_dtype=kind
    )
    assert frame.lazy().select(by_column).collect()["text"].to_list() == expected

    def tagged(some: Any) -> Any:
        return polars.from_arrow(arrow.Table.from_batches(tag_arrow(path, some.to_arrow().to_batches())))

    lazy = frame.lazy().map_batches(tagged, schema={**frame.schema, "spans": kind})
    assert lazy.collect()["spans"].to_list() == expected


@pytest.fixture
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark's own
        builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
        yield session
        session.stop()


def test_spark(spark: Any, path: Path, expected: list[Any]) -> None:
    members = "start: long, end: long, label: string, text: string, probability: double"
    documents = spark.createDataFrame(list(enumerate(TEXTS)), "id long, text string")
    tagged = documents.mapInArrow(partial(tag_arrow, path), f"id long, text string, spans array<struct<{members}>>")
    rows = {row.id: row.spans for row in tagged.collect()}
    found = [rows[i] for i in range(len(TEXTS))]
    assert [None if own is None else [span.asDict() for span in own] for own in found] == expected


def test_ray(path: Path, expected: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")

    def tag_table(some: Any) -> Any:
        return arrow.Table.from_batches(list(tag_arrow(path, some.to_batches())))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
        try:
            data = ray.data.from_arrow(table()).map_batches(tag_table, batch_format="pyarrow")
            rows = {row["id"]: row["spans"] for row in data.take_all()}
        finally:
            ray.shutdown()
    assert [rows[i] for i in range(len(TEXTS))] == expected
