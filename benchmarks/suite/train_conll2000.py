"""Training on CoNLL-2000 with c2 = 1: encoding, time to within 0.1 % of the optimum, evaluations, perceptron.

The other penalties are benchmarks of their own: CRFsuite takes minutes for each.
"""

from __future__ import annotations

from chainfield import LinearCRF
from chainfield.data import load_corpus
from chainfield.features import TemplateFeatures

from . import engine
from .measure import Measurements, Options, timed
from .peers import installed
from .tasks import Task, conll2000, feature_strings, first
from .training import HOW, Race, Setting

REPEATS = 2
ITERATIONS = 40


def run(options: Options) -> Measurements:
    """c2 = 1, against python-crfsuite, Wapiti and chaine."""
    task = conll2000(options.sample)
    result = Measurements("train-conll2000", notes=[HOW])
    engine.warm_up(task, [{}, {"trainer": "lbfgs"}, {"objective": "perceptron", "max_iter": 1}, {"all_features": True}])
    race = Race(task, Setting(l2=1.0), options, result)
    for _ in range(options.repeats or REPEATS):
        _encode(task, options.sample, result)
        race.round()
        _evaluations(task, result)
        _perceptron(task, race, result)
    race.finish()
    for trajectory in race.runs.get("crfsuite", []):
        result.add("crfsuite_evaluation", trajectory.per_evaluation())
    for threads, words in ((2, "2_threads"), (1, "1_thread")):
        result.speedup(f"lbfgs_{words}_speedup_crfsuite", "crfsuite_evaluation", f"chainfield_lbfgs_{threads}")
    one, two = (min(result.samples[f"chainfield_evaluate_{threads}"]) for threads in (1, 2))
    result.figures |= {"evaluate_1_seconds": one, "evaluate_2_seconds": two, "threads_ratio": one / two}
    result.speedup("encode_speedup_crfsuite", "crfsuite_encode", "chainfield_encode")
    result.speedup("perceptron_pass_speedup_crfsuite", "crfsuite_perceptron", "chainfield_perceptron")
    result.notes += [
        "lbfgs: seconds per evaluation, with all work of an iteration. encode: from the file to encoded data, against "
        "feature strings and append. threads_ratio: the fastest evaluations (loss and gradient) on 1 and on 2 threads.",
    ]
    return result


def _encode(task: Task, sample: int | None, result: Measurements) -> None:
    def own() -> None:
        corpus = first(load_corpus(task.train_path), sample)
        TemplateFeatures(task.templates).learn(corpus.rows)

    result.add("chainfield_encode", timed(own)[0])
    if installed("crfsuite"):
        import pycrfsuite

        def peer() -> None:
            corpus = first(load_corpus(task.train_path), sample)
            trainer = pycrfsuite.Trainer(verbose=False)
            for x, y in zip(feature_strings(task.templates, corpus.rows), corpus.labels, strict=True):
                trainer.append(x, y)

        result.add("crfsuite_encode", timed(peer)[0])


def _evaluations(task: Task, result: Measurements) -> None:
    for threads in (2, 1):
        model = engine.linear(task, l2=1.0, trainer="lbfgs", n_jobs=threads, max_iter=ITERATIONS)
        found = engine.fit(model, task.train.rows, task.train.labels)
        result.add(f"chainfield_lbfgs_{threads}", found.trajectory.per_evaluation())
    for threads in (2, 1, 2, 1):
        for seconds in engine.evaluation_seconds(found.problem, threads):
            result.add(f"chainfield_evaluate_{threads}", seconds)


def _perceptron(task: Task, race: Race, result: Measurements) -> None:
    model = LinearCRF(objective="perceptron", template=task.templates, boundary=False, max_iter=4)
    found = engine.fit(model, task.train.rows, task.train.labels)
    result.add("chainfield_perceptron", found.trajectory.per_evaluation(1))
    if installed("crfsuite"):
        from .peers import crfsuite

        passes = crfsuite.train(race.ready(), task.train.labels, "ap", max_iterations=4)
        result.add("crfsuite_perceptron", passes.per_evaluation(1))
