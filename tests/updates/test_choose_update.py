"""Choosing the signature of a bootloader, as an engineer types it."""

import json
from typing import Any

import pytest

import joulemark as joulemark_module
from command import joulemark
from joulemark.errors import InputError

ASKED = ("choose", "--kind", "update", "--board", "nrf52840-dk", "--image", "1K")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = f"{tmp_path_factory.mktemp('choose')}/store.db"
    some = ("--primitive", "lms", "--primitive", "ecdsa-p256", "--primitive", "slh-dsa-128s")
    said = joulemark(*ASKED, *some, "-j", "1", "--store", store).stdout
    assert "updates of 1,024 bytes, on nrf52840-dk" in said
    return store


def _chosen(store: str, *demands: str) -> list[str]:
    done = joulemark(*ASKED, "--stored", "--store", store, "--format", "json", *demands)
    return [row["signature"] for row in json.loads(done.stdout)["candidates"]]


def test_demands_rule_signatures_out(store: str) -> None:
    assert set(_chosen(store)) == {"ecdsa-p256", "lms", "slh-dsa-128s"}
    assert set(_chosen(store, "--post-quantum")) == {"lms", "slh-dsa-128s"}
    assert _chosen(store, "--post-quantum", "--stateless") == ["slh-dsa-128s"]
    assert _chosen(store, "--security-bits", "256") == ["lms"]
    assert _chosen(store, "--max-ram", "1800", "--sort", "time") == ["lms"]
    assert _chosen(store, "--max-ms", "60") == ["ecdsa-p256"]


def test_what_signatures_ask_of_their_user_is_said(store: str) -> None:
    asked = (*ASKED, "--stored", "--store", store, "--every", "2592000")
    shown = joulemark(*asked).stdout
    assert "\necdsa-p256: a quantum computer would forge it" in shown
    assert "\nlms: the signer must never use a state twice" in shown
    assert "a state twice" not in joulemark(*asked, "--stateless").stdout
    assert "of the mean, 95% of images take: lms -20% to +21%" in shown
    assert "lms is too slow: " in joulemark(*asked, "--max-ms", "60").stdout
    said = joulemark(*asked, "--max-flash", "100", "--stateless", "--explain", code=13)
    assert "a signer that keeps no state:\n    ecdsa-p256+lms: armv7em+armv7m+armv7m" in said.stdout
    assert "give up flash at most 100 bytes" in said.stderr


def test_python_chooses_as_the_command_does(store: str) -> None:
    kind = {"kind": "update", "image": "1K", "stored": True}
    asked: dict[str, Any] = {"board": "nrf52840-dk", **kind}
    found = joulemark_module.choose(**asked, store=store, post_quantum=True)
    assert list(found["signature"]) == _chosen(store, "--post-quantum")
    with pytest.raises(InputError, match="size: an update takes no such argument"):
        joulemark_module.choose(**asked, store=store, size=3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--kind update --board nrf52840-dk --size 3", "--size: an update takes no such option"),
        ("--kind update --board nrf52840-dk --image 3Q", "'3Q' is no size"),
        ("--kind update --board nrf52840-dk --primitive rsa", "there are ecdsa-p256"),
        ("--kind update --board nrf52840-dk --implementation x", "x matches nothing that runs"),
        ("--kind update --board nrf52840-dk --max-memory 9", "which is --max-ram here: an update"),
        ("--kind hash --board nrf52840-dk --stateless", "--stateless: it is for --kind update"),
        ("--kind update --board nrf52840-dk --image 9K --stored", "nothing of this was priced"),
    ],
)
def test_what_is_wrong_is_told(arguments: str, said: str, store: str) -> None:
    asked = ("choose", *arguments.split(), "--store", store)
    assert said in joulemark(*asked, code=3).stderr
