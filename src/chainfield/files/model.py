"""The model file ``.cf`` (documented in docs/file_format.md)."""

from __future__ import annotations

import os
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from chainfield.arrays import Array, Arrays
from chainfield.errors import ChainfieldError, ModelFileError
from chainfield.features import MAPS, FeatureMap
from chainfield.fitted import FITTED, FittedModel, Herd, Tagger, herd_of
from chainfield.fitted.eight_bit import LARGEST_STEP, eight_bit, n_runs, restored
from chainfield.inference import DECODERS
from chainfield.schema import LARGEST, Part, Tensor, Value
from chainfield.scorers import Chain
from chainfield.tasks import TASKS

from .container import read_container, stated_digest, write_container
from .parts import chain_from_parts, chain_to_parts, within
from .values import from_json, to_json

KIND = "model"
# Before 7: 1: taggers only, decoded by Viterbi; 3: steps may be normalised; 4: single precision; 5: several sets of
# parameters that vote; 6: digests of checksums.
VERSION = 7
# Counts of the description up to this one are believed; larger ones only up to the number of bytes of the file.
SMALL = 1 << 20
FEW_BITS = 1 << 14  # parameters from which on fewer bits are tried

MODEL = Part(
    (
        Value(
            "task", "text", "what is predicted: one label per position, or one per sequence", choices=tuple(TASKS),
            optional=True,
        ),
        Value("labels", "list", "the labels in order, as values"),
        Value("features", "object", "the feature map: `kind` and its settings"),
        Value("chain", "object", "the state space and the scorers"),
        Value("how", "text", "how the objective combined paths", choices=("sum", "max")),
        Value(
            "dtype", "text", "the type of the parameters, where `theta` holds them in fewer bits",
            choices=("float64", "float32"), optional=True,
        ),
        Value(
            "temperature", "number", "what scores are divided by before they become probabilities; missing: 1",
            optional=True,
        ),
        Value("decoder", "text", "taggers only: which labels are predicted", choices=tuple(DECODERS), optional=True),
        Value("estimator", "object", "the model as Python knows it"),
    )
)  # fmt: skip
ESTIMATOR = Part(
    (
        Value("class", "text", "the name of the estimator", optional=True),
        Value(
            "settings", "object", "its hyper-parameters, as values; those of the machine (`n_jobs`, `verbose`, "
            "`device`) left out", optional=True,
        ),
        Value("notes", "any", "anything; the command line keeps `label_column` here", optional=True),
        Value(
            "wrapper", "object", "what stands around the model: its `kind`, and what that keeps (below)", optional=True
        ),
        Value(
            "columns", "list", "the names of the columns of training, of data frames that had some", of="text",
            optional=True,
        ),
        Value("n_sequences_seen", "whole", "for `partial_fit`", optional=True),
        Value(
            "outside_shift", "number", "what `tune_for` added to the scores of O", least=-1e6, most=1e6, optional=True
        ),
        Value("scheme", "text", "`EmpiricalCRF`: the tagging scheme that was found", optional=True, null=True),
        Value("best_iteration", "whole", "`NeuralCRF`: the pass that was kept", optional=True),
        Value("training", "object", "what is known of the training, of models that a trainer fitted", optional=True),
    )
)  # fmt: skip
TRAINING = Part(
    (
        Value("version", "text", "the version of the library that trained the model"),
        Value("settings", "object", "the settings in effect, those that were left to the library filled in"),
        Value("trainer", "text", "which trainer ran"),
        Value("n_iter", "whole", "for how many iterations"),
        Value("best_iteration", "whole", "which of them was kept"),
        Value("stop_reason", "text", "why it stopped"),
        Value(
            "history", "list", "numbers of each iteration: `iteration`, `objective`, `dev_score` where there were "
            "development data, and what else the trainer reports", of="object",
        ),
        Value("every", "whole", "of more than 500 iterations, every so many-th is told, and the best and the last"),
        Value("seconds", "number", "how long the trainer ran", null=True),
        Value("n_sequences", "whole", "how many sequences were learned from"),
        Value("n_positions", "whole", "how many positions they had", most=LARGEST),
        Value("n_dev_sequences", "whole", "how many more there were for development", null=True),
        Value(
            "fingerprint", "text", "a digest of sequences and labels as the model reads them: it tells whether some "
            "data are the training data",
        ),
    )
)  # fmt: skip
PARAMETERS = Part(
    (),
    (
        Tensor(
            "theta", ("F64", "F32", "F16", "I8"), ("P",), "all parameters: those of the emissions, then of the "
            "transitions, in the order of `chain`, each in the order and shapes given below", below=inf, infinite=True,
        ),
        Tensor(
            "step", ("F32",), ("runs of 64",), "only where `theta` is I8: what each run of 64 parameters is multiplied "
            "by", least=0, below=LARGEST_STEP, optional=True,
        ),
        Tensor(
            "members", ("F64", "F32"), ("M", "P"), "only where members vote (conditional herding): the parameters of "
            "each, in the type of `theta`, which is their mean", below=inf, infinite=True, optional=True,
        ),
        Tensor(
            "feature_counts", ("U32",), ("F",), "at how many positions of the training data each sparse feature "
            "occurred", optional=True,
        ),
        Tensor(
            "firmness", ("F32",), ("P",), "for `partial_fit`: half the curvature of the losses of all data so far, by "
            "which each parameter is drawn back", least=0, below=inf, optional=True,
        ),
    ),
)  # fmt: skip


