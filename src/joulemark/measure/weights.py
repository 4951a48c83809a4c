"""How much each bit that toggles counts in modelled power: equally, as published, or as fitted."""

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from joulemark._engine import ACTIVITY
from joulemark.analysis import side_channel
from joulemark.analysis.side_channel import Bytes, Floats
from joulemark.catalogue import datafile
from joulemark.catalogue.near import near
from joulemark.errors import InputError

EQUAL = "equal"
"""Each bit counts one."""
FORMAT = (
    "a file of recorded traces has arrays: traces, a row each; for each input one of its name, a "
    "row of bytes for each trace or one for all; and, unless it is 4, samples_per_cycle"
)
LEAST_RECORDED = 40
_FILE = Path(__file__).with_suffix(".toml")
_SAMPLES_PER_CYCLE = 4
_OF_A_THOUSAND = 3.29
"""Standard deviations that a normal variable exceeds once in a thousand times."""


class Published(datafile.DataModel):
    """A table of the file: weights that somebody published."""

    title: str
    source: str
    grade: Literal["model"]
    weights: dict[str, Annotated[float, Field(ge=0, le=1)]]


class _File(datafile.DataModel):
    documents: dict[str, str]
    published: dict[str, Published]


@lru_cache
def published() -> dict[str, Published]:
    """Return the published weights, by name."""
    return datafile.read(_FILE, _File).published


def named(name: str) -> Floats:
    """Return weights by name, in the order of what the engine counts.

    Raises:
        InputError: there are none of that name.
    """
    if name == EQUAL:
        return np.ones(len(ACTIVITY))
    known = published()
    if name not in known:
        mend = f"{near(name, [EQUAL, *known])}; or give a file of recorded traces, .npz"
        raise InputError(f"no weights '{name}'", "--weights", mend)
    return np.array([known[name].weights.get(component, 0.0) for component in ACTIVITY])


@dataclass(frozen=True)
class Fitted:
    """Weights fitted to recorded traces."""

    path: Path
    traces: int
    fit: side_channel.Fit

    @property
    def weights(self) -> Floats:
        """In the order of what the engine counts."""
        return self.fit.weights

    @property
    def row(self) -> dict[str, Any]:
        """Names and numbers; correlations are of the half of the traces that was not fitted."""

        def of(r: Floats) -> dict[str, float]:
            return {
                "median": round(float(np.median(r)), 3),
                "ninth_decile": round(float(np.quantile(r, 0.9)), 3),
                "largest": round(float(r.max()), 3),
            }

        return {
            "file": str(self.path),
            "traces": self.traces,
            "cycles": len(self.fit.columns),
            "varying_cycles": len(self.fit.after),
            "first_sample": int(self.fit.columns[0]),
            "stall_cycles": self.fit.stalls,
            "weights": {
                name: round(float(weight), 2)
                for name, weight in zip(ACTIVITY, self.fit.weights, strict=True)
            },
            "correlation_by_chance": round(
                _OF_A_THOUSAND / (self.traces - self.traces // 2) ** 0.5, 3
            ),
            "correlation_with_equal_weights": of(self.fit.before),
            "correlation": of(self.fit.after),
        }


def fitted(path: Path, model: Callable[[Mapping[str, bytes]], Bytes]) -> Fitted:
    """Fit weights to recorded traces.

    Args:
        path: a file as `FORMAT` says.
        model: returns what toggles with given inputs.

    Raises:
        InputError: the file is not such a file, or too short.
    """
    arrays = _arrays(path)
    recorded = arrays.pop("traces", None)
    if recorded is None:
        raise InputError("no array 'traces'", str(path), FORMAT)
    if recorded.ndim != 2 or recorded.dtype.kind not in "fiu" or not np.isfinite(recorded).all():
        raise InputError("array 'traces' is not rows of finite numbers", str(path), FORMAT)
    if len(recorded) < LEAST_RECORDED:
        raise InputError(f"{len(recorded)} traces are too few", str(path), f"{LEAST_RECORDED} do")
    rate = arrays.pop("samples_per_cycle", np.array(_SAMPLES_PER_CYCLE))
    if rate.size != 1 or rate.dtype.kind not in "iu" or not 1 <= int(rate) <= recorded.shape[1]:
        raise InputError("array 'samples_per_cycle' is no whole number from 1", str(path), FORMAT)
    for name, values in arrays.items():
        if values.dtype != np.uint8 or values.ndim not in {1, 2}:
            raise InputError(f"array '{name}' is not bytes", str(path), FORMAT)
        if values.ndim == 2 and len(values) != len(recorded):
            what = f"array '{name}' has {len(values)} rows, and 'traces' {len(recorded)}"
            raise InputError(what, str(path))

    def inputs(number: int) -> dict[str, bytes]:
        rows = ((name, v if v.ndim == 1 else v[number]) for name, v in arrays.items())
        return {name: row.tobytes() for name, row in rows}

    # What the recording is too short for is not kept.
    most = recorded.shape[1] // int(rate)
    rows = [model(inputs(number))[:most] for number in range(len(recorded))]
    shortest = min(map(len, rows))
    stacked = np.stack([each[:shortest] for each in rows])
    found = side_channel.fit(stacked, recorded.astype(np.float64), int(rate))
    if not found.after.size:
        raise InputError("nothing that toggles differs from trace to trace", str(path))
    return Fitted(path, len(recorded), found)


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", str(path), FORMAT) from error
    except (ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise InputError("is no .npz file of numbers", str(path), FORMAT) from error
