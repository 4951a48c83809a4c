"""SLH-DSA's signer: FIPS 205 by the oracle's own trees, on the host and on a board.

Published vectors go through tests/primitives/test_vectors.py.
"""

import pytest

from command import joulemark
from emulated import DSP, BuildOf
from joulemark.catalogue.primitives import Implementation
from joulemark.images import build_image, build_local
from joulemark.measure.following import leaking
from joulemark.measure.leaks import at_random, follow
from joulemark.oracle import Inputs
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device
from vectors import LIBRARY, Subject, check_random_inputs

SIGNER = LIBRARY.implementation(LIBRARY["slh-dsa-sha2-128f"], "signer+ref")
ON_BOARD = LIBRARY.implementation(LIBRARY["slh-dsa-sha2-128f"], "signer+armv7m")
VERIFIER = LIBRARY.implementation(LIBRARY["slh-dsa-sha2-128f"], "ref")


def on_host(way: Implementation) -> LocalLink:
    return LocalLink(build_local(way, sanitize=True).path)


def test_random_keys_seeds_and_messages_give_the_oracle_s_signatures() -> None:
    with on_host(SIGNER) as link:
        check_random_inputs(Subject(SIGNER, Device(link)))


def test_what_is_signed_is_verified_and_another_seed_gives_another_signature() -> None:
    with on_host(SIGNER) as signing, on_host(VERIFIER) as verifying:
        signer = Subject(SIGNER, Device(signing))
        values = signer.drawn(7, 40)
        verifier = Subject(VERIFIER, Device(verifying))
        signatures = set()
        for seed in (bytes(16), bytes(15) + b"\x01"):
            key, message = values["secret_key"], values["message"]
            inputs = Inputs(secret_key=key, seed=seed, message=message)
            given = {**values, "seed": seed, **signer.algorithm.oracle(inputs)}
            signer.gives("sign", signer.contract.put("sign", given))
            verifier.gives("verify", verifier.contract.put("verify", given))
            signatures.add(given["signature"])
        assert len(signatures) == 2


def test_what_is_only_verified_is_made_without_trees() -> None:
    algorithm = VERIFIER.algorithm
    assert algorithm.is_made_to_verify(["verify"])
    assert not algorithm.is_made_to_verify(["sign"])
    inputs = Inputs(secret_key=bytes(48), seed=bytes(16), message=b"")
    assert algorithm.oracle(inputs) != algorithm.oracle(inputs, to_verify=True)
    assert not LIBRARY["ml-dsa-44"].is_made_to_verify(["verify"])


def test_a_board_makes_a_key_and_its_secrets_decide_nothing() -> None:
    build = BuildOf(ON_BOARD, "gcc", "O3", DSP)
    subject = Subject(ON_BOARD, build.start()[1])
    subject.gives("keygen", subject.contract.put("keygen", subject.drawn(3, 16)))
    image = build_image(ON_BOARD, DSP, compiler="gcc", optimisation="O3")
    puts = at_random(ON_BOARD.algorithm, "keygen", 2)
    found = follow(DSP, image, "keygen", puts)
    assert found.runs
    assert leaking(found.uses) == []


@pytest.mark.slow
def test_a_board_signs_and_its_secrets_decide_nothing() -> None:
    """Of the whole signature 0.24 thousand million cycles."""
    image = build_image(ON_BOARD, DSP, compiler="gcc", optimisation="O3")
    puts = at_random(ON_BOARD.algorithm, "sign", 2)
    found = follow(DSP, image, "sign", puts, budget_cycles=ON_BOARD.cycles_max("sign"))
    assert found.runs
    assert leaking(found.uses) == []


def test_a_signer_is_measured_only_where_it_is_named() -> None:
    where = ("--board", "nrf52840-dk", "--opt", "O3", "--primitive", "slh-dsa-sha2-128s")
    assert "signer" not in joulemark("leaks", *where, code=3).stdout
    names = [way.name for way in LIBRARY.implementations_by_default(SIGNER.algorithm, "armv7em")]
    assert not any("signer" in name for name in names)
