"""What scikit-learn asks of estimators, answered only when it asks: nothing here imports it before."""

from __future__ import annotations

from html import escape
from typing import Any

#: Attributes that route metadata such as sample_weight through scikit-learn's tools.
METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "transform",
)
ROUTING = (
    "get_metadata_routing",
    "_get_metadata_request",
    "_get_class_level_metadata_request_values",
    *(f"set_{method}_request" for method in METHODS),
)


def tags(model: Any) -> Any:
    """The tags of a model: ragged sequences in, labels out."""
    from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags, TransformerTags

    whole = getattr(model, "_estimator_type", None) == "classifier"
    return Tags(
        estimator_type="classifier" if whole else None,
        target_tags=TargetTags(required=True, one_d_labels=whole, two_d_labels=False, multi_output=not whole),
        transformer_tags=TransformerTags() if hasattr(type(model), "transform") else None,
        classifier_tags=ClassifierTags() if whole else None,
        regressor_tags=None,
        input_tags=InputTags(one_d_array=False, two_d_array=False, three_d_array=True, string=True, dict=True),
        requires_fit=True,
        non_deterministic=False,
    )


def page(model: Any) -> str:
    """The model as scikit-learn shows estimators in notebooks; plainly where it is not installed."""
    try:
        from sklearn.utils import estimator_html_repr
    except ImportError:
        return f"<pre>{escape(repr(model))}</pre>"
    return str(estimator_html_repr(model))


def routing(model: Any, name: str) -> Any:
    """A method that asks for metadata (``set_fit_request`` and its like), as BaseEstimator has it."""
    try:
        from sklearn.utils._metadata_requests import _MetadataRequester
    except ImportError:
        raise AttributeError(f"{name} routes metadata through scikit-learn, which is not installed.") from None
    kind = type(model)
    if "_requester" not in vars(kind):
        methods = {method: getattr(kind, method) for method in METHODS if hasattr(kind, method)}
        kind._requester = type(kind.__name__, (_MetadataRequester,), methods)
    found = vars(kind._requester).get(name) or vars(_MetadataRequester).get(name)
    if found is None:
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    return found.__get__(model, kind)
