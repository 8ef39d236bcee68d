"""Forms of run files told apart."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.trec.files import Columns
from mathamr_kedro.trec.runs import find_form


def columns(*lines: str) -> Columns:
    rows = [line.split() for line in lines]
    return Columns(
        list(zip(*rows, strict=True)), list(range(1, len(rows) + 1)), "run.tsv"
    )


@pytest.mark.parametrize(
    "lines",
    [
        ["A.1 Q0 17 1 0.9 me", "A.1 Q0 4 2 0.8 me"],
        ["B.1 Q0 17 1 0.9 me"],
        ["NTCIR12-MathWiki-1 xxx Golden_ratio:14 1 0.9 me"],
        ["A.1 1 17 1 0.9 me", "A.1 1 4 2 0.8 me"],
        ["B.1 0 17 1 0.9 me", "B.1 0 4 2 0.8 me"],
        ["A.1 0 17 1 0.9 me", "A.2 0 4 1 0.8 me"],
    ],
    ids=["Q0", "Q0, formulas", "xxx", "ones", "zeros", "zeros, one line a topic"],
)
def test_trec_repeats_one_word_in_column_two(lines):
    assert find_form(columns(*lines)) == "trec"


def test_task1_submission_has_five_columns():
    assert find_form(columns("A.1 17 0 0.9 me", "A.1 4 1 0.8 me")) == "arqmath1"


def test_run_number_as_name_is_a_name():
    assert find_form(columns("A.1 17 1 0.9 3", "A.1 4 2 0.8 3")) == "arqmath1"


@pytest.mark.parametrize("names", [("one", "two"), ("1", "two"), ("3", "3")])
def test_a_file_may_hold_runs_of_several_names(names):
    lines = (f"A.1 17 {n} 0.{9 - n} {name}" for n, name in enumerate(names))
    assert find_form(columns(*lines)) == "arqmath1"


def test_task2_submission_changes_column_two():
    lines = ["B.1 501 17 1 0.9 me", "B.1 502 17 2 0.8 me", "B.2 501 17 1 0.9 me"]
    assert find_form(columns(*lines)) == "arqmath2"


def test_task2_submission_may_repeat_a_formula():
    lines = ["B.1 501 17 1 0.9 me", "B.1 501 17 2 0.8 me",
             "B.2 7 17 1 0.9 me", "B.2 8 17 2 0.9 me"]  # fmt: skip
    assert find_form(columns(*lines)) == "arqmath2"


@pytest.mark.parametrize(
    ("known", "form"), [({"501"}, "arqmath2"), ({"17", "9"}, "trec")]
)
def test_known_ids_decide_what_the_columns_do_not(known, form):
    lines = columns("B.1 501 17 1 0.9 me")
    assert find_form(lines, known_ids=known) == form


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["B.1 501 17 1 0.9 me"], r"may be 'topic Q0.*run.tsv, line 1.*--format"),
        (["B.1 501 17 1 0.9 me", "B.2 502 18 1 0.9 me"], "may be"),
        (["A.1 501 17 1 0.9 me", "A.1 502 17 2 0.8 me"], "may be"),
        (["A.1 Q0 17 1 0.9", "A.1 Q0 4 2 0.8"], "add the column that is missing"),
        (["B.1 501 1 0.9 me"], "Expected 6 columns in a run of Task 2"),
        (["A.1 501 17 1 0.9", "A.1 502 18 2 0.8"], "numbers that change as run name"),
        (["A.1 0 17 3"], "form of qrels"),
        (["A.1 0 17"], r"got 3: \['A.1', '0', '17'\]"),
    ],
)
def test_what_cannot_be_told_is_refused(lines, message):
    with pytest.raises(MalformedInputError, match=message):
        find_form(columns(*lines))


def test_ids_known_on_both_sides_decide_nothing():
    with pytest.raises(MalformedInputError, match="may be"):
        find_form(columns("B.1 501 17 1 0.9 me"), known_ids={"501", "17"})


def test_a_named_form_is_checked():
    assert find_form(columns("B.1 501 17 1 0.9 me"), "arqmath2") == "arqmath2"
    with pytest.raises(MalformedInputError, match=r"Expected 5 columns.*'arqmath1'"):
        find_form(columns("B.1 501 17 1 0.9 me"), "arqmath1")
    with pytest.raises(ConfigurationError, match="did you mean 'trec'"):
        find_form(columns("B.1 501 17 1 0.9 me"), "terc")
