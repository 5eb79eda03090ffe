"""Counting: rates and shares of words and labels."""
