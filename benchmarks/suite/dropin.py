"""usaddress on python-crfsuite and on chainfield: one address at a time, and many."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from .measure import Measurements, Options, alternate, timed

REPEATS = 5
ROUNDS = 20  # over the test addresses, for a timing that is long enough
MANY, SOME = 1_000_000, 40_000  # addresses, for chainfield and for python-crfsuite


def run(options: Options) -> Measurements:
    """Contestants take turns; answers are compared before anything is timed."""
    if find_spec("usaddress") is None:
        raise click.ClickException("usaddress is not installed: pip install usaddress.")
    import pycrfsuite
    import usaddress

    from chainfield.compat import pycrfsuite as compat
    from chainfield.compat import usaddress as ours

    test, train = addresses("test_labeled.xml"), addresses("train_labeled.xml")
    theirs, tagger = pycrfsuite.Tagger(), compat.Tagger()
    theirs.open(usaddress.MODEL_PATH)
    tagger.open(usaddress.MODEL_PATH)
    many = varied(test + train, options.sample or MANY)
    some = many[: options.sample or SOME]
    compare(usaddress, theirs, tagger, ours, [*test, *train, *some[:20_000]])

    result = Measurements("dropin", notes=[])
    contestants = {
        "crfsuite": lambda: tag_all(usaddress, theirs, test),
        "chainfield_tagger": lambda: tag_all(usaddress, tagger, test),
        "chainfield_fresh": lambda: _fresh(ours, test),
        "chainfield": lambda: tag_all(ours, None, test),
    }
    for function in contestants.values():
        function()
    repeats = options.repeats or REPEATS
    result.samples = {
        name: [seconds / (ROUNDS * len(test)) for seconds in found]
        for name, found in alternate({k: _rounds(f) for k, f in contestants.items()}, repeats).items()
    }
    for _ in range(repeats):
        watch = Stopwatch(theirs)
        seconds, _ = timed(_rounds(lambda watch=watch: tag_all(usaddress, watch, test)))  # type: ignore[misc]
        result.add("no_tagger", (seconds - watch.seconds) / (ROUNDS * len(test)))
    for who, words in (("crfsuite", "crfsuite"), ("chainfield", "chainfield"), ("chainfield_tagger", "tagger_alone")):
        result.figures[f"usaddress_per_second_{words}"] = 1.0 / (result.middle(who) or 0.0)
    result.speedup("usaddress_speedup_crfsuite", "crfsuite", "chainfield")
    result.speedup("usaddress_fresh_speedup_crfsuite", "crfsuite", "chainfield_fresh")
    result.speedup("usaddress_tagger_alone_speedup_crfsuite", "crfsuite", "chainfield_tagger")
    result.speedup("usaddress_no_tagger_speedup_crfsuite", "crfsuite", "no_tagger")
    result.add("crfsuite_many", timed(lambda: tag_all(usaddress, theirs, some))[0] / len(some))
    result.add("chainfield_many", timed(lambda: _drain(ours.tag_many(many)))[0] / len(many))
    result.speedup("usaddress_many_speedup_crfsuite", "crfsuite_many", "chainfield_many")
    result.figures["usaddress_many_per_second"] = 1.0 / (result.middle("chainfield_many") or 0.0)
    result.notes += [
        f"usaddress.tag of the {len(test)} addresses of usaddress's test data, one at a time, on one thread. crfsuite: "
        "usaddress as it is. chainfield: chainfield.compat.usaddress, which describes every distinct token once; "
        "fresh: it has forgotten all tokens before every pass over the test data. tagger_alone: usaddress as it is "
        "with chainfield's Tagger under it. no_tagger: without the time inside of the tagger; no tagger is faster.",
        f"many: tag_many of {len(many):,} addresses on all threads, against one after the other by usaddress as it is "
        f"(the first {len(some):,} of them): test and training addresses, every digit drawn anew. Answers are equal.",
    ]
    return result


class Stopwatch:
    """A tagger that knows how long it has taken."""

    def __init__(self, tagger: Any) -> None:
        self.tagger = tagger
        self.seconds = 0.0

    def tag(self, features: list[Any]) -> Any:
        """Labels."""
        started = time.perf_counter()
        labels = self.tagger.tag(features)
        self.seconds += time.perf_counter() - started
        return labels


def addresses(name: str) -> list[str]:
    """The addresses of one of usaddress's labelled files."""
    path = Path(os.environ.get("CHAINFIELD_DATA", "")) / "usaddress" / name
    if not path.is_file():
        raise click.ClickException(
            f"usaddress/{name} is missing in CHAINFIELD_DATA: it is a file of usaddress's repository (training/"
            "labeled.xml, measure_performance/test_data/labeled.xml, with train_ and test_ before their names)."
        )
    lines = re.findall(r"<AddressString>(.*?)</AddressString>", path.read_text(encoding="utf-8"), re.DOTALL)
    return [re.sub(r"<[^>]*>", "", line).replace("&amp;", "&") for line in lines]


def varied(known: list[str], n: int) -> list[str]:
    """n addresses: known ones in any order, with other digits."""
    rng = random.Random(0)
    return [re.sub(r"\d", lambda _: rng.choice("0123456789"), rng.choice(known)) for _ in range(n)]


def answer(module: Any, address: str) -> Any:
    """What ``tag`` says; the text of its error where it raises one."""
    try:
        return module.tag(address)
    except module.RepeatedLabelError as error:
        return str(error)


def tag_all(module: Any, tagger: Any, strings: Iterable[str]) -> None:
    """One after the other."""
    if tagger is not None:
        module.TAGGER = tagger
    for address in strings:
        answer(module, address)


def compare(usaddress: Any, theirs: Any, tagger: Any, ours: Any, strings: list[str]) -> None:
    """Stop if any answer differs."""
    usaddress.TAGGER = theirs
    expected = [answer(usaddress, address) for address in strings]
    usaddress.TAGGER = tagger
    many = [str(found) if isinstance(found, Exception) else found for found in ours.tag_many(strings)]
    for found in ([answer(usaddress, a) for a in strings], [answer(ours, a) for a in strings], many):
        if found != expected:
            raise click.ClickException("Answers differ.")


def _fresh(ours: Any, strings: list[str]) -> None:
    from chainfield.compat.usaddress.parsing import road

    tokens = road().tokens
    if tokens is not None:
        tokens.clear()
    tag_all(ours, None, strings)


def _rounds(function: Callable[[], None]) -> Callable[[], None]:
    def several() -> None:
        for _ in range(ROUNDS):
            function()

    return several


def _drain(answers: Iterable[Any]) -> None:
    for _ in answers:
        pass
