"""Statistics of side channels: fixed-against-random tests, correlation attacks, fitted weights.

Samples are arrays of a row for each trace and a column for each point in time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Bytes: TypeAlias = npt.NDArray[np.uint8]

THRESHOLD = 4.5
"""From this |t| on, two groups are told apart (Goodwill, Jun, Jaffe, Rohatgi: "A testing
methodology for side-channel resistance validation", NIST workshop, 2011)."""
MOST_T = 999.0
"""What is given where two groups differ and neither varies."""
_LEAST_VARIANCE = 1e-9
_FIRST_COUNT = 8
"""Traces of the first attack; each further one has a quarter more."""


def welch(a: Floats, b: Floats) -> Floats:
    """Return Welch's t of two groups, column by column; 0 where neither varies nor differs."""
    difference = a.mean(axis=0) - b.mean(axis=0)
    # Below this, variance is an error of rounding.
    error = a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b)
    t = difference / np.sqrt(np.maximum(error, _LEAST_VARIANCE))
    found: Floats = np.where(np.abs(difference) < _LEAST_VARIANCE, 0.0, t).clip(-MOST_T, MOST_T)
    return found


def centred_squares(samples: Floats) -> Floats:
    """Return squared distances from the mean: a first-order test of them is one of second order.

    Schneider, Moradi: "Leakage assessment methodology", CHES 2015, section 4.
    """
    centred: Floats = samples - samples.mean(axis=0)
    return centred**2


def correlations(x: Floats, y: Floats) -> Floats:
    """Return Pearson's correlation of each column of `x` with each column of `y`."""
    found: Floats = _standardised(x).T @ _standardised(y)
    return found


def _standardised(samples: Floats) -> Floats:
    centred = samples - samples.mean(axis=0)
    norm = np.sqrt((centred**2).sum(axis=0))
    still = norm < _LEAST_VARIANCE
    found: Floats = np.where(still, 0.0, centred / np.where(still, 1.0, norm))
    return found


@lru_cache
def aes_sbox() -> Bytes:
    """Return the S-box of AES (FIPS 197, section 5.1.1), made from its definition."""

    def product(x: int, y: int) -> int:
        total = 0
        for bit in range(8):
            total ^= (x << bit) * (y >> bit & 1)
        for bit in range(14, 7, -1):
            total ^= (0x11B << bit - 8) * (total >> bit & 1)
        return total

    def of(value: int) -> int:
        inverse = 1
        for _ in range(254):
            inverse = product(inverse, value)
        turned = (inverse << 8 | inverse) & 0xFFFF
        return (inverse ^ turned >> 7 ^ turned >> 6 ^ turned >> 5 ^ turned >> 4 ^ 0x63) & 0xFF

    return np.array([of(value) for value in range(256)], np.uint8)


@dataclass(frozen=True)
class KeyByte:
    """What a correlation attack says of a byte of the key."""

    rank: int
    """Guesses that correlate more, plus 1: 1 if the right one is first."""
    correlation: float
    """Of the right guess, where it is largest."""
    column: int
    """Where that is."""
    traces: int | None
    """From so many traces on the right guess is first; None if it is not in the end."""


def aes_weights(blocks: Bytes, number: int, guesses: Bytes) -> Floats:
    """Return the weight of the first round's S-box output by trace and guess of a key byte."""
    output = aes_sbox()[blocks[:, number, None] ^ guesses]
    found: Floats = np.bitwise_count(output).astype(np.float64)
    return found


def attack_aes(samples: Floats, blocks: Bytes, key: bytes) -> list[KeyByte]:
    """Attack the first round of AES: weight of the S-box's output (correlation power analysis).

    Brier, Clavier, Olivier: "Correlation power analysis with a leakage model", CHES 2004.

    Args:
        samples: a row for each trace.
        blocks: 16 bytes of plaintext for each trace.
        key: the right key, of which the first 16 bytes are the first round's.
    """
    guesses = np.arange(256, dtype=np.uint8)
    moves = samples.std(axis=0) > _LEAST_VARIANCE
    columns = np.flatnonzero(moves)
    moving = samples[:, moves].astype(np.float32)
    found = []
    for number in range(16):
        weights = aes_weights(blocks, number, guesses).astype(np.float32)
        right = key[number]
        first_from: int | None = None
        rank, best, column = 256, 0.0, 0
        for count in _counts(len(samples)):
            if not columns.size:
                break
            r = np.abs(correlations(weights[:count], moving[:count]))  # type: ignore[arg-type]
            tops = r.max(axis=1)
            rank = 1 + int((tops > tops[right]).sum())
            first_from = (first_from or count) if rank == 1 else None
            column, best = int(columns[r[right].argmax()]), float(tops[right])
        found.append(KeyByte(rank, best, column, first_from))
    return found


