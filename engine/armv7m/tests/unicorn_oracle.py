"""Run single instructions and short sequences in Unicorn and report the state that they leave.

Reads cases from standard input until it ends and writes one answer for each, both in the fixed
binary layout that `src/oracle.rs` states. The argument `m4` asks for a Cortex-M4, `m4f` for one of
which S0 to S31 and FPSCR follow the flags, `m3` for a Cortex-M3, `m0` for a Cortex-M0.
"""

import struct
import sys

from unicorn import (
    UC_ARCH_ARM,
    UC_MODE_MCLASS,
    UC_MODE_THUMB,
    UC_PROT_EXEC,
    UC_PROT_READ,
    Uc,
    UcError,
)
from unicorn.arm_const import (
    UC_ARM_REG_FPSCR,
    UC_ARM_REG_LR,
    UC_ARM_REG_PC,
    UC_ARM_REG_R0,
    UC_ARM_REG_R1,
    UC_ARM_REG_R2,
    UC_ARM_REG_R3,
    UC_ARM_REG_R4,
    UC_ARM_REG_R5,
    UC_ARM_REG_R6,
    UC_ARM_REG_R7,
    UC_ARM_REG_R8,
    UC_ARM_REG_R9,
    UC_ARM_REG_R10,
    UC_ARM_REG_R11,
    UC_ARM_REG_R12,
    UC_ARM_REG_S0,
    UC_ARM_REG_SP,
    UC_ARM_REG_XPSR,
    UC_CPU_ARM_CORTEX_M0,
    UC_CPU_ARM_CORTEX_M3,
    UC_CPU_ARM_CORTEX_M4,
)

CODE = 0x1000
DATA = 0x2000_0000
DATA_BYTES = 0x1000
REGISTERS = (
    UC_ARM_REG_R0,
    UC_ARM_REG_R1,
    UC_ARM_REG_R2,
    UC_ARM_REG_R3,
    UC_ARM_REG_R4,
    UC_ARM_REG_R5,
    UC_ARM_REG_R6,
    UC_ARM_REG_R7,
    UC_ARM_REG_R8,
    UC_ARM_REG_R9,
    UC_ARM_REG_R10,
    UC_ARM_REG_R11,
    UC_ARM_REG_R12,
    UC_ARM_REG_SP,
    UC_ARM_REG_LR,
)
FLOATS = (*range(UC_ARM_REG_S0, UC_ARM_REG_S0 + 32), UC_ARM_REG_FPSCR)
CASE = struct.Struct("<II32s15II")
ANSWER = struct.Struct("<I16II")


def main() -> None:
    """Answer every case on standard input."""
    machine = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
    kind = sys.argv[1]
    models = {"m0": UC_CPU_ARM_CORTEX_M0, "m3": UC_CPU_ARM_CORTEX_M3}
    model = models.get(kind, UC_CPU_ARM_CORTEX_M4)
    floats = FLOATS if kind == "m4f" else ()
    shape = struct.Struct(f"<{len(floats)}I")
    machine.ctl_set_cpu_model(model)
    machine.mem_map(0, 0x10000, UC_PROT_READ | UC_PROT_EXEC)
    machine.mem_map(DATA, 0x10000)
    pattern = bytes((i * 7 + (i >> 5)) & 0xFF for i in range(DATA_BYTES))
    if floats:
        # The first of these instructions begins a context, which clears FPSCR: VMOV.F32 S0, S0.
        machine.mem_write(CODE, b"\xb0\xee\x40\x0a")
        machine.emu_start(CODE | 1, 0, count=1)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while len(record := source.read(CASE.size)) == CASE.size:
        count, until, code, *rest = CASE.unpack(record)
        registers, flags = rest[:15], rest[15]
        machine.mem_write(CODE, code)
        machine.ctl_remove_cache(CODE, CODE + len(code))
        machine.mem_write(DATA, pattern)
        for register, value in zip(REGISTERS, registers, strict=True):
            machine.reg_write(register, value)
        machine.reg_write(UC_ARM_REG_XPSR, flags | 1 << 24)
        for register, value in zip(floats, shape.unpack(source.read(shape.size)), strict=True):
            machine.reg_write(register, value)
        failed = 0
        try:
            machine.emu_start(CODE | 1, until, count=count)
        except UcError:
            failed = 1
        values = [machine.reg_read(register) for register in REGISTERS]
        values.append(machine.reg_read(UC_ARM_REG_PC))
        sink.write(ANSWER.pack(failed, *values, machine.reg_read(UC_ARM_REG_XPSR)))
        sink.write(shape.pack(*(machine.reg_read(register) for register in floats)))
        sink.write(machine.mem_read(DATA, DATA_BYTES))
    sink.flush()


main()
