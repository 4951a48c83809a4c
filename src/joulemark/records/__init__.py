"""What came out: records, and the store that keeps them."""
