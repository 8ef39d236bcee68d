"""A collection without pairs has nothing to train on."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.pipelines.ingestion import IngestionConfig


def test_accepted_answers_alone_have_a_remedy():
    config = IngestionConfig(10, 10, "accepted")
    remedy = r"got 0\).*ingestion\.pairs: 'accepted'\); --params ingestion\.pairs=all"
    with pytest.raises(ConfigurationError, match=remedy):
        config.check_pairs(0, 7)


def test_all_answers_have_no_other_remedy():
    config = IngestionConfig(10, 10, "all")
    config.check_pairs(2, 7)
    config.check_pairs(0, 0)
    with pytest.raises(ConfigurationError, match=r"names its question.*num_epochs 0"):
        config.check_pairs(1, 7)
