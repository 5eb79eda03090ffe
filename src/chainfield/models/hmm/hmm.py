"""A hidden Markov model with Gaussian mixtures, and the weights of a chain that scores like it.

    log a, log u and log-densities are scores:  λ^Tr = log a,  λ^LM = log u (with the start probability),
    λ^Occ = log c - 1/2 Σ (log 2πσ² + μ²/σ²),  λ^M1 = μ/σ²,  λ^M2 = -1/(2σ²)         (Mahajan et al. 2006)

The other way round, every chain with these scorers is an HMM without its constraints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.scorers import Boundary, Chain, Transition

from .gaussians import Gaussians
from .mixture import GaussianMixture


@dataclass(frozen=True, eq=False)
class Parts:
    """The three scorers of a chain that an HMM can be."""

    emission: GaussianMixture | Gaussians
    boundary: Boundary
    transition: Transition


def find_parts(chain: Chain) -> Parts:
    """The scorers by what they do; refuses a chain that is no HMM."""
    emission = [s for s in chain.emissions if isinstance(s, GaussianMixture | Gaussians)]
    boundary = [s for s in chain.emissions if isinstance(s, Boundary)]
    transition = [s for s in chain.transitions if isinstance(s, Transition)]
    fits = len(emission) == len(boundary) == len(transition) == 1 and len(chain.scorers) == 3
    space = chain.space
    own = fits and np.array_equal(transition[0].tie, np.arange(space.n_edges))
    if not own or space.n_rows != space.n_states:
        raise ConfigError(
            "This needs a hidden Markov model: a chain of a GaussianMixture, a Boundary and a Transition with a weight "
            "for every edge, over states that emit each for itself."
        )
    return Parts(emission[0], boundary[0], transition[0])


@dataclass(frozen=True, eq=False)
class HMM:
    """K states with M Gaussians each over D numbers, E transitions. Probabilities of starts include the class's."""

    weight: Float  # (K, M) of components
    mean: Float  # (K, M, D)
    variance: Float  # (K, M, D)
    start: Float  # (K,) of class and first state; they add up to 1 over all classes
    end: Float  # (K,) of ending after this state; 1 where it may end and endings are not modelled
    move: Float  # (E,) of taking an edge

    def theta(self, chain: Chain) -> Float:
        """The parameters of a chain (in natural or in moment form) that scores as this model does."""
        parts, space = find_parts(chain), chain.space
        emission = parts.emission
        shape = (emission.n_columns, emission.n_rows * emission.n_components)
        units = (emission.centre, emission.spread)
        mean = ((self.mean - units[0]) / units[1]).reshape(-1, shape[0]).T
        with np.errstate(divide="ignore"):
            moments = {
                "log_weight": np.log(self.weight).ravel(),
                "mean": np.ascontiguousarray(mean),
                "log_variance": (np.log(self.variance) - 2.0 * np.log(units[1])).reshape(-1, shape[0]).T,
            }
            # What no path can use has a weight of 0, not of -inf.
            start = np.where(space.start, np.log(np.where(space.start, self.start, 1.0)), 0.0)
            end = np.where(space.end, np.log(np.where(space.end, self.end, 1.0)), 0.0)
            move = np.log(self.move)
        theta = np.zeros(chain.n_parameters)
        views = chain.views(theta)
        if isinstance(emission, Gaussians):
            for name, values in moments.items():
                views[f"{emission.name}.{name}"][...] = values
        else:
            views[f"{emission.name}.weight"][...] = Gaussians.like(emission).natural(moments)
        views[f"{parts.boundary.name}.start"][...] = start
        views[f"{parts.boundary.name}.end"][...] = end
        views[f"{parts.transition.name}.weight"][...] = move
        return theta

    @classmethod
    def read(cls, chain: Chain, theta: Float) -> HMM:
        """The inverse of :meth:`theta`; the numbers are probabilities only if they were before."""
        parts, space, views = find_parts(chain), chain.space, chain.views(theta)
        emission = parts.emission
        name = emission.name
        if isinstance(emission, Gaussians):
            moments = {part: views[f"{name}.{part}"] for part in emission.shapes()}
        else:
            moments = Gaussians.like(emission).moments(views[f"{name}.weight"])
        shape = (emission.n_rows, emission.n_components)
        cube = (*shape, emission.n_columns)
        return cls(
            np.exp(moments["log_weight"]).reshape(shape),
            emission.centre + emission.spread * moments["mean"].T.reshape(cube),
            emission.spread**2 * np.exp(moments["log_variance"]).T.reshape(cube),
            np.where(space.start, np.exp(views[f"{parts.boundary.name}.start"]), 0.0),
            np.where(space.end, np.exp(views[f"{parts.boundary.name}.end"]), 0.0),
            np.exp(views[f"{parts.transition.name}.weight"]),
        )
