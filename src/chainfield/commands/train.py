"""``chainfield train``: from a column file to a model file."""

from __future__ import annotations

import inspect
import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from .options import check_output, jobs, reading, reading_arguments

_MODELS = ["linear", "latent", "empirical", "memm", "neural", "hmm", "hcrf", "hidden-unit"]
_SEQUENCES = ("hmm", "hcrf")  # models that label whole sequences, from arrays
_OBJECTIVES = ["likelihood", "perceptron", "large_margin", "softmax_margin", "piecewise", "pseudolikelihood"]
_TRAINERS = ["auto", "lbfgs", "owlqn", "sgd", "averaged", "adam", "rprop", "sdca", "herding", "em", "ebw"]
_TOPOLOGIES = ["left-to-right", "ergodic"]
_FLATTENINGS = ["states", "classes"]
_DECODERS = ["viterbi", "posterior", "latent-dynamic", "joint", "summed"]
_PRETRAININGS = ["frames", "contrastive"]
_OOV = ["empirical", "exponential"]
_CHARS = ["lstm", "cnn", "none"]
_CONTEXTS = ["none", "lstm"]
_SCHEMES = ["bio", "iob1", "bioes", "bilou", "auto"]


@click.command()
@click.argument("data", type=click.Path())
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--model", type=click.Choice(_MODELS), default="linear", show_default=True, help="Kind of model.")
@click.option("--template", type=click.Path(), help="Feature templates (CRF++, Wapiti or chainfield syntax).")
@click.option("--dev", type=click.Path(), help="Development data: the best parameters on them are kept.")
@click.option("--patience", type=int, help="With --dev: stop after so many iterations without a better score.")
@click.option(
    "--objective",
    type=click.Choice(_OBJECTIVES),
    help="What training minimises.  [default: likelihood; hidden-unit: large_margin]",
)
@click.option("--trainer", type=click.Choice(_TRAINERS), default="auto", show_default=True)
@click.option("--hidden-units", type=int, default=100, show_default=True, help="Hidden-unit: how many units.")
@click.option(
    "--input-pace",
    type=float,
    default=2.0,
    show_default=True,
    help="Hidden-unit: relative step of the weights to units.",
)
@click.option("--pretraining", type=click.Choice(_PRETRAININGS), help="Hidden-unit: a start by single positions.")
@click.option("--single", is_flag=True, help="Hidden-unit: single precision, half the memory.")
@click.option("--order", type=click.Choice(["1", "2"]), default="1", show_default=True, help="Labels looked back.")
@click.option("--l1", type=float, default=0.0, show_default=True, help="Penalty on the sum of absolute weights.")
@click.option("--l2", type=float, help="Penalty on the sum of squared weights.  [default: 0.5, 0 for max objectives]")
@click.option("--margin", type=float, default=1.0, show_default=True, help="Cost of a wrong label (margin objectives).")
@click.option("--max-iter", type=int, help="Most iterations; a pass over the data, for online trainers.")
@click.option("--tol", type=float, help="Relative accuracy at which training stops.")
@click.option("--learning-rate", type=float, help="First step size of sgd, averaged, adam and rprop.")
@click.option("--batch-size", type=int, help="Sequences a step of sgd, adam and rprop.")
@click.option("--average-from", type=int, help="First pass to be averaged (sgd, averaged, adam), or to vote (herding).")
@click.option("--restart-every", type=int, help="Go on from the average every so many passes (sgd, averaged, adam).")
@click.option("--n-states", type=int, help="hmm, hcrf: states of a class.  [default: 3]")
@click.option("--n-components", type=int, help="hmm, hcrf: Gaussians of a state.  [default: 1]")
@click.option("--topology", type=click.Choice(_TOPOLOGIES), help="hmm, hcrf: which states follow which.")
@click.option("--flatten", type=click.Choice(_FLATTENINGS), help="hmm, hcrf: what starts less sure of itself.")
@click.option("--kappa", type=float, help="hmm, hcrf: by how much; 1: not at all.")
@click.option("--min-count", type=int, help="Leave out rarer features.  [default: 1; empirical: rare words, 3]")
@click.option("--all-features", is_flag=True, help="Weights for all (feature, label) pairs, not only those seen.")
@click.option("--seen-transitions", is_flag=True, help="Weights only for label pairs seen in training.")
@click.option("--no-boundary", is_flag=True, help="No weights for the first and last label.")
@click.option("--scheme", type=click.Choice(_SCHEMES), help="Hard constraints of a tagging scheme.")
@click.option("--forbid", multiple=True, metavar="FROM,TO", help="Forbid a transition; may be repeated.")
@click.option("--class-weight", help='"balanced", or JSON such as \'{"B-PER": 2}\'.')
@click.option("--decoder", type=click.Choice(_DECODERS), help="How tag decodes.  [default: viterbi; as in training]")
@click.option("--no-shared-labels", is_flag=True, help="Latent: weights for states only, none for whole labels.")
@click.option("--triple-features", is_flag=True, help="Latent, --order 2: features of transitions with state triples.")
@click.option("--n-init", type=int, help="Latent: random starts, of which the best is kept.")
@click.option("--start-scale", type=float, help="Latent: deviation of the random weights that training starts from.")
@click.option("--oov", type=click.Choice(_OOV), default="empirical", show_default=True, help="Empirical: unseen words.")
@click.option("--add", type=click.Path(), help="Empirical: add to the counts of this model.")
@click.option("--states", help="Latent, neural: hidden states of each label; latent: also JSON such as '{\"O\": 3}'.")
@click.option("--rank", type=int, help="Latent, neural: rank of the transition scores.  [default: full]")
@click.option("--vectors", type=click.Path(), help="Neural: file of word vectors to start from.")
@click.option("--chars", type=click.Choice(_CHARS), default="lstm", show_default=True, help="Neural: reads characters.")
@click.option("--context", type=click.Choice(_CONTEXTS), default="none", show_default=True, help="Neural: reads words.")
@click.option("--dropout", type=float, default=0.5, show_default=True, help="Neural: share dropped in training.")
@click.option("--label-column", type=int, default=-1, show_default=True, help="Column of the label, from 0 or -1.")
@click.option("--unknown", help="Sign that marks an unknown label (partly labelled data).")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint of an interrupted training.")
@click.option("--log", type=click.File("w", lazy=False), help="Write a JSON line an iteration to this file.")
@click.option("--quiet", is_flag=True, help="Show nothing but errors.")
@jobs
@reading
def train(data: str, output: Path, **options: Any) -> None:
    """Train a tagger on the column file DATA and write it to OUTPUT (usually *.cf).

    DATA has a token a line, columns separated by tabs or spaces, the label in the last one, and blank lines between
    sentences; it may be compressed (.gz, .bz2, .xz, .zst), and - is standard input. Ctrl-C keeps the best model so far.

    With --model hmm and hcrf whole sequences get a label, and DATA is a .npz file with X, lengths and y, or a folder
    with a folder of .npy files for each label.
    """
    from chainfield.data import load_corpus
    from chainfield.errors import ConfigError, DataError
    from chainfield.files import check_writable
    from chainfield.files.container import is_container

    check_output(output, data, options["dev"], options["template"])
    _check_options(options["model"])
    check_writable(output)
    if output.exists() and output.stat().st_size and not is_container(output):
        raise ConfigError(
            f"{output} exists and is no model file; it is not overwritten. Give another name, such as model.cf."
        )
    checkpoint = output.with_name(output.name + ".checkpoint")
    if options["resume"] and not checkpoint.exists():
        raise ConfigError(f"There is no checkpoint {checkpoint}; train without --resume.")
    if options["patience"] is not None and not options["dev"]:
        raise ConfigError("--patience needs development data: give --dev FILE too.")
    quiet = options["quiet"]
    reading_options = reading_arguments(
        *(options[k] for k in ("encoding", "separator", "no_comments", "keep_docstart"))
    )
    columns = {"label_column": options["label_column"], "unknown": options["unknown"], **reading_options}
    if options["model"] in _SEQUENCES:
        from .sequences import train_sequences

        train_sequences(_classifier(options), data, output, options)
        return
    if data.endswith(".npz"):
        raise ConfigError(f"{data} holds arrays; --model {' and --model '.join(_SEQUENCES)} learn from them.")
    estimator = _estimator(options)
    if options["model"] == "empirical":
        from .counting import count

        count(estimator, data, output, options, columns)
        return
    corpus = load_corpus(data, **columns)
    dev = load_corpus(options["dev"], **columns) if options["dev"] else None
    if dev is not None and len(dev.rows[0][0]) != len(corpus.rows[0][0]):
        raise DataError(
            f"{dev.source} has {len(dev.rows[0][0]) + 1} columns, but {corpus.source} has {len(corpus.rows[0][0]) + 1}."
        )
    if getattr(estimator, "template", None) is not None:
        estimator.template.check_columns(len(corpus.rows[0][0]), options["template"])
    if not quiet:
        tokens = sum(map(len, corpus.rows))
        click.echo(f"{corpus.source}: {len(corpus.rows):,} sentences, {tokens:,} tokens", err=True)
    started = time.perf_counter()
    interrupted = False
    with ExitStack() as stack:
        from .progress import Reporter

        watch = stack.enter_context(Reporter(quiet=quiet, log=options["log"]))
        try:
            estimator.fit(
                corpus.rows,
                corpus.labels,
                X_dev=None if dev is None else dev.rows,
                y_dev=None if dev is None else dev.labels,
                callback=watch,
                checkpoint=checkpoint,
                resume=options["resume"],
            )
        except KeyboardInterrupt:
            interrupted = True
    if interrupted and not getattr(estimator, "history_", None):
        click.echo("Stopped before the first iteration was finished; nothing was saved.", err=True)
        raise SystemExit(130)
    estimator.save(output, notes={"label_column": options["label_column"], "separator": corpus.separator})
    if not interrupted:
        checkpoint.unlink(missing_ok=True)
    if not quiet:
        _summary(estimator, output, time.perf_counter() - started, interrupted, checkpoint)
    if interrupted:
        raise SystemExit(130)


