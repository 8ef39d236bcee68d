"""Results over seeds, and tables of an experiment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mathamr_kedro.base.errors import InputError
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.evaluation.stats.significance import TestConfig
from mathamr_kedro.evaluation.tables.scores import (
    Layout,
    SeedResult,
    best_seed_table,
    mean_table,
    select_best_seed,
)
from mathamr_kedro.evaluation.tables.table import Column, Figure

LAYOUT = Layout(
    "Modes",
    ("Formula Mode",),
    {"both": "Both", "slt": "SLT-only", "none": "None"},
    (Column("nDCG'", "nDCG'"), Column("MAP'", "MAP'"), Column("QPS", "QPS", 1)),
    baseline="none",
)


def result(seed: int, ndcg: float, **figures: float) -> SeedResult:
    return SeedResult(seed, {"nDCG'": np.array([ndcg - 0.1, ndcg + 0.1])}, figures)


def test_best_seed_has_the_highest_mean():
    results = [result(1, 0.40), result(42, 0.45), result(3, 0.41)]
    assert select_best_seed(results).seed == 42


def test_smallest_seed_wins_a_draw():
    assert select_best_seed([result(9, 0.4), result(2, 0.4)]).seed == 2


def test_another_value_may_decide():
    results = [result(1, 0.4, QPS=10), result(2, 0.3, QPS=20)]
    assert select_best_seed(results, by="QPS").seed == 2


def test_a_figure_is_shown_instead_of_a_mean():
    times = SeedResult(1, {"QPS": np.array([0.1, 0.3])}, {"QPS": 90.1})
    assert times.value("QPS") == 90.1


def test_deviation_is_that_of_a_sample():
    layout = Layout("T", ("Row",), {"a": "a"}, (Column("nDCG'", "nDCG'"),))
    seeds = [result(s, v) for s, v in ((1, 0.4), (2, 0.5))]
    spread = mean_table(layout, {"a": seeds}).rows["a"]["nDCG'"]
    assert spread.value == pytest.approx(0.45)
    assert spread.std == pytest.approx(np.std([0.4, 0.5], ddof=1))
    assert mean_table(layout, {"a": seeds[:1]}).rows["a"]["nDCG'"].std is None


def test_missing_values_and_seeds_are_refused():
    with pytest.raises(InputError, match=r"No value 'nDGC'' for seed 1; did you mean"
                       .replace("'nDGC''", "\"nDGC'\"")):  # fmt: skip
        result(1, 0.4).value("nDGC'")
    with pytest.raises(InputError, match="at least one seed"):
        select_best_seed([])


def make_results(seeds=(1, 2, 3)):
    rng = np.random.default_rng(0)
    topics = rng.random(78)
    shifts = {"none": 0.0, "both": 0.2, "slt": 0.001}
    return {
        name: [
            SeedResult(
                seed,
                {
                    m: topics + shift + rng.normal(0, 0.05, 78) + 0.05 * (seed == 2)
                    for m in ("nDCG'", "MAP'")
                },
                {"QPS": 10.0 * seed},
            )
            for seed in seeds
        ]
        for name, shift in shifts.items()
    }


def test_asterisks_mark_what_differs_from_the_baseline_after_correction():
    results = make_results()
    table = best_seed_table(LAYOUT, results)
    assert len(table.tests) == 4  # two conditions on two measures; QPS has no topics
    both, slt, _ = table.rows.values()
    assert [f.marked for f in both.values()] == [True, True, False]
    assert [f.marked for f in slt.values()] == [False] * 3
    assert table.baseline == "None"
    assert "Bonferroni correction over 4 tests" in table.notes[-1]
    # slow twin of one cell
    best = {
        n: max(r, key=lambda s: s.per_topic["nDCG'"].mean()) for n, r in results.items()
    }
    p = stats.ttest_rel(best["both"].per_topic["MAP'"], best["none"].per_topic["MAP'"])
    assert p.pvalue < 0.05 / 4
    assert both["MAP'"].value == best["both"].per_topic["MAP'"].mean()


def test_rows_keep_the_order_of_the_layout_and_missing_ones_are_empty():
    results = make_results()
    del results["slt"]
    table = best_seed_table(LAYOUT, {k: results[k] for k in ("none", "both")})
    assert [*table.rows] == ["Both", "SLT-only", "None"]
    assert [*table.rows["SLT-only"].values()] == [None] * 3
    assert len(table.tests) == 2


def test_a_baseline_alone_is_tested_against_nothing():
    table = best_seed_table(LAYOUT, {"none": make_results()["none"]})
    assert (table.tests, table.notes) == ((), ())
    assert table.rows["None"]["QPS"] == Figure(20.0)


def test_one_seed_for_all_conditions_that_share_models():
    results = make_results()
    results["both"][0].per_topic["nDCG'"][:] = 0.99
    own = best_seed_table(LAYOUT, results)
    shared = best_seed_table(replace(LAYOUT, same_seed=True), results)
    assert own.rows["Both"]["QPS"] == Figure(10.0)  # its own best is seed 1
    assert shared.rows["Both"]["QPS"] == Figure(20.0)  # the baseline's best: seed 2


def test_without_significance_the_note_says_so():
    results = make_results()
    tests = best_seed_table(LAYOUT, results).tests
    table = best_seed_table(LAYOUT, results, TestConfig(alpha=0.0))
    assert any(test.significant for test in tests)
    assert table.notes[-1].startswith("† Baseline. No condition differs")


def test_without_baseline_there_are_no_tests():
    table = best_seed_table(replace(LAYOUT, baseline=None), make_results())
    assert (table.tests, table.notes) == ((), ())
    assert table.baseline is None


def test_means_have_deviations_over_seeds():
    results = make_results()
    table = mean_table(LAYOUT, results)
    values = [r.per_topic["nDCG'"].mean() for r in results["both"]]
    assert table.rows["Both"]["nDCG'"] == Figure(
        pytest.approx(np.mean(values)), pytest.approx(np.std(values, ddof=1))
    )
    assert table.rows["Both"]["QPS"] == Figure(20.0, 10.0)
    assert not any(f.marked for row in table.rows.values() for f in row.values())


def test_one_seed_has_no_deviation():
    layout = replace(LAYOUT, title="Modes, mean ± std over seeds")
    one = {name: found[:1] for name, found in make_results().items()}
    table = mean_table(layout, one)
    assert "±" not in table.to_markdown() and "std" not in table.to_csv()
    assert table.title == "Modes, one seed"
    assert "±" in mean_table(layout, make_results()).title
    two = one | {"both": make_results()["both"][:2]}
    assert "±" in mean_table(layout, two).title


def test_rows_with_fewer_seeds_are_noted():
    results = make_results()
    results["slt"] = results["slt"][:2]
    assert mean_table(LAYOUT, results).notes == ("SLT-only: 2 of 3 seeds.",)


def test_a_value_that_some_seeds_lack_is_averaged_over_the_others():
    results = make_results()
    results["slt"][0] = SeedResult(1, results["slt"][0].per_topic)
    assert mean_table(LAYOUT, results).rows["SLT-only"]["QPS"] == Figure(
        25.0, pytest.approx(np.std([20, 30], ddof=1))
    )


TIMED = replace(
    LAYOUT, columns=(Column("nDCG'", "nDCG'"), Column("QPS", "QPS", 1, tested="t")),
)  # fmt: skip
A, B = Machine("CPU", "Xeon", 8), Machine("CPU", "Arm", 2)


def make_timed(machines=(A, A, A)):
    """Queries of ``both`` take half the time of those of ``none``, ``slt`` the same."""
    rng = np.random.default_rng(3)
    seconds = {"none": 0.02, "both": 0.01, "slt": 0.02}
    results = {}
    for name, found in make_results().items():
        results[name] = []
        for result, machine in zip(found, machines, strict=True):
            times = seconds[name] + rng.normal(0, 0.001, 78)
            results[name].append(
                replace(
                    result,
                    per_topic={**result.per_topic, "t": times},
                    figures={"QPS": 1 / times.mean()},
                    machines={"QPS": machine, "t": machine},
                )
            )
    return results


def test_throughput_is_tested_on_the_time_of_each_query():
    results = make_timed()
    table = best_seed_table(TIMED, results)
    assert [t.measure for t in table.tests] == ["nDCG'", "t"] * 2
    both, slt, _ = table.rows.values()
    assert (both["QPS"].marked, slt["QPS"].marked) == (True, False)
    assert both["QPS"].value == pytest.approx(100, rel=0.05)  # QPS, not seconds
    best = {n: r[1].per_topic["t"] for n, r in results.items()}  # seed 2
    p = stats.ttest_rel(best["both"], best["none"]).pvalue
    assert table.tests[1].p_t == pytest.approx(p)
    assert "Bonferroni correction over 4 tests" in table.notes[-2]
    assert table.notes[-1] == "QPS: measured on Xeon, 8 cores."


def test_batches_leave_throughput_untested_aloud():
    table = best_seed_table(TIMED, make_results())
    assert {t.measure for t in table.tests} == {"nDCG'"}
    assert table.notes[-1].startswith("QPS is not tested")


def test_times_of_another_machine_are_not_tested():
    results = make_timed()
    results["both"] = make_timed((B, B, B))["both"]
    table = best_seed_table(TIMED, results)
    assert [(t.condition, t.measure) for t in table.tests] == [
        ("both", "nDCG'"), ("slt", "nDCG'"), ("slt", "t"),
    ]  # fmt: skip
    assert not table.rows["Both"]["QPS"].marked
    assert "Arm, 2 cores (Both)" in table.notes[-1]


def test_machines_have_no_common_mean():
    results = make_timed()
    results["both"] = make_timed((A, B, B))["both"]
    table = mean_table(TIMED, results)
    assert [*table.rows] == [
        "Both", "Both on Xeon, 8 cores", "Both on Arm, 2 cores", "SLT-only", "None",
    ]  # fmt: skip
    whole, first, second, *_ = table.rows.values()
    means = [r.value("nDCG'") for r in results["both"]]
    assert whole["nDCG'"].value == pytest.approx(np.mean(means))  # all seeds
    assert (whole.keys(), first.keys(), second.keys()) == ({"nDCG'"}, {"QPS"}, {"QPS"})
    qps = [r.value("QPS") for r in results["both"]]
    assert first["QPS"] == Figure(pytest.approx(qps[0]))
    assert second["QPS"].value == pytest.approx(np.mean(qps[1:]))
    (note,) = table.notes
    assert "no common mean: Xeon, 8 cores (Both, SLT-only, None); Arm, 2" in note
    assert "run the experiment again there" in note


def test_rows_of_machines_keep_the_other_labels():
    layout = replace(
        TIMED, label_titles=("Mode", "Trees"), rows={"both": ("Both", "OPT+SLT")}
    )
    table = mean_table(layout, {"both": make_timed((A, B, B))["both"]})
    assert [*table.rows] == [
        ("Both", "OPT+SLT"),
        ("Both on Xeon, 8 cores", "OPT+SLT"),
        ("Both on Arm, 2 cores", "OPT+SLT"),
    ]
