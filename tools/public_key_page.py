"""Measures public-key operations beside their targets and writes docs/public-key.md.

`python tools/public_key_page.py` measures all rows; tests measure them again and check the page
against their results.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from joulemark._engine import Image
from joulemark.campaign.plan import plan
from joulemark.catalogue.boards import load_board
from joulemark.catalogue.primitives import Library
from joulemark.cli._output import Form, table
from joulemark.errors import VerificationError
from joulemark.images import build_image
from joulemark.images.memory import Attribution
from joulemark.measure.bench import Bench
from joulemark.measure.pool import Processes
from joulemark.project import ROOT
from joulemark.records.record import PrimitiveRecord, of_primitives
from joulemark.subjects.primitive.options import PrimitiveOptions

PAGE = ROOT / "docs" / "public-key.md"
M3, M4, TELOSB = "stm32vldiscovery", "nrf52840-dk", "telosb"


@dataclass(frozen=True)
class Row:
    """An operation of an implementation, at -O3."""

    board: str
    primitive: str
    operation: str
    implementation: str
    at_most: int | None = None
    """Limit on its cycles."""
    others: str = "-"
    """The best published figure that was found."""

    @property
    def varies(self) -> bool:
        """Whether its time may depend on its inputs, because it handles nothing secret."""
        return self.operation == "verify"


def _rows() -> Iterator[Row]:
    both = "armv7m+armv7m"
    yield Row(M3, "x25519", "agree", "armv7m", 2_600_000, "3,314,046 (pornin/x25519-cm0)")
    yield Row(M3, "ecdh-p256", "agree", "armv7m", 4_000_000, "4,832,599 (Emill/P256-cortex-ecdh)")
    yield Row(M3, "ecdsa-p256", "sign", both, 1_400_000, "8,270,310, leaks (BearSSL m31)")
    yield Row(M3, "ecdsa-p256", "verify", both, 5_000_000, "7,244,235 (micro-ecc)")
    yield Row(M3, "ecdsa-p256-seeded", "sign", both)
    yield Row(M3, "ed25519", "sign", both, 2_500_000)
    yield Row(M3, "ed25519", "verify", both, 6_500_000)
    yield Row(M3, "ecdh-secp160r1", "agree", "armv7m", 1_600_000, "1,898,956, leaks (micro-ecc)")
    yield Row(M3, "ecdh-secp160r1", "agree", "tinyecc32")
    yield Row(M3, "arithmetic-secp160r1", "multiply", "easy")
    yield Row(M3, "ecdsa-secp160r1-seeded", "sign", both)
    yield Row(M3, "ecdsa-secp160r1", "sign", "tinyecc32+armv7m")
    yield Row(M3, "ecdsa-secp160r1", "verify", "tinyecc32+armv7m")
    yield Row(M3, "ecdh-secp256k1", "agree", "armv7m", None, "4,949,933, leaks (micro-ecc)")
    yield Row(M3, "ecdh-secp256k1", "agree", "limbs32")
    yield Row(M3, "ecdh-sect233r1", "agree", "armv7m")
    yield Row(M3, "ecdh-sect233r1", "agree", "limbs16")
    both = "armv7em+armv7m"
    yield Row(M4, "x25519", "agree", "armv7em", 560_000, "563,289 (Emill/X25519-Cortex-M4)")
    yield Row(M4, "ecdh-p256", "agree", "armv7em", 870_000, "870,796 (Emill/P256-Cortex-M4)")
    yield Row(M4, "ecdsa-p256", "sign", both, 400_000, "415,944 (Emill/P256-Cortex-M4)")
    yield Row(M4, "ecdsa-p256", "verify", both, 900_000, "927,744 (Emill/P256-Cortex-M4)")
    yield Row(M4, "ed25519", "sign", both)
    yield Row(M4, "ed25519", "verify", both)
    yield Row(M4, "ecdh-secp256k1", "agree", "armv7em")
    yield Row(M4, "ecdsa-secp256k1", "sign", both)
    both = "msp430+msp430"
    yield Row(TELOSB, "x25519", "agree", "msp430", 9_000_000, "12,191,721 (IoTDisco)")
    yield Row(TELOSB, "ecdh-p256", "agree", "msp430", 14_000_000)
    yield Row(TELOSB, "ecdsa-p256", "sign", both)
    yield Row(TELOSB, "ecdsa-p256", "verify", both)
    yield Row(TELOSB, "ecdsa-p256-seeded", "sign", both)
    yield Row(TELOSB, "ed25519", "sign", "msp430+ref")
    yield Row(TELOSB, "ed25519", "verify", "msp430+ref")
    yield Row(TELOSB, "ecdh-secp160r1", "agree", "msp430", 5_500_000)
    yield Row(TELOSB, "ecdh-secp160r1", "agree", "tinyecc16")
    yield Row(TELOSB, "ecdsa-secp160r1-seeded", "sign", both)
    tiny = "tinyecc16+msp430"
    yield Row(TELOSB, "ecdsa-secp160r1", "sign", tiny, None, "4.361 s (TinyECC 0.2)")
    yield Row(TELOSB, "ecdsa-secp160r1", "verify", tiny, None, "5.448 s (TinyECC 0.2)")
    yield Row(TELOSB, "ecdh-secp256k1", "agree", "msp430")
    yield Row(TELOSB, "ecdh-secp256k1", "agree", "limbs16")
    yield Row(TELOSB, "ecdsa-secp256k1", "sign", both)
    yield Row(TELOSB, "ecdh-sect233r1", "agree", "msp430")
    yield Row(TELOSB, "ecdsa-sect233r1", "sign", both)


ROWS = tuple(_rows())


def measure(rows: Sequence[Row]) -> dict[Row, PrimitiveRecord]:
    """Return the records of a board's rows, with outputs verified.

    Raises:
        VerificationError: a case failed.
    """
    found = {}
    board = rows[0].board
    for primitive in dict.fromkeys(row.primitive for row in rows):
        asked = [row for row in rows if row.primitive == primitive]
        campaign = PrimitiveOptions.model_validate(
            {
                "board": board,
                "primitive": primitive,
                "implementation": tuple(dict.fromkeys(row.implementation for row in asked)),
                "operation": tuple(dict.fromkeys(row.operation for row in asked)),
                "compiler": compiler(board),
                "opt": "O3",
                "trials": 2,
                "seed": 1,
            }
        )
        jobs = plan(campaign, Bench().setup).jobs
        records = of_primitives(r for some in Bench().measure(jobs, Processes(1)) for r in some)
        by = {(r.subject.implementation, r.subject.operation): r for r in records}
        for row in asked:
            record = by[row.implementation, row.operation]
            if record.status != "ok":
                raise VerificationError(f"{record.subject}: {record.failure}")
            found[row] = record
    return found


def compiler(board: str) -> str:
    """Return the compiler of a board's rows."""
    return "clang" if board == TELOSB else "gcc"


