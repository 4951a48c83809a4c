"""A mote's serial line on its own terminal: typed input reaches it, and it answers."""

import os
import re
import subprocess
import sys
from pathlib import Path

from joulemark import ready

# USART1 as a UART: MSP430x1xx family user's guide, SLAU049F, section 13.3; its pins and interrupt
# flags: MSP430F161x, SLAS368G.
ECHO = """
    .global start
    .text
start:
    mov.w #0x5a80, &0x0120  ; WDTCTL: hold
    bis.b #0xc0, &0x001b    ; P3SEL: UTXD1, URXD1
    mov.b #0x01, &0x0078    ; U1CTL: SWRST
    mov.b #0x11, &0x0078    ; and eight bits
    mov.b #0x20, &0x0079    ; U1TCTL: SMCLK
    mov.b #0x08, &0x007c    ; U1BR0
    mov.b #0x00, &0x007d    ; U1BR1
    mov.b #0x00, &0x007b    ; U1MCTL
    mov.b #0x30, &0x0005    ; ME2: UTXE1, URXE1
    mov.b #0x10, &0x0078
1:  bit.b #0x10, &0x0003    ; IFG2: URXIFG1
    jz 1b
    mov.b &0x007e, r4       ; U1RXBUF
2:  bit.b #0x20, &0x0003    ; IFG2: UTXIFG1
    jz 2b
    mov.b r4, &0x007f       ; U1TXBUF
    jmp 1b
    .section .vectors, "a"
    .word start
"""
NETWORK = """
title = "echo"
[[mote]]
name = "parrot"
board = "telosb"
image = "echo.elf"
"""
SECONDS = 60


def read(descriptor: int) -> bytes:
    """Return a descriptor's next output, or nothing if it is silent for long."""
    return os.read(descriptor, 4096) if ready.to_read(descriptor, SECONDS) else b""


def test_what_is_typed_on_a_motes_terminal_reaches_it_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "echo.S").write_text(ECHO)
    assemble = ["clang-19", "--target=msp430-none-elf", "-c", "echo.S", "-o", "echo.o"]
    subprocess.run(assemble, cwd=tmp_path, check=True)
    link = ["ld.lld-19", "--section-start=.text=0x4000", "--section-start=.vectors=0xfffe"]
    subprocess.run([*link, "-e", "start", "echo.o", "-o", "echo.elf"], cwd=tmp_path, check=True)
    (tmp_path / "network.toml").write_text(NETWORK)
    command = [str(Path(sys.executable).with_name("joulemark")), "network", "network.toml"]
    # It runs until someone ends it.
    options = ["--uart", "pty", "--for", "24h", "--quiet"]
    with subprocess.Popen([*command, *options], cwd=tmp_path, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = read(process.stderr.fileno()).decode()
        found = re.fullmatch(r"parrot: (/dev/pts/\d+)\n", said)
        assert found is not None, said
        line = os.open(found[1], os.O_RDWR | os.O_NOCTTY)
        try:
            os.write(line, b"hello\x00\r\xff\n")
            answer = b""
            while not answer.endswith(b"\n") and (more := read(line)):
                answer += more
        finally:
            os.close(line)
            process.kill()
    # Unchanged: a terminal's line processing does not intervene.
    assert answer == b"hello\x00\r\xff\n"
