"""Statistics and advice from records, without starting runs."""
