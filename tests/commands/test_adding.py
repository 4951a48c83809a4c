"""Adding anything edits nothing: a kind, a primitive of it, a board, a chip and parts of programs.

Each is added to a copy of the project. Then the build, the checks of primitives, the command line,
measurement, the advice and the report must all have it.
"""

import base64
import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import by_itself
from joulemark.catalogue.primitives import Library
from joulemark.images import build_local
from joulemark.project import ROOT
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device
from vectors import CHECKS, Subject, applicable, check_published_vector

SIGNATURE = {
    "kind.toml": """
        title = "Signatures of a test"
        main_operation = "sign"
        functions = [
            "void p_keygen(p_ctx *ctx, const uint8_t *seed, uint8_t *public_key)",
            "void p_sign(const p_ctx *ctx, uint8_t *signature, const uint8_t *in, size_t length)",
            "crypto_status p_verify(const signed_message *m)",
        ]
        constants = ["seed_bytes", "public_bytes", "signature_bytes"]
        [slot]
        seed = { bytes = 32 }
        public = { bytes = 32 }
        message = { bytes = 1024 }
        signature = { bytes = 64 }
        [input]
        seed = { size = "seed_bytes", secret = true }
        message = { size = "message" }
        [operation.keygen]
        takes = ["seed"]
        gives = ["public"]
        [operation.sign]
        takes = ["seed", "message"]
        gives = ["signature"]
        sized = true
        [operation.verify]
        takes = ["public", "message", "signature"]
        gives = []
        refuses = ["public", "message", "signature"]
        sized = true
        [[service]]
        title = "A signature, key kept"
        operations = ["sign"]
    """,
    "signature.h": """
        #ifndef SIGNATURE_H
        #define SIGNATURE_H
        #include "crypto.h"
        typedef struct {
            const uint8_t *public_key, *in, *signature;
            size_t length;
        } signed_message;
        #endif
    """,
    "kind.c": """
        #include "context.h"
        static uint8_t unused[PRIMITIVE_PUBLIC_BYTES];
        static crypto_status before_sign(void) {
            primitive_keygen(&primitive_context, slots[SLOT_SEED].bytes, unused);
            return CRYPTO_OK;
        }
        static crypto_status keygen(void) {
            primitive_keygen(&primitive_context, slots[SLOT_SEED].bytes, slots[SLOT_PUBLIC].bytes);
            return CRYPTO_OK;
        }
        static crypto_status sign(void) {
            primitive_sign(&primitive_context, slots[SLOT_SIGNATURE].bytes,
                           slots[SLOT_MESSAGE].bytes, slots[SLOT_MESSAGE].length);
            return CRYPTO_OK;
        }
        static crypto_status verify(void) {
            const signed_message m = {slots[SLOT_PUBLIC].bytes, slots[SLOT_MESSAGE].bytes,
                                      slots[SLOT_SIGNATURE].bytes, slots[SLOT_MESSAGE].length};
            return primitive_verify(&m);
        }
        const operation kind_operations[OPERATIONS] = {
            [OPERATION_KEYGEN] = {nothing, keygen, show_nothing, false},
            [OPERATION_SIGN] = {before_sign, sign, show_nothing, false},
            [OPERATION_VERIFY] = {nothing, verify, show_nothing, false},
        };
        const uint8_t kind_operation_count = OPERATIONS;
    """,
    "sum/primitive.toml": """
        title = "Sum"
        prefix = "sum"
        specification = "none: a test's"
        year = 2026
        status = "research"
        status_source = "none: a test's"
        [variant.sum-32]
        seed_bytes = 4
        public_bytes = 4
        signature_bytes = 4
    """,
    "sum/vectors.toml": """
        [[vector]]
        origin = "by hand"
        variant = "sum-32"
        seed = "01020304"
        message = "10200000"
        public = "5b58595e"
        signature = "4b78595e"
    """,
    "sum/oracle.py": """
from joulemark.oracle import Output

def compute(variant, inputs, over):
    public = bytes(b ^ 0x5A for b in inputs.seed)
    sums = [sum(inputs.message[i::4]) & 255 for i in range(4)]
    return Output(public=public, signature=bytes(p ^ s for p, s in zip(public, sums)))
    """,
    "sum/ref/implementation.toml": """
        description = "adds up"
        method = "none"
        secret_independent = true
        word_bits = 8
    """,
    "sum/ref/sum.h": """
        #ifndef SUM_H
        #define SUM_H
        #include "signature.h"
        typedef struct { uint8_t seed[4]; } sum_ctx;
        enum { SUM_SEED_BYTES = 4, SUM_PUBLIC_BYTES = 4, SUM_SIGNATURE_BYTES = 4 };
        void sum_keygen(sum_ctx *ctx, const uint8_t *seed, uint8_t *public_key);
        void sum_sign(const sum_ctx *ctx, uint8_t *signature, const uint8_t *in, size_t length);
        crypto_status sum_verify(const signed_message *m);
        #endif
    """,
    "sum/ref/sum.c": """
        #include "sum.h"
        static void add(uint8_t *sums, const uint8_t *in, size_t length) {
            for (size_t i = 0; i < 4; i++)
                sums[i] = 0;
            for (size_t i = 0; i < length; i++)
                sums[i % 4] = (uint8_t)(sums[i % 4] + in[i]);
        }
        void sum_keygen(sum_ctx *ctx, const uint8_t *seed, uint8_t *public_key) {
            for (size_t i = 0; i < 4; i++) {
                ctx->seed[i] = seed[i];
                public_key[i] = seed[i] ^ 0x5a;
            }
        }
        void sum_sign(const sum_ctx *ctx, uint8_t *signature, const uint8_t *in, size_t length) {
            add(signature, in, length);
            for (size_t i = 0; i < 4; i++)
                signature[i] ^= ctx->seed[i] ^ 0x5a;
        }
        crypto_status sum_verify(const signed_message *m) {
            uint8_t sums[4];
            add(sums, m->in, m->length);
            crypto_xor(sums, sums, m->public_key, 4);
            return crypto_equal(sums, m->signature, 4) ? CRYPTO_OK : CRYPTO_BAD_TAG;
        }
    """,
}
KIND = Path("firmware/primitives/signature")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with additions."""
    root = tmp_path_factory.mktemp("project")
    for name in ("chips", "boards", "firmware/harness", "firmware/hal"):
        shutil.copytree(ROOT / name, root / name)
    primitives = root / "firmware/primitives"
    shutil.copytree(ROOT / "firmware/primitives/identity", primitives / "identity")
    for path in (ROOT / "firmware/primitives").glob("*.h"):
        shutil.copy(path, primitives)
    for name, text in SIGNATURE.items():
        path = root / KIND / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    chip = (root / "chips/stm32f100rb.toml").read_text()
    chip = chip.replace('"stm32f100rb"', '"stm32f100c8"').replace(
        "size = 0x20000", "size = 0x10000"
    )
    (root / "chips/stm32f100c8.toml").write_text(chip)
    board = (root / "boards/stm32vldiscovery.toml").read_text()
    board = board.replace('"stm32vldiscovery"', '"mine"').replace('"stm32f100rb"', '"stm32f100c8"')
    (root / "boards/mine.toml").write_text(board)
    return root


def records(project: Path, *options: str) -> list[dict[str, Any]]:
    store = project / "store.db"
    by_itself(
        *("run", "--primitive", "sum-32", "--size", "16", "--seed", "1", "--store", str(store)),
        *options,
        JOULEMARK_ROOT=str(project),
    )
    exported = by_itself(
        *("export", "--format", "json", "--store", str(store)), JOULEMARK_ROOT=str(project)
    )
    found: list[dict[str, Any]] = json.loads(exported.stdout)
    return found


def test_what_was_added_is_listed(project: Path) -> None:
    for what, name in (("primitives", "sum-32"), ("boards", "mine"), ("chips", "stm32f100c8")):
        assert name in by_itself("list", what, JOULEMARK_ROOT=str(project)).stdout


def test_what_was_added_is_measured_and_reported(project: Path) -> None:
    found = records(project, "--board", "mine", "--board", "telosb", "--opt", "O2")
    assert {(r["board"], r["operation"], r["status"]) for r in found} == {
        (board, operation, "ok")
        for board in ("mine", "telosb")
        for operation in ("keygen", "sign", "verify")
    }
    assert all(r["cycles"] > 0 and r["flash_bytes"] > 0 and r["exact"] for r in found)
    page = (project / "store-report.html").read_text()
    assert "Signatures of a test" in page
    packed = re.search(r'id="data">([^<]*)<', page)
    assert packed is not None
    assert b"A signature, key kept" in gzip.decompress(base64.b64decode(packed[1]))


def test_a_kind_that_was_added_is_checked_like_the_others(project: Path) -> None:
    library = Library.load(project / "firmware/primitives")
    (way,) = library.implementations(library["sum-32"])
    names = applicable(way)
    assert "forgeries" in names
    with LocalLink(build_local(way, sanitize=True).path) as link:
        subject = Subject(way, Device(link))
        for vector in way.algorithm.vectors:
            check_published_vector(subject, vector)
        for name in names:
            CHECKS[name](subject)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('takes = ["seed"]', 'takes = ["sede"]', "operation.keygen.takes: no slot sede"),
        ('size = "seed_bytes"', 'size = "seed"', "input.seed.size: there are message, ad, seed_b"),
        ('main_operation = "sign"', 'main_operation = "sing"', "main_operation: there are keygen"),
        ("sized = true", "size = true", "unknown key"),
        ('operations = ["sign"]', 'operations = ["seal"]', "service: there are the operations"),
    ],
)
def test_a_wrong_kind_is_named(
    project: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "signature"
    shutil.copytree(project / KIND, folder)
    text = (folder / "kind.toml").read_text()
    assert old in text
    (folder / "kind.toml").write_text(text.replace(old, new, 1))
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert "kind.toml" in done.stdout
    assert message in done.stdout


LOAD = """
import sys
from pathlib import Path
from joulemark.catalogue.primitives import Library
from joulemark.errors import InputError
try:
    Library.load(Path(sys.argv[1]))
