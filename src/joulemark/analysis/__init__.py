"""Statistics and advice from records; nothing here starts a run."""
