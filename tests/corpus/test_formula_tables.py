import gzip

import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import Failure, Formula
from mathamr_kedro.corpus.arqmath import FormulaJoin, find_tables

V3 = (
    "id\tpost_id\tthread_id\ttype\tcomment_id\told_visual_id\tvisual_id\tissue\tformula"
)
V2 = "id\tpost_id\tthread_id\ttype\tvisual_id\tformula"


def write(folder, name, header, *rows):
    folder.mkdir(exist_ok=True)
    text = "\n".join([header, *rows]) + "\n"
    if name.endswith(".gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    else:
        (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def row(formula_id, formula, visual_id="5", issue=""):
    return f"{formula_id}\t10\t9\tanswer\t\t4\t{visual_id}\t{issue}\t{formula}"


def read(files):
    found = list(FormulaJoin(files).join())
    return (
        [x for x in found if isinstance(x, Formula)],
        [x for x in found if isinstance(x, Failure)],
    )


def test_families_are_joined_row_by_row(tmp_path):
    cells = {
        "latex": ("x", "y"),
        "slt": ("<mi>x</mi>", ""),
        "opt": ('"<ci a=""b"">x</ci>"', "o"),
    }
    files = {
        family: write(
            tmp_path / family, "1.tsv.gz", V3, row(1, one), row(2, two, 6, "d")
        )
        for family, (one, two) in cells.items()
    }
    formulas, failures = read(files)
    assert formulas == [
        Formula(
            "1", "10", "5", "answer", None, "", "x", "<mi>x</mi>", '<ci a="b">x</ci>'
        ),
        Formula("2", "10", "6", "answer", None, "d", "y", "", "o"),
    ]
    assert failures == []


def test_older_v2_columns_are_read(tmp_path):
    file = write(tmp_path / "latex", "1.tsv", V2, "1\t10\t9\ttitle\t77\tx")
    formulas, _ = read({"latex": file})
    assert (formulas[0].visual_id, formulas[0].place) == ("77", "title")
    assert (formulas[0].issue, formulas[0].latex) == ("", "x")


def test_row_with_too_few_columns_is_a_failure_with_its_line(tmp_path):
    file = write(tmp_path / "latex", "1.tsv", V3, row(1, "x"), "2\t10\t9", row(3, "z"))
    formulas, failures = read({"latex": file})
    assert [f.formula_id for f in formulas] == ["1", "3"]
    assert [(f.reason, f.place, f.record_id, f.kept) for f in failures] == [
        ("too_few_columns", "line 3", "2", False)
    ]


def test_row_that_one_family_lacks_is_kept_and_noted(tmp_path):
    files = {
        "latex": write(tmp_path / "latex", "1.tsv", V3, row(1, "x"), row(2, "y")),
        "slt": write(tmp_path / "slt", "1.tsv", V3, row(2, "Y"), row(3, "Z")),
    }
    formulas, failures = read(files)
    assert [(f.latex, f.presentation) for f in formulas] == [("x", ""), ("y", "Y")]
    assert [(f.record_id, f.reason, f.kept) for f in failures] == [
        ("1", "no_slt_row", True),
        ("3", "no_latex_row", False),
    ]


def test_families_in_another_order_are_still_joined(tmp_path):
    files = {
        "latex": write(tmp_path / "latex", "1.tsv", V3, row(1, "x"), row(2, "y")),
        "opt": write(tmp_path / "opt", "1.tsv", V3, row(2, "Y"), row(1, "X")),
    }
    formulas, failures = read(files)
    assert [(f.latex, f.content) for f in formulas] == [("x", "X"), ("y", "Y")]
    assert failures == []


def test_bytes_that_are_not_utf8_are_a_failure(tmp_path):
    file = write(tmp_path / "latex", "1.tsv", V3, row(1, "x"), row(2, "é"))
    file.write_bytes(file.read_bytes().replace("é".encode(), b"\xe9"))
    formulas, failures = read({"latex": file})
    assert [f.formula_id for f in formulas] == ["1"]
    assert failures[0].reason == "bad_encoding"


def test_utf16_file_is_refused_with_a_remedy(tmp_path):
    file = write(tmp_path / "latex", "1.tsv", V3, row(1, "x"))
    file.write_text(file.read_text(), encoding="utf-16")
    with pytest.raises(MalformedInputError, match="iconv"):
        read({"latex": file})


def test_wrong_header_is_refused(tmp_path):
    file = write(tmp_path / "latex", "1.tsv", "a\tb\tc", "1\t2\t3")
    with pytest.raises(MalformedInputError, match=r"1\.tsv.*line 1.*header"):
        read({"latex": file})


@pytest.mark.parametrize("place", [0, 30, 58])
def test_a_stray_quote_costs_one_row_in_all_families(tmp_path, place):
    latex = [row(i, f"x_{i}") for i in range(1, 60)]
    latex[place] = row(place + 1, '"x')
    files = {
        "latex": write(tmp_path / "latex", "1.tsv", V3, *latex),
        "slt": write(
            tmp_path / "slt", "1.tsv", V3, *[row(i, "<math/>") for i in range(1, 60)]
        ),
    }
    formulas, failures = read(files)
    assert [f.formula_id for f in formulas] == [
        str(i) for i in range(1, 60) if i != place + 1
    ]
    (failure,) = failures
    assert (failure.reason, failure.place) == ("open_quote", f"line {place + 2}")
    assert (failure.record_id, failure.kept) == (str(place + 1), False)


def test_id_that_is_no_number_is_a_failure(tmp_path):
    file = write(tmp_path / "latex", "1.tsv", V3, row("x1", "x"), row(2, "y", "v"))
    formulas, failures = read({"latex": file})
    assert formulas == []
    assert [f.reason for f in failures] == ["bad_id", "bad_visual_id"]


@pytest.mark.parametrize("number", ["²", "٣", "9" * 5000, "-1", ""])
def test_odd_numbers_are_failures(tmp_path, number):
    file = write(tmp_path / "latex", "1.tsv", V3, row(number, "x"), row(2, "y"))
    formulas, failures = read({"latex": file})
    assert [f.formula_id for f in formulas] == ["2"]
    assert [f.reason for f in failures] == ["bad_id"]


def test_tables_are_listed_in_numeric_order(tmp_path):
    for name in ("10.tsv", "2.tsv", "1.tsv.gz"):
        write(tmp_path / "latex", name, V3)
    tables = find_tables({"latex": tmp_path / "latex"})
    files = [table["latex"] for table in tables]
    assert [file.name for file in files] == ["1.tsv.gz", "2.tsv", "10.tsv"]


def test_missing_family_is_named_with_a_remedy(tmp_path):
    write(tmp_path / "latex", "1.tsv", V3)
    folders = {"latex": tmp_path / "latex", "slt": tmp_path / "slt"}
    with pytest.raises(MissingInputError, match=r"'slt'.*unpack"):
        find_tables(folders)


def test_table_missing_in_one_family_is_named(tmp_path):
    write(tmp_path / "latex", "1.tsv", V3)
    write(tmp_path / "latex", "2.tsv", V3)
    write(tmp_path / "slt", "1.tsv", V3)
    folders = {"latex": tmp_path / "latex", "slt": tmp_path / "slt"}
    with pytest.raises(MissingInputError, match="table '2'"):
        find_tables(folders)