def _classifier(options: dict[str, Any]) -> Any:
    """A model of whole sequences: its own defaults, but for what was given."""
    from chainfield.models import MODELS

    kind, context = MODELS[options["model"]], click.get_current_context()
    known = inspect.signature(kind.__init__).parameters
    given = {
        setting: options[option]
        for option, setting in {**_SETTINGS, **{name: name for name in _OWN}}.items()
        if setting in known and context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE
    }
    return kind(**given, **({} if "n_jobs" in given else {"n_jobs": options["jobs"]}))


def _estimator(options: dict[str, Any]) -> Any:
    from chainfield.errors import ConfigError
    from chainfield.models import MODELS
    from chainfield.models.inputs import as_template

    forbidden = []
    for rule in options["forbid"]:
        parts = rule.split(",")
        if len(parts) != 2:
            raise ConfigError(f"--forbid {rule}: write FROM,TO; an empty side stands for the border.")
        forbidden.append((parts[0] or None, parts[1] or None))
    weight = options["class_weight"]
    if weight is not None and weight != "balanced":
        try:
            weight = json.loads(weight)
        except ValueError:
            raise ConfigError(f'--class-weight {weight}: give "balanced" or a JSON object.') from None
    known = inspect.signature(MODELS[options["model"]].__init__).parameters
    # What is not given is left to the model: its own defaults are not those of all others.
    settings = {name: options[option] for option, name in _SETTINGS.items() if name in known and given(option)}
    own = {
        "order": int(options["order"]),
        "template": as_template(options["template"]) if options["template"] else None,
        "all_transitions": not options["seen_transitions"],
        "boundary": not options["no_boundary"],
        "forbidden": forbidden or None,
        "class_weight": weight,
        "dtype": "float32" if options["single"] else "float64",
        "share_labels": not options["no_shared_labels"],
    }
    if "states_per_label" in settings:
        settings["states_per_label"] = _states(options["states"])
    return MODELS[options["model"]](**settings, **{name: value for name, value in own.items() if name in known})


