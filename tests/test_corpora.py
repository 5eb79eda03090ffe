"""Corpora in pieces: features and models as from memory, the same bits however they are read, and bad files."""

from __future__ import annotations

import gc
import gzip
import io
import shutil
import weakref
from functools import partial
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from chainfield import (
    MEMM,
    ComposedClassifier,
    HiddenCRF,
    HiddenUnitCRF,
    HMMClassifier,
    LatentCRF,
    LinearCRF,
    load,
    load_corpus,
)
from chainfield.arrays import Ragged
from chainfield.commands.main import group
from chainfield.corpora import SourceCorpus, encode_corpus, open_corpus, plan_columns, plan_sources
from chainfield.corpora.profile import BORDER, Profile
from chainfield.corpora.source import ColumnSource, ListSource
from chainfield.corpora.survey import join_surveys, settle, survey_source
from chainfield.errors import ConfigError, DataError, ModelFileError
from chainfield.features import parse_template
from chainfield.models.inputs import choose_map
from chainfield.problem import HeldPieces
from chainfield.problem.pieces import folded

TEMPLATE = "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nU2:%x[0,0]%x[1,0]\nB0:%x[0,0]\nB\n"


def sentences(n: int = 120) -> tuple[list, list]:
    corpus = load_corpus(files("chainfield.data") / "demo" / "snips.train.conll.xz")
    return [list(map(tuple, rows)) for rows in corpus.rows[:n]], [list(labels) for labels in corpus.labels[:n]]


def written(path: Path, X: list, y: list) -> Path:
    text = [
        "".join("\t".join((*row, label)) + "\n" for row, label in zip(*both, strict=True))
        for both in zip(X, y, strict=True)
    ]
    path.write_text("\n".join(text), encoding="utf-8")
    return path


@pytest.fixture
def column_file(tmp_path: Path) -> Path:
    return written(tmp_path / "data.txt", *sentences())


def list_sources(X: list, y: list, cuts: list[int]) -> list[ListSource]:
    bounds = zip([0, *cuts], [*cuts, len(X)], strict=True)
    return [ListSource(X[a:b], y[a:b], f"piece {i}", i) for i, (a, b) in enumerate(bounds)]


def choose(template: str | None = TEMPLATE):
    return partial(choose_map, template=None if template is None else parse_template(template))


# ---- the dictionary ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("min_count", [1, 3])
@pytest.mark.parametrize("kind", ["columns", "dicts"])
def test_merged_features_are_those_of_the_whole(min_count: int, kind: str) -> None:
    X, y = sentences()
    X = X if kind == "columns" else [[{"w": row[0], "p": row[0][:2], "n": 1.5} for row in rows] for rows in X]
    chosen = choose(TEMPLATE if kind == "columns" else None)
    whole = chosen(X)
    batch = whole.learn(X, min_count)
    surveys = [survey_source(source, chosen) for source in list_sources(X, y, [7, 8, 50, 90, 111])]
    survey = folded(iter(surveys), len(surveys), join_surveys)
    merged = settle(survey, min_count)
    assert list(merged.feature_names()) == list(whole.feature_names())
    assert list(merged.edge_feature_names()) == list(whole.edge_feature_names())
    ours = merged.encode(X)
    np.testing.assert_array_equal(ours.sparse.indices, batch.sparse.indices)
    if kind == "columns":
        np.testing.assert_array_equal(ours.edges.indices, batch.edges.indices)
        assert ours.edges.n_features == batch.edges.n_features > 0
    assert survey.profile.n_positions == batch.n_positions


def test_keys_may_be_fewer_than_the_marks_of_unknown_ones() -> None:
    X = [[("b",)], [("a/b",), ("a",), ("b/a",)]]
    whole = choose()(X)
    batch = whole.learn(X, 2)
    assert 0 < whole.n_features < 4
    np.testing.assert_array_equal(whole.encode(X).sparse.indices, batch.sparse.indices)


