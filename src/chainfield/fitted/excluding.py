"""Scorers that exclude labels: where they leave a sequence without a path, softer ones take their place."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from chainfield.scorers import Chain, Scorer


class Excluding(Scorer):
    """A scorer that excludes labels by scores of -inf, as counts do of what they never met."""

    @property
    @abstractmethod
    def relaxed(self) -> Scorer:
        """A scorer with the same parameters that excludes nothing, for sequences in which this one leaves no path.

        Its tables may be large: it should be made once.
        """


def relaxed_chain(chain: Chain) -> Chain | None:
    """The same chain with scorers that exclude nothing; None if they are so already."""
    if not any(isinstance(scorer, Excluding) for scorer in chain.scorers):
        return None
    emissions, transitions = (
        tuple(scorer.relaxed if isinstance(scorer, Excluding) else scorer for scorer in group)
        for group in (chain.emissions, chain.transitions)
    )
    return replace(chain, emissions=emissions, transitions=transitions)
