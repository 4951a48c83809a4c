"""Instruments that speak SCPI, over any line that VISA knows: one module an instrument."""
