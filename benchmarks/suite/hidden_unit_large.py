"""A hidden-unit CRF of 212 million parameters on sparse input: sentences a second and peak memory."""

from __future__ import annotations

from .children import ask
from .measure import Measurements, Options

FEATURES, UNITS = 212_610, 1000  # the largest model of van der Maaten et al. (2011)
SENTENCES = 4000


def run(options: Options) -> Measurements:
    """A process of its own; a sample is a number of sentences."""
    n = SENTENCES if options.sample is None else options.sample
    found = ask("suite.hidden_unit_large_worker", str(n), str(FEATURES), str(UNITS))
    result = Measurements("hidden-unit-large")
    for seconds in found["seconds"]:
        result.add("pass", seconds)
    middle = result.middle("pass")
    assert middle is not None
    own = 4.0 * found["parameters"]
    result.figures |= {
        "large_parameters": float(found["parameters"]),
        "large_sentences_a_second": n / middle,
        "large_peak_bytes": float(found["peak"]),
        "large_peak_over_parameters": found["peak"] / own,
    }
    result.notes += [
        f"Made-up sentences: {n:,} of {found['length']} words with {found['features']} binary features each, "
        f"{found['labels']} labels; every one of the {FEATURES:,} features occurs. {UNITS} units, large margin, "
        "float32, averaged from the first pass on, one thread. Seconds are processor time of a pass.",
        "Peak memory is that of the whole process, with libraries, kernels and data; peak_over_parameters divides it "
        "by the size of the parameters alone in float32.",
    ]
    return result
