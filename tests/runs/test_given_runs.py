"""Run files of others beside our systems; formulas of NTCIR-12 by their names."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.base.records import Judgment, Topic
from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.runs import (
    list_topic_sets,
    name_judged_formulas,
    read_given_runs,
)
from mathamr_kedro.systems.fusion import Fusion, fuse_runs
from mathamr_kedro.trec import Run

FORMULAS = [  # formula id, visual id, post
    ("Zeta:10", "7", "Zeta"),
    ("Zeta:9", "7", "Zeta"),
    ("Prime:3", "7", "Prime"),
    ("Prime:4", "8", "Prime"),
    ("Field:0", "9", "Field"),
]


def read_tables(columns):
    names = ("formula_id", "visual_id", "post_id")
    for part in (FORMULAS[:2], FORMULAS[2:]):
        rows = dict(zip(names, map(list, zip(*part, strict=True)), strict=True))
        yield pa.table(rows).select(list(columns))


def make_topic(name, task):
    return Topic(
        name, task, 2016, "", (), "FORMULA_0", (), f"{name}:0", "x", None, None, None
    )


TOPICS = [
    make_topic("NTCIR12-MathWiki-1", "ntcir12"),
    make_topic("B.1", "task2"),
    make_topic("A.1", "task1"),
]


def make_hits(*visuals):
    scores = np.linspace(0.9, 0.1, len(visuals))
    first = {v: (f, p) for f, v, p in reversed(FORMULAS)}
    return FormulaHits(
        [first[v][0] for v in visuals],
        scores,
        list(visuals),
        [first[v][1] for v in visuals],
    )


def test_a_formula_stands_in_a_list_as_often_as_in_articles():
    ours = Run(
        "ours", {"NTCIR12-MathWiki-1": make_hits("8", "7"), "B.1": make_hits("7")}
    )
    (named,) = name_judged_formulas([ours], TOPICS, read_tables, 1000)
    found = named.lists["NTCIR12-MathWiki-1"]
    # each as its twin: a loop over all formulas for each visual id, shortest name first
    expected = [
        formula
        for visual in ("8", "7")
        for formula, other, _ in sorted(FORMULAS, key=lambda r: (len(r[0]), r[0]))
        if other == visual
    ]
    assert found.ids == found.judged_ids == expected
    assert found.post_ids == [name.partition(":")[0] for name in expected]
    assert found.scores.tolist() == [0.9, 0.1, 0.1, 0.1]
    assert named.lists["B.1"].visual_ids == ["7"]  # those are judged by visual id
    (cut,) = name_judged_formulas([ours], TOPICS, read_tables, 2)
    assert len(cut.lists["NTCIR12-MathWiki-1"]) == 2


def test_topics_of_ntcir_are_a_set_with_their_own_judgments():
    judgments = [
        Judgment("NTCIR12-MathWiki-1", "Prime:4", 4, "ntcir12", "q"),
        Judgment("NTCIR12-MathWiki-1", "Zeta:9", 1, "ntcir12", "q"),
        Judgment("NTCIR12-MathWiki-1", "Field:0", 0, "ntcir12", "q"),
        Judgment("NTCIR12-MathWiki-1", "Elsewhere:1", 3, "ntcir12", "q"),
        Judgment("B.1", "7", 2, "task2", "q"),
    ]
    sets = {s.name: s for s in list_topic_sets(TOPICS, judgments, {}, lambda i: None)}
    assert list(sets) == ["ARQMath-1", "NTCIR-12"]
    chosen = sets["NTCIR-12"]
    known, size = chosen.find_candidates(read_tables, read_tables)
    assert (known, size) == ({"Prime:4", "Zeta:9", "Field:0"}, 5)
    run = Run("ours", {"NTCIR12-MathWiki-1": make_hits("8", "9", "7")}, task=2)
    (named,) = name_judged_formulas([run], TOPICS, read_tables, 1000)
    evaluation = evaluate_run(chosen.choose(named), chosen.qrels, protocol_of("ntcir"))
    means = evaluation.summarise()
    # full: two relevant, one found before the only one that is not: (1 - 0) / 2
    assert means["Bpref full"].score == pytest.approx(0.5)
    # partial: three relevant; Zeta:9 is behind Field:0: (1 + (1 - 1/1)) / 3
    assert means["Bpref partial"].score == pytest.approx(1 / 3)


def write(path, lines):
    text = "\n".join(" ".join(map(str, line)) for line in lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return str(path)


def read(files):
    return read_given_runs(files, TOPICS, {"f1": "7"}.get, read_tables, 1000)


def test_files_of_others_are_systems(tmp_path):
    first = write(
        tmp_path / "a.res.gz",
        [
            ("NTCIR12-MathWiki-1", "Q0", "Prime:4", 1, 2.5, "x"),
            ("NTCIR12-MathWiki-1", "Q0", "Far:1", 2, 2.0, "x"),
            ("B.1", "Q0", 8, 1, 0.7, "x"),
            ("B.1", "Q0", 555, 2, 0.6, "x"),
            ("A.1", "Q0", 17, 1, 0.5, "x"),
            ("A.99", "Q0", 17, 1, 0.5, "x"),
        ],
    )
    posts, formulas = read({"theirs": first})
    assert (posts.task, posts.name, posts.lists["A.1"].ids) == (1, "theirs", ["17"])
    assert list(posts.lists) == ["A.1"]
    assert formulas.task == 2
    named = formulas.lists["NTCIR12-MathWiki-1"]
    assert (named.ids, named.post_ids) == (["Prime:4", "Far:1"], ["Prime", "Far"])
    visual = formulas.lists["B.1"]
    assert visual.visual_ids == ["8", "555"]
    assert (visual.ids, visual.post_ids) == (["Prime:4", "555"], ["Prime", "-"])


def test_they_fuse_with_ours(tmp_path):
    lines = [("B.1", "Q0", 9, 1, 30, "x"), ("B.1", "Q0", 7, 2, 20, "x")]
    (theirs,) = read({"theirs": write(tmp_path / "a.txt", lines)})
    ours = Run("ours", {"B.1": make_hits("7", "8")}, task=2)
    fused = fuse_runs([ours, theirs], Fusion("rrf"), "both").lists["B.1"]
    assert isinstance(fused, FormulaHits)
    ranks = {"7": (1, 2), "8": (2,), "9": (1,)}
    scores = {v: sum(1 / (60 + r) for r in rs) for v, rs in ranks.items()}
    assert fused.visual_ids == sorted(scores, key=lambda v: -scores[v])
    assert fused.scores.tolist() == pytest.approx(sorted(scores.values())[::-1])


def test_submissions_of_formulas_become_visual_ids(tmp_path):
    lines = [("B.1", "f1", "p1", 1, 0.9, "x"), ("B.1", "f2", "p1", 2, 0.8, "x")]
    path = tmp_path / "a.tsv"
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    (run,) = read({"theirs": str(path)})
    assert run.lists["B.1"].visual_ids == ["7", "unknown-formula-f2"]
    assert not run.holds_instances


def test_files_without_our_topics_are_refused(tmp_path):
    path = write(tmp_path / "a.txt", [("Z.1", "Q0", 7, 1, 30, "x")])
    with pytest.raises(ConfigurationError, match=r"got Z\.1.*run_files\.theirs"):
        read({"theirs": path})
    with pytest.raises(MissingInputError):
        read({"theirs": str(tmp_path / "none.txt")})


def test_lists_keep_the_best_score_of_what_stands_twice(tmp_path):
    lines = [("B.1", "Q0", 8, 1, 1, "x"), ("B.1", "Q0", 7, 2, 3, "x")]
    (run,) = read({"theirs": write(tmp_path / "a.txt", lines)})
    hits = run.lists["B.1"]
    assert (hits.visual_ids, hits.scores.tolist()) == (["7", "8"], [3.0, 1.0])


@pytest.mark.shared
def test_published_runs_have_their_published_scores(shared):
    """Runs of other papers, read as systems, score as they were published."""
    from mathamr_kedro.corpus.ntcir12 import Ntcir12Collection, Ntcir12Files

    folder = shared / "collection" / "ntcir12"
    files = Ntcir12Files(
        topics=("NTCIR12-MathWikiFormula-queries-participants.xml",),
        qrels=("qrels.ntcir12-math-browsing-concrete.txt",),
    )
    collection = Ntcir12Collection(folder, files)
    topics = [make_topic(t.topic_id, "ntcir12") for t in collection.topics()]
    (chosen,) = list_topic_sets(topics, collection.judgments(), {}, lambda i: None)
    lines = (folder / "expected_bpref.tsv").read_text().splitlines()[1:]
    for line in lines:
        file, full, partial = line.split("\t")
        given = {"theirs": str(folder / file)}
        (run,) = read_given_runs(given, topics, lambda i: None, read_tables, 1000)
        means = evaluate_run(
            chosen.choose(run), chosen.qrels, protocol_of("ntcir")
        ).summarise()
        # Published from names as written; in one Unicode form a few more are found.
        for name, published in (("full", full), ("partial", partial)):
            more = means[f"Bpref {name}"].score - float(published)
            assert -1e-4 < more < 2e-3, (file, name)


def test_formulas_of_one_look_count_where_the_first_stands(tmp_path):
    names = [("f1", 0.5), ("f2", 0.9), ("f3", 0.7), ("f4", 0.1)]
    lines = [("B.1", f, "p1", n, s, "x") for n, (f, s) in enumerate(names, 1)]
    path = tmp_path / "a.tsv"
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    looks = {"f1": "7", "f3": "7", "f2": "8", "f4": "9"}
    asked = {"theirs": str(path)}
    (run,) = read_given_runs(asked, TOPICS, looks.get, read_tables, 1000)
    hits = run.lists["B.1"]
    assert (hits.visual_ids, hits.scores.tolist()) == (["8", "7", "9"], [0.9, 0.7, 0.1])
    (run,) = read_given_runs(asked, TOPICS, looks.get, read_tables, 2)
    assert run.lists["B.1"].visual_ids == ["8", "7"]


def test_a_formula_whose_name_has_no_article_has_no_post(tmp_path):
    lines = [("NTCIR12-MathWiki-1", "Q0", "alone", 1, 2.5, "x")]
    (run,) = read({"theirs": write(tmp_path / "a.txt", lines)})
    assert run.lists["NTCIR12-MathWiki-1"].post_ids == ["-"]


def test_runs_without_topics_of_ntcir_stay_as_they_are():
    runs = [Run("ours", {"B.1": make_hits("7")})]
    assert name_judged_formulas(runs, TOPICS, None, 1000) == runs