except InputError as error:
    print(error)
"""

PARTS = {
    "demo/part.toml": """
        title = "An application"
        role = "application"
        needs = ["demo/adder"]
    """,
    "demo/main.c": """
        #include "hal.h"
        #if __has_include("adder.h")
        #include "adder.h"
        #endif
        int main(void) {
            hal_init();
            for (uint8_t x = 0;; x = hal_serial_read()) {
        #ifdef ADDER_H
                x = adder_add(x);
        #endif
                hal_serial_write(x);
            }
        }
    """,
    "demo/adder/part.toml": """
        title = "Adds"
        role = "driver"
        define = { ADDER_STEP = 3 }
    """,
    "demo/adder/adder.h": """
        #ifndef ADDER_H
        #define ADDER_H
        #include <stdint.h>
        uint8_t adder_add(uint8_t x);
        #endif
    """,
    "demo/adder/adder.c": """
        #include "adder.h"
        static uint8_t sum = 7;
        uint8_t adder_add(uint8_t x) {
            sum = (uint8_t)(sum * x + ADDER_STEP);
            return sum;
        }
    """,
}
PRICE = """
import hashlib, json, sys
from joulemark.catalogue import boards
from joulemark.errors import JoulemarkError
from joulemark.images import build_program, memory
board = boards.load_board(sys.argv[1])
try:
    images = [build_program("demo", board, without=w) for w in ((), *([x] for x in sys.argv[2:]))]