def _states(given: str) -> Any:
    """A number, or a dict from labels to numbers."""
    from chainfield.errors import ConfigError

    try:
        states = json.loads(given)
    except ValueError:
        states = None
    if not isinstance(states, int | dict):
        raise ConfigError(f"--states {given}: give a number, or a JSON object of labels and numbers.")
    return states


# Options that are settings of models as they stand; the names of the settings.
_SETTINGS = {
    **{
        name: name
        for name in (
            "objective", "trainer", "l1", "l2", "margin", "max_iter", "tol", "learning_rate", "batch_size",
            "average_from", "restart_every", "patience", "min_count", "all_features", "scheme", "decoder", "oov",
            "rank", "vectors", "chars", "context", "dropout",
            "hidden_units", "input_pace", "pretraining",
            "triple_features", "n_init", "start_scale",
        )
    },
    "states": "states_per_label",
    "seed": "random_state",
    "jobs": "n_jobs",
}  # fmt: skip
# Those of models of whole sequences.
_OWN = ("n_states", "n_components", "topology", "flatten", "kappa")
# Options that mean something for models that have a setting, or are fitted in a way, that not all of them have.
_NEED = {
    "template": "template",
    "order": "order",
    "seen_transitions": "all_transitions",
    "no_boundary": "boundary",
    "no_shared_labels": "share_labels",
    "class_weight": "class_weight",
    "dev": "max_iter",
    "resume": "max_iter",
    "log": "max_iter",
    "add": "oov",
    "single": "dtype",
}


