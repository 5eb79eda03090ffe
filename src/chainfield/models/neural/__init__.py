"""Neural CRFs: a network over words, with a chain on top. Training and prediction need torch."""