except JoulemarkError as error:
    sys.exit(str(error))
attributed = memory.Attribution.load(images[0].path.parent)
print(json.dumps({
    "digests": [hashlib.sha256(image.path.read_bytes()).hexdigest() for image in images],
    "parts": images[0].description["parts"],
    "flash": attributed.parts["demo/adder"].flash_bytes if "demo/adder" in attributed.parts else 0,
    "price": [memory.difference(images[0], image).flash_bytes for image in images[1:]],
}))
"""


def priced(root: Path, board: str, *without: str, code: int = 0) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", PRICE, board, *without],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "JOULEMARK_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else done.stderr


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    for name in ("chips", "boards", "firmware/hal"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name, text in PARTS.items():
        path = tmp_path / "firmware" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize("board", ["telosb", "stm32vldiscovery"])
def test_a_part_is_priced_by_leaving_it_out(parts: Path, board: str) -> None:
    """Leaving it out gives byte for byte the image of a tree that never had it."""
    found = priced(parts, board, "demo/adder")
    assert found["parts"] == "demo/adder,demo"
    (price,) = found["price"]
    assert price > 10
    # By sections, the call to it belongs to the application.
    assert 0 < found["flash"] < price
    shutil.rmtree(parts / "firmware/demo/adder")
    application = parts / "firmware/demo/part.toml"
    application.write_text(application.read_text().replace('needs = ["demo/adder"]', ""))
    assert priced(parts, board)["digests"] == found["digests"][1:]


def test_parts_that_are_wrong_are_named(parts: Path) -> None:
    adder = parts / "firmware/demo/adder/part.toml"
    text = adder.read_text()
    adder.write_text(text + 'needs = ["demo"]\n')
    assert "is a circle: demo needs demo/adder needs demo" in priced(parts, "telosb", code=1)
    adder.write_text(text + 'wired = ["radio", "clock"]\n')
    assert "part.toml, key wired: nothing is wired to clock" in priced(parts, "telosb", code=1)
    adder.write_text(text + "colour = 1\n")
    assert "key colour: unknown key" in priced(parts, "telosb", code=1)
    adder.unlink()
    assert "part.toml: cannot be read" in priced(parts, "telosb", code=1)
