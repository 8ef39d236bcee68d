"""Visual ids from the formula index."""

from __future__ import annotations

import csv
import gzip

import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.trec import VisualIds

V3 = (
    "id\tpost_id\tthread_id\ttype\tcomment_id\told_visual_id\tvisual_id\tissue\tformula\n"
    "1\t9\t9\ttitle\t\t77\t70\tv\tx\n"
    '2\t9\t9\tquestion\t\t71\t71\td\t"a ""quoted""\ttab\nand line"\n'
    "3\t9\t9\tanswer\t\t70\t70\t\tx\n"
)
V2 = "id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n1\t9\t9\ttitle\t70\tx\n"


def test_column_is_found_by_name_in_v3(tmp_path):
    (tmp_path / "1.tsv").write_text(V3)
    found = VisualIds.read([tmp_path / "1.tsv"])
    assert found.of_formula == {"1": "70", "2": "71", "3": "70"}
    assert found.known == {"70", "71"}
    assert found.not_retrievable == {"2"}


def test_column_is_found_by_name_in_v2(tmp_path):
    (tmp_path / "1.tsv").write_text(V2)
    assert VisualIds.read([tmp_path / "1.tsv"]).of_formula == {"1": "70"}


def test_folders_of_plain_and_packed_files_are_read(tmp_path):
    (tmp_path / "1.tsv").write_text(V3)
    (tmp_path / "2.tsv.gz").write_bytes(
        gzip.compress(V2.replace("1\t9", "8\t9").encode())
    )
    assert set(VisualIds.read([tmp_path]).of_formula) == {"1", "2", "3", "8"}


def test_only_what_is_needed_is_kept(tmp_path):
    (tmp_path / "1.tsv").write_text(V3)
    found = VisualIds.read([tmp_path], formula_ids=["3"], visual_ids=["71", "5"])
    assert found.of_formula == {"3": "70"}
    assert found.known == {"71"}
    assert found.not_retrievable == frozenset()


def test_two_columns_need_no_header(tmp_path):
    (tmp_path / "map.tsv").write_text("1\t70\n2\t71\n")
    assert VisualIds.read([tmp_path / "map.tsv"]).of_formula == {"1": "70", "2": "71"}


def test_cells_may_be_longer_than_csv_allows_by_default(tmp_path, limit):
    (tmp_path / "1.tsv").write_text(V2.replace("\tx\n", "\t" + "x" * 200_000 + "\n"))
    assert VisualIds.read([tmp_path / "1.tsv"]).of_formula == {"1": "70"}
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("id\tlatex\tslt\n1\tx\ty\n", MalformedInputError, "found no 'visual_id'"),
        (V2 + "2\t9\n", MalformedInputError, r"6 columns.*got 2 \(1.tsv, line 3\)"),
        ("", MalformedInputError, r"1.tsv', line 1.*found no 'id"),
        (None, MissingInputError, "No file"),
    ],
)
def test_wrong_files_are_explained(tmp_path, text, error, message):
    if text is not None:
        (tmp_path / "1.tsv").write_text(text)
    with pytest.raises(error, match=message):
        VisualIds.read([tmp_path / "1.tsv"])


def test_bytes_that_are_no_text_are_explained(tmp_path):
    (tmp_path / "1.tsv").write_bytes(V2.encode() + b"2\t9\t9\ttitle\t70\t\xff\n")
    with pytest.raises(MalformedInputError, match=r"UTF-8.*1\.tsv, line 3"):
        VisualIds.read([tmp_path / "1.tsv"])


def test_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(MissingInputError, match=r"No \*.tsv files"):
        VisualIds.read([tmp_path])
