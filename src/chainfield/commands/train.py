"""``chainfield train``: from data to a model file."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from chainfield.errors import ChainfieldError, ConfigError, DataError

from .model_options import SettingOption, given_settings, options_of, refuse_option
from .options import (
    annotated_texts,
    annotation_files,
    check_output,
    column_arguments,
    format_options,
    labels_given,
    reading,
)

DATA = "Data"
MODELS_SHOWN = {  # one line per model, for help
    "linear": "conditional random field over columns of text; the default",
    "latent": "hidden states behind each label",
    "hidden-unit": "hidden units between features and labels",
    "memm": "maximum-entropy Markov model",
    "empirical": "by counting, in one pass over any amount of data",
    "neural": "a network over words and characters (needs torch)",
    "hmm": "hidden Markov models for whole sequences of numbers",
    "hcrf": "hidden CRF for whole sequences of numbers",
}


class Train(click.Command):
    """A command whose options are those of the model that is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the model first, then read its options."""
        from chainfield.models import MODELS

        ctx.meta["model"] = _named(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if not error.option_name.startswith("--"):
                raise
            name = ctx.meta["model"] or "linear"
            owners = [other for other in MODELS if error.option_name in _flags(MODELS[other])]
            raise refuse_option(ctx, error.option_name, name, MODELS[name], owners) from None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options of the command, and those of the model."""
        from chainfield.models import MODELS

        own = super().get_params(ctx)
        model = ctx.meta.get("model")
        kind = MODELS.get(model or "linear")
        if kind is None:  # click refuses the name
            return own
        options: list[SettingOption] = options_of(kind)
        if model is None and ctx.meta.get("help"):
            shared = set.intersection(*({*MODELS[name].settings} for name in MODELS))
            options = [option for option in options if option.name in shared]
        return [*own[:-1], *options, own[-1]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options in the groups of their settings."""
        ctx.meta["help"] = True
        groups: dict[str, list[tuple[str, str]]] = {DATA: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                group = param.setting.group if isinstance(param, SettingOption) else DATA
                groups.setdefault(group, []).append(record)
        if ctx.meta["model"] is None:
            with formatter.section("Models"):
                names = next(param.type.choices for param in self.params if param.name == "model")  # type: ignore[attr-defined]
                formatter.write_dl([(f"--model {name}", MODELS_SHOWN[name]) for name in names])
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)
        if ctx.meta["model"] is None:
            formatter.write_paragraph()
            formatter.write_text(
                f"These options belong to all models. For those of one: {ctx.command_path} --model NAME -h"
            )


def _named(args: list[str]) -> str | None:
    """The model that the arguments name."""
    for i, word in enumerate(args):
        if word == "--model" and i + 1 < len(args):
            return args[i + 1]
        if word.startswith("--model="):
            return word.removeprefix("--model=")
    return None


def _flags(kind: Any) -> set[str]:
    return {flag for option in options_of(kind) for flag in (*option.opts, *option.secondary_opts)}


@click.command(cls=Train)
@click.argument("data", type=click.Path())
@click.argument("output", type=click.Path(path_type=Path))
@click.option(
    "--model",
    type=click.Choice(list(MODELS_SHOWN)),
    default="linear",
    show_default=True,
    metavar="NAME",
    help="Kind of model.",
)
@click.option("--dev", type=click.Path(), help="Development data: the best parameters on them are kept.")
@labels_given
@annotated_texts
@annotation_files
@reading
@click.option("--add", type=click.Path(), help="Empirical: add to the counts of this model.")
@click.option("--memory", type=float, help="Gigabytes of an encoded corpus to keep in memory.  [default: 1]")
@click.option(
    "--tune", type=float, metavar="MINUTES", help="First search for better settings than the defaults, for so long."
)
@click.option("--resume", is_flag=True, help="Continue from the checkpoint of an interrupted training.")
@click.option("--log", type=click.File("w", lazy=False), help="Write one JSON line per iteration to this file.")
@click.option("--tensorboard", type=click.Path(), metavar="DIR", help="Write curves for TensorBoard into this folder.")
@click.option("--quiet", is_flag=True, help="Show nothing but errors.")
def train(data: str, output: Path, model: str, dev: str | None, add: str | None, **options: Any) -> None:
    """Train a model on DATA and write it to OUTPUT (usually *.cf).

    DATA is a column file: one token per line, columns separated by tabs or spaces, the label in the last one, and a
    blank line between sentences. It may be compressed (.gz, .bz2, .xz, .zst); - is standard input. Ctrl-C keeps the
    best model so far. A folder that chainfield encode made is trained on without holding it in memory.

    DATA may also hold annotated texts: CoNLL-U, JSON lines, Label Studio, doccano, Prodigy, brat and others (chainfield
    convert --list). Their names tell, or --format does. The model then reads raw text: chainfield tag --text.

    With --model hmm and hcrf whole sequences get a label, and DATA is a .npz file with X, lengths and y, or a folder
    with one folder of .npy files per label.
    """
    from chainfield.models import MODELS, ClassifyingModel, EmpiricalCRF

    kind = MODELS[model]
    settings = given_settings(kind, options)
    _check_output(output, data, dev, options)
    checkpoint = output.with_name(output.name + ".checkpoint")
    _check_options(kind, model, dev, add, options, checkpoint)
    estimator = kind(**{"n_jobs": -1, **settings})
    estimator.check_settings()
    named = {key: options[key] for key in ("format_", "word_column", "sentence_column", "text_field", "encoding")}
    name = None if issubclass(kind, ClassifyingModel) else format_options(**named, data=data)[0]
    if name is not None:
        if options["tune"] is not None:
            raise ConfigError("--tune is for column files and for arrays in memory; leave it out.")
        if add:
            raise ConfigError("--add counts column files; annotated texts are counted at once, leave it out.")
        _train_text(estimator, data, dev, output, checkpoint, name, options)
        return
    columns = column_arguments(options)
    if issubclass(kind, EmpiricalCRF):
        from .counting import count

        count(estimator, data, output, add, settings, columns, quiet=options["quiet"])
        return
    from chainfield.corpora.folder import DESCRIPTION

    from .training_data import load_columns, load_encoded, load_sequences

    whole = issubclass(kind, ClassifyingModel)
    encoded = Path(data).is_dir() and (not whole or (Path(data) / DESCRIPTION).exists())
    if options["memory"] is not None and not encoded:
        raise ConfigError("--memory is for folders made by chainfield encode; other data are held in memory anyway.")
    if encoded:
        found = load_encoded(data, dev, columns, options["memory"], estimator.n_jobs, whole=whole)
        chosen = {"template": getattr(found.X.features, "templates", None), "min_count": found.X.notes["min_count"]}
        estimator.set_params(
            **{name: value for name, value in chosen.items() if name not in settings and name in kind.settings}
        )
    else:
        found = (
            load_sequences(data, dev)
            if whole
            else load_columns(data, dev, columns, insisted=options["format_"] is not None)
        )
    if not encoded and getattr(estimator, "template", None) is not None:
        estimator.template.check_columns(len(found.X[0][0]), "the template")
    if not options["quiet"]:
        click.echo(f"{found.source}: {found.size}", err=True)
    if options["tune"] is not None:
        from .tuning import tune

        say = (lambda line: None) if options["quiet"] else (lambda line: click.echo(f"tuning: {line}", err=True))
        tune(estimator, found, options["tune"], settings, say)
    _fit(estimator, found, output, checkpoint, options)


def _train_text(
    estimator: Any, data: str, dev: str | None, output: Path, checkpoint: Path, name: str, options: dict[str, Any]
) -> None:
    """Annotated texts: the model inside of a tagger of texts."""
    from chainfield.models import EmpiricalCRF

    from .training_data import load_texts

    if options["sign"] or (options["separator"] and name != "token-csv"):
        raise ConfigError("--separator and --unknown are for column files; leave them out.")
    found, tagger = load_texts(estimator, data, dev, name, options)
    if not options["quiet"]:
        click.echo(f"{found.source}: {found.size}", err=True)
    if isinstance(estimator, EmpiricalCRF):
        from .counting import count_texts

        count_texts(tagger, found, output, quiet=options["quiet"])
        return
    _fit(tagger, found, output, checkpoint, options)


def _fit(estimator: Any, found: Any, output: Path, checkpoint: Path, options: dict[str, Any]) -> None:
    """Train, with progress; save what came out, even if Ctrl-C ended it."""
    from chainfield.kernels.clock import working_time
    from chainfield.watching import each_of

    from .progress import Reporter, summary

    started, interrupted = working_time(), False
    with Reporter(quiet=options["quiet"], log=options["log"]) as shown, _curves(options["tensorboard"]) as curves:
        watch = shown if curves is None else each_of(shown, curves)
        try:
            estimator.fit(
                found.X, found.y, **found.development, callback=watch, checkpoint=checkpoint, resume=options["resume"]
            )
        except KeyboardInterrupt:
            interrupted = True
        except DataError as error:
            raise found.named(error) from None
    inner = getattr(estimator, "model_", estimator)
    if interrupted and not getattr(inner, "history_", None):
        click.echo("Stopped before the first iteration was finished; nothing was saved.", err=True)
        raise SystemExit(130)
    further = _iterations_of(output, inner.training_mark_) if interrupted else 0
    if further <= inner.n_iter_:  # a model is never replaced by a worse one of the same training
        training = {"mark": inner.training_mark_, "iterations": inner.n_iter_}
        estimator.save(output, notes={**found.notes, "training": training})
    if not interrupted:
        checkpoint.unlink(missing_ok=True)
    if not options["quiet"]:
        summary(inner, output, working_time() - started, interrupted, checkpoint, further)
    if interrupted:
        raise SystemExit(130)


def _curves(folder: str | None) -> AbstractContextManager[Any]:
    """What writes curves for TensorBoard, if they are wanted."""
    from chainfield.watching import TensorBoard

    return nullcontext() if folder is None else TensorBoard(folder)


def _iterations_of(output: Path, mark: str | None) -> int:
    """How far the same training came before, in the model that stands there; 0 if it is of another training."""
    from chainfield.files import read_container
    from chainfield.files.model import KIND, VERSION

    try:
        notes = read_container(output, KIND, VERSION)[0]["estimator"]["notes"]["training"]
        return int(notes["iterations"]) if notes["mark"] == mark else 0
    except (OSError, ChainfieldError, KeyError, TypeError, ValueError):
        return 0


def _check_output(output: Path, data: str, dev: str | None, options: dict[str, Any]) -> None:
    """Refuse to write over what is being read, and over anything that is no model."""
    from chainfield.files import check_writable
    from chainfield.files.container import is_container

    check_output(output, data, dev)
    check_writable(output)
    if output.exists() and output.stat().st_size and not is_container(output):
        raise ConfigError(
            f"{output} exists and is no model file; it is not overwritten. Give another name, such as model.cf."
        )


def _check_options(
    kind: Any, model: str, dev: str | None, add: str | None, options: dict[str, Any], checkpoint: Path
) -> None:
    """Refuse options of the command that mean nothing for a model."""
    from chainfield.models import ChainEstimator, EmpiricalCRF

    iterated = {
        "--dev": dev,
        "--resume": options["resume"],
        "--log": options["log"],
        "--tensorboard": options["tensorboard"],
        "--tune": options["tune"],
    }
    meant = {} if issubclass(kind, ChainEstimator) else iterated
    meant |= {} if issubclass(kind, EmpiricalCRF) else {"--add": add}
    for option, value in meant.items():
        if value:
            raise ConfigError(f"{option} has no effect with --model {model}; leave it out.")
    if options["tune"] is not None:
        from .tuning import check_minutes

        check_minutes(options["tune"])
        if options["resume"]:
            raise ConfigError("--tune and --resume do not go together: a training is resumed with its own settings.")
    if options["resume"] and not checkpoint.exists():
        raise ConfigError(f"There is no checkpoint {checkpoint}; train without --resume.")
    if options.get("patience") is not None and not dev:
        raise ConfigError("--patience needs development data: give --dev FILE too.")
