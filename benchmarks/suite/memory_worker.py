"""One contestant in a process of its own: ``python -m suite.memory_worker WHAT ARGUMENTS``; prints its peak memory.

The processes import no more than they need, so that a peak is the contestant's own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from .children import peak_bytes

ITERATIONS = 5  # of the peers' L-BFGS: all its memory is taken by then


def train_columns(data: str, template: str) -> None:
    """chainfield from columns, with its defaults."""
    from chainfield import LinearCRF, load_corpus

    corpus = load_corpus(data)
    LinearCRF(l2=1.0, boundary=False, template=template).fit(corpus.rows, corpus.labels)


def train_lists(data: str, template: str) -> None:
    """chainfield from ready feature strings: all of them are in memory, since ``fit`` takes a list."""
    from chainfield import LinearCRF, load_corpus, load_template

    from .tasks import feature_strings

    corpus = load_corpus(data)
    strings = feature_strings(load_template(template), corpus.rows)
    labels = corpus.labels
    del corpus
    LinearCRF(l2=1.0, boundary=False).fit(strings, labels)


def train_crfsuite(data: str, template: str) -> None:
    """python-crfsuite; strings are built and appended sentence by sentence, and forgotten."""
    from chainfield import load_corpus, load_template

    from .peers import crfsuite
    from .tasks import feature_strings

    corpus, templates = load_corpus(data), load_template(template)
    strings = (feature_strings(templates, [rows])[0] for rows in corpus.rows)
    crfsuite.train(strings, corpus.labels, c2=1.0, max_iterations=ITERATIONS)


def train_crfsuite_lists(data: str, template: str) -> None:
    """python-crfsuite from a list of all feature strings, as users of sklearn-crfsuite have it."""
    from chainfield import load_corpus, load_template

    from .peers import crfsuite
    from .tasks import feature_strings

    corpus = load_corpus(data)
    strings = feature_strings(load_template(template), corpus.rows)
    labels = corpus.labels
    del corpus
    crfsuite.train(strings, labels, c2=1.0, max_iterations=ITERATIONS)


def train_wapiti(data: str, template: str) -> None:
    """Wapiti, which reads the file itself."""
    import tempfile

    from .peers import wapiti

    with tempfile.TemporaryDirectory() as folder:
        settings = wapiti.settings(l2=1.0, iterations=ITERATIONS)
        wapiti.call_main(["train", *settings, "-p", template, data, f"{folder}/model"])


def tag_columns(model: str, data: str, template: str) -> None:
    """``chainfield tag``, from a file."""
    from chainfield.commands.main import group

    group.main(["tag", model, data, "-o", "/dev/null"], standalone_mode=False)


def tag_crfsuite(model: str, data: str, template: str) -> None:
    """python-crfsuite, sentence by sentence."""
    from chainfield import load_template, read_columns

    from .peers import crfsuite
    from .tasks import feature_strings

    templates = load_template(template)
    tagger = crfsuite.open_model(model)
    for sentence in read_columns(data):
        tagger.tag(feature_strings(templates, [sentence.rows])[0])


def tag_wapiti(model: str, data: str, template: str) -> None:
    """``wapiti label``."""
    from .peers import wapiti

    wapiti.call_main(["label", "-m", model, data, "/dev/null"])


WORKERS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        train_columns,
        train_lists,
        train_crfsuite,
        train_crfsuite_lists,
        train_wapiti,
        tag_columns,
        tag_crfsuite,
        tag_wapiti,
    )
}

if __name__ == "__main__":
    started = time.perf_counter()
    WORKERS[sys.argv[1]](*sys.argv[2:])
    print(json.dumps({"peak": peak_bytes(), "seconds": time.perf_counter() - started}))
