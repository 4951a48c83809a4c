"""How a number of a network is made again."""

from joulemark import words
from joulemark.catalogue import networks
from joulemark.records.record import Record
from joulemark.subjects.network import NetworkSubject


def command(record: Record[NetworkSubject]) -> str:
    """Return the command that runs the network again; empty for a user's own file."""
    what = record.subject
    options = {"for": f"{what.duration_ms}ms"}
    is_known = what.network in networks.names()
    return words.command("network", what.network, options=options) if is_known else ""
