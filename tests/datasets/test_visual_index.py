"""The map from formula ids to visual ids as a dataset."""

from __future__ import annotations

import pyarrow as pa
import pytest
from kedro.io import DatasetError

from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets.visual_index import VisualIndexDataset


def test_what_was_saved_is_loaded(tmp_path):
    dataset = VisualIndexDataset(filepath=str(tmp_path / "index"))
    assert not dataset.exists()
    with pytest.raises(DatasetError, match="run the stage 'ingestion'"):
        dataset.load()
    table = pa.table({"formula_id": ["7", "8"], "visual_id": ["70", "71"]})
    dataset.save(VisualIndex.build([table]))
    assert dataset.exists()
    found = dataset.load()
    assert (len(found), found("7"), found("8"), found("9")) == (2, "70", "71", None)
