"""The face of the package: all that it names is there, nothing heavy with it."""

import subprocess
import sys

import pytest

from mathamr_kedro import datasets


@pytest.mark.parametrize("name", datasets.__all__)
def test_every_name_is_there(name):
    assert getattr(datasets, name).__name__ == name


def test_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        datasets.Nothing  # noqa: B018


def test_tables_do_not_wait_for_torch():
    code = "import sys, mathamr_kedro.datasets as d; d.ShardedTable; "
    command = [sys.executable, "-c", code + "assert 'torch' not in sys.modules"]
    assert subprocess.run(command, check=False).returncode == 0
