"""Measure cases: load inputs, run windows, verify outputs, make records."""
