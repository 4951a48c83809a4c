"""A multimeter in this machine's supply, and counters of its processor: both simulated.

The marker tells the multimeter when the machine computes.
"""

import json
import os
import subprocess
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from command import joulemark, undisturbed
from joulemark.images.library import build_watch
from joulemark.runners.counters import Counters
from joulemark.simulated.instruments.agilent_34401a import SimulatedAgilent34401A
from joulemark.simulated.instruments.scpi import ScpiServer
from joulemark.simulated.supply import CurrentTrace, Floats

VOLT, IDLE_A, BUSY_A = 4.35, 0.15, 0.35
REPETITIONS = 60000
CYCLES, INSTRUCTIONS = 50, 70
PERF = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// In place of a kernel whose counters work: readings of empty windows and of others, in turn.
long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    struct perf_event_attr *what = va_arg(list, struct perf_event_attr *);
    int process = va_arg(list, int);
    va_end(list);
    if (number != SYS_perf_event_open || process == 0 || process == getpid()) {
        errno = EACCES;
        return -1;
    }
    uint64_t each = what->config == PERF_COUNT_HW_CPU_CYCLES ? CYCLES : INSTRUCTIONS;
    uint64_t values[] = {1000, 1000 + each * REPETITIONS};
    int file = memfd_create("counter", 0);
    for (int i = 0; i < 1000; i++)
        if (write(file, values, sizeof values) != sizeof values)
            return -1;
    lseek(file, 0, SEEK_SET);
    return file;
}
"""


class ThisMachine:
    """Its supply line, which carries more current between the marker's edges."""

    voltage_v = VOLT

    def __init__(self) -> None:
        self._end, other = os.openpty()
        tty.setraw(other)
        self.marker_name = os.ttyname(other)
        self._kept_open = other
        self._began_s = time.monotonic()
        self.edges_s: list[tuple[float, bool]] = []
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            for level in os.read(self._end, 1):
                self.edges_s.append((self.now_s, level == ord("1")))

    @property
    def now_s(self) -> float:
        return time.monotonic() - self._began_s

    def windows_s(self) -> list[float]:
        """Return the length of each window."""
        pairs = zip(self.edges_s, self.edges_s[1:], strict=False)
        return [end - start for (start, high), (end, _) in pairs if high]

    def mean_current_a(self, start_s: Floats, end_s: Floats) -> Floats:
        until = float(np.max(end_s))
        time.sleep(max(until - self.now_s, 0.0) + 0.02)
        known = list(self.edges_s)
        times = [0.0, *(at for at, _ in known), max(self.now_s, until)]
        currents = [IDLE_A, *(BUSY_A if high else IDLE_A for _, high in known)]
        return CurrentTrace(times, currents).mean_current_a(start_s, end_s)

    def marker(self, time_s: Floats) -> npt.NDArray[np.bool_]:
        raise AssertionError("a 34401A has no input for a marker")


@contextmanager
def multimeter(line: ThisMachine) -> Iterator[str]:
    server = ScpiServer(SimulatedAgilent34401A(line, seed=3))
    try:
        yield server.resource
    finally:
        server.close()


@pytest.mark.slow
def test_a_multimeter_measures_what_this_machine_draws_more(tmp_path: Path) -> None:
    line = ThisMachine()
    source, stub = tmp_path / "perf.c", tmp_path / "perf.so"
    source.write_text(PERF)
    numbers = {"CYCLES": CYCLES, "INSTRUCTIONS": INSTRUCTIONS, "REPETITIONS": REPETITIONS}
    defined = [f"-D{name}={value}" for name, value in numbers.items()]
    command = ["cc", "-shared", "-fPIC", *defined, str(source), "-o", str(stub)]
    subprocess.run(command, check=True)
    case = ("--primitive", "sha-256", "--implementation", "ref", "--operation", "hash")
    with multimeter(line) as resource:
        undisturbed(
            *("run", "--runner", "local", *case, "--size", "1024", "--runs", "2", "--seed", "1"),
            *("--meter", "agilent-34401a", "--resource", resource, "--range", "1"),
            *("--supply-v", str(VOLT), "--repetitions", str(REPETITIONS)),
            *("--marker-pin", line.marker_name),
            folder=tmp_path,
            LD_PRELOAD=str(stub),
        )
    joulemark("export", "--format", "json", "--out", "x.json", folder=tmp_path)
    (record,) = json.loads((tmp_path / "x.json").read_text())
    assert record["status"] == "ok", record["failure"]
    assert "window found in the current" in record["notes"]
    assert (record["cycles"], record["instructions"]) == (CYCLES, INSTRUCTIONS)
    # Before the two runs, others find how long one takes; before each is an empty window.
    for sample, window_s in zip(record["samples"], line.windows_s()[-3::2], strict=True):
        energy_j = VOLT * BUSY_A * window_s
        assert sample["gross_pj"] * 1e-12 * REPETITIONS == pytest.approx(energy_j, rel=0.03)
        net_j = VOLT * (BUSY_A - IDLE_A) * window_s
        assert sample["net_pj"] * 1e-12 * REPETITIONS == pytest.approx(net_j, rel=0.04)


def test_counters_work_or_say_why_not() -> None:
    counters = Counters(build_watch(), os.getpid())
    counters.start()
    sum(range(1000))
    counted = counters.stop()
    if counted is None:
        assert counters.why_not
    else:
        assert counted.instructions > 1000
