"""What tests of tables share."""

from __future__ import annotations

import csv

import pytest


@pytest.fixture
def limit():
    """Characters of a cell, which other tests of the process may have raised."""
    before = csv.field_size_limit(1000)
    yield 1000
    csv.field_size_limit(before)
