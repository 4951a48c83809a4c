"""An emulated bench: a board's true current, and simulated instruments that speak real protocols.

The drivers cannot tell the bench from hardware, and the true energy is known, so the error of a
measurement method can itself be measured.
"""
