"""Records that tests make up from flat names."""

import dataclasses
from typing import Any

from joulemark.campaign.case import Build, Conditions
from joulemark.records.record import PrimitiveRecord, Provenance, Quantity, Record
from joulemark.subjects import About
from joulemark.subjects.primitive import PrimitiveSubject

DEFAULTS: dict[str, Any] = {
    "key": "k",
    "measured_at": "2026-01-02T03:04:05Z",
    "status": "ok",
    "kind": "hash",
    "primitive": "sha-256",
    "implementation": "ref",
    "operation": "hash",
    "message_bytes": 64,
    "compiler": "clang",
    "optimisation": "O3",
    "board": "telosb",
    "clock": "max",
    "runner": "emulator",
    "meter": "model",
    "unit": "emulated",
    "repetitions": 1,
    "seed": 1,
    "host": "test",
    "clock_hz": 8_000_000,
    "chip": "msp430f1611",
}
UNITS = {
    "cycles": "cycles",
    "cycles_cold": "cycles",
    "instructions": "instructions",
    "time_ps": "ps",
    "energy_gross_nj": "nJ",
    "energy_net_nj": "nJ",
    "flash_bytes": "B",
    "ram_bytes": "B",
    "stack_bytes": "B",
}


def made(**given: Any) -> PrimitiveRecord:
    """Make a record with these values; the case's repetitions are those of the record."""
    values = DEFAULTS | {"main": given.get("operation", "hash") != "init"} | given
    repetitions = values["repetitions"]
    parts = {
        name: kind(
            **{
                f.name: values.pop(f.name)
                for f in dataclasses.fields(kind)
                if f.name in values and (name, f.name) != ("about", "status")
            }
        )
        for name, kind in (
            ("subject", PrimitiveSubject),
            ("build", Build),
            ("conditions", Conditions),
            ("provenance", Provenance),
            ("about", About),
        )
    }
    about = values.pop("subject_status", None)
    parts["about"] = dataclasses.replace(parts["about"], status=about)
    exact, grade = values.pop("exact", False), values.pop("energy_grade", None)
    low, high = values.pop("cycles_min", None), values.pop("cycles_max", None)
    quantities = list(values.pop("quantities", ()))
    for name, unit in UNITS.items():
        value = values.pop(name, None)
        if value is None or values["status"] != "ok":
            continue
        plain = name.removesuffix(f"_{unit.lower()}").removesuffix("_bytes")
        made = Quantity("", plain, unit, value, grade=grade if "energy" in name else None)
        if name == "cycles":
            bounds = (value if low is None else low, value if high is None else high)
            made = made._replace(lower=bounds[0], upper=bounds[1], bounds="range", exact=exact)
        quantities.append(made)
    return Record(
        **(values | parts | {"repetitions": repetitions, "quantities": tuple(quantities)})
    )
