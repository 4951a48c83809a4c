"""The marker of a Linux board: a pin that is high during a window."""

import os
import pty
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import joulemark
from joulemark.campaign.job import LOCAL, Setup
from joulemark.catalogue.primitives import Library
from joulemark.errors import InputError, LinkError
from joulemark.images import build_local
from joulemark.measure.bench import Bench
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Flag, Status
from joulemark.subjects.library.options import LibraryOptions
from joulemark.subjects.library.plan import LibraryJob, plan
from joulemark.subjects.library.session import LibraryBench, LibrarySession
from joulemark.subjects.primitive.options import PrimitiveOptions

CHIP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// In place of a kernel with GPIO: the chip is the file that CHIP names, its line 17 a log.
static int line = -1;

int ioctl(int file, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (request == GPIO_V2_GET_LINE_IOCTL) {
        struct gpio_v2_line_request *asked = argument;
        if (asked->num_lines != 1 || asked->offsets[0] != 17 ||
            asked->config.flags != GPIO_V2_LINE_FLAG_OUTPUT ||
            strcmp(asked->consumer, "joulemark") != 0)
            return -1;
        asked->fd = line = open(getenv("CHIP_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        return 0;
    }
    if (request == GPIO_V2_LINE_SET_VALUES_IOCTL && file == line) {
        struct gpio_v2_line_values *values = argument;
        if (values->mask != 1)
            return -1;
        return write(line, values->bits ? "1" : "0", 1) == 1 ? 0 : -1;
    }
    int (*real)(int, unsigned long, void *) = (int (*)(int, unsigned long, void *))dlsym(
        RTLD_NEXT, "ioctl");
    return real(file, request, argument);
}
"""


@pytest.fixture(scope="module")
def job() -> LibraryJob:
    campaign = LibraryOptions(library=("openssl",), algorithm=("md5",), operation=("hash",), seed=1)
    (made,) = plan(campaign, Setup(runner=LOCAL, runs=2))
    return made


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    """The other end of a terminal, and its name."""
    ours, theirs = pty.openpty()
    settings = termios.tcgetattr(theirs)
    settings[1] = settings[3] = 0
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    yield ours, os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def measured(job: LibraryJob, marker: str | None) -> tuple[str, ...]:
    """Return the notes of a row that was measured in short windows."""
    with LibrarySession(job, LibraryBench(instrument=None, seconds=0.01, marker=marker)) as one:
        (record,) = one.records()
    assert record.failure is None
    return record.notes


def test_windows_of_a_library_are_marked(job: LibraryJob, terminal: tuple[int, str]) -> None:
    end, name = terminal
    notes = measured(job, name)
    (note,) = [note for note in notes if "was high while a window lasted" in note]
    assert note.startswith(name)
    edges = os.read(end, 4096)
    # Low at first; then each run goes up and down: some to find how long it takes, and two.
    assert edges[:1] == b"0"
    assert edges[1:] == b"10" * ((len(edges) - 1) // 2)
    assert len(edges) >= 5
    assert not any("while a window lasted" in note for note in measured(job, None))


def test_a_line_of_the_character_device(
    job: LibraryJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, stub = tmp_path / "chip.c", tmp_path / "chip.so"
    source.write_text(CHIP)
    command = ["cc", "-shared", "-fPIC", str(source), "-o", str(stub), "-ldl"]
    subprocess.run(command, check=True)
    chip, log = tmp_path / "gpiochip0", tmp_path / "line17"
    chip.touch()
    monkeypatch.setenv("LD_PRELOAD", str(stub))
    monkeypatch.setenv("CHIP_LOG", str(log))
    measured(job, f"{chip}:17")
    edges = log.read_bytes()
    assert edges == b"10" * (len(edges) // 2)
    assert len(edges) >= 4
    other = LibraryBench(instrument=None, seconds=0.01, marker=f"{chip}:18")
    with LibrarySession(job, other) as one:
        (record,) = one.records()
    assert "the line cannot be had" in (record.failure or "")


@pytest.mark.parametrize(
    ("marker", "why"),
    [
        ("/no/gpiochip0:17", "/no/gpiochip0:17: the chip cannot be opened: No such file"),
        ("/dev/null:x", "a line is a number"),
        ("/dev/null:17", "the line cannot be had"),
        ("/no/value", "it cannot be opened: No such file"),
    ],
)
def test_a_pin_that_cannot_be_had_is_a_failed_case(job: LibraryJob, marker: str, why: str) -> None:
    with LibrarySession(job, LibraryBench(instrument=None, seconds=0.01, marker=marker)) as one:
        (record,) = one.records()
    assert record.status == "failed"
    assert why in (record.failure or "")


def test_windows_of_a_primitive_are_marked(terminal: tuple[int, str]) -> None:
    end, name = terminal
    library = Library.load()
    image = build_local(library.implementation(library["sha-256"], "ref"))
    with LocalLink(image.path, marker=name) as link:
        device = Device(link)
        assert os.read(end, 16) == b"0"
        assert device.run("hash", Flag.NONE, 3).status is Status.OK
        assert os.read(end, 16) == b"10"
    with LocalLink(image.path, marker="/no/value") as link:
        device = Device(link)
        with pytest.raises(LinkError, match="it cannot be opened"):
            device.run("hash", Flag.NONE)


def test_the_pin_is_this_machines() -> None:
    with pytest.raises(InputError, match="give --runner local"):
        Bench(marker="/dev/gpiochip0:17").check(PrimitiveOptions)
    told = joulemark("run", "--marker-pin", "/dev/gpiochip0:17", code=3)
    assert "it is a pin of this machine" in told.stderr
    told = joulemark(
        *("run", "--runner", "local", "--library", "openssl", "--marker-pin", "/no/gpiochip0:17"),
        code=3,
    )
    assert "--marker-pin /no/gpiochip0:17: this machine has no such pin" in told.stderr
