"""Taggers of text: any tagger of the library, from texts to spans."""