cells = st.sampled_from(["a", "b", "a/b", "/", "b/a", "ab", ""])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(cells, min_size=1, max_size=4), min_size=2, max_size=8), st.data())
def test_features_whose_strings_are_equal_stay_one(words: list[list[str]], data: st.DataObject) -> None:
    """Texts with separators inside: two keys may write one string, in two pieces."""
    X, y = [[(w,) for w in s] for s in words], [["x"] * len(s) for s in words]
    cut = data.draw(st.integers(1, len(X) - 1))
    whole = choose()(X)
    batch = whole.learn(X, 2)
    surveys = [survey_source(source, choose()) for source in list_sources(X, y, [cut])]
    merged = settle(folded(iter(surveys), len(surveys), join_surveys), 2)
    assert list(merged.feature_names()) == list(whole.feature_names())
    np.testing.assert_array_equal(merged.encode(X).sparse.indices, batch.sparse.indices)


# ---- models ------------------------------------------------------------------------------------------------------


MODELS = {
    "linear": lambda: LinearCRF(template=TEMPLATE, max_iter=8, trainer="lbfgs"),
    "order 2": lambda: LinearCRF(template=TEMPLATE, order=2, max_iter=2, trainer="lbfgs"),
    "all features": lambda: LinearCRF(template=TEMPLATE, all_features=True, max_iter=4, trainer="lbfgs"),
    "l1": lambda: LinearCRF(template=TEMPLATE, l1=0.1, max_iter=6, trainer="owlqn"),
    "balanced": lambda: LinearCRF(template=TEMPLATE, class_weight="balanced", max_iter=6, trainer="lbfgs"),
    "margin": lambda: LinearCRF(template=TEMPLATE, objective="softmax_margin", max_iter=6, trainer="rprop"),
    "piecewise": lambda: LinearCRF(template=TEMPLATE, objective="piecewise", max_iter=6, trainer="lbfgs"),
    "memm": lambda: MEMM(template=TEMPLATE, max_iter=6, trainer="lbfgs"),
    "latent": lambda: LatentCRF(template=TEMPLATE, n_states=2, n_init=1, max_iter=4, trainer="lbfgs"),
    "units": lambda: HiddenUnitCRF(
        template=TEMPLATE, hidden_units=5, objective="likelihood", trainer="lbfgs", max_iter=4, dtype="float64"
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_from_pieces_is_that_from_memory(name: str) -> None:
    X, y = sentences(80)
    pieces = HeldPieces(list_sources(X, y, [10, 11, 40, 61, 70]))
    ours, whole = MODELS[name]().fit(SourceCorpus(pieces)), MODELS[name]().fit(X, y)
    assert ours.fitted_.chain.shapes == whole.fitted_.chain.shapes
    assert list(ours.feature_names_) == list(whole.feature_names_)
    assert ours.history_[0]["objective"] == pytest.approx(whole.history_[0]["objective"], rel=1e-9)
    np.testing.assert_allclose(ours.fitted_.theta, whole.fitted_.theta, rtol=1e-3, atol=1e-3)
    assert ours.scheme_ == whole.scheme_


@pytest.mark.parametrize("objective", ["likelihood", "piecewise"])
def test_unknown_labels_and_sets(objective: str) -> None:
    X, y = sentences(60)
    y[3][0], y[4][1], y[50][0] = None, {y[4][1], "O"}, None
    corpus = SourceCorpus(HeldPieces(list_sources(X, y, [4, 30])))
    ours = LinearCRF(max_iter=5, objective=objective).fit(corpus)
    whole = LinearCRF(max_iter=5, objective=objective, trainer="lbfgs").fit(X, y)
    assert ours.history_[0]["objective"] == pytest.approx(whole.history_[0]["objective"], rel=1e-9)


def test_pieces_that_are_not_kept_leave_memory(column_file: Path, tmp_path: Path) -> None:
    from chainfield.problem import Problem

    made: list[weakref.ref[Problem]] = []
    before = Problem.add
    encode_corpus(plan_columns(column_file, piece_bytes=2000), tmp_path / "encoded", choose())

    def add(self: Problem, *given: object, **more: object) -> float:
        made.append(weakref.ref(self))
        return before(self, *given, **more)

    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Problem, "add", add)
            LinearCRF(max_iter=2, trainer="rprop").fit(open_corpus(tmp_path / "encoded", memory=0, n_jobs=1))
        assert made
        assert not [problem for problem in made if problem() is not None]
    finally:
        gc.enable()


def test_folders_change_no_bit(column_file: Path, tmp_path: Path) -> None:
    sources = plan_columns(column_file, piece_bytes=700)
    assert len(sources) > 8
    folder = tmp_path / "encoded"
    corpus = encode_corpus(sources, folder, choose(), n_jobs=2)
    assert "sequences" in repr(corpus)
    fits = [open_corpus(folder, n_jobs=jobs, memory=memory) for jobs, memory in ((1, 0), (2, 10**6), (2, 10**9))]
    models = [LinearCRF(template=TEMPLATE, max_iter=3).fit(fit) for fit in [*fits, SourceCorpus(HeldPieces(sources))]]
    assert len({model.fitted_.theta.tobytes() for model in models}) == 1


STEPPING = {
    "perceptron": lambda **more: LinearCRF(objective="perceptron", strands=3, **more),
    "arow": lambda **more: LinearCRF(objective="large_margin", trainer="arow", strands=2, **more),
    "latent": lambda **more: LatentCRF(n_states=2, n_init=1, trainer="sgd", restart_every=2, **more),
    "units": lambda **more: HiddenUnitCRF(hidden_units=4, average_from=1, **more),
}


@pytest.mark.parametrize("name", STEPPING)
def test_steps_on_single_sequences(name: str, column_file: Path, tmp_path: Path) -> None:
    """From files and from a folder, on one thread and on two: the same bits; and a checkpoint goes on with them."""
    folder, mark, model = tmp_path / "encoded", tmp_path / "checkpoint", STEPPING[name]
    sources = plan_columns(column_file, piece_bytes=1500)
    encode_corpus(sources, folder, choose(None))
    found = model(max_iter=4).fit(SourceCorpus(HeldPieces(sources, 2)))
    model(max_iter=2).fit(open_corpus(folder, n_jobs=1), checkpoint=mark)
    resumed = model(max_iter=4).fit(open_corpus(folder, memory=0), checkpoint=mark, resume=True)
    assert resumed.fitted_.theta.tobytes() == found.fitted_.theta.tobytes()
    X, y = sentences()
    assert found.score(X, y) > 0.6


def test_checkpoints_resume_to_the_last_bit(column_file: Path, tmp_path: Path) -> None:
    folder, mark = tmp_path / "encoded", tmp_path / "checkpoint"
    corpus = encode_corpus(plan_columns(column_file, piece_bytes=2000), folder, choose())
    whole = LinearCRF(max_iter=8).fit(corpus)
    LinearCRF(max_iter=4).fit(corpus, checkpoint=mark)
    resumed = LinearCRF(max_iter=8).fit(open_corpus(folder), checkpoint=mark, resume=True)
    assert resumed.fitted_.theta.tobytes() == whole.fitted_.theta.tobytes()


# ---- plans -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece_bytes", [1, 50, 333, 4000, 10**6])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_every_sentence_is_in_one_piece(tmp_path: Path, piece_bytes: int, end: str) -> None:
    X, y = sentences(40)
    path = written(tmp_path / "data.txt", X, y)
    path.write_text("# a comment\n" + path.read_text().replace("\n\n", "\n\n\n", 3) + end)
    found = [source.read() for source in plan_columns(path, piece_bytes=piece_bytes)]
    assert [row for part in found for row in part.sequences] == X
    assert [part.kinds[c] for part in found for c in part.codes.tolist()] == [label for labels in y for label in labels]


def test_several_files_and_compressed_ones(tmp_path: Path) -> None:
    X, y = sentences(40)
    written(tmp_path / "b.txt", X[10:], y[10:])
    written(tmp_path / "a.txt", X[:10], y[:10])
    found = plan_columns(tmp_path / "*.txt")
    assert [(Path(source.path).name, source.number) for source in found] == [("a.txt", 0), ("b.txt", 1)]
    packed = files("chainfield.data") / "demo" / "snips.train.conll.xz"
    assert [source.stop for source in plan_columns(str(packed), piece_bytes=100)] == [None]


# ---- profiles ----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["B-x", "I-x", "O", None]), min_size=1, max_size=5), min_size=1, max_size=6))
def test_witnesses_have_the_steps_of_the_corpus(labels: list[list[str | None]]) -> None:
    def steps(sequences: list[list[str | None]]) -> set:
        return {step for s in sequences for step in zip([BORDER, *s], [*s, BORDER], strict=True)}

    found = ListSource([[("w",)] * len(s) for s in labels], labels).read()
    profile = Profile.of(Ragged.of([len(s) for s in labels]), found.kinds, found.codes)
    assert profile.steps == steps(labels)
    assert profile.complete == steps([s for s in labels if None not in s])
    witnesses = profile.witnesses()
    assert steps(witnesses) == profile.steps
    assert steps([s for s in witnesses if None not in s]) >= profile.complete


# ---- bad input ---------------------------------------------------------------------------------------------------


def test_pieces_that_do_not_belong_together(tmp_path: Path) -> None:
    X, y = sentences(10)
    written(tmp_path / "1.txt", X, y)
    written(tmp_path / "2.txt", [[(*row, "more") for row in rows] for rows in X], y)
    with pytest.raises(DataError, match=r"1\.txt and .*2\.txt do not belong together: Rows of 1 and of 2 columns"):
        LinearCRF().fit(SourceCorpus(HeldPieces(plan_columns(tmp_path / "*.txt"))))


def test_labels_of_one_piece_count_for_all(tmp_path: Path) -> None:
    X, y = sentences(20)
    y[-1] = ["only-here"] * len(y[-1])
    model = LinearCRF(max_iter=2).fit(SourceCorpus(HeldPieces(list_sources(X, y, [5, 19]))))
    assert "only-here" in model.classes_


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is no sentence"),
        (b"\n\n\n", "there is no sentence"),
        (b"one\ntwo\n", "there is only one column"),
        (b"a\tX\nb\n", "line 2"),
        (b"\xff\xfe\tX\n", "utf-8"),
    ],
)
def test_unreadable_pieces_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        encode_corpus(plan_columns(tmp_path / "bad.txt"), tmp_path / "encoded", choose(None))
    assert "bad.txt" in str(error.value)
    assert not (tmp_path / "encoded").exists()


