"""Text: column files, strings, templates, characters."""
