"""Inference: sums, maxima and samples over the paths of chains."""
