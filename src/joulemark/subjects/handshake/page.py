"""How a number of a handshake over the air is made again."""

from joulemark import words
from joulemark.catalogue import networks
from joulemark.records.record import Record
from joulemark.subjects.handshake import HandshakeSubject


def command(record: Record[HandshakeSubject]) -> str:
    """Return the command that runs the handshake's network again; empty for a user's own file."""
    name = record.subject.network
    is_known = name in networks.names()
    return words.command("handshake", options={"network": name}) if is_known else ""
