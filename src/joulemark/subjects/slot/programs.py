"""Images of a root and a leaf that use every slot; their templates are changed in place."""

import struct

from joulemark.errors import InputError
from joulemark.images import BuiltImage, Sources, build_program
from joulemark.images.constants import with_constants
from joulemark.subjects.slot import AHEAD, SlotSubject
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.template import Template

PROGRAM = "net/tsch-ping"
SECURITY = "net/ieee802154/security"
SMALLEST_TABLE = 10
"""Capacity of a small network's device table."""


def images(
    case: SlotCase, template: Template, end: int, sources: Sources
) -> tuple[BuiltImage, BuiltImage]:
    """Build the root's and the leaf's image.

    Raises:
        BuildError: they cannot be built.
        InputError: the board has no radio driver, or a value is wrong.
    """
    root, leaf = (image_of(case, template, mote, end, sources) for mote in (1, 2))
    return root, leaf


def image_of(
    case: SlotCase, template: Template, mote: int, end: int, sources: Sources, *, bare: bool = False
) -> BuiltImage:
    """Build a mote's image; with `bare`, without security.

    Raises:
        BuildError: it cannot be built.
        InputError: the board has no radio driver, or a value is wrong.
    """
    if case.subject.dma and case.board.core != "msp430":
        raise InputError(f"there is no bus to the radio of {case.board.name}", "--dma", "leave it")
    secured = case.subject.level > 0 and not bare
    define = macros(case.subject, template, end) | {"MOTE": mote}
    return build_program(
        PROGRAM,
        case.board,
        without=() if secured else (SECURITY,),
        wiring=wiring(case.subject),
        define=define if secured else define | {"TSCH_LEVEL": 0},
        clock=case.clock,
        compiler=case.build.compiler,
        optimisation=case.build.optimisation,
        sources=sources,
    )


def wiring(subject: SlotSubject) -> dict[str, str]:
    """Return the parts behind the program's interfaces.

    Raises:
        InputError: there is no such strategy.
    """
    return {
        "ccm-star": f"net/ccm-star/{_wired(subject)}",
        "boots": "boots/none",
        "block-cipher": f"primitives/block-cipher/aes/{subject.cipher or 'ref'}",
    }


def macros(subject: SlotSubject, template: Template, end: int) -> dict[str, int]:
    """Return the program's macros, except the mote's number; `end`: the slot in which it ends."""
    return {
        **template.macros,
        "TSCH_LEVEL": subject.level,
        "TSCH_KEY_ID_MODE": subject.key_id_mode,
        "TSCH_COUNTER_CARRIED": int(subject.counter_carried),
        "TSCH_TABLES_FULL": 1,
        "CCM_KEEPS_SCHEDULE": int(subject.keys_stay),
        "RADIO_KEYS_STAY": int(subject.keys_stay),
        "CCM_STREAMED": int(subject.streamed),
        "TSCH_AHEAD": AHEAD.index(subject.ahead),
        "TSCH_BRIEF_ACKNOWLEDGEMENTS": int(subject.brief),
        "TSCH_IDLE_SLOTS": 0,
        "SECURITY_DEVICES": max(SMALLEST_TABLE, subject.motes - 1),
        "RADIO_DMA": int(subject.dma),
        "RADIO_PLAIN": int(subject.plain),
        "PING_SLOTS": end,
    }


def _wired(subject: SlotSubject) -> str:
    """Return the part that implements a strategy.

    Raises:
        InputError: there is none.
    """
    in_software = subject.strategy == "software"
    if subject.streamed and subject.strategy == "hybrid":
        raise InputError("a hybrid cannot unsecure while it receives", "--streamed")
    if subject.ahead == "keystream" and not (in_software and subject.streamed):
        mend = "use it with --strategy software --streamed"
        raise InputError("no key stream can be made ahead", "--ahead keystream", mend)
    if in_software and subject.streamed and not subject.keys_stay:
        mend = "add --keys-stay"
        raise InputError("keys stay expanded where frames are streamed", "--streamed", mend)
    return "stream" if in_software and subject.streamed else subject.strategy


def spacing(subject: SlotSubject) -> int:
    """Return n where one slot in n has a link; the others are idle."""
    return 2 if subject.ahead == "frame" else 1


def with_template(case: SlotCase, image: BuiltImage, template: Template, end: int) -> BuiltImage:
    """Return an image patched with another template and end: the search builds nothing."""
    return with_constants(
        image,
        {
            "timing": struct.pack("<5H", *vars(template).values()),
            "ping_slots": struct.pack("<I", end),
        },
    )
