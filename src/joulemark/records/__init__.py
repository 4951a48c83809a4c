"""Results: records, and the store that keeps them."""
