"""A refusal takes as long, and touches the same addresses, wherever the authenticator is wrong.

A comparison that stops at the first difference tells an attacker how much of a forgery is right.
"""

from build_checks import Build, check
from build_checks.residue import keeps_secrets, refuses
from joulemark.catalogue import chips
from joulemark.catalogue.kinds import Exchange
from joulemark.runners.protocol import Status
from vectors import drawn

MESSAGE_BYTES = 21


def wrong(put: Exchange, slot: str) -> list[Exchange]:
    """Return exchanges with an authenticator that is wrong in its first byte, its last, in all."""
    right = put.inputs[slot]
    masks = [b"\x80" + bytes(len(right) - 1), bytes(len(right) - 1) + b"\x01", b"\xff" * len(right)]
    forged = (bytes(a ^ b for a, b in zip(right, mask, strict=True)) for mask in masks)
    return [Exchange({**put.inputs, slot: data}, put.expected) for data in forged]


def told_by_refusals(build: Build) -> list[str]:
    """Return the operations whose refusals differ in time or addresses."""
    board, found = build.board, []
    values = drawn(build.algorithm, MESSAGE_BYTES, MESSAGE_BYTES)
    warm = chips.load_chip(board.chip).memories_keep_state
    for name, operation in build.algorithm.contract.measured.items():
        if not keeps_secrets(operation):
            continue
        machine, device = build.of.start(build.image)
        forged = wrong(build.algorithm.contract.put(name, values), operation.refuses[-1])
        windows = []
        # Fetches in flight when a window begins arrive later the first time.
        for put in [*forged[:1], *forged] if warm else forged:
            for slot, data in put.inputs.items():
                device.write(slot, data)
            assert device.run(name).status is Status.BAD_TAG
            windows.append(machine.take_window())
        seen = {(window.cycles, window.addresses) for window in windows[1 if warm else 0 :]}
        if len(seen) > 1:
            found.append(f"{name}: {sorted(cycles for cycles, _ in seen)} cycles")
    return found


@check(refuses)
def a_refusal_tells_nothing(build: Build) -> None:
    assert told_by_refusals(build) == []
