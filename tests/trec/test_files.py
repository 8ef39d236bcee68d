"""Plain and packed files."""

from __future__ import annotations

import gzip

import pytest

from mathamr_kedro.trec.files import open_to_replace, read_text


def test_names_are_read_as_nfc(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("Be\u0301zier:1\n", encoding="utf-8")
    assert read_text(path) == "B\u00e9zier:1\n"
    assert read_text(path, names="as_written") == "Be\u0301zier:1\n"


def test_a_file_appears_only_when_it_is_whole(tmp_path):
    path = tmp_path / "very" / "deep" / "x.tsv"
    with pytest.raises(RuntimeError), open_to_replace(path) as file:
        file.write("half")
        raise RuntimeError
    assert list(path.parent.iterdir()) == []
    with open_to_replace(path) as file:
        file.write("whole")
    assert [p.name for p in path.parent.iterdir()] == ["x.tsv"]


def test_compressed_files_are_the_same_bytes_every_time(tmp_path):
    for name in ("a.gz", "b.gz"):
        with open_to_replace(tmp_path / name) as file:
            file.write("x y\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    data = (tmp_path / "a.gz").read_bytes()
    assert gzip.decompress(data) == b"x y\n"
    assert data[4:8] == bytes(4)  # where gzip has its time stamp
