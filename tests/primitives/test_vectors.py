"""Every implementation agrees with the standards and with an independent library.

Each is built for this machine with sanitizers, inside the harness, and tested over the protocol.
One implementation: `pytest tests/primitives/test_vectors.py -k "aes-128/ttable"`.
"""

from collections.abc import Iterator

import pytest

from joulemark.images import build_local
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device
from vectors import (
    CHECKS,
    IMPLEMENTATIONS,
    WRONG,
    Subject,
    applicable,
    check_published_vector,
    inputs_of,
)

HERE = [way for way in IMPLEMENTATIONS if way.runs_on("host")]


@pytest.fixture(scope="module", params=HERE, ids=str)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    image = build_local(request.param, sanitize=True)
    with LocalLink(image.path) as link:
        yield Subject(request.param, Device(link))


def test_every_primitive_is_whole() -> None:
    assert WRONG == []


def test_image_describes_itself(subject: Subject) -> None:
    description = subject.device.description
    assert description["primitive"] == subject.algorithm.name
    assert description["implementation"] == subject.implementation.name
    assert subject.device.operations == list(subject.contract.file.operation)
    assert subject.device.slots == list(subject.contract.file.slot)


def test_published_vectors(subject: Subject) -> None:
    for vector in subject.algorithm.vectors:
        check_published_vector(subject, vector)
        inputs = inputs_of(subject.algorithm, vector)
        if set(inputs) < set(subject.contract.file.input):
            continue  # Not all of the oracle's inputs are published.
        computed = subject.algorithm.oracle(inputs)
        for name in set(subject.contract.results) & set(vector.values):
            published = vector.values[name]
            assert computed[name][: len(published)] == published, vector.origin


@pytest.mark.parametrize(
    ("subject", "check"),
    [
        pytest.param(way, name, id=f"{way}-{name}")
        for way in HERE
        if way.is_main
        for name in applicable(way)
    ],
    indirect=["subject"],
    scope="module",
)
def test_properties(subject: Subject, check: str) -> None:
    CHECKS[check](subject)
