"""Specifications as Python: what oracles and auditors compute with where no library does.

None of it shares code with the firmware that it judges, nor is it meant to be fast.
"""
