"""Arrays in one file: round trip, foreign readers' form, cut files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.arrays import (
    TextColumn,
    read_arrays,
    spread_ranges,
    write_arrays,
)
from mathamr_kedro.base.errors import MalformedInputError, MissingInputError


def test_arrays_come_back_with_type_and_shape(tmp_path):
    arrays = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "flags": np.array([True, False, True]),
        "empty": np.zeros((0, 4), dtype=np.float16),
        "b": np.arange(3, dtype=np.int64),
    }
    path = tmp_path / "x.safetensors"
    size = write_arrays(path, arrays)
    assert size == path.stat().st_size
    found = read_arrays(path)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_notes_of_other_writers_are_no_arrays(tmp_path):
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"a": np.arange(3)})
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    noted = json.loads(raw[8 : 8 + length]) | {"__metadata__": {"format": "pt"}}
    header = json.dumps(noted).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + raw[8 + length :])
    assert {name: a.tolist() for name, a in read_arrays(path).items()} == {
        "a": [0, 1, 2]
    }


def test_writing_to_a_mapped_array_leaves_the_file_alone(tmp_path):
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"a": np.zeros(3, dtype=np.float32)})
    read_arrays(path)["a"][0] = 1.0
    assert read_arrays(path)["a"][0] == 0.0


def test_header_is_that_of_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"u": np.ones(3, np.uint8), "w": np.ones(2, np.float32)})
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    assert json.loads(raw[8 : 8 + length]) == {
        "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "u": {"dtype": "U8", "shape": [3], "data_offsets": [8, 11]},
    }


@pytest.mark.parametrize("name", ["a", "ab", "abc", "abcdefgh"])
def test_arrays_begin_where_eight_bytes_begin(tmp_path, name):
    """Others map the file into memory, and their numbers must lie even."""
    path = tmp_path / "x.safetensors"
    write_arrays(path, {name: np.arange(3, dtype=np.int64)})
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    assert length % 8 == 0
    assert raw[8 + length :] == np.arange(3, dtype=np.int64).tobytes()


@pytest.mark.parametrize("keep", [0, 5, 20, -1])
def test_cut_file_is_refused(tmp_path, keep):
    path = tmp_path / "x.safetensors"
    write_arrays(path, {"a": np.zeros(3, dtype=np.float32)})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(MalformedInputError, match="whole file"):
        read_arrays(path)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(MissingInputError, match="gone"):
        read_arrays(tmp_path / "gone")


def test_type_that_the_format_lacks_is_refused(tmp_path):
    with pytest.raises(MalformedInputError, match="complex"):
        write_arrays(tmp_path / "x", {"c": np.zeros(2, dtype=complex)})


@given(
    st.lists(st.lists(st.text(max_size=4), max_size=5), min_size=1, max_size=4),
    st.data(),
)
def test_columns_of_texts_are_lists_of_strings(parts, data):
    strings = [text for part in parts for text in part]
    column = TextColumn.join([TextColumn.of(part) for part in parts])
    assert len(column) == len(strings)
    assert list(column) == strings
    assert [column[place] for place in range(len(strings))] == strings
    places = st.lists(st.integers(0, max(0, len(strings) - 1)), max_size=6)
    chosen = data.draw(places) if strings else []
    assert list(column.take(chosen)) == [strings[place] for place in chosen]


def test_no_ranges_have_no_numbers():
    none = np.zeros(0, dtype=np.int64)
    assert spread_ranges(none, none).tolist() == []
