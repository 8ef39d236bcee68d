"""Real runs score as the figures beside them, floors as the protocol's table says."""

from __future__ import annotations

import csv

import pytest

from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.trec import (
    NTCIR12,
    Run,
    VisualIds,
    read_qrels,
    read_run,
    read_topic_notes,
)

pytestmark = pytest.mark.shared


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


@pytest.mark.parametrize("number", range(10))
def test_arqmath_run_scores_as_published(shared, number):
    collection = shared / "collection"
    row = list(rows(collection / "runs" / "expected_scores.tsv"))[number]
    qrels = read_qrels(next(collection.rglob(row["qrels"])))
    run = read_run(collection / "runs" / row["file"])
    task = row["file"].partition("_task")[2][0]
    evaluation = evaluate_run(run, qrels, protocol_of(task))
    columns = {"nDCG_prime": "nDCG'", "MAP_prime": "MAP'", "P_prime_10": "P'@10"}
    for column, measure in {**columns, "bpref": "Bpref"}.items():
        assert f"{evaluation.mean(measure):.4f}" == row[column], (row["file"], measure)
    [ties] = [f for f in evaluation.findings if f.code == "ties"]
    assert f"{int(row['tied_scores']):,} among judged" in ties.message
    assert len(evaluation.topics) == int(row["topics_in_qrels"])
    assert (evaluation.column("judged@1000") > 0).sum() == int(
        row["topics_with_judged_result"]
    )


@pytest.mark.parametrize("number", range(8))
def test_ntcir_run_scores_as_published(shared, number):
    # The figures were made by position in broken lines, and from names as written:
    # Unicode's normal form finds two more judged formulas in the run of Tangent-CFT.
    folder = shared / "collection" / "ntcir12"
    row = list(rows(folder / "expected_bpref.tsv"))[number]
    qrels = read_qrels(folder / "qrels.ntcir12-math-browsing-concrete.txt", NTCIR12)
    run = read_run(folder / row["file"], bad_lines="as_trec_eval")
    evaluation = evaluate_run(run, qrels, protocol_of("ntcir"))
    assert f"{evaluation.mean('Bpref full'):.4f}" == row["bpref_full_l3"]
    published = row["bpref_partial_l1"]
    expected = "0.7150" if "tangent_cft" in row["file"] else published
    assert f"{evaluation.mean('Bpref partial'):.4f}" == expected


@pytest.mark.parametrize(
    ("name", "task", "floors", "best_precision"),
    [
        ("qrel_task1_2020_official.tsv", "1", (0.445, 0.057, 0.043, 0.025), 0.865),
        ("qrel_task1_2021_official.tsv", "1", (0.460, 0.076, 0.064, 0.038), 0.870),
        ("qrel_task2_2021_official_visual_v3.tsv", "2", (0.647, 0.254, 0.228, 0.173),
         0.912),
    ],
)  # fmt: skip
def test_floors_agree_with_twenty_random_orders(
    shared, name, task, floors, best_precision
):
    qrels = read_qrels(next((shared / "collection" / "qrels").rglob(name)))
    summaries = evaluate_run(
        Run.from_scores("empty", {}), qrels, protocol_of(task)
    ).summarise()
    found = [summaries[m].floor for m in ("nDCG'", "MAP'", "P'@10", "Bpref")]
    assert found == pytest.approx(floors, abs=0.005)  # the error of twenty draws
    assert summaries["P'@10"].ceiling == pytest.approx(best_precision, abs=0.0005)


def test_formula_ids_as_visual_ids_are_noticed(shared):
    collection = shared / "collection"
    qrels = read_qrels(
        collection / "qrels/ARQMath-1/qrel_task2_2020_formula_id_all.odd.tsv"
    )
    run = read_run(collection / "runs/ARQMath-1_task2/TangentS-task2-visualid.tsv.gz")
    findings = evaluate_run(run, qrels, protocol_of("2")).findings
    assert findings[0].code == "id_space"


def test_formula_index_gives_the_judged_instances_their_judged_visual_ids(shared):
    collection = shared / "collection"
    qrels = collection / "qrels" / "ARQMath-2"
    instances = read_qrels(qrels / "qrel_task2_2021_formula_id_all.pool.tsv")
    visuals = read_qrels(qrels / "qrel_task2_2021_official_visual_v3.tsv")
    index = VisualIds.read([collection / "arqmath_pool" / "latex_representation_v3"])
    scores = {
        topic: {i: float(grade) for i, grade in by_id.items()}
        for topic, by_id in instances.grades.items()
        if topic in visuals.grades
    }
    evaluation = evaluate_run(
        Run.from_scores("grades as scores", scores), visuals, protocol_of("2"), index
    )
    codes = {finding.code for finding in evaluation.findings}
    assert "unknown_formulas" not in codes
    assert "not_retrievable" not in codes
    # Two of 692 have a visual id that this pool made up (900,000,000 and above).
    unjudged = {t for t in evaluation.topics if t in scores} - {
        t
        for t, share in zip(
            evaluation.topics, evaluation.column("judged@1000"), strict=True
        )
        if share == 1.0
    }
    assert unjudged == {"B.232"}


def test_every_judged_topic_of_2021_has_a_kind(shared):
    collection = shared / "collection"
    qrels = read_qrels(collection / "qrels/ARQMath-2/qrel_task1_2021_official.tsv")
    info = read_topic_notes(
        collection / "topics/ARQMath-2/Task1_ARQMath2_Topic_Information.csv"
    )
    groups = evaluate_run(
        Run.from_scores("empty", {}), qrels, protocol_of("1")
    ).break_down(info)
    for dimension in ("category", "difficulty", "dependency"):
        assert sum(g.num_topics for g in groups if g.dimension == dimension) == 71
