"""pytorch-crf's layer on this library's engine: ``from chainfield.compat.torchcrf import CRF``.

Same constructor, same messages of errors, same ``repr``. Everything that :class:`chainfield.torch.CRF` can do besides
works too. No future annotations: TorchScript reads them as they stand.
"""

from typing import Any, List, Optional  # noqa: UP035

import torch
from torch import Tensor

from chainfield.torch import CRF as Layer
from chainfield.torch.crf import REDUCTIONS


class CRF(Layer):
    """A conditional random field over ``num_tags`` tags, by the interface of pytorch-crf 0.7.2."""

    # Properties that TorchScript is not to compile.
    __jit_unused_properties__ = ("num_tags", "n_rows")

    def __init__(self, num_tags: int, batch_first: bool = False) -> None:
        if num_tags <= 0:
            raise ValueError(f"invalid number of tags: {num_tags}")
        super().__init__(num_tags, batch_first)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_tags={self.num_tags})"

    def forward(  # type: ignore[override]
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Optional[Tensor] = None,  # noqa: UP045
        reduction: str = "sum",
    ) -> Tensor:
        """The log-likelihood of tags: one number per sequence ("none"), or their sum, mean or mean over tokens."""
        return self._score(emissions, tags, mask, reduction)

    @torch.jit.export  # type: ignore[untyped-decorator]
    def decode(self, emissions: Tensor, mask: Optional[Tensor] = None) -> List[List[int]]:  # noqa: UP006, UP045
        """The best tags of every sequence."""
        return self._find(emissions, mask)

    @torch.jit.ignore  # type: ignore[untyped-decorator]
    def _score(self, emissions: Tensor, tags: Tensor, mask: Optional[Tensor], reduction: str) -> Tensor:  # noqa: UP045
        layer = unscripted(self)
        check(layer, emissions, tags, mask)
        if reduction not in REDUCTIONS:
            raise ValueError(f"invalid reduction: {reduction}")
        return Layer.forward(layer, emissions, tags, mask, reduction)

    @torch.jit.ignore  # type: ignore[untyped-decorator]
    def _find(self, emissions: Tensor, mask: Optional[Tensor]) -> List[List[int]]:  # noqa: UP006, UP045
        layer = unscripted(self)
        check(layer, emissions, None, mask)
        return Layer.decode(layer, emissions, mask)


def unscripted(module: Any) -> Layer:
    """A scripted layer has nothing but its parameters: a layer with the same ones. Any other is itself."""
    if isinstance(module, Layer):
        return module
    with torch.random.fork_rng(devices=[]):  # the random start of a layer is not wanted
        layer = Layer(len(module.start_transitions), module.batch_first)
    for name in ("start_transitions", "end_transitions", "transitions"):
        delattr(layer, name)
        object.__setattr__(layer, name, getattr(module, name))  # torch would take it for a new parameter
    return layer


def check(layer: Layer, emissions: Tensor, tags: Tensor | None, mask: Tensor | None) -> None:
    """Refuse what pytorch-crf refuses, in its words."""
    if emissions.dim() != 3:
        raise ValueError(f"emissions must have dimension of 3, got {emissions.dim()}")
    if emissions.size(2) != layer.num_tags:
        raise ValueError(f"expected last dimension of emissions is {layer.num_tags}, got {emissions.size(2)}")
    for name, given in (("tags", tags), ("mask", mask)):
        if given is not None and emissions.shape[:2] != given.shape:
            raise ValueError(
                f"the first two dimensions of emissions and {name} must match, got {tuple(emissions.shape[:2])} "
                f"and {tuple(given.shape)}"
            )
    if mask is not None and not bool((mask[:, 0] if layer.batch_first else mask[0]).all()):
        raise ValueError("mask of the first timestep must all be on")
