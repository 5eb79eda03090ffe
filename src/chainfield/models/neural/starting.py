"""Which random numbers a network and its transitions start from: ``initialisation`` of :class:`NeuralCRF`."""

from __future__ import annotations

import math

from torch import nn

DEVIATION = 0.1  # of normal numbers


def restart(network: nn.Module, layer: nn.Module, kind: str) -> None:
    """Other numbers than those that modules make for themselves; word vectors and gates keep theirs."""
    for name, parameter in network.named_parameters():
        if parameter.dim() > 1 and name not in ("words", "fixed", "letters"):
            _fill(parameter, kind, sum(parameter.shape[:2]) * math.prod(parameter.shape[2:]))
    n = len(layer.start_transitions)
    for name, parameter in layer.named_parameters(recurse=False):
        if name in ("start_transitions", "end_transitions"):
            nn.init.zeros_(parameter)
        else:  # scores of single edges lie in the matrix of all pairs
            _fill(parameter, kind, sum(parameter.shape) if parameter.dim() > 1 else 2 * n)


def _fill(parameter: nn.Parameter, kind: str, fans: int) -> None:
    if kind == "normal":
        nn.init.normal_(parameter, std=DEVIATION)
    else:
        bound = math.sqrt(6.0 / fans)
        nn.init.uniform_(parameter, -bound, bound)