def given(option: str) -> bool:
    """Whether an option stands on the command line."""
    return click.get_current_context().get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE


def _check_options(model: str) -> None:
    """Refuse options that were given but mean nothing for a model."""
    from chainfield.errors import ConfigError
    from chainfield.models import MODELS

    known = inspect.signature(MODELS[model].__init__).parameters
    for option, setting in {**_SETTINGS, **_NEED, **{name: name for name in _OWN}}.items():
        if given(option) and setting not in known:
            raise ConfigError(f"--{option.replace('_', '-')} has no effect with --model {model}; leave it out.")


def _summary(estimator: Any, output: Path, seconds: float, interrupted: bool, checkpoint: Path) -> None:
    last = estimator.history_[-1]
    tagger = estimator.tagger_
    size = output.stat().st_size / 1e6
    parts = [f"{len(tagger.task.labels)} labels", f"{tagger.features.n_features:,} features"]
    if getattr(estimator, "scheme_", None) is not None:
        parts.append(f"scheme {estimator.scheme_}")
    parts += [f"{tagger.n_weights:,} weights", f"{estimator.n_iter_} iterations of {estimator.trainer_}"]
    kept = estimator.history_[estimator.best_iteration_ - 1]
    click.echo(f"{', '.join(parts)}; objective {kept['objective']:.2f}", err=True)
    if "dev_score" in last:
        best = kept["dev_score"]
        click.echo(f"best development score {100 * best:.2f} (iteration {estimator.best_iteration_})", err=True)
    if interrupted:
        click.echo(f"Interrupted: {output} holds the best model so far.", err=True)
        if checkpoint.exists():
            click.echo("Go on with the same command and --resume.", err=True)
    else:
        click.echo(f"Done in {seconds:.1f} s: {estimator.stop_reason_}. Wrote {output} ({size:.1f} MB).", err=True)