def save_model(
    path: str | os.PathLike[str],
    model: FittedModel,
    estimator: dict[str, Any] | None = None,
    feature_counts: Array | None = None,
    firmness: Array | None = None,
) -> None:
    """Write a model; ``estimator`` tells the class and settings that trained it, ``feature_counts`` (F,) how often
    each feature occurred, ``firmness`` (P,) how sure earlier data are of each parameter.
    """
    chain, arrays = chain_to_parts(model.chain)
    features, own = model.features.save()
    arrays |= {f"features.{name}": array for name, array in own.items()}
    arrays |= _in_few_bits(model)
    config: dict[str, Any] = {
        "task": model.task.kind,
        "labels": [to_json(label, "label") for label in model.task.labels],
        "features": {"kind": model.features.kind, **features},
        "chain": chain,
        "how": model.how,
        "estimator": estimator or {},
    }
    if arrays["theta"].dtype != model.theta.dtype:
        config["dtype"] = str(model.theta.dtype)
    if model.temperature != 1.0:
        config["temperature"] = model.temperature
    if feature_counts is not None:
        arrays["feature_counts"] = feature_counts
    if firmness is not None:
        arrays["firmness"] = firmness
    if isinstance(model, Tagger):
        config["decoder"] = model.decoder
    if isinstance(model, Herd):
        arrays["members"] = model.members
    write_container(path, KIND, VERSION, config, arrays, model.n_jobs)


def _in_few_bits(model: FittedModel) -> Arrays:
    """The parameters; many of them in 8 or 16 bits, if they are the same numbers there."""
    theta = model.theta
    if len(theta) < FEW_BITS or isinstance(model, Herd):
        return {"theta": theta}
    found = eight_bit(theta)
    if found is not None and np.array_equal(restored(*found, str(theta.dtype)), theta):
        return {"theta": found[0], "step": found[1]}
    with np.errstate(over="ignore"):
        half = theta.astype(np.float16)
    return {"theta": half if np.array_equal(half.astype(theta.dtype), theta) else theta}


def _in_full(arrays: Arrays, config: dict[str, Any], n_parameters: int) -> Array:
    """The parameters in their own type."""
    theta = arrays["theta"]
    if (theta.dtype == np.int8) != ("step" in arrays):
        raise ValueError("the tensor step belongs to parameters of 8 bits")
    if theta.dtype == np.int8:
        if len(arrays["step"]) != n_runs(n_parameters):
            raise ValueError("the tensor step has not one number for each run of parameters")
        return restored(theta, arrays["step"], config["dtype"])
    return theta.astype(config["dtype"]) if theta.dtype == np.float16 else theta