def test_no_file_fits(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No file fits"):
        plan_columns(tmp_path / "*.txt")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        plan_columns(tmp_path / "a.txt")
    with pytest.raises(DataError, match="at least one"):
        plan_columns([])


def test_a_corpus_takes_no_labels_beside_it() -> None:
    X, y = sentences(5)
    corpus = SourceCorpus(HeldPieces(list_sources(X, y, [2])))
    with pytest.raises(ConfigError, match="its labels already"):
        LinearCRF().fit(corpus, y)
    with pytest.raises(ConfigError, match="sequences in memory"):
        LinearCRF(max_iter=1).fit(X, y).partial_fit(corpus, None)
    with pytest.raises(ConfigError, match="all data in memory"):
        HiddenUnitCRF(hidden_units=3, pretraining="frames", trainer="lbfgs", objective="likelihood").fit(corpus)


def test_damaged_folders(column_file: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    encode_corpus(plan_columns(column_file, piece_bytes=2000), whole, choose())

    def broken(name: str) -> Path:
        shutil.copytree(whole, tmp_path / name)
        return tmp_path / name

    folder = broken("unfinished")
    (folder / "corpus.cf").unlink()
    with pytest.raises(ModelFileError, match="not a finished one"):
        open_corpus(folder)
    folder = broken("cut")
    (folder / "part-00001.cf").write_bytes((folder / "part-00001.cf").read_bytes()[:-100])
    with pytest.raises(ModelFileError, match=r"part-00001\.cf"):
        LinearCRF().fit(open_corpus(folder))
    folder = broken("swapped")
    shutil.copy(folder / "part-00000.cf", folder / "part-00001.cf")
    with pytest.raises(ModelFileError, match="not the file that was written"):
        LinearCRF().fit(open_corpus(folder))
    folder = broken("missing")
    (folder / "part-00002.cf").unlink()
    with pytest.raises(ModelFileError, match=r"lacks the piece 'part-00002\.cf'\. Encode the corpus again"):
        LinearCRF().fit(open_corpus(folder))
    with pytest.raises(ModelFileError, match="no folder"):
        open_corpus(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="not empty"):
        encode_corpus(plan_columns(column_file), whole, choose())


def test_numbers_that_lead_nowhere_are_refused(column_file: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from chainfield.corpora.part_file import check_part

    part = encode_corpus(plan_columns(column_file), tmp_path / "encoded", choose()).part(0)
    check_part(part)
    sparse = part.batch.sparse
    high, low = sparse.indices.copy(), sparse.indices.copy()
    high[5], low[5] = sparse.n_features, -2
    offsets = part.batch.offsets.copy()
    offsets[1] = 10**9
    wrong = [
        replace(part, codes=part.codes[:-1]),
        replace(part, codes=part.codes + len(part.kinds)),
        replace(part, batch=replace(part.batch, offsets=offsets)),
        replace(part, batch=replace(part.batch, sparse=replace(sparse, indices=high))),
        replace(part, batch=replace(part.batch, sparse=replace(sparse, indices=low))),
        replace(part, batch=replace(part.batch, sparse=replace(sparse, indptr=sparse.indptr[:-1]))),
        replace(part, batch=replace(part.batch, dense=np.zeros((3, 2)))),
    ]
    for bad in wrong:
        with pytest.raises(ValueError, match=r"fit|known|overlap"):
            check_part(bad)


def test_settings_of_the_encoding_stay(column_file: Path, tmp_path: Path) -> None:
    corpus = encode_corpus(plan_columns(column_file), tmp_path / "encoded", choose(), min_count=2)
    with pytest.raises(ConfigError, match="encoded with 2"):
        LinearCRF(min_count=5).fit(corpus)
    with pytest.raises(ConfigError, match="another template"):
        LinearCRF(template="U0:%x[0,0]\n").fit(corpus)


def test_commands(column_file: Path, tmp_path: Path) -> None:
    def run(*words: object) -> str:
        return CliRunner().invoke(group, list(map(str, words)), catch_exceptions=False).output

    folder, output = tmp_path / "encoded", tmp_path / "model.cf"
    assert "pieces" in run("encode", column_file, folder, "--min-count", 2, "--piece-bytes", 2000)
    assert "objective" in run("train", folder, output, "--max-iter", 3, "--dev", column_file, "--memory", 0.1)
    model = load(output)
    assert model.min_count == 2
    X, _ = sentences(3)
    assert [len(labels) for labels in model.predict(X)] == [len(x) for x in X]
    with pytest.raises(ConfigError, match="--memory is for folders"):
        run("train", column_file, output, "--memory", 1)
    with pytest.raises(ConfigError, match="piece-bytes"):
        run("encode", column_file, tmp_path / "other", "--piece-bytes", 0)


def test_sources_name_their_bytes(column_file: Path) -> None:
    assert ColumnSource(str(column_file), 10, 20).name.endswith("data.txt (bytes 10 to 20)")
    with pytest.raises(DataError, match="shorter"):
        ColumnSource(str(column_file), 0, 10**9).read()


# ---- whole sequences ---------------------------------------------------------------------------------------------


def arrays(n: int = 60) -> tuple[list, list]:
    rng = np.random.default_rng(5)
    labels = ["abc"[i % 3] for i in range(n)]
    lengths = rng.integers(4, 9, n)
    X = [rng.normal(size=(k, 3)) + "abc".index(c) for k, c in zip(lengths, labels, strict=True)]
    return X, labels


CLASSIFIERS = {
    "em": lambda: HMMClassifier(n_states=2, max_iter=6),
    "em, split": lambda: HMMClassifier(n_states=2, n_components=2, init="split", max_iter=4),
    "ebw": lambda: HMMClassifier(n_states=2, trainer="ebw", max_iter=3),
    "gradient": lambda: HMMClassifier(n_states=2, trainer="lbfgs", max_iter=3, class_weight="balanced"),
    "hidden": lambda: HiddenCRF(n_states=2, kappa=0.1, trainer="lbfgs", max_iter=3),  # "auto" needs data in memory
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_hmms_from_pieces_are_those_from_memory(name: str) -> None:
    X, y = arrays()
    corpus = SourceCorpus(HeldPieces(list_sources(X, y, [10, 11, 30, 47])))
    ours, whole = CLASSIFIERS[name]().fit(corpus), CLASSIFIERS[name]().fit(X, y)
    assert ours.history_[-1]["objective"] == pytest.approx(whole.history_[-1]["objective"], rel=1e-7)
    np.testing.assert_allclose(ours.fitted_.theta, whole.fitted_.theta, rtol=1e-5, atol=1e-6)


def test_an_hmm_starts_from_a_part_of_each_class(monkeypatch: pytest.MonkeyPatch) -> None:
    from chainfield.models.hmm import starting

    monkeypatch.setattr(starting, "SAMPLE", 10)
    monkeypatch.setattr(starting, "LEAST", 10)
    X, y = arrays()
    corpus = SourceCorpus(HeldPieces(list_sources(X, y, [10, 30])))
    ours, whole = HMMClassifier(max_iter=60, tol=1e-9).fit(corpus), HMMClassifier(max_iter=60, tol=1e-9).fit(X, y)
    assert ours.history_[-1]["objective"] == pytest.approx(whole.history_[-1]["objective"], rel=0.02)
    assert ours.history_[0]["objective"] != pytest.approx(whole.history_[0]["objective"], rel=1e-6)


def test_arrays_are_encoded_and_trained_by_commands(tmp_path: Path) -> None:
    def run(*words: object) -> str:
        return CliRunner().invoke(group, list(map(str, words)), catch_exceptions=False).output

    X, y = arrays()
    for i, (lo, hi) in enumerate([(0, 20), (20, 60)]):
        lengths = [len(x) for x in X[lo:hi]]
        np.savez(tmp_path / f"{i}.npz", X=np.concatenate(X[lo:hi]), lengths=lengths, y=y[lo:hi])
    folder, model = tmp_path / "encoded", tmp_path / "model.cf"
    run("encode", tmp_path / "*.npz", folder)
    told = run("train", folder, model, "--model", "hmm", "--max-iter", 4, "--dev", tmp_path / "0.npz")
    assert "60 sequences" in told
    pieces = SourceCorpus(HeldPieces(plan_sources(tmp_path / "*.npz")))
    local = HMMClassifier(max_iter=4).fit(pieces, X_dev=X[:20], y_dev=y[:20])
    assert load(model).fitted_.theta.tobytes() == local.fitted_.theta.tobytes()
    (tmp_path / "words.txt").write_text("a\tX\n")
    with pytest.raises(DataError, match="files of one kind"):
        plan_sources([tmp_path / "*.npz", tmp_path / "words.txt"])
    np.savez(tmp_path / "bare.npz", X=X[0], lengths=[len(X[0])])
    with pytest.raises(DataError, match=r"bare\.npz: there are no labels"):
        HMMClassifier().fit(SourceCorpus(HeldPieces(plan_sources(tmp_path / "bare.npz"))))


def test_an_encoded_corpus_is_not_scaled_afterwards(tmp_path: Path) -> None:
    X, y = arrays()
    np.savez(tmp_path / "0.npz", X=np.concatenate(X), lengths=[len(x) for x in X], y=y)
    pieces = SourceCorpus(HeldPieces(plan_sources(tmp_path / "0.npz")))
    assert ComposedClassifier(scaling="standardised", max_iter=2).fit(pieces).scale_ is not None
    encode_corpus(plan_sources(tmp_path / "0.npz"), tmp_path / "encoded", choose(None))
    with pytest.raises(ConfigError, match="scaling='standardised' belongs to the encoding of a corpus"):
        ComposedClassifier(scaling="standardised").fit(open_corpus(tmp_path / "encoded"))


def test_sequences_with_several_labels_have_no_class() -> None:
    X, y = sentences(10)
    with pytest.raises(DataError, match="gives a whole sequence one label"):
        HiddenCRF().fit(SourceCorpus(HeldPieces(list_sources(X, y, [5]))))
    X, y = arrays(12)
    X[7] = X[7][:1]
    with pytest.raises(DataError, match="begins with sequence 6 of the corpus: Sequence 1 has 1 positions"):
        HMMClassifier(n_states=3).fit(SourceCorpus(HeldPieces(list_sources(X, y, [6]))))


# ---- tables ------------------------------------------------------------------------------------------------------


def parquet(path: Path, X: list, y: list | None, **columns: list) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = {"tokens": [[row[0] for row in x] for x in X], **({} if y is None else {"ner_tags": y}), **columns}
    pq.write_table(pa.table(found), path, row_group_size=17)
    return path


def test_parquet_is_like_column_files(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra frames")
    X, y = sentences(60)
    parquet(tmp_path / "a.parquet", X[:20], y[:20])
    parquet(tmp_path / "b.parquet", X[20:], y[20:])
    sources = plan_sources(tmp_path / "*.parquet")
    read = [source.read() for source in sources]
    assert [row for part in read for row in part.sequences] == X
    assert len(sources) == 5  # row groups
    ours = LinearCRF(max_iter=3).fit(SourceCorpus(HeldPieces(sources)))
    whole = LinearCRF(max_iter=3, trainer="lbfgs").fit(X, y)
    np.testing.assert_allclose(ours.fitted_.theta, whole.fitted_.theta, rtol=1e-4, atol=1e-5)


def test_large_row_groups_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra frames")
    from chainfield.corpora import parquet as module

    monkeypatch.setattr(module, "SMALLEST", 40)
    monkeypatch.setattr(module, "LARGEST", 40)
    monkeypatch.setattr(module, "BATCH", 3)
    X, y = sentences(60)
    sources = plan_sources(parquet(tmp_path / "a.parquet", X, y))
    assert len(sources) > 10
    assert [row for source in sources for row in source.read().sequences] == X


def test_one_position_per_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra frames")
    import pyarrow.parquet as pq

    X, y = sentences(10)
    flat = [
        (s, row[0], label)
        for s, (x, own) in enumerate(zip(X, y, strict=True))
        for row, label in zip(x, own, strict=True)
    ]
    table = pa.table(dict(zip(("id", "word", "slot"), map(list, zip(*flat, strict=True)), strict=True)))
    pq.write_table(table, tmp_path / "a.parquet")
    (source,) = plan_sources(tmp_path / "a.parquet", words="word", label="slot", sequence="id")
    assert source.read().sequences == X


def test_numbers_of_labels_have_the_names_of_the_file(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra frames")
    import json

    import pyarrow.parquet as pq

    about = {"info": {"features": {"ner_tags": {"feature": {"names": ["O", "B-x"], "_type": "ClassLabel"}}}}}
    table = pa.table({"tokens": [["a", "b"]], "ner_tags": [[0, 1]]}).replace_schema_metadata(
        {"huggingface": json.dumps(about)}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    assert plan_sources(tmp_path / "a.parquet")[0].read().kinds == ("O", "B-x")


def test_bad_tables_are_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra frames")
    X, y = sentences(4)

    def refused(message: str, **options: object) -> None:
        with pytest.raises(DataError, match=message) as error:
            [source.read() for source in plan_sources(tmp_path / "x.parquet", **options)]
        assert "x.parquet" in str(error.value)

    path = parquet(tmp_path / "x.parquet", X, None)
    refused("there is no column of labels")
    parquet(path, X, [[None] * len(x) for x in X[:3]] + [["O"]])
    refused(r"rows 0 to 4\): row 3: 'tokens' has \d+ values, but 'ner_tags' has 1")
    parquet(path, X, ["B I O"] * 4)
    refused("a list with one value per position is expected")
    parquet(path, [], [])
    refused("there is no row")
    path.write_bytes(b"PAR1 but not really")
    refused("cannot be read as Parquet")
    parquet(tmp_path / "y.parquet", X, y, pos=y)
    parquet(path, X, y)
    with pytest.raises(DataError, match=r"x\.parquet: there is no column 'pos'"):
        plan_sources(tmp_path / "*.parquet", words=["tokens", "pos"])


# ---- addresses ---------------------------------------------------------------------------------------------------


def test_files_by_address(tmp_path: Path, column_file: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="needs the extra dask")
    memory = fsspec.filesystem("memory")
    memory.pipe("/corpus/a.txt", column_file.read_bytes())
    memory.pipe("/corpus/b.txt.gz", gzip.compress(column_file.read_bytes()))
    X, _ = sentences()
    found = [row for s in plan_columns("memory://corpus/*", piece_bytes=900) for row in s.read().sequences]
    assert found == X + X
    shutil.make_archive(str(tmp_path / "packed"), "zip", column_file.parent, column_file.name)
    sources = plan_columns(f"zip://*.txt::{tmp_path / 'packed.zip'}", piece_bytes=2000)
    assert [row for s in sources for row in s.read().sequences] == X
    with pytest.raises(DataError, match="No file fits the pattern memory://nowhere"):
        plan_columns("memory://nowhere/*.txt")
    with pytest.raises(FileNotFoundError, match=r"There is no file memory://corpus/c\.txt"):
        plan_columns("memory://corpus/c.txt")
    with pytest.raises(ConfigError, match=r"nothing://x.txt cannot be opened"):
        plan_columns("nothing://x.txt")
    X, y = arrays(12)
    out = io.BytesIO()
    np.savez(out, X=np.concatenate(X), lengths=[len(x) for x in X], y=y)
    memory.pipe("/corpus/a.npz", out.getvalue())
    assert plan_sources("memory://corpus/*.npz")[0].read().kinds == ("a", "b", "c")
