"""Benchmarks, a module each, and what they share."""
