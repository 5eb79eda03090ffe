"""Half precision: emissions may come in it, but sums over paths need more range and more digits."""

from __future__ import annotations

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)


def widened(values: Tensor) -> Tensor:
    """float32 in place of half precision, and any other tensor as it is; gradients come back in half precision."""
    return values.float() if values.dtype in HALF else values
