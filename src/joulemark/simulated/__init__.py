"""An emulated bench: a board's true current, and simulated instruments that speak real protocols.

What reads the instruments cannot tell the bench from hardware, and the true energy is known: the
error of a way to measure can be measured.
"""
