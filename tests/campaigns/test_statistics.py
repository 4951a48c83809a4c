"""Summaries against closed forms and an independent implementation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from joulemark.analysis.statistics import summarise

values = st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=40)


@given(values)
def test_agrees_with_scipy(sample: list[float]) -> None:
    summary = summarise(sample, deterministic=False)
    assert summary.mean == pytest.approx(float(np.mean(sample)), abs=1e-3)
    assert summary.deviation == pytest.approx(float(np.std(sample, ddof=1)), rel=1e-6, abs=1e-3)
    scale = float(stats.sem(sample))
    if scale > 1e-3:
        low, high = stats.t.interval(0.95, len(sample) - 1, loc=np.mean(sample), scale=scale)
        assert summary.confidence_95 == pytest.approx((high - low) / 2, rel=1e-6)


def test_interval_of_a_textbook_sample() -> None:
    # t(0.975, 4) = 2.776 (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2)
    summary = summarise([1, 2, 3, 4, 5], deterministic=True)
    assert summary.confidence_95 == pytest.approx(2.776 * math.sqrt(2.5 / 5), abs=1e-3)
    assert not summary.exact


@given(st.integers(0, 2**40), st.integers(1, 20))
def test_equal_values_are_exact_only_where_nothing_varies(value: int, count: int) -> None:
    assert summarise([value] * count, deterministic=True).exact
    assert not summarise([value] * count, deterministic=False).exact


def test_one_noisy_value_has_no_interval() -> None:
    summary = summarise([3.0], deterministic=False)
    assert summary.confidence_95 is None


def test_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        summarise([], deterministic=True)
