"""Architectures of Linux boards: how to compile programs for them here, and how to run those here.

The compilers are clang with Debian's libc6-dev-*-cross and libgcc-*-dev-*-cross, or Debian's cross
GCC. The emulator is QEMU in user mode, which runs a program correctly but does not model its time.
"""

import functools
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from joulemark.errors import InputError, ToolError
from joulemark.images import toolchain
from joulemark.images.toolchain import Compiler


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """An architecture that programs of Linux boards are compiled for."""

    name: str
    triple: str
    flags: tuple[str, ...]
    debian: str
    """Debian's name of the architecture."""
    qemu: tuple[str, ...]
    """The emulator's command, with a processor that has no more features than the board's, unless
    noted below."""

    @property
    def emulator(self) -> tuple[str, ...]:
        """The emulator's command.

        Raises:
            ToolError: it is not installed, or was built without plugin support.
        """
        if shutil.which(self.qemu[0]) is None:
            raise ToolError(f"no {self.qemu[0]}", mend="install the Debian package qemu-user")
        if not _takes_plugins(self.qemu[0]):
            mend = "use that of Debian's package qemu-user"
            raise ToolError(f"this {self.qemu[0]} was built without plugins", mend=mend)
        return self.qemu

    def compiler(self, name: str) -> tuple[Compiler, tuple[str, ...]]:
        """Return a compiler for the architecture, and its flags.

        Args:
            name: `clang`, `gcc` or the name of a clang.

        Raises:
            ToolError: the compiler is not installed, or lacks libraries.
        """
        if name == "gcc":
            program = f"{self.triple}-gcc"
            path = shutil.which(program)
            if path is None:
                mend = f"install the Debian package gcc-{self.triple}"
                raise ToolError(f"no {program}", mend=mend)
            return Compiler("gcc", path, toolchain.version(path)), (*self.flags, "-static")
        found = toolchain.find(name, "host")
        folders = sorted(Path("/usr/lib/gcc-cross", self.triple).glob("*/libgcc.a"))
        sysroot = Path("/usr", self.triple)
        if not folders or not (sysroot / "lib" / "libc.a").is_file():
            packages = f"libc6-dev-{self.debian}-cross libgcc-12-dev-{self.debian}-cross"
            raise ToolError(f"no libraries for {self.name}", mend=f"install {packages}")
        return found, (
            f"--target={self.triple}",
            f"--gcc-install-dir={folders[-1].parent}",
            f"-isystem{sysroot}/include",
            f"-B{sysroot}/lib",
            f"-L{sysroot}/lib",
            *self.flags,
            "-static",
            "-fuse-ld=lld",
            # Some of these flags are used only when linking.
            "-Wno-unused-command-line-argument",
        )


@functools.cache
def _takes_plugins(program: str) -> bool:
    done = subprocess.run([program, "-h"], capture_output=True, text=True, check=False)
    return "-plugin" in done.stdout


_ALL = (
    Architecture(
        name="armv6",
        triple="arm-linux-gnueabi",
        flags=("-march=armv6kz", "-mtune=arm1176jzf-s", "-mfloat-abi=soft", "-marm"),
        debian="armel",
        qemu=("qemu-arm", "-cpu", "arm1176"),
    ),
    Architecture(
        name="armv7",
        triple="arm-linux-gnueabihf",
        flags=("-march=armv7-a", "-mfpu=vfpv3-d16", "-mfloat-abi=hard", "-mthumb"),
        debian="armhf",
        qemu=("qemu-arm", "-cpu", "cortex-a7"),
    ),
    # The AArch32 state of ARMv8-A. Among QEMU's 32-bit processors only "max" has it. It has more
    # features than the A53, but the compiler's flags keep code from using them.
    Architecture(
        name="armv8",
        triple="arm-linux-gnueabi",
        flags=("-march=armv8-a+crc", "-mtune=cortex-a53", "-mfloat-abi=soft", "-marm"),
        debian="armel",
        qemu=("qemu-arm", "-cpu", "max"),
    ),
    Architecture(
        name="aarch64",
        triple="aarch64-linux-gnu",
        flags=("-mcpu=cortex-a53",),
        debian="arm64",
        qemu=("qemu-aarch64", "-cpu", "cortex-a53"),
    ),
    Architecture(
        name="i686",
        triple="i686-linux-gnu",
        flags=("-march=i686", "-mtune=silvermont"),
        debian="i386",
        qemu=("qemu-i386", "-cpu", "n270"),
    ),
)
ARCHITECTURES = {one.name: one for one in _ALL}


def made_for(flags: str, names: Iterable[str]) -> str:
    """Return the architecture that a program was compiled for, or "" if it is none of these.

    Args:
        flags: the flags that its compiler was given.
        names: names of the architectures that its machine executes.
    """
    given = set(flags.split())
    known = (ARCHITECTURES[name] for name in names if name in ARCHITECTURES)
    return next((one.name for one in known if given.issuperset(one.flags)), "")


def architecture(name: str) -> Architecture:
    """Return an architecture by its name.

    Raises:
        InputError: no architecture has that name.
    """
    if name not in ARCHITECTURES:
        mend = f"there are {', '.join(ARCHITECTURES)}"
        raise InputError(f"no such architecture: {name}", mend=mend)
    return ARCHITECTURES[name]
