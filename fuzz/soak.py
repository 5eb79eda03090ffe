"""A long day of a service: ``python fuzz/soak.py --predictions 10000000``.

Threads ask one model for single sentences, and now and then load it, save it, ask for probabilities, or send a request
that must fail. Every answer is compared with what it was at first; memory is written down as the run goes on.
"""

from __future__ import annotations

import argparse
import random
import resource
import threading
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

from scratch import folder

import chainfield
from chainfield.errors import ChainfieldError

OTHER = 2000  # one request in so many is something else than a prediction
BAD: list[Any] = [[1], "text", None, [("a", "b", "c")], [{"a": 1}], object(), [["\ud800", 3]]]


class Soak:
    """The service and what it answers."""

    def __init__(self, wanted: int) -> None:
        corpus = chainfield.load_corpus(files("chainfield.data") / "demo" / "snips.train.conll.xz")
        self.sentences = [list(map(tuple, rows)) for rows in corpus.rows[:300]]
        self.path = Path(folder()) / "model.cf"
        chainfield.LinearCRF(max_iter=5).fit(corpus.rows[:300], corpus.labels[:300]).save(self.path)
        self.model = chainfield.load(self.path, n_jobs=1)
        self.expected = [self.model.tag(sentence) for sentence in self.sentences]
        self.marginals = [p.tobytes() for p in self.model.predict_marginals(self.sentences)]
        self.wanted, self.done, self.others = wanted, 0, 0
        self.problems: list[str] = []
        self.lock = threading.Lock()

    def work(self, seed: int) -> None:
        """One thread's share."""
        rng = random.Random(seed)
        try:
            while self.done < self.wanted and not self.problems:
                self._portion(rng)
        except BaseException as error:
            self.problems.append(f"{type(error).__name__}: {error}")

    def _portion(self, rng: random.Random) -> None:
        tag, n = self.model.tag, len(self.sentences)
        for _ in range(OTHER):
            i = rng.randrange(n)
            if tag(self.sentences[i]) != self.expected[i]:
                self.problems.append(f"another answer for sentence {i}")
        self._something_else(rng, rng.randrange(4))
        with self.lock:
            self.done += OTHER
            self.others += 1

    def _something_else(self, rng: random.Random, what: int) -> None:
        i = rng.randrange(len(self.sentences))
        if what == 0:
            if chainfield.load(self.path, n_jobs=1).tag(self.sentences[i]) != self.expected[i]:
                self.problems.append("another answer after loading")
        elif what == 1:
            self.model.save(self.path)
        elif what == 2:
            if self.model.predict_marginals([self.sentences[i]])[0].tobytes() != self.marginals[i]:
                self.problems.append(f"other probabilities for sentence {i}")
        else:
            try:
                self.model.tag(rng.choice(BAD))
            except ChainfieldError:
                return
            self.problems.append("a bad request was answered")


def megabytes() -> float:
    """What the process has in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    """Threads until enough was asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--predictions", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--until", default="99:99", help="HH:MM (UTC)")
    given = parser.parse_args()
    soak = Soak(given.predictions)
    threads = [threading.Thread(target=soak.work, args=(seed,)) for seed in range(given.threads)]
    began, last = time.process_time(), 0.0
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        if time.strftime("%H:%M", time.gmtime()) >= given.until:
            soak.wanted = 0
        if soak.done >= last + given.predictions / 20:
            last = soak.done
            print(f"{soak.done:,} predictions, {soak.others:,} others, {megabytes():.1f} MB", flush=True)
    print(
        f"{soak.done:,} predictions in {time.process_time() - began:.0f} CPU seconds, {megabytes():.1f} MB at the end"
    )
    print("\n".join(soak.problems) or "no difference, no failure")


if __name__ == "__main__":
    main()
