"""A power monitor for Zephyr's test runner that needs no board: docs/twister.md.

Twister's power harness asks a `PowerMonitor` for the supply current while a program goes through
its phases, and computes the RMS current of each. Here an emulated board runs the program's image.
"""

from joulemark.twister.monitor import EmulatedPowerMonitor

__all__ = ["EmulatedPowerMonitor"]
