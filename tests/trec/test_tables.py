"""TSV tables with a header."""

from __future__ import annotations

import csv
import gzip

import pytest

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.trec import read_table


def written(tmp_path, text):
    path = tmp_path / "1.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_are_found_by_name_and_come_in_the_order_asked_for(tmp_path):
    path = written(tmp_path, "\ufeffB\tother\t a\n1\tx\t2\n\n3\ty\t4\n")
    assert list(read_table(path, ("a", "b"))) == [(2, ["2", "1"]), (4, ["4", "3"])]


def test_a_column_may_have_one_of_several_names_or_be_missing(tmp_path):
    path = written(tmp_path, "id\topt\n1\tx\n")
    rows = list(read_table(path, ("id", "formula|opt"), optional=("issue",)))
    assert rows == [(2, ["1", "x", ""])]


def test_quoted_cells_may_hold_tabs_and_lines(tmp_path):
    path = written(tmp_path, 'id\tformula\n1\t"a ""b""\tc\nd"\n2\te\n')
    rows = list(read_table(path, ("id", "formula")))
    assert rows == [(2, ["1", 'a "b"\tc\nd']), (4, ["2", "e"])]


def test_a_line_with_fewer_tabs_than_the_header_may_belong_to_a_cell(tmp_path):
    path = written(tmp_path, 'id\tformula\tissue\n1\t"a\nb\tc\nd"\t2\n')
    rows = list(read_table(path, ("id", "formula", "issue")))
    assert rows == [(2, ["1", "a\nb\tc\nd", "2"])]


def test_a_quote_that_is_never_closed_costs_its_own_row_alone(tmp_path):
    path = written(tmp_path, 'id\tformula\n1\t"a\n2\tb ""\n3\t"c\nd"\n4\t"e\nf')
    first, second, third, fourth, rest = read_table(path, ("id", "formula"))
    assert (first.reason, first.place, first.record_id) == ("open_quote", "line 2", "1")
    assert second == (3, ["2", 'b ""'])
    assert third == (4, ["3", "c\nd"])
    assert (fourth.reason, fourth.place) == ("open_quote", "line 6")
    assert (rest.reason, rest.place) == ("too_few_columns", "line 7")


def test_a_tab_outside_of_quotes_does_not_cut_the_cell_silently(tmp_path):
    path = written(tmp_path, "id\tformula\n1\ta\tb\n2\tc\t\t\n")
    cut, whole = read_table(path, ("id", "formula"))
    assert (cut.reason, cut.place) == ("too_many_columns", "line 2")
    assert whole == (3, ["2", "c"])


def test_a_row_that_cannot_be_read_is_a_failure_with_its_place(tmp_path):
    path = written(tmp_path, b"id\tformula\n1\n2\t\xe9\n3\t\xc3\xa9\n")
    short, bad, good = read_table(path, ("id", "formula"))
    assert isinstance(short, Failure) and isinstance(bad, Failure)
    assert (short.reason, short.source, short.place) == (
        "too_few_columns", "1.tsv", "line 2",
    )  # fmt: skip
    assert (bad.reason, bad.place, bad.record_id) == ("bad_encoding", "line 3", "2")
    assert good == (4, ["3", "é"])


def test_the_limit_of_a_cell_is_raised_for_reading_alone(tmp_path, limit):
    cell = "x" * 2 * limit
    rows = read_table(written(tmp_path, f'id\n"{cell}"\ny\n'), ("id",))
    assert next(rows) == (2, [cell])
    assert csv.field_size_limit() == limit


def test_a_cell_over_sixteen_mebibytes_counts_as_one_that_is_never_closed(tmp_path):
    text = 'id\n"' + ("x" * 1023 + "\n") * (16 * 1024) + 'x"\n'
    first, *_ = read_table(written(tmp_path, text), ("id",))
    assert (first.reason, first.place) == ("open_quote", "line 2")


def test_a_header_may_be_missing_where_that_is_allowed(tmp_path):
    path = written(tmp_path, "1\t70\n2\t71\n")
    columns = ("id|formula_id", "visual_id")
    rows = list(read_table(path, columns, ("issue",), needs_header=False))
    assert rows == [(1, ["1", "70", ""]), (2, ["2", "71", ""])]
    with pytest.raises(MalformedInputError, match=r"1\.tsv', line 1: expected"):
        list(read_table(path, columns))


def test_the_last_column_tells_a_header_from_a_row(tmp_path):
    path = written(tmp_path, "1\tvisual_id\n2\t71\n")
    with pytest.raises(MalformedInputError, match="line 1: expected"):
        list(read_table(path, ("id", "visual_id"), needs_header=False))
    path = written(tmp_path, "id\t70\n2\t71\n")
    rows = list(read_table(path, ("id", "visual_id"), needs_header=False))
    assert rows == [(1, ["id", "70"]), (2, ["2", "71"])]


def test_broken_files_are_explained(tmp_path):
    packed = gzip.compress(b"id\n" + b"1\n" * 9000, mtime=0)[:-9]
    with pytest.raises(MalformedInputError, match="Broken gzip"):
        list(read_table(written(tmp_path, packed), ("id",)))
    with pytest.raises(MalformedInputError, match="iconv"):
        list(read_table(written(tmp_path, "id\n1\n".encode("utf-16")), ("id",)))


@pytest.mark.parametrize(
    "start", [b"\xff\xfei\x01", b"\xfe\xff\x01i", b"\x7fEL\0", b"id\t\0"]
)
def test_other_encodings_and_binary_files_are_told_by_their_first_bytes(
    tmp_path, start
):
    with pytest.raises(MalformedInputError, match="found UTF-16 or binary data"):
        list(read_table(written(tmp_path, start + b"id\n"), ("id",)))
