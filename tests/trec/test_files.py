"""Files as they are found in the wild, and the columns of their lines."""

from __future__ import annotations

import gzip
import random

import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.trec.files import (
    Columns,
    open_to_replace,
    read_text,
    split_evenly,
    split_lines,
)


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


def rows_of(path, **options):
    columns = Columns.read(path, **options)
    return [columns.row(i) for i in range(len(columns))]


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\nc\td\n",
        "a\tb\r\nc\td",
        "a b\nc d\n",
        "  a   b\n\nc d  \n",
        "a\tb \n \nc\td\n\n",
        "\ufeffa\tb\rc\td\r",
    ],
    ids=["tabs", "dos", "blanks", "many blanks", "blank beside tab", "bom, mac"],
)
def test_separators_and_line_ends_do_not_matter(tmp_path, text):
    path = tmp_path / "x.tsv"
    path.write_bytes(text.encode())
    assert rows_of(path) == [["a", "b"], ["c", "d"]]


def test_a_cell_with_tabs_around_it_may_hold_blanks(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("A.1\tmy run\nA.2\tmy run\n")
    assert rows_of(path) == [["A.1", "my run"], ["A.2", "my run"]]


def test_gzip_is_known_by_its_content(tmp_path):
    path = tmp_path / "no_suffix"
    path.write_bytes(gzip.compress(b"a b\n", mtime=0))
    assert rows_of(path) == [["a", "b"]]


def test_line_separators_of_unicode_do_not_end_a_line(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\u2028c\nd\te\u0085f\n", encoding="utf-8")
    assert rows_of(path) == [["a", "b\u2028c"], ["d", "e\u0085f"]]


def test_a_line_with_another_number_of_columns_is_named(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a b\n\nc d\ne f g\nh i\n")
    with pytest.raises(MalformedInputError, match=r"2 columns.*got 3.*x.tsv, line 4"):
        Columns.read(path)


def test_the_first_line_may_be_the_wrong_one(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("# a comment here\nc d\ne f\n")
    with pytest.raises(MalformedInputError, match=r"x.tsv, line 1"):
        Columns.read(path)


def test_wrong_lines_may_be_left_out_or_cut(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a b\ne f g\nh\ni j\n")
    assert rows_of(path, bad_lines="skip") == [["a", "b"], ["i", "j"]]
    assert Columns.read(path, "skip").num_bad_lines == 2
    with pytest.raises(MalformedInputError, match=r"got 1.*line 3"):
        Columns.read(path, "as_trec_eval")
    path.write_text("a b\ne f g\ni j\n")
    assert rows_of(path, bad_lines="as_trec_eval")[1] == ["e", "f"]


@pytest.mark.parametrize("separator", ["\t", " "])
def test_splitting_at_once_is_the_same_as_line_by_line(separator):
    rng = random.Random(6)
    cells = [
        "A.1",
        "17",
        "x\u00a0y",
        "x\u2028y",
        "é",
        "x y" if separator == "\t" else "z",
    ]
    even = 0
    for _ in range(300):
        lines = [
            separator.join(rng.choices(cells, k=rng.choice([3, 3, 3, 3, 2])))
            for _ in range(rng.randint(1, 5))
        ]
        text = "\n".join(lines)
        at_once = split_evenly(text, separator)
        try:
            slowly = split_lines(text, separator, "x", "refuse").cells
        except MalformedInputError:
            assert at_once is None
            continue
        if at_once is not None:
            even += 1
            assert [list(column) for column in slowly] == at_once
    assert even > 20


def test_lines_that_even_out_in_number_are_still_told_apart(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\nc\nd\te\tf\ng\th\n")  # 8 cells in 4 lines
    with pytest.raises(MalformedInputError, match="line 2"):
        Columns.read(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("a b\nRiemann–Siegel c\n".encode("latin-1", "replace")[:-2] + b"\xe9\n",
         r"UTF-8 text in x.tsv, line 2 \(got byte b'\\xe9'\)"),
        ("a b\n".encode("utf-16"), "got UTF-16.*iconv"),
        (gzip.compress(b"a b\n" * 50, mtime=0)[:-9], "Broken gzip file x.tsv"),
    ],
)  # fmt: skip
def test_wrong_bytes_are_explained(tmp_path, data, message):
    path = tmp_path / "x.tsv"
    path.write_bytes(data)
    with pytest.raises(MalformedInputError, match=message):
        Columns.read(path)


def test_missing_file_is_suggested(tmp_path):
    (tmp_path / "run_a.tsv").write_text("")
    with pytest.raises(MissingInputError, match=r"did you mean 'run_a.tsv'\?"):
        Columns.read(tmp_path / "run_b.tsv")
    with pytest.raises(MissingInputError, match="No file"):
        Columns.read(tmp_path / "nowhere" / "run_b.tsv")
    with pytest.raises(MissingInputError, match="got folder"):
        Columns.read(tmp_path)


def test_empty_file_has_no_rows(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("\n \n")
    assert rows_of(path) == []
    assert Columns.read(path).width == 0
    assert Columns.read(path, width=4).width == 4


def test_a_given_width_splits_lines_at_tabs_or_blanks(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb c\td\ne f g\nh\n")
    columns = Columns.read(path, "skip", width=3)
    assert [columns.row(i) for i in range(2)] == [["a", "b c", "d"], ["e", "f", "g"]]
    assert columns.skipped == ((3, ("h",)),)
