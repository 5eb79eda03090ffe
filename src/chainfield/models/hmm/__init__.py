"""Hidden Markov models and hidden CRFs: everything that only whole-sequence models of numbers need."""
