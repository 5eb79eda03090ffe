"""One module an experiment; each defines EXPERIMENT. Names with a leading underscore are for shared parts."""
