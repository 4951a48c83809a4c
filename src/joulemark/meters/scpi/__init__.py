"""SCPI instruments over any interface that VISA supports: one module per instrument."""
