"""Which benchmarks there are. Nothing heavy is imported before one of them runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from .measure import Measurements, Options


@dataclass(frozen=True)
class Benchmark:
    """A benchmark by name: what it does, how many minutes it takes on two cores, and where it is."""

    name: str
    about: str
    minutes: str
    module: str
    function: str = "run"

    def load(self) -> Callable[[Options], Measurements]:
        """The function that runs it."""
        name = self.module if "." in self.module else f"suite.{self.module}"
        run: Callable[[Options], Measurements] = getattr(importlib.import_module(name), self.function)
        return run


BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            "train-conll2000",
            "encoding and training, c2 = 1, against python-crfsuite, Wapiti and chaine",
            "15",
            "train_conll2000",
        ),
        Benchmark(
            "train-conll2000-weak", "training with c2 = 0.1, against python-crfsuite", "10", "train_others", "run_weak"
        ),
        Benchmark(
            "train-conll2000-l1", "training with c1 = 1, against python-crfsuite", "15", "train_others", "run_l1"
        ),
        Benchmark(
            "train-dutch-ner",
            "training on Dutch names, c2 = 1, against python-crfsuite",
            "5",
            "train_others",
            "run_dutch",
        ),
        Benchmark(
            "tag-conll2000",
            "tagging from columns, lists, dicts and standard input; loading; file sizes",
            "8",
            "tag_conll2000",
        ),
        Benchmark(
            "memory-conll2000", "peak memory of training and tagging, and bytes per token", "10", "memory_conll2000"
        ),
        Benchmark(
            "dropin", "usaddress on python-crfsuite and on chainfield: one address at a time, and many", "4", "dropin"
        ),
        Benchmark(
            "dropin-crfsuite",
            "chainfield.compat.pycrfsuite against python-crfsuite: training, tagging, loading",
            "4",
            "dropin_crfsuite",
        ),
        Benchmark("hmm-em", "EM of hidden Markov models with Gaussian mixtures, against hmmlearn", "2", "hmm_em"),
        Benchmark(
            "latent",
            "hidden states: passes against python-crfsuite and bare max-products, the perceptron against the DPLVM",
            "8",
            "latent",
        ),
        Benchmark(
            "hidden-unit",
            "hidden-unit CRFs on OCR, against plain PyTorch and bare products",
            "4",
            "hidden_unit",
        ),
        Benchmark(
            "hidden-unit-large",
            "a hidden-unit CRF of 212 million parameters on sparse input: sentences per second, peak memory",
            "1",
            "hidden_unit_large",
        ),
        Benchmark("scaling", "cost against labels, order, corpus size, sequence length and threads", "8", "scaling"),
        Benchmark(
            "empirical",
            "training by counting on the Brown corpus, against reading it, a CRF and python-crfsuite; decoding",
            "6",
            "empirical",
        ),
        Benchmark(
            "many-labels",
            "hundreds of labels: pruned training on the Brown corpus, first and second order; 2,000 made-up labels",
            "8",
            "many_labels",
        ),
        Benchmark(
            "train-few",
            "training on 1 to 1,000 sentences, where starting counts, against python-crfsuite",
            "1",
            "train_few",
        ),
        Benchmark("streams", "data in chunks, in 20 orders; documents of 10,000 tokens", "3", "streams"),
        Benchmark(
            "empirical-stream", "training by counting from a stream, up to 100 million tokens", "15", "empirical_stream"
        ),
        Benchmark(
            "cluster-bits",
            "Dask: the same model files for 1, 2 and 4 workers, and when workers are killed",
            "30",
            "cluster",
            "run_bits",
        ),
        Benchmark("cluster-speed", "Dask: seconds per iteration against threads", "6", "cluster", "run_speed"),
        Benchmark("cluster-tag", "Dask: tagging on one and two workers, and killed ones", "5", "cluster", "run_tag"),
        Benchmark("cluster-disk", "training 30 million tokens from disk: time and memory", "15", "cluster", "run_disk"),
        Benchmark(
            "torch-layer", "the torch layer against pytorch-crf and torch-struct; many states", "1", "torch_layer"
        ),
        Benchmark(
            "startup", "import, --help and the first use of a fresh process, against python-crfsuite", "3", "startup"
        ),
        Benchmark("latency", "one sentence at a time in all styles of input, against python-crfsuite", "4", "latency"),
        Benchmark(
            "serve",
            "the server under load: requests per second, restarts, reloads, against python-crfsuite and spaCy",
            "2",
            "serve",
        ),
        Benchmark(
            "load",
            "loading: seconds, peak memory, ten processes with one model, against python-crfsuite",
            "4",
            "load",
        ),
        Benchmark(
            "encode",
            "dicts and lists: tagging on one and two threads, encoding for training, against python-crfsuite",
            "5",
            "encode",
        ),
        Benchmark(
            "text",
            "raw text: tokenising, and tagging with a model of CoNLL-2003; beside spaCy and tokenizers",
            "3",
            "raw_text",
        ),
        Benchmark(
            "addresses", "US addresses as strings: accuracy and speed, beside the package usaddress", "3", "addresses"
        ),
        Benchmark(
            "confidence",
            "coverage of conformal sets over 200 splits, calibration of span probabilities",
            "2",
            "confidence",
        ),
        Benchmark(
            "round-trips", "text and spans to every format and back: random documents, real corpora", "3", "round_trips"
        ),
        Benchmark(
            "defaults",
            "defaults of all models against grids of one setting at a time, on development data of 14 corpora",
            "60",
            "defaults.regret",
        ),
        Benchmark(
            "sequences",
            "whole sequences by defaults: hidden CRFs beside HMMs, segment statistics with regression, MiniRocket",
            "5",
            "defaults.sequences",
        ),
        Benchmark(
            "penalties",
            "the penalty of likelihoods over sparse features, on small parts and on all training data of 8 corpora",
            "5",
            "defaults.penalties",
        ),
        Benchmark(
            "chunks",
            "`partial_fit` over ten chunks in 20 orders on 8 corpora, in memory and by way of files",
            "20",
            "defaults.chunks",
        ),
        Benchmark("seeds", "perceptrons with and without hidden states, over five seeds", "2", "defaults.seeds"),
        Benchmark(
            "rare-names",
            'names thinned to 1 %: `class_weight="balanced"` and `tune_for="span_f1"` beside no weights',
            "4",
            "defaults.rare_names",
        ),
    )
}
