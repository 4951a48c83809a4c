"""The battery that is assumed where none is given."""

DEFAULT_MAH = 2000.0
"""Two alkaline AA cells in series, drained slowly: an assumption, as in the shipped scenarios."""
DEFAULT_V = 3.0
