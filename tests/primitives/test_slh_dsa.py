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


def way(algorithm: str, name: str) -> Implementation:
    return LIBRARY.implementation(LIBRARY[algorithm], name)


HASHES = {
    "sha2": (way("slh-dsa-sha2-128f", "signer+ref"), way("slh-dsa-sha2-128f", "ref")),
    "shake": (way("slh-dsa-shake-128f", "signer"), way("slh-dsa-shake-128f", "ref")),
}
"""Of each family of hashes what signs and what verifies."""
ON_BOARD = {
    "sha2": way("slh-dsa-sha2-128f", "signer+armv7m"),
    "shake": way("slh-dsa-shake-128f", "armv7m-signer"),
}


def on_host(way: Implementation) -> LocalLink:
    return LocalLink(build_local(way, sanitize=True).path)


@pytest.mark.parametrize("family", HASHES)
def test_random_keys_seeds_and_messages_give_the_oracle_s_signatures(family: str) -> None:
    signer, _ = HASHES[family]
    with on_host(signer) as link:
        check_random_inputs(Subject(signer, Device(link)))


@pytest.mark.parametrize("family", HASHES)
def test_what_is_signed_is_verified_and_another_seed_gives_another_signature(family: str) -> None:
    signs, verifies = HASHES[family]
    with on_host(signs) as signing, on_host(verifies) as verifying:
        signer = Subject(signs, Device(signing))
        values = signer.drawn(7, 40)
        verifier = Subject(verifies, Device(verifying))
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
    algorithm = LIBRARY["slh-dsa-sha2-128f"]
    assert algorithm.is_made_to_verify(["verify"])
    assert not algorithm.is_made_to_verify(["sign"])
    inputs = Inputs(secret_key=bytes(48), seed=bytes(16), message=b"")
    assert algorithm.oracle(inputs) != algorithm.oracle(inputs, to_verify=True)
    assert not LIBRARY["ml-dsa-44"].is_made_to_verify(["verify"])


@pytest.mark.parametrize("family", ON_BOARD)
def test_a_board_makes_a_key_and_its_secrets_decide_nothing(family: str) -> None:
    signer = ON_BOARD[family]
    build = BuildOf(signer, "gcc", "O3", DSP)
    subject = Subject(signer, build.start()[1])
    subject.gives("keygen", subject.contract.put("keygen", subject.drawn(3, 16)))
    image = build_image(signer, DSP, compiler="gcc", optimisation="O3")
    puts = at_random(signer.algorithm, "keygen", 2)
    found = follow(DSP, image, "keygen", puts)
    assert found.runs
    assert leaking(found.uses) == []


@pytest.mark.slow
def test_a_board_signs_and_its_secrets_decide_nothing() -> None:
    """Of the whole signature 0.24 thousand million cycles."""
    signer = ON_BOARD["sha2"]
    image = build_image(signer, DSP, compiler="gcc", optimisation="O3")
    puts = at_random(signer.algorithm, "sign", 2)
    found = follow(DSP, image, "sign", puts, budget_cycles=signer.cycles_max("sign"))
    assert found.runs
    assert leaking(found.uses) == []


def test_a_signer_is_measured_only_where_it_is_named() -> None:
    where = ("--board", "nrf52840-dk", "--opt", "O3", "--primitive", "slh-dsa-sha2-128s")
    assert "signer" not in joulemark("leaks", *where, code=3).stdout
    names = [
        way.name
        for way in LIBRARY.implementations_by_default(LIBRARY["slh-dsa-sha2-128f"], "armv7em")
    ]
    assert not any("signer" in name for name in names)
