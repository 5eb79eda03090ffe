"""Empirical training: models by counting."""