def _counts(most: int) -> Iterator[int]:
    count = min(_FIRST_COUNT, most)
    while count < most:
        yield count
        count += max(count // 4, 1)
    yield most


@dataclass(frozen=True)
class Fit:
    """Weights that explain recorded traces, and how well they do."""

    weights: Floats
    columns: npt.NDArray[np.int64]
    """The recorded sample of each cycle."""
    stalls: int
    """Cycles that the recorded chip took more."""
    before: Floats
    """Correlation of recorded with modelled samples, all weights equal: each cycle that varies."""
    after: Floats
    """The same with these weights."""


def fit(rows: Bytes, recorded: Floats, samples_per_cycle: int) -> Fit:
    """Fit weights to recorded traces: aligned and fitted by the first half, judged by the second.

    The recording may begin earlier, and its chip may wait where the emulated one does not. Its sign
    is as it comes, so that a drop of voltage counts as power.

    Args:
        rows: counts by trace, cycle and component.
        recorded: a row for each trace.
        samples_per_cycle: samples in a cycle of the core's clock.
    """
    from scipy.optimize import nnls

    half = len(rows) // 2
    total = rows.sum(axis=2).astype(np.float64)
    r = correlations(total[:half], recorded[:half])
    sign = -1.0 if _aligned(-r, samples_per_cycle)[0] > _aligned(r, samples_per_cycle)[0] else 1.0
    _, columns = _aligned(sign * r, samples_per_cycle)
    seen = sign * recorded[:, columns]
    cycles = len(columns)
    counted = rows[:, :cycles].astype(np.float64)
    centred = counted - counted[:half].mean(axis=0)
    wanted = seen - seen[:half].mean(axis=0)
    x = centred[:half].reshape(-1, rows.shape[2])
    # The normal equations, as a problem of few rows.
    lower = np.linalg.cholesky(x.T @ x + 1e-3 * np.eye(rows.shape[2]))
    weights, _ = nnls(lower.T, np.linalg.solve(lower, x.T @ wanted[:half].reshape(-1)))
    varies = (counted[half:].std(axis=0) > _LEAST_VARIANCE).any(axis=1)

    def judged(by: Floats) -> Floats:
        modelled = counted[half:] @ by
        both = _standardised(modelled) * _standardised(seen[half:])
        found: Floats = both.sum(axis=0)[varies]
        return found

    stalls = int(columns[-1] - columns[0]) // samples_per_cycle - (cycles - 1)
    top = weights.max() or 1.0
    equal = np.ones(rows.shape[2])
    return Fit(weights / top, columns, stalls, judged(equal), judged(weights))


_STALL_PENALTY = 0.15
"""What a stall costs in an alignment, in squared correlation."""
_MOST_STALL = 6


def _aligned(r: Floats, per_cycle: int) -> tuple[float, npt.NDArray[np.int64]]:
    """Return how well cycles fit samples, and the sample of each, by dynamic programming.

    From cycle to cycle the sample moves by a cycle, or by a few more where the chip waits.
    """
    squares = np.where(r > 0, r**2, 0.0)
    samples = squares.shape[1]
    cycles = min(len(squares), samples // per_cycle)
    # By the sample that cycle 0 would have, had there been no stall. Beyond the last sample a path
    # scores nothing.
    starts = np.arange(samples)
    score = np.zeros(samples)
    came: list[npt.NDArray[np.int64]] = []
    for cycle in range(cycles):
        at = starts + cycle * per_cycle
        inside = at < samples
        source = starts.copy()
        if cycle:
            best = score.copy()
            for wait in range(1, _MOST_STALL + 1):
                step = wait * per_cycle
                moved = np.full(samples, -np.inf)
                moved[step:] = score[:-step] - _STALL_PENALTY
                better = moved > best
                best[better], source[better] = moved[better], starts[better] - step
            score = best
        score = score + np.where(inside, squares[cycle, np.where(inside, at, 0)], 0.0)
        came.append(source)
    where = int(score.argmax())
    total = float(score[where])
    columns = []
    for cycle in range(cycles - 1, -1, -1):
        columns.append(where + cycle * per_cycle)
        where = int(came[cycle][where])
    found = np.array(columns[::-1], np.int64)
    return total, found[found < samples]
