"""ML-DSA-44 signs on a chip that has 8 KB of RAM; what bounds ML-DSA-65's time on a Cortex-M3."""

from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey
from dilithium_py.ml_dsa import ML_DSA_44

from generate_docs import in_8_kb, mostly_hashes
from joulemark.catalogue import chips
from joulemark.catalogue.boards import load_board
from joulemark.project import ROOT
from share_of_hash import shares
from small_signer import BOARD, signed

MESSAGE = b"joulemark"


def test_a_whole_program_signs_in_8_kb() -> None:
    made = signed()
    # By two independent libraries: to the byte, and by verification.
    public, private = ML_DSA_44.key_derive(bytes(range(32)))
    assert made.public_key == public
    assert made.signature == ML_DSA_44._sign_internal(private, bytes(2) + MESSAGE, bytes(32))
    MLDSA44PublicKey.from_public_bytes(public).verify(made.signature, MESSAGE)
    assert chips.room(load_board(BOARD).chip, "ram") == 8192
    assert made.variables_bytes >= len(public) + len(made.signature)
    assert made.ram_bytes <= 8192
    assert in_8_kb(made) in (ROOT / "docs/post-quantum.md").read_text()


def test_most_of_its_time_is_the_permutation() -> None:
    found = list(shares())
    for share in found:
        # The matrix alone: 30 polynomials of 256 coefficients of 3 bytes, 168 bytes a permutation.
        assert share.permutations > 30 * (256 * 3 / 168)
        assert share.permutation_cycles > share.cycles / 2
    assert mostly_hashes(found) in (ROOT / "docs/post-quantum.md").read_text()
