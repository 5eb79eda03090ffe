"""What all experiments share: corpora, results, scores, the command line."""
