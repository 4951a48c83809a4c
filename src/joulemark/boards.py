"""Boards: what a person can buy, as data."""

from joulemark.datafile import DataModel


class Board(DataModel):
    """A board file."""

    chip: str
