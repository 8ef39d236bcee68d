"""A tiny collection with topics and judgments, ready for experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.base.records import Judgment, Post, Topic, TrainingPair
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.corpus.formula_index import ReturnableRule
from mathamr_kedro.formula import TreeRow
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.project.cells import GridRun
from tests.pipelines.graph_world import (
    INGESTED,
    PROJECT,
    formula,
    open_catalog,
    run_stage,
)

WORDS = ("even", "prime", "convex", "finite", "compact", "linear")
SIZES: dict[str, Any] = {
    "preprocessing": {"vocabulary": {"rare_numbers_below": 1}},
    "training": {
        "num_epochs": 1,
        "batch_size": 4,
        "optimizer": {"learning_rate": 0.01},
        "model": {"hidden_dim": 8, "projection_dim": 8, "num_bases": 2},
    },
    "indexing": {"engine": {"engine": "exact"}},
    "significance": {"tests": {"num_samples": 100}},
}
"""Smaller than the environment ``test``."""
ONE_SEED = {"experiment": {"seeds": [7]}}


def write_world(data: Path) -> None:
    """Write what ingestion and AMR parsing would have written, and fuse the graphs."""
    posts, graphs, pairs, topics, topic_graphs, judgments = [], [], [], [], [], []
    for n, word in enumerate(WORDS):
        mentions = (formula(0, f"{n}", "x^2"), formula(1, f"{n + 1}", "y+1"))
        mentions = tuple(
            m._replace(formula_id=f"p{n}{m.placeholder}") for m in mentions
        )
        for key, kind, graph in (
            (
                f"{2 * n}",
                "question",
                f"(s / show-01 :ARG1 (f / FORMULA_0 :mod (w / {word})))",
            ),
            (
                f"{2 * n + 1}",
                "answer",
                f"(w / {word} :mod (f / FORMULA_1) :domain (g / FORMULA_0))",
            ),
        ):
            own = tuple(
                m._replace(formula_id=f"{key}.{m.formula_id}") for m in mentions
            )
            graphs.append(GraphRecord(key, graph, kind, own))
            parent = f"{2 * n}" if kind == "answer" else None
            posts.append(
                Post(key, kind, f"{2 * n}", parent, None, None, 1, (), word, word, own)
            )
            judgments += [
                Judgment(f"A.{t}", key, 3 if t == n else 0, "task1", "q")
                for t in range(3)
                if kind == "answer"
            ]
        pairs.append(TrainingPair(f"{2 * n}", f"{2 * n + 1}"))
    for t, word in enumerate(WORDS[:3]):
        query = formula(0, f"{t}", "x^2")._replace(formula_id=f"q{t}")
        for name, task in ((f"A.{t}", "task1"), (f"B.{t}", "task2")):
            topics.append(
                Topic(name, task, 2020, word, (), word, (query,), query.formula_id,
                      "x^2", None, None, None)
            )  # fmt: skip
            graph = f"(f / find-01 :ARG1 (g / FORMULA_0 :mod (w / {word})))"
            topic_graphs.append(GraphRecord(name, graph, "topic", (query,)))
        judgments += [
            Judgment(f"B.{t}", f"{v}", 3 if v == t else 0, "task2", "q")
            for v in range(len(WORDS))
        ]
    returnable = ReturnableRule().choose_mentions(posts)
    catalog = open_catalog(data)
    tables: dict[str, list[Any]] = {
        "posts": posts, "formulas": [], "amr_graphs": graphs, "amr_post_failures": [],
        "returnable_formulas": returnable,
        "training_pairs": pairs, "topics": topics, "topic_amr_graphs": topic_graphs,
        "judgments": judgments, "statements": [],
    }  # fmt: skip
    for name, rows in tables.items():
        catalog[name].save(Shard("all", "world", rows, {"written": len(rows)}))
        catalog[name].save(EndOfShards("world"))
    rows = [
        TreeRow(f"t{n}", f"{n}", "[V!x,a[N!2]]", "[O!SUP,0[V!𝑥],1[N!2]]")
        for n in range(len(WORDS) + 1)
    ]
    catalog["formula_trees"].save(Shard("all", "trees", rows, {}))
    catalog["formula_trees"].save(EndOfShards("trees"))
    catalog.save("visual_index", VisualIndex.build([]))
    catalog.save("ingestion_statistics", INGESTED)
    run_stage(data, "graph_fusion")


def open_grid(name: str, data: Path, **settings: Any) -> GridRun:
    values = merge_parameters({"data_root": str(data), **SIZES}, settings)
    return GridRun(PROJECT, name, "test", values)


def run_grid(grid: GridRun) -> dict[str, str]:
    """Run what is unfinished in this process; return how each task ended."""
    works = grid.plan(grid.list_cells(), grid.ensure_collection())
    return {e.work: e.state for e in grid.run(works, [])}
