"""Variants of the same slot: what each change would gain."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from joulemark.project import FIRMWARE
from joulemark.subjects.slot import SlotSubject
from joulemark.subjects.slot.case import SlotCase

CIPHERS = Path("primitives/block-cipher/aes")
CONSTANT_TIME = "bitslice"


def what_ifs(case: SlotCase) -> Iterator[tuple[str, SlotCase]]:
    """Yield changes to a slot by name: one at a time, with whatever each requires."""
    if case.subject.level == 0:
        return
    for name, subject in _changes(case.subject, case.board.core):
        if subject != case.subject:
            yield name, replace(case, subject=subject)


def _changes(subject: SlotSubject, core: str) -> Iterator[tuple[str, SlotSubject]]:
    in_software = subject.strategy == "software"
    stays = replace(subject, keys_stay=True)
    if core == "msp430":
        yield "bus to the radio by DMA", replace(subject, dma=True)
    yield "key schedule cached" if in_software else "key kept in the radio", stays
    if in_software:
        if (FIRMWARE / CIPHERS / core).is_dir():
            yield f"AES in assembly ({core})", replace(subject, cipher=core)
        yield "AES in constant time", replace(subject, cipher=CONSTANT_TIME)
    if subject.strategy != "hybrid":
        stays = replace(stays, streamed=True)
        yield "unsecured while it arrives", stays
    if in_software:
        yield "key stream ahead while it waits", replace(stays, ahead="keystream")
    yield "made ahead in an idle slot", replace(stays, ahead="frame")