def load_model(path: str | os.PathLike[str], n_jobs: int = 1) -> tuple[FittedModel, dict[str, Any]]:
    """Read a model and what trained it."""
    config, arrays, _ = read_container(path, KIND, VERSION, n_jobs)
    n_bytes = sum(array.nbytes for array in arrays.values())
    try:
        MODEL.check(config, {}, {})
        ESTIMATOR.check(config["estimator"], {}, {})
        features = load_features(config["features"], within(arrays, "features."), n_bytes)
        chain = chain_from_parts(config["chain"], arrays, features, n_bytes)
        PARAMETERS.check({}, arrays, {"P": chain.n_parameters, "F": features.n_features})
        theta = _in_full(arrays, config, chain.n_parameters)
        model = _model(config, features, replace(chain, dtype=str(theta.dtype)), theta, n_jobs)
        if "members" in arrays:
            model = _herd(model, arrays["members"])
        about = dict(config["estimator"])
        if "training" in about:
            TRAINING.check(about["training"], {}, {})
        if "feature_counts" in arrays:
            about["feature_counts"] = arrays["feature_counts"]
        if "firmness" in arrays:
            about["firmness"] = arrays["firmness"]
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, RecursionError, ChainfieldError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise ModelFileError(f"{path} does not describe a model: {reason}. Make or fetch it again.") from None
    return model, about


def content_name(path: str | os.PathLike[str]) -> str:
    """A short name for the content of a model file: the beginning of its digest. Loading checks the digest."""
    return stated_digest(path, KIND, VERSION)[:8]


def load_features(config: dict[str, Any], arrays: Arrays, n_bytes: int) -> FeatureMap:
    """The feature map that a file describes, by its schema; ``n_bytes``: of all tensors of the file."""
    settings = dict(config)
    kind = settings.pop("kind", None)
    if type(kind) is not str or kind not in MAPS:
        raise ValueError(f"features of the kind {kind!r:.40} are not known here")
    found = MAPS[kind]
    found.schema.check(settings, arrays, {"file": max(n_bytes, SMALL)}, "features.")
    return found.load(settings, arrays)


def _model(config: dict[str, Any], features: FeatureMap, chain: Chain, theta: Any, n_jobs: int) -> FittedModel:
    """The parts that depend on the task; files of version 1 do not name it."""
    kind = config.get("task", "tagging")
    task = TASKS[kind](tuple(from_json(label) for label in config["labels"]))
    if not len(task.labels) == len(set(task.labels)) == chain.space.n_labels:
        raise ValueError("the labels do not fit the chain")
    task.check(chain.space)
    temperature = float(config.get("temperature", 1.0))
    if not 0.0 < temperature < inf:
        raise ValueError("the temperature is not larger than 0")
    model = FITTED[kind](features, task, chain, theta, config["how"], n_jobs, temperature)
    return replace(model, decoder=config["decoder"]) if isinstance(model, Tagger) and "decoder" in config else model


def _herd(model: FittedModel, members: Any) -> Tagger:
    """The sets of parameters that vote; their mean is that of the model."""
    if not isinstance(model, Tagger):
        raise ValueError("only taggers have members that vote")
    if members.dtype != model.theta.dtype or not len(members):
        raise ValueError("the members do not fit the chain")
    return herd_of(model, members.ravel())


def load_tagger(path: str | os.PathLike[str], n_jobs: int = 1) -> tuple[Tagger, dict[str, Any]]:
    """Read a tagger, and what trained it; refuses models of other tasks."""
    model, about = load_model(path, n_jobs)
    if not isinstance(model, Tagger):
        raise ModelFileError(
            f"{path} labels whole sequences, not positions; use chainfield classify, or chainfield.load in Python."
        )
    return model, about
