"""Records of results, and their store."""
