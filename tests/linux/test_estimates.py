"""The models of in-order cores, and estimates by them."""

import ctypes
import json
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from unittest.mock import Mock

import pytest

from command import joulemark
from joulemark import oracles
from joulemark.campaign.estimates import ESTIMATE
from joulemark.campaign.job import Setup
from joulemark.catalogue import machines
from joulemark.errors import BuildError, InputError, ToolError
from joulemark.images.architectures import ARCHITECTURES, Architecture
from joulemark.images.plugin import FOLDER
from joulemark.images.sysroot import OLDER_COMPILERS, Release, older_compiler, sysroot
from joulemark.measure.estimated import MODELS
from joulemark.measure.scheduled import Target, cycles
from joulemark.studies.ways import library as library_way
from joulemark.subjects.library.estimated import EstimatedLibrary
from joulemark.subjects.library.options import LibraryOptions
from joulemark.subjects.library.plan import LibraryJob, plan


class Instruction(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        ("half", ctypes.c_bool),
        ("words", ctypes.c_uint),
        *(
            (name, ctypes.c_uint64)
            for name in ("reads", "early", "address", "late", "adds", "writes", "soon")
        ),
    ]


class Cache(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint), ("ways", ctypes.c_uint), ("random", ctypes.c_bool)]


class Core(ctypes.Structure):
    """The first fields of a core in core.h."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("decode", ctypes.CFUNCTYPE(Instruction, ctypes.c_uint32)),
        ("pipeline", ctypes.c_void_p),
    ]


class Branches(ctypes.Structure):
    _fields_ = [("mispredicted", ctypes.c_uint64), ("cycles", ctypes.c_uint64)]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("models") / "models.so"
    sources = [str(p) for p in FOLDER.glob("*.c") if p.name != "plugin.c"]
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", *sources, "-o", str(path)], check=True)
    made = ctypes.CDLL(str(path))
    made.core_named.restype = ctypes.POINTER(Core)
    return made


def took(models: ctypes.CDLL, name: str, codes: list[int]) -> int:
    core = models.core_named(name.encode()).contents
    decoded = (Instruction * len(codes))(*(core.decode(code) for code in codes))
    cycles: int = models.core_cycles(ctypes.c_void_p(core.pipeline), decoded, len(codes))
    return cycles


def assembled(text: str, folder: Path, triple: str, *options: str) -> list[int]:
    source, made, raw = folder / "code.s", folder / "code.o", folder / "code.bin"
    source.write_text(text.replace(";", "\n") + "\n")
    target = [f"--target={triple}", *options, "-c", str(source), "-o", str(made)]
    subprocess.run(["clang-19", *target], check=True)
    objcopy = shutil.which("llvm-objcopy-19") or "llvm-objcopy"
    subprocess.run([objcopy, "-O", "binary", "-j", ".text", str(made), str(raw)], check=True)
    data = raw.read_bytes()
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


CASES = {
    # A chain, one after the other, whatever the width.
    "add r0, r0, r1; add r0, r0, r1; add r0, r0, r1; add r0, r0, r1": (4, 4),
    # Two at a time where there are two slots.
    "add r0, r4, r5; add r1, r4, r5; add r2, r4, r5; add r3, r4, r5": (4, 2),
    # A load's result: 3 cycles on the ARM1176, 2 on the A53 for an addition.
    "ldr r0, [r1]; add r2, r0, r0": (4, 3),
    # A shifted operand is needed a stage earlier.
    "add r0, r1, r2; add r3, r4, r0, ror #8": (3, 3),
    "add r0, r1, r2; add r3, r0, r4, ror #8": (2, 2),
    # An address: one stage earlier, and two.
    "add r0, r1, r2; ldr r3, [r0]": (3, 4),
    # A stored value is needed a stage later.
    "add r0, r1, r2; str r0, [r4]": (2, 1),
    # 64-bit products: 3 cycles of issue each; one per cycle.
    "umull r0, r1, r4, r5; umull r2, r3, r4, r5": (6, 2),
    # One transfer per cycle.
    "ldr r0, [r4]; ldr r1, [r5]; ldr r2, [r6]": (3, 3),
    # A written-back address is available in the next cycle.
    "ldr r0, [r4], #4; add r5, r4, r4": (2, 2),
    # Eight words, two at a time.
    "ldmia r0, {r1-r8}": (4, 4),
    # A conditional instruction waits for flags, and keeps what it would overwrite.
    "cmp r0, r1; addeq r2, r2, r3": (2, 2),
}


@pytest.mark.parametrize("text", CASES)
def test_cycles_of_short_sequences(text: str, models: ctypes.CDLL, tmp_path: Path) -> None:
    codes = assembled(text, tmp_path, "arm-linux-gnueabi", "-march=armv6kz")
    assert (took(models, "arm1176", codes), took(models, "cortex-a53", codes)) == CASES[text]


SAME = """
adds r0, r1, r2; add r0, r1, r2; subs r0, r1, #3; subs r3, r3, #200; add r9, r1, #0x1000
mov r8, r1; movs r0, #7; movw r1, #0x1234; movt r1, #0x5678; mvn r3, r4; mvns r3, r4
lsl r0, r1, #3; lsls r0, r1, #3; ror r8, r1, #3; lsls r0, r0, r1; lsr r8, r1, r2
add r0, r1, r8, lsl #4; eor r3, r4, r5, ror #7; adc r0, r1, r2; adcs r0, r0, r2; sbc r3, r4, #1
and r0, r1, r2; ands r0, r0, r1; orr r0, r1, #255; bic r9, r1, r2; bics r0, r0, r7
eors r0, r0, r1
rsbs r0, r1, #0; cmp r0, r1; cmp r8, r1; cmp r3, #4; cmn r0, r1; tst r0, r1; teq r1, r2
mul r8, r1, r2; mla r0, r1, r2, r3; mls r0, r1, r2, r3
umull r0, r1, r2, r3; smull r4, r5, r6, r7; umlal r0, r1, r2, r3; umaal r0, r1, r2, r3
smulbb r0, r1, r2; smlabb r0, r1, r2, r3; udiv r0, r1, r2
ldr r0, [r1]; ldr r0, [r1, #4]; ldr r9, [r1, #400]; ldr r0, [r1, r2]; ldr r0, [r1, r2, lsl #2]
ldr r0, [r1, r2, lsl #3]; ldr r0, [r1], #4; ldr r0, [r1, #8]!; ldr r0, [sp, #8]
ldrb r0, [r1]; ldrb r0, [r1, r2]; ldrh r0, [r1, #2]; ldrsb r0, [r1, r2]; ldrsh r9, [r1, #2]
str r0, [r1]; str r8, [r1, #4]!; str r0, [r1, r2]; strb r0, [r1]; strh r0, [r1, r2]
str r3, [sp, #4]
ldrd r4, r5, [r1]; strd r4, r5, [r1, #8]
ldm r0, {r1, r2, r9}; ldm r0!, {r1, r2}; stm r0!, {r1, r2}
push {r4, r5, lr}
pop {r4, r5}; pop {r4, pc}; push {r4, r8, lr}; pop {r4, r8, pc}
ldmdb r9!, {r1, r2}
uxtb r0, r1; uxth r9, r1; sxtb r0, r1; uxtb r0, r1, ror #8
uxtab r0, r1, r2; rev r0, r1; rev r9, r1
rev16 r0, r1; clz r0, r1; bfi r0, r1, #3, #4; ubfx r0, r1, #3, #4; sbfx r0, r1, #3, #4; rbit r0, r1
uadd8 r0, r1, r2; sel r0, r1, r2; add sp, sp, #8; sub sp, sp, #16; add r0, sp, #8
bx lr; blx r3; bx r4; mov pc, r3; pld [r0, #32]
vadd.i32 q0, q1, q2; veor q0, q1, q2; vbsl q0, q1, q2; veor d0, d1, d2; vmul.i32 q0, q1, q2
vmla.i32 q0, q1, q2; vmull.u32 q0, d2, d3; vmlal.u32 q0, d2, d3; vmlal.u32 q0, d2, d3[1]
vaddl.u8 q0, d2, d3; vaddw.u8 q0, q1, d3; vshl.i32 q0, q1, #3; vsri.32 q0, q1, #3
vsra.u32 q0, q1, #3
vmovn.i32 d0, q1; vshrn.i32 d0, q1, #3; vshll.u8 q0, d2, #3; vext.8 q0, q1, q2, #4; vrev32.8 q0, q1
vtrn.32 d0, d1; vtbl.8 d0, {d2, d3}, d4; vtbx.8 d0, {d2}, d4; vdup.32 q0, d2[1]; vmov.i32 q0, #1
vld1.8 {d0, d1}, [r0]; vld1.8 {d0-d3}, [r0]!; vst1.8 {d0, d1}, [r1]; vld1.32 {d0[1]}, [r0]
vldm r0!, {d0-d3}; vstmdb sp!, {d8-d15}; vldr d0, [r1, #8]; vstr s3, [r1]; vldr s2, [r1]
vmov r0, r1, d3; vmov d3, r0, r1; vmov r0, s4; vmov s4, r0; vadd.f64 d0, d1, d2; vmul.f32 s0, s2, s4
aese.8 q0, q1; aesmc.8 q0, q0; sha1c.32 q0, q1, q2; sha256h.32 q0, q1, q2; sha256su0.32 q0, q1
sha1h.32 q0, q1; sha1su1.32 q0, q1
""".replace("\n", ";").split(";")
"""Instructions with the same assembly in A32 and T32."""
V8 = ("-march=armv8-a", "-mfpu=crypto-neon-fp-armv8")


def thumb(text: str, folder: Path) -> list[tuple[int, int]]:
    """Return codes with their lengths in bytes."""
    words = assembled(f".thumb; {text}; nop", folder, "arm-linux-gnueabihf", *V8)
    data = b"".join(word.to_bytes(4, "little") for word in words)
    found, at = [], 0
    while at + 2 <= len(data):
        first = int.from_bytes(data[at : at + 2], "little")
        length = 4 if first >> 11 >= 29 else 2
        second = int.from_bytes(data[at + 2 : at + 4], "little")
        found.append((first << 16 | second if length == 4 else first, length))
        at += length
    return found


def in_thumb(models: ctypes.CDLL, codes: list[tuple[int, int]]) -> list[Instruction]:
    models.t32_decode.restype = Instruction
    left = ctypes.c_uint8(0)
    return [models.t32_decode(code, length, ctypes.byref(left)) for code, length in codes]


def fields(one: Instruction) -> dict[str, int]:
    return {field[0]: getattr(one, field[0]) for field in Instruction._fields_}


def test_thumb_reads_and_writes_what_a32_does(models: ctypes.CDLL, tmp_path: Path) -> None:
    texts = [text.strip() for text in SAME if text.strip()]
    together = "; ".join(texts)
    codes = assembled(together, tmp_path, "arm-linux-gnueabihf", *V8)
    core = models.core_named(b"cortex-a53").contents
    plain = [fields(core.decode(code)) for code in codes]
    decoded = [fields(one) for one in in_thumb(models, thumb(together, tmp_path))]
    apart = {}
    for text, a32, t32 in zip(texts, plain, decoded[: len(texts)], strict=True):
        if a32 != t32:
            apart[text] = {name: (a32[name], t32[name]) for name in a32 if a32[name] != t32[name]}
    assert not apart


def test_an_it_block_is_conditional(models: ctypes.CDLL, tmp_path: Path) -> None:
    codes = thumb(
        "cmp r0, r1; itet eq; addeq r0, r0, r1; movne r2, r3; cmpeq r1, r2; adds r4, r4, #1",
        tmp_path,
    )
    compared, block, added, moved, again, after = in_thumb(models, codes)[:6]
    flags = 1 << 31
    assert compared.writes == flags
    assert block.writes == 0
    # In an IT block 16-bit encodings set no flags; the destination and the flags are read too.
    assert (added.writes, added.reads) == (1, flags | 0b11)
    assert (moved.writes, moved.reads) == (1 << 2, flags | 1 << 3 | 1 << 2)
    assert again.writes == flags
    assert (after.writes, after.reads) == (flags | 1 << 4, 1 << 4)


def test_which_blocks_are_thumb(models: ctypes.CDLL) -> None:
    def is_thumb(code: str, lengths: list[int], start: int, follows: bool) -> bool:
        models.t32_block.restype = ctypes.c_bool
        data, sizes = bytes.fromhex(code), bytes(lengths)
        return bool(models.t32_block(data, sizes, len(sizes), ctypes.c_uint64(start), follows))

    assert is_thumb("7047", [2], 0x1000, False)  # bx lr
    assert is_thumb("00f001f8", [4], 0x1002, False)  # bl, at an address that A32 cannot have
    assert is_thumb("00f001f8", [4], 0x1000, True)
    assert not is_thumb("1eff2fe1", [4], 0x1000, False)  # bx lr of A32
    assert not is_thumb("010080e0", [4], 0x1000, True)  # add, which cannot begin a Thumb block


A64 = {
    "add x0, x0, x1; add x0, x0, x1; add x0, x0, x1; add x0, x0, x1": 4,
    "add x0, x4, x5; add x1, x4, x5; add x2, x4, x5; add x3, x4, x5": 2,
    # A shifted, extended or rotated operand is needed a stage earlier.
    "add x0, x1, x2; add x3, x4, x0": 2,
    "add x0, x1, x2; add x3, x4, x0, lsl #2": 3,
    "add x0, x1, x2; ror x3, x0, #7": 3,
    "add x0, x1, x2; lsl x3, x0, x1": 2,
    # A write to the zero register delays nothing.
    "cmp x0, x1; add x2, x3, x4": 1,
    "cmp x0, x1; csel x2, x3, x4, eq": 2,
    "adds x0, x1, x2; adc x3, x4, x5": 2,
    "movz x0, #1; movk x0, #2, lsl #16": 2,
    # A load: 2 cycles to an addition, 3 to an address; a pair occupies the pipeline for 2.
    "ldr x0, [x1]; add x2, x0, x3": 3,
    "ldr x0, [x1]; ldr x2, [x0]": 4,
    "ldr x0, [x4]; ldr x1, [x5]; ldr x2, [x6]": 3,
    "ldp x0, x1, [x2]; add x3, x4, x5": 3,
    "ldr x0, [x4], #8; add x5, x4, x4": 2,
    # Products: 32 by 32 one per cycle, 64 by 64 one in two, their upper half one in four.
    "umull x0, w1, w2; umull x3, w4, w5": 2,
    "mul x0, x1, x2; mul x3, x4, x5": 4,
    "umulh x0, x1, x2; umulh x3, x4, x5": 8,
    # Vectors: logic 1, sums and shifts 2, products 4, and 1 to an accumulation.
    "eor v0.16b, v1.16b, v2.16b; eor v3.16b, v0.16b, v1.16b": 2,
    "add v0.4s, v1.4s, v2.4s; add v3.4s, v0.4s, v1.4s": 3,
    "shl v0.4s, v1.4s, #7; sri v0.4s, v1.4s, #25; eor v2.16b, v0.16b, v3.16b": 5,
    "umull v0.2d, v1.2s, v2.2s; add v3.2d, v0.2d, v1.2d": 5,
    "umlal v0.2d, v1.2s, v2.2s; umlal v0.2d, v3.2s, v4.2s": 2,
    "tbl v0.16b, {v1.16b}, v2.16b; eor v3.16b, v0.16b, v1.16b": 3,
    "tbl v0.16b, {v1.16b, v2.16b}, v3.16b; eor v4.16b, v0.16b, v1.16b": 4,
    # A 128-bit load takes two cycles.
    "ldr q0, [x0]; ldr q1, [x1]": 4,
    "ld1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x0]; add x1, x2, x3": 9,
}


def test_cycles_of_a64(models: ctypes.CDLL, tmp_path: Path) -> None:
    marked = ";".join(f"{text}; hlt #0x{n:x}" for n, text in enumerate(A64))
    codes = iter(assembled(marked, tmp_path, "aarch64-linux-gnu", "-mcpu=cortex-a53"))
    found = {}
    for number, text in enumerate(A64):
        end = 0xD4400000 | number << 5
        found[text] = took(models, "cortex-a53-a64", list(iter(lambda: next(codes), end)))
    assert found == A64


ENDINGS = ("none", "conditional", "jump", "call", "call_indirect", "return", "indirect")
CONDITIONAL, CALL, CALL_INDIRECT, RETURN = (
    ENDINGS.index(name) for name in ("conditional", "call", "call_indirect", "return")
)


@pytest.mark.parametrize(
    ("function", "codes"),
    [
        (
            "arm",
            {
                "e0810002": "none",  # add
                "1afffffd": "conditional",
                "eafffffd": "jump",
                "ebfffffd": "call",
                "e12fff33": "call_indirect",  # blx r3
                "e12fff1e": "return",  # bx lr
                "e8bd8010": "return",  # pop {r4, pc}
                "e49df004": "return",
                "e12fff13": "indirect",  # bx r3
                "e08ff103": "indirect",  # add pc, pc, r3
                "e1530004": "none",  # cmp
            },
        ),
        (
            "thumb",
            {
                "4408": "none",  # add r0, r1
                "d1fe": "conditional",
                "b100": "conditional",  # cbz
                "b900": "conditional",  # cbnz
                "e7fe": "jump",
                "4798": "call_indirect",  # blx r3
                "4770": "return",  # bx lr
                "bd10": "return",  # pop {r4, pc}
                "4718": "indirect",  # bx r3
                "469f": "indirect",  # mov pc, r3
                "bf08": "none",  # it eq
                "f000f800": "call",
                "f000b800": "jump",
                "f0008000": "conditional",
                "f3bf8f5b": "none",  # dmb ish
                "e8bd8110": "return",  # pop {r4, r8, pc}
                "e8908008": "indirect",  # ldm r0, {r3, pc}
                "f85dfb04": "return",  # pop {pc}
                "f850f021": "indirect",  # ldr pc, [r0, r1, lsl #2]
                "e8dff001": "indirect",  # tbb [pc, r1]
            },
        ),
        (
            "aarch64",
            {
                "8b020020": "none",
                "54ffffa0": "conditional",
                "b4ffffa0": "conditional",
                "3707ffa0": "conditional",
                "17fffffd": "jump",
                "97fffffd": "call",
                "d63f0060": "call_indirect",  # blr x3
                "d65f03c0": "return",
                "d61f0060": "indirect",
            },
        ),
        (
            "x86",
            {
                "89c8": "none",
                "75fe": "conditional",
                "0f8400000000": "conditional",
                "ebfe": "jump",
                "e800000000": "call",
                "ffd0": "call_indirect",
                "c3": "return",
                "f3c3": "return",
                "ffe0": "indirect",
                "ff30": "none",  # push
                "4883c001": "none",
            },
        ),
    ],
)
def test_how_a_block_ends(function: str, codes: dict[str, str], models: ctypes.CDLL) -> None:
    found = {}
    for code in codes:
        data = bytes.fromhex(code)
        if function == "thumb":
            data = b"".join(data[at : at + 2][::-1] for at in range(0, len(data), 2))
        elif function != "x86":
            data = data[::-1]
        found[code] = ENDINGS[getattr(models, f"ending_of_{function}")(data, len(data))]
    assert found == codes


@pytest.mark.parametrize("name", ["arm1176", "cortex-a53", "silvermont"])
def test_a_loop_is_learnt_and_its_end_is_not(name: str, models: ctypes.CDLL) -> None:
    models.predictor_init(models.core_named(name.encode()))
    counted = Branches.in_dll(models, "predicted")
    went = models.predictor_went
    went.argtypes = [ctypes.c_int, *[ctypes.c_uint64] * 3]
    at, after, back = 0x1000, 0x1004, 0xF00

    def loop(times: int) -> int:
        before = counted.mispredicted
        for _ in range(times - 1):
            went(CONDITIONAL, at, after, back)
        went(CONDITIONAL, at, after, after)
        missed: int = counted.mispredicted - before
        return missed

    for _ in range(3):
        loop(100)
    # The end, and with it the beginning of the next.
    assert 1 <= loop(100) <= 2
    # A call's return is predicted; a return without a call is not.
    before = counted.mispredicted
    went(CALL, 0x2000, 0x2004, 0x3000)
    went(RETURN, 0x3010, 0x3014, 0x2004)
    assert counted.mispredicted == before
    went(RETURN, 0x3010, 0x3014, 0x2004)
    assert counted.mispredicted == before + 1
    # A call through a register: the ARM1176 never predicts its target, the others the last one.
    learnt = name != "arm1176"
    for known in (False, learnt, learnt):
        before = counted.mispredicted
        went(CALL_INDIRECT, 0x2000, 0x2004, 0x4000)
        went(RETURN, 0x4010, 0x4014, 0x2004)
        assert counted.mispredicted == before + (not known)


LINES_OF_LEVEL = 32
"""Offset of the lines in a level's structure, in bytes."""


def missed(models: ctypes.CDLL, cache: Cache, lines: list[int]) -> tuple[int, int]:
    """Return misses of a cache with 32-byte lines, and of one below it with room for all."""
    first, below = (ctypes.create_string_buffer(1 << 18) for _ in range(2))
    models.level_init.argtypes = [ctypes.c_void_p, Cache, ctypes.c_uint, ctypes.c_void_p]
    models.level_search.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
    models.level_init(below, Cache(131072, 8, random=False), 32, None)
    models.level_init(first, cache, 32, below)
    sets = cache.bytes // cache.ways // 32
    for line in lines:
        at = ctypes.addressof(first) + LINES_OF_LEVEL + line % sets * cache.ways * 8
        if ctypes.c_uint64.from_address(at).value != line:
            models.level_search(first, at, line)
    of_first, of_below = (int(ctypes.c_uint64.from_buffer(level).value) for level in (first, below))
    return of_first, of_below


@pytest.mark.parametrize("random", [False, True])
def test_which_line_a_cache_replaces(*, random: bool, models: ctypes.CDLL) -> None:
    cache, sets, rounds = Cache(16384, 4, random), 128, 1000
    fit = [1 + sets * way for way in range(4)]
    assert missed(models, cache, fit * rounds) == (4, 4)
    # Five lines cycle through four ways. The least recently used one is wanted next; a random one
    # is wanted after 1 to 4 accesses, 2.5 on average.
    times, of_below = missed(models, cache, [*fit, 1 + sets * 4] * rounds)
    assert times / (5 * rounds) == (pytest.approx(1 / 2.5, rel=0.05) if random else 1)
    # The level below has kept what the first keeps losing, including its last eviction.
    assert of_below == 5


def test_llvm_schedules_pairs_of_blocks() -> None:
    # add eax, ebx, four of them in a chain; and imul eax, ebx.
    sums, product = " ".join(["01d8"] * 4), "0fafc3"
    slm = Target("i686-linux-gnu", "slm")
    of_sums = cycles(Counter({(sums, sums): 1000}), slm)
    assert of_sums == 4000
    # Instructions that wait for a product wait longer.
    assert cycles(Counter({(sums, product): 1000, (product, sums): 1000}), slm) > of_sums + 2000
    assert cycles(Counter(), slm) == 0


@pytest.mark.parametrize("code", ["f3ab", "f3a5", "f3aa", "f3a4"])
def test_a_repeated_string_instruction_is_no_microcode_for_each_element(code: str) -> None:
    """QEMU executes `rep stosl` once per element: ten of them must not take a thousand cycles."""
    element = (code, code)
    ten = cycles(Counter({element: 10}), Target("i686-linux-gnu", "slm"))
    assert 10 <= ten <= 60


def test_a_machine_is_estimated(tmp_path: Path) -> None:
    command = ("estimate", "raspberry-pi-zero-w", "--primitive", "aes-128", "--seed", "1")
    some = (*command, "--operation", "encrypt", "--size", "16", "--implementation", "ttable")
    rows = json.loads(joulemark(*some, "--format", "json", folder=tmp_path).stdout)
    (row,) = rows
    # Ten rounds of sixteen table words, and at most one instruction per cycle.
    assert 400 < row["instructions"] < 2000
    assert row["instructions"] <= row["cycles"] < 3 * row["instructions"]
    assert row["grade"] == "estimated"
    text = joulemark(*some, folder=tmp_path).stdout
    assert "worst 32%" in text
    other = joulemark(*some[:1], "raspberry-pi-3b", *some[2:], "--format", "json", folder=tmp_path)
    assert json.loads(other.stdout)[0]["cycles"] < row["cycles"]
    joulemark("export", "--format", "csv", "--out", "x.csv", folder=tmp_path)
    assert "estimate" in (tmp_path / "x.csv").read_text()


def test_where_every_case_failed_nothing_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Mock(side_effect=BuildError("no image"))
    monkeypatch.setattr("joulemark.campaign.estimates.build_local", failing)
    command = ("estimate", "raspberry-pi-zero-w", "--primitive", "aes-128", "--size", "16")
    for form, expected in (("text", ""), ("json", "[]\n")):
        done = joulemark(*command, "--format", form, folder=tmp_path, code=6)
        assert done.stdout == expected
        assert "failed: no image" in done.stderr


def test_what_cannot_be_estimated(tmp_path: Path) -> None:
    other = ("estimate", "intel-edison", "--architecture", "aarch64", "--primitive", "aes-128")
    assert "it executes i686" in joulemark(*other, folder=tmp_path, code=3).stderr
    assert "no such machine" in joulemark("estimate", "abacus", folder=tmp_path, code=3).stderr


@pytest.mark.parametrize(
    "machine",
    [
        ("raspberry-pi-3b", "--architecture", "armv7"),
        ("raspberry-pi-3b", "--architecture", "armv8"),
        ("raspberry-pi-3b", "--architecture", "aarch64"),
        ("intel-edison",),
    ],
)
def test_every_machine_has_an_estimate(machine: tuple[str, ...], tmp_path: Path) -> None:
    command = ("estimate", *machine, "--primitive", "aes-128", "--implementation", "ttable")
    some = ("--operation", "encrypt", "--size", "16", "--seed", "1", "--format", "json")
    (row,) = json.loads(joulemark(*command, *some, folder=tmp_path).stdout)
    # At most two instructions per cycle, which both cores can issue.
    assert row["instructions"] / 2 < row["cycles"] < 3 * row["instructions"]


def test_published_measurements_have_models_and_are_one_kind_each() -> None:
    results = tomllib.loads((FOLDER / "published.toml").read_text())["result"]
    assert {result["use"] for result in results} == {"held-back", "calibration"}
    measured = {(result["core"], result["architecture"]) for result in results}
    # No speed of code for ARMv8's 32-bit state has been published: it is scheduled like ARMv6's.
    assert set(MODELS) - measured == {("Cortex-A53", "armv8")}
    assert MODELS["Cortex-A53", "armv8"] == MODELS["Cortex-A53", "armv6"]
    for result in results:
        assert result["source"]
        speed = "kilobytes_per_second" in result
        assert speed == ("clock_hz" in result) == ("openssl" in result)


NATIVE = Architecture(
    name="x86-64", triple="", flags=(), debian="", qemu=("qemu-x86_64", "-cpu", "core2duo")
)


def planned(algorithm: str) -> LibraryJob:
    """Return a row of this machine's own OpenSSL."""
    setup = Setup(runner=ESTIMATE)
    (job,) = plan(
        LibraryOptions(library=("openssl",), algorithm=(algorithm,), operation=("hash",), seed=1),
        setup,
    )
    return job


def test_a_library_is_estimated_and_verified() -> None:
    machine = machines.load_machine("intel-edison")
    (record,) = EstimatedLibrary(planned("sha-256"), machine, NATIVE).records()
    assert record.failure is None
    assert record.subject.message_bytes == 2048
    # OpenSSL's sha256-586.pl: 20.6 cycles per byte on Silvermont in 64-bit code.
    assert 15 < (record.value("cycles") or 0) / 2048 < 30
    time = record.quantity("time")
    assert time is not None
    assert time.grade == "estimated"
    # At 500 MHz a cycle is 2 ns.
    assert time.value == pytest.approx(2000 * (record.value("cycles") or 0), rel=1e-6)
    # Its file states no power.
    assert record.quantity("energy_gross") is None
    # A study may ask for the power in another state: 0.94 W for a Zero W with a desktop.
    asked = library_way.Asked(
        machine="raspberry-pi-zero-w", library="openssl", algorithm="sha-256", operation="hash",
        of="energy", power="one-core-desktop",
    )  # fmt: skip
    told = library_way.answer(asked, record).value
    assert told == pytest.approx(0.94 * time.value * 1e-12 / 2048)
    with pytest.raises(InputError, match="no power in the state asleep"):
        library_way.answer(asked.model_copy(update={"power": "asleep"}), record)


def test_a_wrong_output_has_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    job, machine = planned("sha-256"), machines.load_machine("intel-edison")
    kind = type(oracles.algorithm("sha-256"))
    monkeypatch.setattr(kind, "problem", lambda *_: "another digest")
    (record,) = EstimatedLibrary(job, machine, NATIVE).records()
    assert record.status == "failed"
    assert "another digest" in (record.failure or "")


def test_packages_that_cannot_be_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("joulemark.images.cache.BUILD", tmp_path / "build")
    command = tmp_path / "bin" / "apt-get"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\necho 'E: Temporary failure resolving' >&2\nexit 100\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")
    with pytest.raises(ToolError, match="cannot fetch armel's libssl-dev: E: Temporary") as error:
        sysroot(ARCHITECTURES["armv6"], "libssl-dev")
    assert "mirror within reach" in str(error.value)
    # Nothing half-made is left behind.
    assert not list((tmp_path / "build" / "sysroots").glob("*"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="cannot fetch another architecture's packages"):
        sysroot(ARCHITECTURES["armv6"], "libssl-dev")


def test_keys_of_an_archive_that_are_not_those_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("joulemark.images.cache.BUILD", tmp_path / "build")
    (tmp_path / "keys.deb").write_bytes(b"somebody's")
    release = Release("bionic", (f"file://{tmp_path}",), keyring=("keys.deb", "0" * 64))
    monkeypatch.setitem(OLDER_COMPILERS, "gcc-6", release)
    with pytest.raises(
        ToolError, match=r"cannot fetch bionic's cpp-6-arm-linux-gnueabi: .*[Hh]ash"
    ):
        older_compiler(ARCHITECTURES["armv6"], "gcc-6")
    assert not list((tmp_path / "build" / "compilers").glob("*"))


def test_an_emulator_without_the_plugin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = machines.load_machine("intel-edison")
    missing = tmp_path / "plugin.so"
    monkeypatch.setattr("joulemark.subjects.library.estimated.build_plugin", lambda: missing)
    (record,) = EstimatedLibrary(planned("sha-256"), machine, NATIVE).records()
    assert record.status == "failed"
    assert "plugin.so" in (record.failure or "")
    nowhere = Architecture(name="x86-64", triple="", flags=(), debian="", qemu=("qemu-none",))
    (record,) = EstimatedLibrary(planned("sha-256"), machine, nowhere).records()
    assert "no qemu-none" in (record.failure or "")
    assert "install the Debian package qemu-user" in (record.failure or "")
    # An emulator without plugins, as some distributions build it.
    (tmp_path / "qemu-plain").write_text("#!/bin/sh\necho usage: qemu-plain PROGRAM\n")
    (tmp_path / "qemu-plain").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    plain = Architecture(name="x86-64", triple="", flags=(), debian="", qemu=("qemu-plain",))
    with pytest.raises(ToolError, match="this qemu-plain was built without plugins"):
        _ = plain.emulator
