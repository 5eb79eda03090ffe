"""Hidden units between features and labels."""
