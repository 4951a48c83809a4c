"""Joulemark: what security costs on a constrained device."""
