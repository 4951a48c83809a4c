"""Our primitives compiled for Linux boards give what the standards say, under QEMU in user mode."""

import pytest

from joulemark.errors import InputError, ToolError
from joulemark.images import build_local
from joulemark.images.architectures import ARCHITECTURES, architecture
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device
from vectors import IMPLEMENTATIONS, Subject, check_published_vector

EVERY = 24
"""One implementation in this many: all take minutes (docs/linux-boards.md has the count)."""
SOME = [w for w in IMPLEMENTATIONS if w.algorithm.vectors and w.runs_on("host")][::EVERY]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_published_vectors(name: str) -> None:
    made = architecture(name)
    tried = 0
    for way in SOME:
        image = build_local(way, optimisation="O2", architecture=made)
        with LocalLink(image.path, through=made.emulator) as link:
            subject = Subject(way, Device(link))
            for vector in subject.algorithm.vectors:
                check_published_vector(subject, vector)
                tried += 1
    assert tried > len(SOME)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="there are armv6, armv7, armv8, aarch64, i686"):
        architecture("vax")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolError, match="gcc-aarch64-linux-gnu"):
        architecture("aarch64").compiler("gcc")
    with pytest.raises(ToolError, match="qemu-user"):
        _ = architecture("aarch64").emulator
