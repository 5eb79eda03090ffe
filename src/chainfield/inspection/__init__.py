"""Looking inside: why a tagger gave a label, and what hidden states and units stand for."""
