"""RIOT: the table `sched_threads`, by process number."""

from collections.abc import Iterator

from joulemark.images.systems import Memory, Thread

NAME = "RIOT"
LISTS = "sched_threads"
UNITS = ("core/sched.c", "core/thread.c")

_THREAD = ("_thread",)


def threads(memory: Memory) -> Iterator[Thread | str]:
    """Yield the threads (core/include/thread.h). Their control blocks are in their stacks."""
    why = "was built without DEVELHELP, which keeps where stacks are and their sizes"
    start = memory.member(_THREAD, "stack_start", why)
    size = memory.member(_THREAD, "stack_size", why)
    name = memory.structure(*_THREAD).get("name")
    table = memory.symbols[LISTS]
    for number in range(table.size // 4):
        at = memory.number(table.address + 4 * number)
        if at:
            text = memory.text(memory.number(at + name.offset)) if name is not None else ""
            lowest = memory.number(at + start.offset)
            length = memory.number(at + size.offset, size.size)
            # Each word is filled with its own address.
            unused = memory.filled(lowest, length, None)
            yield Thread(text or f"thread {number}", lowest, length, unused)
