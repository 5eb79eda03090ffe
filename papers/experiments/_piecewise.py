"""What the experiments with piecewise training say of the kind that is not in the papers."""

WEIGHED = (
    '"Piecewise, weighed" is not in the paper: steps know how frequent the label before them is, so that pairs of '
    "labels become co-occurrence rates, as in empirical training."
)
