"""Measures cases: inputs in, windows, outputs verified, a record out."""
