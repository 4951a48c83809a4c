"""PLASA's modules on this machine, with sanitizers: what they send, and what they refuse.

Independent oracles recompute messages; an attacker replays, forges, reflects, downgrades and
floods.
"""

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from joulemark.catalogue.architectures import load_architecture
from joulemark.catalogue.primitives import Library
from joulemark.oracle import Inputs
from joulemark.project import FIRMWARE, ROOT

PLASA = FIRMWARE / "plasa"
PRIMITIVES = FIRMWARE / "primitives"
ORACLE: Any = load_architecture("plasa").oracle
REFUSED = "refused"
MOTE, AUTHORITY = 2, 1
DATA, GROUP = ORACLE.KEY_DATA, ORACLE.KEY_GROUP
PAIRWISE_FLAG, GROUP_FLAG, KEK_FLAG = ORACLE.PAIRWISE, ORACLE.GROUP, ORACLE.KEK
NO_POLICY, SKIPJACK, SHA_1, BOTH, AES_CCM, ASCON = ORACLE.POLICIES
OVERHEAD = ORACLE.OVERHEAD
AUTHENTICATED = (SHA_1, BOTH, AES_CCM, ASCON)
READING = b"d\x01\x00\x11\x22\x33\x44\x55"


def build(path: Path, *, authority: bool, also: Sequence[Path] = ()) -> Path:
    """Build a mote's or the authority's modules, with every policy and further folders."""
    side = ["authentication/authority", "key-management/manager"]
    if not authority:
        side = ["authentication/node", "key-management/client", "key-management/recovery"]
    modules = ["keydb", "cipher/software", "messages", "fresh", "provisioning"]
    modules += ["star", "star/reconfiguration"]
    modules += [f"star/policies/{p.name}" for p in sorted((PLASA / "star/policies").iterdir())]
    folders = [PLASA / name for name in (*modules, "authentication", "key-management", *side)]
    folders += also
    ways = [
        PRIMITIVES / name / "ref"
        for name in (
            "aead/ascon-aead128",
            "block-cipher/skipjack",
            "hash/sha-1",
            "aead/ccm-star",
            "block-cipher/aes",
        )
    ]
    sources = [
        ROOT / "tests/networks/plasa_host.c",
        *(s for f in folders for s in sorted(f.glob("*.c"))),
    ]
    sources += [s for f in ways for s in sorted(f.glob("*.c")) if s.stem != "ccm-strategy"]
    includes = [*folders, FIRMWARE / "boots/kept", FIRMWARE / "net/ccm-star/software"]
    includes += [f for way in ways for f in (way, *list(way.parents)[:3])]
    defines = {
        **{"AES_KEY_BITS": 128, "KEYDB_CAPACITY": 12, "STAR_FLOWS": 4, "STAR_PEERS": 2},
        **{
            "CLIENT_MISSED": 8,
            "MANAGER_KEYS": 2,
            "AUTHORITY_MOTES": 2,
            "AUTHORITY_PENDING": 2,
            "PLASA_AUTHORITY": AUTHORITY,
        },
        **{"PLASA_MOTE": AUTHORITY if authority else MOTE, "PLASA_IS_AUTHORITY": int(authority)},
    }
    command = ["clang-19", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command += [f"-D{k}={v}" for k, v in defines.items()]
    command += [f"-I{folder}" for folder in includes]
    subprocess.run([*command, *map(str, sources), "-o", str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("plasa")
    return {
        "mote": build(folder / "mote", authority=False),
        "authority": build(folder / "authority", authority=True),
    }


class Side:
    """One of the two sides, just booted."""

    def __init__(self, path: Path, boots: int = 1) -> None:
        self._process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ask("boot", boots)

    def ask(self, *words: object) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        texts = (w.hex() or "-" if isinstance(w, bytes) else str(w) for w in words)
        self._process.stdin.write(" ".join(texts) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        assert answer, "a sanitizer or an abort ended it"
        return answer

    def said(self, *words: object) -> bytes:
        answer = self.ask(*words)
        assert answer != REFUSED
        return b"" if answer == "-" else bytes.fromhex(answer)

    def fuzz(self, count: int, seed: int, genuine: list[bytes]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        lines = [f"fuzz {count} {seed}", *(g.hex() for g in genuine), "", ""]
        self._process.stdin.write("\n".join(lines))
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def done(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


@pytest.fixture
def mote(programs: dict[str, Path]) -> Iterator[Side]:
    side = Side(programs["mote"])
    yield side
    side.done()


@pytest.fixture
def authority(programs: dict[str, Path]) -> Iterator[Side]:
    side = Side(programs["authority"])
    side.ask("start")
    yield side
    side.done()


def join(mote: Side, authority: Side) -> list[bytes]:
    """Run the bootstrapping, and return its three messages."""
    hello = mote.said("hello")
    challenge = authority.said("hello", MOTE, hello)
    confirmation = mote.said("challenge", AUTHORITY, challenge)
    assert authority.ask("confirmation", MOTE, confirmation) == "1"
    return [hello, challenge, confirmation]


def agreed(mote: Side, authority: Side, policy: int) -> list[bytes]:
    """Join, share a data key, and agree on label 0's policy."""
    messages = join(mote, authority)
    renewal = authority.said("renew", DATA)
    assert mote.ask("renewal", renewal) == "1"
    for side in (mote, authority):
        assert side.ask("change", 0, policy, DATA) == "1"
    return [*messages, renewal]


# Bootstrapping


def test_the_bootstrapping_is_as_documented(mote: Side, authority: Side) -> None:
    messages = hello, challenge, confirmation = join(mote, authority)
    assert sum(map(len, messages)) == 93
    nonces = hello[3:], challenge[1:17]
    assert hello == ORACLE.hello(MOTE, ORACLE.fresh(MOTE, 1, 1))
    kek = authority.said("get", GROUP, GROUP_FLAG | KEK_FLAG)
    pairwise = ORACLE.pairwise(MOTE, AUTHORITY, *nonces)
    assert challenge == ORACLE.challenge(pairwise, nonces[1], kek, 0)
    assert confirmation == ORACLE.confirmation(MOTE, pairwise, nonces[1])
    assert mote.said("get", GROUP, GROUP_FLAG | KEK_FLAG) == kek
    assert mote.said("get", 3, PAIRWISE_FLAG) == pairwise
    assert authority.said("get", 0x80, PAIRWISE_FLAG) == pairwise


def test_an_old_handshake_is_worth_nothing(mote: Side, authority: Side) -> None:
    hello, challenge, confirmation = join(mote, authority)
    # Neither side accepts a message twice: the mote expects none, the authority has none pending.
    assert mote.ask("challenge", AUTHORITY, challenge) == REFUSED
    assert authority.ask("confirmation", MOTE, confirmation) == "0"
    # A replayed hello gets a fresh challenge, which the old confirmation does not match.
    assert authority.said("hello", MOTE, hello) != challenge
    assert authority.ask("confirmation", MOTE, confirmation) == "0"
    # An old challenge does not match a new hello.
    assert mote.said("hello") != hello
    assert mote.ask("challenge", AUTHORITY, challenge) == REFUSED


def test_nothing_is_taken_from_somebody_else_or_reflected(mote: Side, authority: Side) -> None:
    hello = mote.said("hello")
    assert authority.ask("hello", MOTE + 1, hello) == REFUSED
    challenge = authority.said("hello", MOTE, hello)
    assert mote.ask("challenge", AUTHORITY + 1, challenge) == REFUSED
    assert mote.ask("challenge", AUTHORITY, hello) == REFUSED
    confirmation = mote.said("challenge", AUTHORITY, challenge)
    assert authority.ask("confirmation", MOTE + 1, confirmation) == "0"
    assert authority.ask("confirmation", MOTE, challenge) == "0"
    assert authority.ask("confirmation", MOTE, confirmation) == "1"


def test_forged_challenges_do_not_end_a_bootstrapping(mote: Side, authority: Side) -> None:
    challenge = authority.said("hello", MOTE, mote.said("hello"))
    for bit in range(8 * len(challenge)):
        forged = bytearray(challenge)
        forged[bit // 8] ^= 1 << bit % 8
        assert mote.ask("challenge", AUTHORITY, bytes(forged)) == REFUSED
    confirmation = mote.said("challenge", AUTHORITY, challenge)
    for bit in range(8 * len(confirmation)):
        forged = bytearray(confirmation)
        forged[bit // 8] ^= 1 << bit % 8
        assert authority.ask("confirmation", MOTE, bytes(forged)) == "0"
    assert authority.ask("confirmation", MOTE, confirmation) == "1"


def test_the_authority_admits_as_many_as_it_has_room_for(authority: Side) -> None:
    def hello(address: int) -> str:
        sent = b"\xe1" + address.to_bytes(2, "little") + bytes(16)
        return authority.ask("hello", address, sent)

    for address in (5, 6):
        nonce = bytes.fromhex(hello(address))[1:17]
        key = ORACLE.pairwise(address, AUTHORITY, bytes(16), nonce)
        confirmation = ORACLE.confirmation(address, key, nonce)
        assert authority.ask("confirmation", address, confirmation) == "1"
    assert hello(7) == REFUSED
    assert hello(5) != REFUSED


def test_a_reboot_repeats_no_nonce(programs: dict[str, Path]) -> None:
    nonces = set()
    for boots in (1, 2, 3):
        side = Side(programs["mote"], boots)
        nonces |= {side.said("hello")[3:] for _ in range(20)}
        side.done()
    assert len(nonces) == 60


# Key management


def test_a_renewal_is_as_documented_and_leads_nowhere_back(mote: Side, authority: Side) -> None:
    join(mote, authority)
    kek = authority.said("get", GROUP, GROUP_FLAG | KEK_FLAG)
    for epoch in range(3):
        renewal = authority.said("renew", DATA)
        assert len(renewal) == 47
        key = authority.said("get", DATA, GROUP_FLAG)
        assert renewal == ORACLE.renewal(kek, DATA, epoch, key)
        assert mote.ask("renewal", renewal) == "1"
        assert mote.said("get", DATA, GROUP_FLAG) == key
        # Forward secrecy: both have discarded the KEK that protected this key, and their present
        # one follows from it by a one-way function.
        kek, old = ORACLE.ratchet(kek), kek
        for side in (mote, authority):
            assert side.said("get", GROUP, GROUP_FLAG | KEK_FLAG) == kek != old


def test_old_renewals_are_refused_and_missed_ones_made_up_for(mote: Side, authority: Side) -> None:
    join(mote, authority)
    renewals = [authority.said("renew", DATA) for _ in range(20)]
    assert mote.ask("renewal", renewals[8]) == "1"
    for old in renewals[:9]:
        assert mote.ask("renewal", old) == "0"
    # If more than eight were missed, only the authority can help.
    assert mote.ask("renewal", renewals[18]) == "0"
    assert mote.ask("renewal", renewals[17]) == "1"
    assert mote.ask("renewal", renewals[18]) == "1"


def test_a_lost_key_is_asked_for(mote: Side, authority: Side) -> None:
    agreed(mote, authority, NO_POLICY)
    authority.said("renew", DATA)  # which the mote does not hear
    lost = authority.said("get", DATA, GROUP_FLAG)
    request = mote.said("request", DATA)
    assert len(request) == 34
    assert authority.ask("request", MOTE + 1, request) == REFUSED
    answer = authority.said("request", MOTE, request)
    assert mote.ask("answer", answer) == "1"
    assert mote.said("get", DATA, GROUP_FLAG) == lost
    # Neither the old answer nor someone else's is good for a new request.
    assert mote.ask("answer", answer) == "0"
    mote.said("request", DATA)
    assert mote.ask("answer", answer) == "0"
    assert authority.ask("request", MOTE, mote.said("request", DATA + 1)) == REFUSED


def test_a_mote_that_reboots_takes_nothing_from_before(
    programs: dict[str, Path], mote: Side, authority: Side
) -> None:
    agreed(mote, authority, ASCON)
    recorded = authority.said("secure", MOTE, READING)
    assert mote.said("unsecure", AUTHORITY, MOTE, recorded) == READING
    again = Side(programs["mote"], boots=2)
    join(again, authority)
    assert again.ask("change", 0, ASCON, DATA) == "1"
    # The key is still valid, and the authority sends it; but its epoch is over.
    old = authority.said("request", MOTE, again.said("request", DATA))
    assert again.ask("answer", old) == "0"
    assert again.ask("unsecure", AUTHORITY, MOTE, recorded) == REFUSED
    authority.said("renew", DATA)
    new = authority.said("request", MOTE, again.said("request", DATA))
    assert again.ask("answer", new) == "1"
    assert again.ask("unsecure", AUTHORITY, MOTE, recorded) == REFUSED
    sent = authority.said("secure", MOTE, READING)
    assert again.said("unsecure", AUTHORITY, MOTE, sent) == READING
    again.done()


def test_no_renewal_replaces_a_key_that_protects_keys(authority: Side) -> None:
    for identifier in (0, 1, GROUP, 3):
        assert authority.ask("renew", identifier) == REFUSED


# Key database


def test_the_key_database_refuses_misuse(mote: Side) -> None:
    key, other = bytes(range(16)), bytes(16)
    full, misuse = "1", "2"
    for flags in (0, KEK_FLAG, PAIRWISE_FLAG | GROUP_FLAG, 8 | GROUP_FLAG):
        assert mote.ask("set", 9, flags, key) == misuse
    assert mote.ask("set", 0, GROUP_FLAG, key) == misuse
    assert mote.ask("set", 9, GROUP_FLAG, key) == "0"
    assert mote.ask("set", 9, PAIRWISE_FLAG, other) == misuse
    assert mote.said("get", 9, GROUP_FLAG) == key
    assert mote.said("get", 9, GROUP_FLAG | KEK_FLAG) == b""
    for identifier in range(100, 111):
        assert mote.ask("set", identifier, GROUP_FLAG, other) == "0"
    assert mote.ask("set", 111, GROUP_FLAG, other) == full
    mote.ask("remove", 9)
    assert mote.said("get", 9, GROUP_FLAG) == b""
    assert mote.ask("set", 111, GROUP_FLAG, other) == "0"
    mote.ask("remove", 0)
    assert mote.said("get", 0, GROUP_FLAG) == b""


# STaR


@pytest.mark.parametrize("policy", OVERHEAD)
def test_a_packet_is_what_its_policy_says(mote: Side, authority: Side, policy: int) -> None:
    agreed(mote, authority, policy)
    key = mote.said("get", DATA, GROUP_FLAG)
    for count, length in enumerate((8, 0, 1, 7, 16, 60), start=1):
        payload = bytes((length + i) % 256 for i in range(length))
        packet = mote.said("secure", AUTHORITY, payload)
        assert len(packet) == 1 + length + OVERHEAD[policy]
        number = {"boots": 1, "count": count, "age": 1}
        about = {"sender": MOTE, "receiver": AUTHORITY, **number}
        assert packet == ORACLE.packet(policy, key, payload, **about)
        assert authority.said("unsecure", MOTE, AUTHORITY, packet) == payload


@pytest.mark.parametrize("policy", AUTHENTICATED)
def test_replays_and_what_was_changed_are_refused(mote: Side, authority: Side, policy: int) -> None:
    agreed(mote, authority, policy)
    first, second = (mote.said("secure", AUTHORITY, READING) for _ in range(2))
    for bit in range(8 * len(second)):
        forged = bytearray(second)
        forged[bit // 8] ^= 1 << bit % 8
        assert authority.ask("unsecure", MOTE, AUTHORITY, bytes(forged)) == REFUSED
    for cut in range(len(second)):
        assert authority.ask("unsecure", MOTE, AUTHORITY, second[:cut]) == REFUSED
    # Under another sender's or receiver's name, and reflected to its sender.
    assert authority.ask("unsecure", MOTE + 1, AUTHORITY, second) == REFUSED
    assert authority.ask("unsecure", MOTE, 0xFFFF, second) == REFUSED
    assert mote.ask("unsecure", AUTHORITY, MOTE, second) == REFUSED
    assert authority.said("unsecure", MOTE, AUTHORITY, second) == READING
    assert authority.ask("unsecure", MOTE, AUTHORITY, second) == REFUSED
    assert authority.ask("unsecure", MOTE, AUTHORITY, first) == REFUSED


@pytest.mark.parametrize("policy", [p for p in OVERHEAD if p != NO_POLICY])
def test_a_reboot_repeats_no_packet_number(
    programs: dict[str, Path], authority: Side, policy: int
) -> None:
    packets = []
    for boots in (1, 2):
        mote = Side(programs["mote"], boots)
        agreed(mote, authority, policy)
        authority.ask("set", DATA, GROUP_FLAG, bytes(16))
        mote.ask("set", DATA, GROUP_FLAG, bytes(16))
        packets.append(mote.said("secure", AUTHORITY, READING))
        mote.done()
    # The mapping's age is per mote, but what follows the payload must differ.
    assert packets[0][1:] != packets[1][1:]
    if policy in (SKIPJACK, AES_CCM, ASCON):
        assert packets[0][1:9] != packets[1][1:9]


def test_no_policy_can_be_downgraded(mote: Side, authority: Side) -> None:
    agreed(mote, authority, ASCON)
    plain = bytes([NO_POLICY << 2 | 1]) + READING
    assert authority.ask("unsecure", MOTE, AUTHORITY, plain) == REFUSED
    for control in range(256):
        packet = bytes([control]) + READING + bytes(22)
        assert authority.ask("unsecure", MOTE, AUTHORITY, packet) == REFUSED
    # A label without a policy does not admit what belongs to a label with one.
    assert authority.ask("flow", 0xFFFF, READING[0], 1) == "1"
    assert authority.ask("change", 1, ASCON, DATA) == "1"
    assert authority.ask("change", 2, NO_POLICY, 0) == "1"
    plain = bytes([2 << 5 | NO_POLICY << 2 | 1]) + READING
    assert authority.ask("unsecure", MOTE, AUTHORITY, plain) == REFUSED
    other = bytes([2 << 5 | NO_POLICY << 2 | 1]) + b"x"
    assert authority.ask("unsecure", MOTE, AUTHORITY, other) == REFUSED  # "x" has label 0


def test_any_aead_of_the_suite_is_a_policy_in_one_file(tmp_path: Path) -> None:
    """TinyJAMBU, which nothing else here knows of."""
    folder = tmp_path / "tinyjambu"
    folder.mkdir()
    (folder / "tinyjambu-policy.c").write_text(
        """
#include "policy.h"
#include "tinyjambu.h"

static aead_message message(const star_context *p, uint8_t *nonce, uint8_t *at, uint8_t length) {
    nonce[0] = (uint8_t)p->boots;
    nonce[1] = (uint8_t)(p->boots >> 8);
    for (uint8_t i = 0; i < 4; i++)
        nonce[2 + i] = (uint8_t)(p->count >> 8 * i);
    nonce[6] = (uint8_t)p->from;
    return (aead_message){.nonce = nonce, .nonce_length = 12, .ad = &p->control, .ad_length = 1,
                          .in = at, .out = at, .length = length, .tag = at + length + 6,
                          .tag_length = 8};
}

static bool secure(const star_context *packet, uint8_t *payload, uint8_t length) {
    tinyjambu_ctx ctx;
    uint8_t nonce[12] = {0};
    aead_message m = message(packet, nonce, payload, length);
    tinyjambu_init(&ctx, packet->key);
    tinyjambu_encrypt(&ctx, &m);
    for (uint8_t i = 0; i < 6; i++)
        payload[length + i] = nonce[i];
    return true;
}

static bool unsecure(star_context *packet, uint8_t *payload, uint8_t length) {
    const uint8_t *told = payload + length;
    packet->boots = (uint16_t)(told[0] | told[1] << 8);
    packet->count = told[2] | told[3] << 8 | (uint32_t)told[4] << 16 | (uint32_t)told[5] << 24;
    tinyjambu_ctx ctx;
    uint8_t nonce[12] = {0};
    aead_message m = message(packet, nonce, payload, length);
    tinyjambu_init(&ctx, packet->key);
    return tinyjambu_decrypt(&ctx, &m) == CRYPTO_OK;
}

STAR_POLICY = {.id = 6, .overhead = 14, .is_authenticated = true, .secure = secure,
               .unsecure = unsecure};
"""
    )
    primitive = PRIMITIVES / "aead/tinyjambu"
    also = (folder, primitive / "ref", primitive)
    programs = [tmp_path / "mote", tmp_path / "authority"]
    for path in programs:
        build(path, authority=path.name == "authority", also=also)
    mote, authority = map(Side, programs)
    authority.ask("start")
    agreed(mote, authority, 6)
    key = mote.said("get", DATA, GROUP_FLAG)
    packet = mote.said("secure", AUTHORITY, READING)
    inputs = Inputs(
        tag_bytes=8,
        key=key,
        nonce=bytes([1, 0, 1, 0, 0, 0, MOTE]) + bytes(5),
        ad=packet[:1],
        message=READING,
    )
    right = Library.load()["tinyjambu-128"].oracle(inputs)
    assert packet[1:] == right["output"] + bytes([1, 0, 1, 0, 0, 0]) + right["tag"]
    assert authority.said("unsecure", MOTE, AUTHORITY, packet) == READING
    assert authority.ask("unsecure", MOTE, AUTHORITY, packet) == REFUSED
    packet = mote.said("secure", AUTHORITY, READING)
    for bit in range(8 * len(packet)):
        forged = bytearray(packet)
        forged[bit // 8] ^= 1 << bit % 8
        assert authority.ask("unsecure", MOTE, AUTHORITY, bytes(forged)) == REFUSED
    mote.done()
    authority.done()


def test_policies_change_and_rest_while_running(mote: Side, authority: Side) -> None:
    agreed(mote, authority, SHA_1)
    old = mote.said("secure", AUTHORITY, READING)
    change = authority.said("reconfigure", 0, ASCON, DATA, 1)
    assert len(change) == 24
    for bit in range(8 * len(change)):
        forged = bytearray(change)
        forged[bit // 8] ^= 1 << bit % 8
        assert mote.ask("reconfiguration", bytes(forged)) == "0"
    assert mote.ask("reconfiguration", change) == "1"
    assert mote.ask("reconfiguration", change) == "0"
    assert authority.ask("unsecure", MOTE, AUTHORITY, old) == REFUSED
    packet = mote.said("secure", AUTHORITY, READING)
    assert authority.said("unsecure", MOTE, AUTHORITY, packet) == READING
    for side in (mote, authority):
        assert side.ask("enable", 0, 0) == "1"
    packet = mote.said("secure", AUTHORITY, READING)
    assert packet[1:] == READING
    assert authority.said("unsecure", MOTE, AUTHORITY, packet) == READING
    for side in (mote, authority):
        assert side.ask("enable", 0, 1) == "1"
    packet = mote.said("secure", AUTHORITY, READING)
    assert len(packet) == len(READING) + 1 + OVERHEAD[ASCON]
    assert authority.said("unsecure", MOTE, AUTHORITY, packet) == READING


def test_flows_are_told_apart(mote: Side) -> None:
    key = bytes(range(16))
    assert mote.ask("set", DATA, GROUP_FLAG, key) == "0"
    assert mote.ask("flow", 7, 0xFFFF, 1) == "1"
    assert mote.ask("flow", 0xFFFF, ord("a"), 2) == "1"
    for label, policy in ((1, SHA_1), (2, ASCON)):
        assert mote.ask("change", label, policy, DATA) == "1"
    for to, payload, label, policy in (
        (7, b"a", 1, SHA_1),
        (8, b"a", 2, ASCON),
        (8, b"b", 0, NO_POLICY),
        (8, b"", 0, NO_POLICY),
    ):
        packet = mote.said("secure", to, payload)
        assert (packet[0] >> 5, packet[0] >> 2 & 7) == (label, policy)
    assert mote.ask("flow", 1, 1, 7) == "0"
    assert [mote.ask("flow", 1, 1, 6) for _ in range(3)] == ["1", "1", "0"]
    assert mote.ask("change", 0, 6, DATA) == "0"
    assert mote.ask("change", 7, SHA_1, DATA) == "0"
    assert mote.ask("enable", 7, 1) == "0"


def test_without_a_key_or_room_nothing_is_sent(mote: Side) -> None:
    assert mote.ask("change", 0, ASCON, DATA) == "1"
    assert mote.ask("secure", AUTHORITY, READING) == REFUSED
    assert mote.ask("set", DATA, GROUP_FLAG, bytes(16)) == "0"
    assert mote.ask("secure", AUTHORITY, bytes(116 - 1 - 22 + 1)) == REFUSED
    assert len(mote.said("secure", AUTHORITY, bytes(116 - 1 - 22))) == 116


def test_more_senders_than_there_is_room_for_are_refused(mote: Side, authority: Side) -> None:
    agreed(mote, authority, ASCON)
    key = mote.said("get", DATA, GROUP_FLAG)

    def packet(sender: int) -> bytes:
        about = {"receiver": AUTHORITY, "boots": 1, "count": 9, "age": 1}
        sent: bytes = ORACLE.packet(ASCON, key, b"!", sender=sender, **about)
        return sent

    assert authority.said("unsecure", 5, AUTHORITY, packet(5)) == b"!"
    assert authority.said("unsecure", 6, AUTHORITY, packet(6)) == b"!"
    assert authority.ask("unsecure", 7, AUTHORITY, packet(7)) == REFUSED
    assert authority.ask("unsecure", 0, AUTHORITY, packet(0)) == REFUSED


@pytest.mark.parametrize("side", ["mote", "authority"])
def test_no_malformed_message_is_taken(mote: Side, authority: Side, side: str) -> None:
    genuine = agreed(mote, authority, ASCON)
    genuine += [authority.said("renew", DATA), authority.said("reconfigure", 0, SHA_1, DATA, 1)]
    request = mote.said("request", DATA)
    answer = authority.said("request", MOTE, request)
    genuine += [request, answer, mote.said("secure", AUTHORITY, READING)]
    victim = mote if side == "mote" else authority
    assert victim.fuzz(20_000, 1, genuine) == 0
