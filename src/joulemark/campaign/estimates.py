"""A campaign's cases for another Linux machine, for which they are cross-compiled."""

import hashlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import replace

from joulemark.campaign.case import Case
from joulemark.campaign.job import LOCAL, METHOD, Firmware, Job, Point, Setup
from joulemark.campaign.versions import project_commit
from joulemark.catalogue.machines import Machine
from joulemark.catalogue.primitives import Library
from joulemark.errors import BuildError
from joulemark.images import BuiltImage, build_local
from joulemark.images.architectures import Architecture
from joulemark.subjects.primitive.cases import expand
from joulemark.subjects.primitive.options import PrimitiveOptions

ESTIMATE = "estimate"
"""Runner of estimated cases."""


def jobs(
    campaign: PrimitiveOptions, machine: Machine, made_for: Architecture, method: str
) -> Iterator[Job]:
    """Build a campaign's images for a machine, one after the other.

    Args:
        campaign: a campaign of primitives.
        machine: the machine to estimate for.
        made_for: the machine's architecture to compile for.
        method: digest of the method of estimation.

    Raises:
        InputError: a name matches nothing.
        ToolError: a compiler or its libraries are missing.
    """
    library = Library.load()
    seed = campaign.seed if campaign.seed is not None else secrets.randbits(53)
    commit = project_commit()
    for firmware, cases in expand(campaign, library, Setup(runner=LOCAL)).items():
        way = library.implementation(library[firmware.primitive], firmware.implementation)
        image: BuiltImage | BuildError
        try:
            image = build_local(
                way,
                compiler=firmware.build.compiler,
                optimisation=firmware.build.optimisation,
                architecture=made_for,
            )
        except BuildError as error:
            image = error
        of_image = image.build_id if isinstance(image, BuiltImage) else str(image)
        shared = [METHOD, method, of_image, machine.digest, campaign.trials]
        yield Job(
            firmware=replace(firmware, board_name=machine.name, clock=machine.default_clock),
            image=image,
            points=tuple(_point(case, firmware, machine, campaign, shared) for case in cases),
            seed=seed,
            project_commit=commit,
        )


def _point(
    case: Case,
    firmware: Firmware,
    machine: Machine,
    campaign: PrimitiveOptions,
    shared: list[object],
) -> Point:
    conditions = replace(
        case.conditions,
        board=machine.name,
        clock=machine.default_clock,
        runner=ESTIMATE,
        meter="none",
        unit="estimated",
    )
    placed = replace(case, conditions=conditions)
    key = hashlib.sha256(f"{json.dumps(shared)}{placed.canonical}".encode()).hexdigest()
    return Point(case=placed, trials=campaign.trials or 1, key=key, seed=campaign.seed)