def whole_image(row: Row) -> tuple[int, int]:
    """Return the flash and RAM in bytes of a row's image with its harness, without stack."""
    library = Library.load()
    way = library.implementation(library[row.primitive], row.implementation)
    tool, board = compiler(row.board), load_board(row.board)
    path = build_image(way, board, compiler=tool, optimisation="O3").path
    symbols = Image.load(path).symbols
    ram_bytes = symbols["stack_limit"] - symbols["data_start"]
    return Attribution.load(path.parent).total_flash_bytes, ram_bytes


def cells(row: Row, record: PrimitiveRecord) -> dict[str, object]:
    """Return a row of the page."""
    most = record.cycles_max
    flash_bytes, ram_bytes = whole_image(row)
    return {
        "implementation": f"{row.primitive}/{row.implementation}",
        "operation": row.operation,
        "at most": row.at_most,
        "cycles": most,
        "ms": (most or 0) / record.provenance.clock_hz * 1e3,
        "secrets": "none" if row.varies else (record.finding or "not seen"),
        "flash": record.flash_bytes,
        "stack": record.stack_bytes,
        "image": flash_bytes,
        "RAM": ram_bytes + (record.stack_bytes or 0),
        "best public": row.others,
    }


def section(board: str) -> str:
    """Return a board's table."""
    description = load_board(board)
    found = measure([row for row in ROWS if row.board == board])
    rows = [cells(row, record) for row, record in found.items()]
    return f"## {description.title}\n{table(rows, Form.MARKDOWN)}\n"


INTRODUCTION = """<!-- Written by tools/public_key_page.py: do not edit. -->
# Public key on small devices

Costs of key agreements and signatures over messages of 32 bytes, in assembly written for each core
and built at -O3: on a Cortex-M3 without wait states (GCC), on a Cortex-M4 whose timing is inferred
([accuracy-nrf52840.md](accuracy-nrf52840.md), GCC), and on an MSP430F1611 (clang).

- *At most*: the target, where an operation has one.
- *Cycles*: the most that two trials with random keys took; every output was verified.
- *Flash* and *stack*: in bytes. Only one byte stays in RAM.
- *Image* and *RAM*: bytes of a whole image, with the harness, its buffers and the stack; a TelosB
  has 49,152 and 10,240.
- *Best public*: others' code, run on the same emulated chip or, for the MSP430, as its authors
  state it. On the Cortex-M4 it signs with the hash and nonce that this project's code makes for
  both ([like with like](beside-public-code.md#p-256-on-a-cortex-m4)).

"""
CLOSE = """- Verification handles nothing secret; its time depends on its inputs.
- `ecdsa-p256-seeded` and `ecdsa-secp160r1-seeded` draw nonces from HMAC_DRBG (SP 800-90A), seeded
  for each signature with 48 bytes, the secret key and the message's hash. The others have the
  nonces of RFC 6979. With these, ECDSA over secp160r1 and sect233r1 varies: on these orders every
  second nonce is drawn again.
- `limbs16` and `limbs32` are portable C, for comparison with the same curve's assembly.
- `tinyecc16` and `tinyecc32` are portable C by the methods of TinyECC, whose own figures are those
  of its version 0.2 on a TelosB, at a clock that is not stated (4 to 8 MHz). TinyECC makes its
  table of the generator once, in 5.225 s; ours is made in each signature.
- `easy` has the methods of the library that shibata-2018 measured.

[Leaks](leaks.md) shows what each build tells of its secrets.

## Fuzzed beside other implementations
The newest code was fuzzed beside implementations that share nothing with it. No difference was
found. Each has a short run in the tests.

- Assembly for both chips on the emulated boards (secp256k1, sect233r1, seeded ECDSA, and the rest),
  beside OpenSSL or the curve's definition, `tests/primitives/public_key_fuzz.py --boards`: 12,648
  agreements, or signatures made and verified, many of them special or spoilt; 33 minutes by the
  clock.
- Its fields, beside Python's integers, `tests/primitives/field_fuzz.py`: 53,693,520 pairs of
  operands at which carries turn; 31 minutes of processor time.
- EDHOC's messages with external authorization data, exports and updates, under sanitizers, beside
  what the peer sent and a second reader, `firmware/fuzz/handshake.c`: 4,782,640 inputs.
"""

if __name__ == "__main__":
    PAGE.write_text(
        "\n".join([INTRODUCTION, section(M3), section(M4), section(TELOSB), CLOSE]),
        encoding="utf-8",
    )
