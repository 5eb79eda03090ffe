"""Training: passes over sequences, from scores to gradients and steps."""
