"""FreeRTOS: the lists of ready, delayed and suspended tasks of `tasks.c`."""

from collections.abc import Iterator

from joulemark.images.systems import MOST_THREADS, Memory, Thread, UnlistedError

NAME = "FreeRTOS"
LISTS = "pxReadyTasksLists"
UNITS = ("tasks.c",)

_LIST = ("xLIST",)
_ITEM = ("xLIST_ITEM",)
_TASK = ("tskTaskControlBlock", "TCB_t")
_OTHERS = (
    "xDelayedTaskList1",
    "xDelayedTaskList2",
    "xPendingReadyList",
    "xSuspendedTaskList",
    "xTasksWaitingTermination",
)
_ALLOCATED = 1 << 31
"""Marks a block of heap_4.c and heap_5.c that is in use."""

_FILL = 0xA5A5_A5A5
"""tskSTACK_FILL_BYTE, where an option needs it: INCLUDE_uxTaskGetStackHighWaterMark is one."""


def threads(memory: Memory) -> Iterator[Thread | str]:
    """Yield the tasks, and those whose stacks' ends are nowhere."""
    members = memory.structure(*_TASK)
    ready = memory.symbols[LISTS]
    size = _size_of_list(memory)
    lists = [ready.address + at for at in range(0, ready.size, size)]
    lists += [memory.symbols[name].address for name in _OTHERS if name in memory.symbols]
    tasks = dict.fromkeys(task for one in lists for task in _tasks(memory, one))
    starts = {task: memory.number(task + members["pxStack"].offset) for task in tasks}
    for task, start in starts.items():
        name = memory.text(task + members["pcTaskName"].offset, members["pcTaskName"].size)
        end = _end(memory, task, start)
        if end is None:
            yield (
                f"stack of task {name}: neither its control block (configRECORD_STACK_HIGH_ADDRESS)"
                " nor an array nor heap_4's or heap_5's block says where it ends"
            )
        else:
            # Several stacks may be one array.
            end = min([end, *(other for other in starts.values() if other > start)])
            yield Thread(name, start, end - start, memory.filled(start, end - start, _FILL))


def _size_of_list(memory: Memory) -> int:
    """Return the size of a list: its last member ends it, or a word that checks it."""
    return max(one.offset + one.size for one in memory.structure(*_LIST).values())


def _tasks(memory: Memory, at: int) -> Iterator[int]:
    """Yield the control blocks in a list (list.h): a ring around its member `xListEnd`."""
    end = at + memory.structure(*_LIST)["xListEnd"].offset
    item = memory.structure(*_ITEM)
    here = memory.number(end + item["pxNext"].offset)
    for _ in range(MOST_THREADS):
        # A list that the scheduler has not made yet is all zeros.
        if here in (0, end):
            return
        yield memory.number(here + item["pvOwner"].offset)
        here = memory.number(here + item["pxNext"].offset)
    raise UnlistedError("has a list of tasks without an end")


def _end(memory: Memory, task: int, start: int) -> int | None:
    """Return the address behind a task's stack: by its control block, array, or heap's block."""
    if (highest := memory.structure(*_TASK).get("pxEndOfStack")) is not None:
        return memory.number(task + highest.offset) + 4
    for one in memory.symbols.values():
        is_heap = one == memory.symbols.get("ucHeap")
        if not is_heap and one.address <= start < one.address + one.size:
            return one.address + one.size
    if "ucHeap" not in memory.symbols:
        return None
    # A block's header is before it: the next free block, and its own size with the header's.
    header = memory.number(start - 4)
    return start - 8 + (header & ~_ALLOCATED) if header & _ALLOCATED else None
