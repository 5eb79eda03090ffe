"""Names that other libraries give to settings, and ours."""

from __future__ import annotations

#: Foreign name → our name, or what to write instead.
FOREIGN = {
    "c1": "l1",
    "c2": "l2",
    "algorithm": "trainer (and objective)",
    "max_iterations": "max_iter",
    "all_possible_transitions": "all_transitions",
    "all_possible_states": "all_features",
    "num_memories": "trainer=LBFGS's memory, which has no setting",
    "epsilon": "tol",
    "delta": "tol",
    "period": "tol",
    "linesearch": "trainer",
    "max_linesearch": "trainer",
    "calibration_eta": "learning_rate",
    "minfreq": "min_count",
    "feature_minfreq": "min_count",
    "min_freq": "min_count",
    "n_iter": "max_iter",
    "epochs": "max_iter",
    "lr": "learning_rate",
    "seed": "random_state",
    "n_hidden": "hidden_units",
    "n_mix": "n_components",
    "covariance_type": "nothing: covariances are diagonal",
    "threads": "n_jobs",
    "nthread": "n_jobs",
    "rho1": "l1",
    "rho2": "l2",
    "maxiter": "max_iter",
    "pattern": "template",
}
