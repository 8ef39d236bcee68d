"""Which scans are refused."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.vectors.scan_config import ScanConfig


def test_one_post_may_be_scored_again_but_not_none():
    assert ScanConfig("int8", rescore=1).rescore == 1
    with pytest.raises(ConfigurationError, match=r"at least 1, or null \(got 0\)"):
        ScanConfig("int8", rescore=0)


@pytest.mark.parametrize("how", [("principal",), ("binary",), ("float32", None, 0.9)])
def test_a_coarse_scan_must_say_how_many_are_scored_again(how):
    with pytest.raises(ConfigurationError, match="Expected a number for rescore"):
        ScanConfig(*how)


@pytest.mark.parametrize(
    ("config", "scans"),
    [
        (ScanConfig("bfloat16"), True),
        (ScanConfig(), True),
        (ScanConfig("int8"), False),
        (ScanConfig(rescore=9, pooling=0.9), False),
    ],
)
def test_a_gpu_scans_vectors_as_they_are_stored(config, scans):
    config.check_device("cpu")
    if scans:
        config.check_device("cuda")
    else:
        with pytest.raises(ConfigurationError, match="Expected device 'cpu'"):
            config.check_device("cuda")
