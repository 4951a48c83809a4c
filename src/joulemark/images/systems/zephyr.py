"""Zephyr: the list of all threads that CONFIG_THREAD_MONITOR keeps in `_kernel.threads`."""

from collections.abc import Iterator

from joulemark.images.systems import Memory, Thread

NAME = "Zephyr"
LISTS = "_kernel"
UNITS = ("kernel/init.c", "kernel/sched.c", "kernel/thread.c")

_KERNEL = ("z_kernel",)
_THREAD = ("k_thread",)

_FILL = 0xAAAA_AAAA
"""Under CONFIG_INIT_STACKS."""


def threads(memory: Memory) -> Iterator[Thread | str]:
    """Yield the threads (include/zephyr/kernel/thread.h), and what is not known of some."""
    monitor = "was built without CONFIG_THREAD_MONITOR, which keeps a list of threads"
    first = memory.member(_KERNEL, "threads", monitor)
    following = memory.member(_THREAD, "next_thread", monitor)
    stack = "was built without CONFIG_THREAD_STACK_INFO, which keeps where stacks are"
    start = memory.member(_THREAD, "stack_info.start", stack)
    size = memory.member(_THREAD, "stack_info.size", stack)
    members = memory.structure(*_THREAD)
    name = members.get("name")
    at = memory.number(memory.address(LISTS) + first.offset)
    while at:
        text = memory.text(at + name.offset, name.size) if name is not None else ""
        lowest = memory.number(at + start.offset)
        length = memory.number(at + size.offset, size.size)
        unused = memory.filled(lowest, length, _FILL)
        yield Thread(text or f"thread {at:#x}", lowest, length, unused)
        at = memory.number(at + following.offset)
