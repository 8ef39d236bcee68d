"""What was saved last is loaded, even where the clock runs backwards."""

from __future__ import annotations

import logging
from inspect import signature

import pytest
from kedro.io import DataCatalog

from mathamr_kedro.versions import SteadyCatalog

LATE, EARLY = "2026-11-16T10.00.00.999Z", "2026-11-15T09.00.00.000Z"


def open_catalog(tmp_path, version):
    entry = {
        "type": "kedro_datasets.json.JSONDataset",
        "filepath": str(tmp_path / "encoder.json"),
        "versioned": True,
    }
    return SteadyCatalog.from_config({"encoder": entry}, save_version=version)


def test_a_clock_that_runs_backwards_picks_the_new_encoder(tmp_path, caplog):
    open_catalog(tmp_path, LATE).save("encoder", {"folder": "old"})
    with caplog.at_level(logging.WARNING):
        open_catalog(tmp_path, EARLY).save("encoder", {"folder": "new"})
    assert "2026-11-16T10.00.01.000Z" in caplog.text
    assert open_catalog(tmp_path, None).load("encoder") == {"folder": "new"}


def test_a_version_that_is_taken_is_not_overwritten(tmp_path):
    open_catalog(tmp_path, LATE).save("encoder", {"folder": "old"})
    open_catalog(tmp_path, LATE).save("encoder", {"folder": "new"})
    assert open_catalog(tmp_path, None).load("encoder") == {"folder": "new"}
    assert len(list((tmp_path / "encoder.json").iterdir())) == 2


@pytest.mark.parametrize("version", [None, "2026-11-17T00.00.00.000Z"])
def test_a_clock_that_runs_forwards_is_left_alone(tmp_path, version, caplog):
    open_catalog(tmp_path, EARLY).save("encoder", {"folder": "old"})
    (tmp_path / "encoder.json" / "notes").mkdir()
    open_catalog(tmp_path, version)
    assert "clock" not in caplog.text


def test_versions_of_versioned_files_count_alone(tmp_path):
    (tmp_path / "plain" / LATE).mkdir(parents=True)
    catalog = SteadyCatalog.from_config(
        {
            "plain": {
                "type": "kedro_datasets.text.TextDataset",
                "filepath": str(tmp_path / "plain"),
            },
            "held": {"type": "kedro.io.MemoryDataset"},
            "encoder": {
                "type": "kedro_datasets.json.JSONDataset",
                "filepath": str(tmp_path / "encoder.json"),
                "versioned": True,
            },
        },
        save_version=EARLY,
    )
    catalog.save("encoder", {})
    assert [path.name for path in (tmp_path / "encoder.json").iterdir()] == [EARLY]


def test_it_is_called_as_the_catalog_of_kedro(monkeypatch):
    own, kedro = (signature(c.from_config) for c in (SteadyCatalog, DataCatalog))
    defaults = [{n: p.default for n, p in s.parameters.items()} for s in (own, kedro)]
    assert defaults[0] == defaults[1]
    passed = classmethod(lambda cls, *arguments: arguments)
    monkeypatch.setattr(DataCatalog, "from_config", passed)
    assert SteadyCatalog.from_config({}) == ({}, *list(defaults[1].values())[1:])
