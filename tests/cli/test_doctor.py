"""``mathamr doctor`` finds what was damaged and says what mends it."""

from __future__ import annotations

import shutil

import pytest
from click.testing import CliRunner

from mathamr_kedro.cli import group
from mathamr_kedro.corpus import VisualIndex
from tests.conftest import PROJECT
from tests.pipelines.graph_world import write_inputs


@pytest.fixture
def doctor(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    write_inputs(tmp_path)
    VisualIndex.build([]).save(tmp_path / "02_intermediate" / "visual_index")

    def run(*options: str):
        arguments = ["doctor", "--env", "test", "--data-root", str(tmp_path), *options]
        return CliRunner().invoke(group, arguments, catch_exceptions=False)

    return run


def test_stages_versions_and_parser_are_named(doctor):
    result = doctor()
    assert result.exit_code == 0
    assert result.output.startswith("raw data      data/01_raw/sample\n")
    lines = dict(line.split(maxsplit=1) for line in result.output.splitlines())
    assert lines["preprocessing"] == "no mathamr_plus.prepared"
    assert "amr_graphs" not in lines["amr_parsing"]
    assert "math_graphs" in lines["graph_fusion"]
    assert lines["parser"].startswith("builtin")


def test_missing_raw_data_come_first(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    monkeypatch.setenv("MATHAMR_ARQMATH", str(tmp_path / "arqmath"))
    options = ["--env", "benchmark", "--data-root", str(tmp_path)]
    first = CliRunner().invoke(group, ["doctor", *options]).output.splitlines()[0]
    assert first.startswith("raw data      The collection is missing")
    assert "MATHAMR_ARQMATH" in first


def test_whole_files_pass_and_damaged_ones_are_listed(doctor, tmp_path):
    assert "whole" in doctor("--verify").output
    shard = next((tmp_path / "03_primary/amr_graphs").glob("posts-0*"))
    shard.write_bytes(shard.read_bytes().replace(b"even-01", b"evil-01"))
    (tmp_path / "02_intermediate/visual_index/formulas.sqlite").unlink()
    result = doctor("--verify")
    assert result.exit_code == 1
    for name in (shard.name, "formulas.sqlite", "2 damaged", "kedro run"):
        assert name in result.output
    assert doctor().exit_code == 0


def flip(file):
    """Change one bit; a second time changes it back."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.slow
def test_every_file_of_data_weights_and_indexes_is_named_if_a_bit_of_it_changes(
    demo, tmp_path, monkeypatch
):
    root = tmp_path / "data"
    shutil.copytree(demo / "data", root, symlinks=True)
    files = [
        f
        for f in root.glob("0[2-6]_*/**/*")
        if f.name.endswith(_DATA) and f.stat().st_size and f.name not in _CHANGING
    ]
    for kind in _DATA:
        assert any(f.name.endswith(kind) for f in files), kind
    for file in files:
        flip(file)
    monkeypatch.chdir(demo)
    arguments = ["doctor", "--env", "demo", "--data-root", str(root), "--verify"]
    output = CliRunner().invoke(group, arguments, catch_exceptions=False).output
    assert [f for f in files if repr(str(f)) not in output] == []


_DATA = (".parquet", ".sqlite", ".amr.txt", ".arrays", ".npy", ".pt", ".dat", ".mmap")
_CHANGING = ("tracker_journal.dat",)
