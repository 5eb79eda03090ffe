"""What each of the five papers claims, and which kept figures decide whether it holds."""

from .embedded import EMBEDDED
from .empirical import EMPIRICAL
from .hidden_crf import HIDDEN_CRF
from .hidden_units import HIDDEN_UNITS
from .latent_perceptron import LATENT_PERCEPTRON

PAPERS = (HIDDEN_UNITS, LATENT_PERCEPTRON, EMPIRICAL, EMBEDDED, HIDDEN_CRF)
