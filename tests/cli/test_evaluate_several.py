"""``mathamr evaluate`` of several run files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.cli import group

TOPICS = [f"A.{t}" for t in range(1, 31)]


@pytest.fixture
def files(tmp_path):
    """Thirty topics; ``good`` puts the relevant answer first more often."""
    rng = np.random.default_rng(0)
    judged = [f"{t} 0 r 3\n{t} 0 n 0\n" for t in TOPICS]
    (tmp_path / "qrels.tsv").write_text("".join(judged))
    for name, luck in (("base", 0.2), ("good", 0.95), ("same", 0.25)):
        lines = []
        for topic in TOPICS:
            first, second = ("r", "n") if rng.random() < luck else ("n", "r")
            lines += [
                f"{topic} Q0 {first} 1 2 {name}\n",
                f"{topic} Q0 {second} 2 1 x\n",
            ]
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
    return tmp_path


def call(folder, *options, runs=("base", "good", "same")):
    paths = [str(folder / f"{name}.tsv") for name in runs]
    arguments = [*paths, "--qrels", str(folder / "qrels.tsv"), "--task", "1"]
    return CliRunner().invoke(group, ["evaluate", *arguments, *map(str, options)])


def test_json_holds_every_test(files):
    rows = json.loads(call(files, "--output", "json").output)
    assert len(rows) == 2 * 4
    assert {row["baseline"] for row in rows} == {"base"}
    good = next(r for r in rows if (r["condition"], r["measure"]) == ("good", "MAP'"))
    assert good["significant"]
    assert good["wins"] + good["ties"] + good["losses"] == 30
    assert good["p_bonferroni"] == pytest.approx(min(1, 8 * good["p_t"]))
    assert good["interval"][0] < good["difference"] < good["interval"][1]


def test_p_value_is_that_of_scipy_on_the_topics(files):
    def scores(name):
        text = (files / f"{name}.tsv").read_text()
        lines = [line.split() for line in text.splitlines()]
        return [1.0 if line[2] == "r" else 0.5 for line in lines[::2]]

    rows = json.loads(call(files, "--output", "json", "-m", "MAP'").output)
    for row in rows:
        expected = stats.ttest_rel(scores(row["condition"]), scores("base")).pvalue
        assert row["p_t"] == pytest.approx(expected, rel=1e-9)
        assert row["p_bonferroni"] == pytest.approx(min(1, 2 * expected))


def test_table_marks_the_baseline_and_what_differs(files):
    output = call(files).output
    assert "base†" in output
    assert "Bonferroni correction over 8 tests" in output
    [line] = [x for x in output.splitlines() if "good" in x][:1]
    assert "*" in line


def test_markdown_and_latex_are_result_tables(files):
    markdown = call(files, "--output", "markdown").output
    assert "| base†" in markdown
    assert r"\begin{tabular}{lrrrr}" in call(files, "--output", "latex").output


def test_baseline_test_and_correction_are_options(files):
    options = ("--baseline", "good", "--test", "randomisation", "--correction", "holm",
               "--alpha", "0.01", "--output", "json")  # fmt: skip
    first, again = (json.loads(call(files, *options).output) for _ in range(2))
    assert first == again
    assert {row["condition"] for row in first} == {"base", "same"}
    assert all(row["difference"] < 0 for row in first if row["measure"] == "MAP'")


def test_runs_of_the_same_name_are_told_apart_by_their_folders(files):
    for folder in ("a", "b"):
        (files / folder).mkdir()
        (files / folder / "run.tsv").write_text((files / "base.tsv").read_text())
    result = call(files, "--output", "json", runs=("a/run", "b/run"))
    assert json.loads(result.output)[0]["condition"] == "b/run.tsv"


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (("base",), ("--output", "latex"), "needs several runs"),
        (("base", "base"), (), "one file is named twice"),
        (("base", "good"), ("--baseline", "god"), "expected one of base, good"),
    ],
)
def test_wrong_requests_are_refused(files, runs, options, message):
    result = call(files, *options, runs=runs)
    assert result.exit_code == 2
    assert message in result.output


def test_names_of_trec_eval_and_ours_are_one_measure(files):
    options = ("-m", "ndcg_cut_10", "-m", "nDCG@10", "-m", "recip_rank", "-m", "bpref")
    rows = json.loads(call(files, "--output", "json", *options).output)
    names = [row["measure"] for row in rows if row["condition"] == "good"]
    assert names == ["nDCG@10", "MRR", "Bpref"]


@pytest.mark.parametrize("runs", [["base.tsv", "empty.tsv"], ["empty.tsv"]])
@pytest.mark.parametrize("lines", ["", "\n\n"])
def test_an_empty_run_is_refused(files, runs, lines):
    (files / "empty.tsv").write_text(lines)
    paths = [str(files / name) for name in runs]
    arguments = ["evaluate", *paths, "--qrels", str(files / "qrels.tsv"), "--task", "1"]
    with pytest.raises(MalformedInputError, match=r"the run '.*empty\.tsv'"):
        CliRunner().invoke(group, arguments, catch_exceptions=False)


@pytest.mark.parametrize("names", [["base", "good"], ["base"]])
def test_an_unknown_measure_is_refused_with_the_list(files, names):
    arguments = ["evaluate", *(str(files / f"{n}.tsv") for n in names)]
    arguments += ["--qrels", str(files / "qrels.tsv"), "--task", "1", "-m", "nosuch"]
    with pytest.raises(ConfigurationError, match=r"nDCG, MAP, MRR, P, .*ndcg_cut_10"):
        CliRunner().invoke(group, arguments, catch_exceptions=False)


def test_the_title_names_task_and_topics(files):
    """It begins like a sentence."""
    assert "(Task 1, 30 topics)" in " ".join(call(files).output.split())
