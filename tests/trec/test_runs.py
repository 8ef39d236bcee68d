"""Runs: their files, and how three forms of these are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.evaluation.metrics.rankings import sort_as_trec_eval
from mathamr_kedro.trec import Run, read_run, write_run
from mathamr_kedro.trec.files import Columns
from mathamr_kedro.trec.runs import find_form, separate_scores

RESULTS = {"A.1": [("17", 0.9), ("4", 0.5)], "A.2": [("9", 7.25)]}
FORMULA = FormulaHits(["501"], np.array([0.5]), ["70"], ["17"])


def test_a_run_is_made_from_scores_by_topic():
    run = Run.from_scores("mine", {"A.1": {"17": 0.9, "4": 0.5}, "A.2": {}})
    assert run.lists["A.1"].ids == ["17", "4"]
    assert run.lists["A.1"].scores.tolist() == [0.9, 0.5]
    assert run.ranks_of("A.1").tolist() == [1, 2]
    assert run.lists["A.2"].ids == []


def test_documents_of_formulas_are_their_visual_ids():
    formulas = FormulaHits(["f1", "f2"], np.array([2.0, 1.0]), ["70", "71"], ["3", "4"])
    assert Run("mine", {"B.1": formulas}).documents("B.1").ids == ["70", "71"]


def test_a_rank_column_is_kept():
    run = Run.from_scores("mine", {"A.1": {"17": 0.9, "4": 0.5}})
    ranked = Run("mine", run.lists, {"A.1": np.array([2, 1])})
    assert ranked.ranks_of("A.1").tolist() == [2, 1]


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


def test_a_named_form_is_checked():
    assert find_form(columns("B.1 501 17 1 0.9 me"), "arqmath2") == "arqmath2"
    with pytest.raises(MalformedInputError, match=r"Expected 5 columns.*'arqmath1'"):
        find_form(columns("B.1 501 17 1 0.9 me"), "arqmath1")
    with pytest.raises(ConfigurationError, match="did you mean 'trec'"):
        find_form(columns("B.1 501 17 1 0.9 me"), "terc")


def run_of(results, name="me"):
    return Run.from_scores(name, {t: dict(pairs) for t, pairs in results.items()})


def written(tmp_path, text: str):
    path = tmp_path / "team-task1-mine.tsv"
    path.write_text(text)
    return path


def test_lines_are_grouped_by_topic_in_file_order(tmp_path):
    run = read_run(
        written(tmp_path, "A.2 Q0 9 1 7.5 me\nA.1 Q0 4 2 .5 me\nA.2 Q0 3 2 1e1 me\n")
    )
    assert list(run.lists) == ["A.2", "A.1"]
    assert run.lists["A.2"].ids == ["9", "3"]
    assert run.lists["A.2"].scores.tolist() == [7.5, 10.0]
    assert run.ranks["A.2"].tolist() == [1, 2]
    assert (run.name, run.source) == ("team-task1-mine", "team-task1-mine.tsv")


def test_task1_submission_counts_ranks_from_zero_or_one(tmp_path):
    run = read_run(written(tmp_path, "A.1\t17\t0\t0.9\tme\nA.1\t4\t1\t0.5\tme\n"))
    assert run.lists["A.1"].ids == ["17", "4"]
    assert run.lists["A.1"].scores.tolist() == [0.9, 0.5]
    assert not run.holds_instances


def test_task2_submission_holds_formula_instances(tmp_path):
    run = read_run(
        written(tmp_path, "B.1\t501\t17\t1\t.9\tme\nB.1\t502\t17\t2\t.8\tme")
    )
    assert run.lists["B.1"].ids == ["501", "502"]
    assert run.holds_instances


def test_a_run_of_which_every_line_is_skipped_is_empty(tmp_path):
    path = written(tmp_path, "A.1\tQ0\t3\trun\t0.5\trun\n")
    run = read_run(path, bad_lines="skip")
    assert (len(run.lists), run.num_bad_lines) == (0, 1)


def test_empty_file_is_a_run_without_results(tmp_path):
    assert read_run(written(tmp_path, "")).lists == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A.1 Q0 5 first 0.3 me", r"whole number as rank in column 4 \(got 'first'\)"),
        ("A.1 Q0 5 2.5 3 me", r"rank in column 4 \(got '2.5'\)"),
        ("A.1 Q0 5 3 high me", r"number as score in column 5 \(got 'high'\)"),
        ("A.1 Q0 5 3 nan me", r"number as score in column 5 \(got 'nan'\)"),
    ],
)
def test_a_bad_number_is_named_with_file_and_line(tmp_path, line, message):
    path = written(tmp_path, f"A.1 Q0 17 1 0.9 me\n{line}\n")
    with pytest.raises(MalformedInputError, match=message + r".*mine.tsv, line 2"):
        read_run(path)


def test_a_rank_beyond_64_bits_is_named_or_skipped(tmp_path):
    path = written(tmp_path, f"A.1 Q0 17 1 .9 me\nA.1 Q0 4 {2**63} .8 me\n")
    with pytest.raises(MalformedInputError, match=r"got '9223372036854775808'.*line 2"):
        read_run(path)
    run = read_run(path, bad_lines="skip")
    assert (run.lists["A.1"].ids, run.num_bad_lines) == (["17"], 1)
    path.write_text(f"A.1 Q0 17 {2**63 - 1} .9 me\n")
    assert read_run(path).ranks["A.1"].tolist() == [2**63 - 1]


def test_a_header_is_explained(tmp_path):
    path = written(tmp_path, "topic Q0 doc rank score run\nA.1 Q0 17 1 0.9 me\n")
    with pytest.raises(MalformedInputError, match=r"line 1.*no header"):
        read_run(path)


def test_bad_lines_may_be_skipped(tmp_path):
    path = written(
        tmp_path, "t Q0 d rank score run\nA.1 Q0 17 1 .9 me\nA.1 Q0 4 x 2 .8 me\n"
    )
    run = read_run(path, bad_lines="skip")
    assert run.lists["A.1"].ids == ["17"]
    assert run.num_bad_lines == 2


def test_lines_are_skipped_for_their_rank_and_score_alone(tmp_path):
    lines = ["A.1 Q0 Pi:1 1 .9 me", "A.1 Q0 17 2 high me", "A.1 Q0 18 3 nan me",
             "A.1 Q0 Pi:2 4 .1 me", "A.1 Q0 19 2.5 .1 me"]  # fmt: skip
    run = read_run(written(tmp_path, "\n".join(lines)), bad_lines="skip")
    assert run.lists["A.1"].ids == ["Pi:1", "Pi:2"]
    assert run.ranks["A.1"].tolist() == [1, 4]
    assert run.num_bad_lines == 3


def test_trec_eval_counts_columns_from_the_left_and_ignores_ranks(tmp_path):
    path = written(tmp_path, "A.1 Q0 17 1 .9 me\nA.1 Q0 4 and_5 12 .8 me\n")
    run = read_run(path, form="trec", bad_lines="as_trec_eval")
    assert run.lists["A.1"].ids == ["17", "4"]
    assert run.lists["A.1"].scores.tolist() == [0.9, 12.0]


@pytest.mark.parametrize("form", ["trec", "arqmath1"])
@pytest.mark.parametrize("name", ["run.tsv", "run.tsv.gz"])
def test_what_is_written_is_read_back(tmp_path, form, name):
    write_run(tmp_path / name, run_of(RESULTS), form)
    run = read_run(tmp_path / name)
    for topic, pairs in RESULTS.items():
        assert run.lists[topic].ids == [i for i, _ in pairs]
        assert run.lists[topic].scores.tolist() == [s for _, s in pairs]
        assert run.ranks[topic].tolist() == list(range(1, len(pairs) + 1))


def test_forms_are_those_of_the_lab(tmp_path):
    path = tmp_path / "run.tsv"
    write_run(path, run_of({"A.1": [("17", 0.5)]}), "trec")
    assert path.read_text() == "A.1\tQ0\t17\t1\t0.5\tme\n"
    write_run(path, run_of({"A.1": [("17", 0.5)]}), "arqmath1")
    assert path.read_text() == "A.1\t17\t1\t0.5\tme\n"
    write_run(path, Run("me", {"B.1": FORMULA}), "arqmath2")
    assert path.read_text() == "B.1\t501\t17\t1\t0.5\tme\n"


def test_other_forms_name_the_visual_ids_of_formulas(tmp_path):
    path = tmp_path / "run.trec"
    write_run(path, Run("me", {"B.1": FORMULA}))
    assert path.read_text() == "B.1\tQ0\t70\t1\t0.5\tme\n"


def test_a_task2_submission_needs_posts(tmp_path):
    run = run_of({"B.1": [("501", 0.5)]})
    with pytest.raises(ConfigurationError, match=r"posts.*'arqmath2'.*'B.1'"):
        write_run(tmp_path / "run.tsv", run, "arqmath2")
    assert list(tmp_path.iterdir()) == []


def test_best_results_come_first_and_depth_cuts(tmp_path):
    results = {"A.1": [("1", 0.1), ("2", 0.9), ("3", 0.5)]}
    write_run(tmp_path / "run.tsv", run_of(results), depth=2)
    assert read_run(tmp_path / "run.tsv").lists["A.1"].ids == ["2", "3"]


def test_written_order_survives_the_tie_rule(tmp_path):
    results = {"A.1": [("1", 0.3), ("2", 0.3), ("3", 0.3), ("4", 0.3 - 1e-12)]}
    write_run(tmp_path / "run.tsv", run_of(results))
    read = read_run(tmp_path / "run.tsv").lists["A.1"]
    assert sort_as_trec_eval(read).ids == ["1", "2", "3", "4"]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(bad):
    with pytest.raises(MalformedInputError, match="Expected a finite score"):
        separate_scores([bad])


@pytest.mark.parametrize(("doc", "name"), [("a b", "me"), ("", "me"), ("1", "my run")])
def test_blanks_in_ids_and_names_are_refused(tmp_path, doc, name):
    with pytest.raises(MalformedInputError, match="without blanks"):
        write_run(tmp_path / "run.tsv", run_of({"A.1": [(doc, 0.5)]}, name))


def test_ranks_that_are_no_numbers_are_places_for_trec_eval(tmp_path):
    path = written(tmp_path, "A.1 Q0 3 first .5 me\nA.1 Q0 4 second .4 me\n")
    run = read_run(path, bad_lines="as_trec_eval")
    assert run.ranks["A.1"].tolist() == [1, 2]
