"""sklearn-crfsuite's estimator on this library's engine."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict

from chainfield.compat.sklearn_crfsuite import CRF, metrics, scorers
from chainfield.compat.sklearn_crfsuite.utils import flatten
from test_compat_pycrfsuite import X, Y


def test_attributes_and_predictions():
    crf = CRF(c2=0.1, max_iterations=50).fit(X, Y, X_dev=X[:5], y_dev=Y[:5])
    assert set(crf.classes_) == {"N", "V", "D"}
    assert crf.num_attributes_ == len(crf.attributes_)
    assert all(attribute in crf.attributes_ and label in crf.classes_ for attribute, label in crf.state_features_)
    assert crf.transition_features_
    assert crf.size_ > 1000
    assert crf.training_log_.last_iteration["scores"]
    assert list(crf.predict(X)) == [crf.predict_single(x) for x in X]
    marginals = crf.predict_marginals(X[:3])
    assert all(abs(sum(p.values()) - 1) < 1e-9 for x in marginals for p in x)
    assert crf.score(X, Y) > 0.9
    same = pickle.loads(pickle.dumps(crf))
    assert list(same.predict(X)) == list(crf.predict(X))
    assert same.state_features_ == crf.state_features_
    name = crf.modelfile.name
    assert CRF(model_filename=name).predict_single(X[0]) == crf.predict_single(X[0])


def test_scikit_learn():
    crf = CRF(max_iterations=10, c1=0.1)
    assert clone(crf).get_params() == crf.get_params()
    assert "c1=0.1" in repr(crf)
    search = GridSearchCV(crf, {"c2": [0.01, 1.0]}, cv=2, scoring=make_scorer(metrics.flat_f1_score, average="micro"))
    assert search.fit(X, Y).best_params_["c2"] in (0.01, 1.0)
    assert len(cross_val_predict(crf, X, Y, cv=2)) == len(X)
    assert 0 <= scorers.sequence_accuracy(search.best_estimator_, X, Y) <= 1


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="not trained"):
        CRF().predict(X)
    with pytest.raises(ValueError, match="both"):
        CRF().fit(X, Y, X)
    with pytest.raises(ValueError, match="as many"):
        CRF().fit(X, Y[:-1])
    assert CRF().classes_ is CRF().attributes_ is CRF().size_ is None


def test_metrics():
    a, b = [["x", "z", "y"], ["x", "x"]], [["y", "z", "y"], ["x", "y"]]
    assert metrics.flat_accuracy_score(a, b) == 0.6
    assert flatten(a) == ["x", "z", "y", "x", "x"]
    assert "precision" in metrics.flat_classification_report(a, b, digits=3)
    same = np.array([["x", "y"], ["x", "y"]], dtype=object)
    assert metrics.sequence_accuracy_score(same, same) == 1.0  # the original says 2.0
    assert metrics.sequence_accuracy_score([], []) == 0


def test_one_line_per_iteration(capsys):
    CRF(max_iterations=2, verbose=True).fit(X, Y, X[:4], Y[:4])
    out = capsys.readouterr().out
    assert "Iter 1" in out
    assert "Support" in out


def test_explained_by_eli5():
    eli5 = pytest.importorskip("eli5")
    from chainfield.compat import install

    install()
    import importlib

    explain = importlib.import_module("eli5.sklearn_crfsuite.explain_weights")
    importlib.reload(explain)
    text = eli5.format_as_text(eli5.explain_weights(CRF(c2=0.1, max_iterations=30).fit(X, Y)))
    assert "w:N0" in text
    assert "Transition features" in text
