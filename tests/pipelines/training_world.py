"""A planted collection for the training stage: pairs share two of eight words."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import torch

from mathamr_kedro.base.records import Post, TrainingPair
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.graph import GraphRecord
from tests.pipelines.graph_world import INGESTED, TOPIC, open_catalog, run_stage
from tests.worlds import build_once

PAIRS = 24
WORDS = ("prime", "limit", "matrix", "graph", "group", "ring", "field", "sum")
CHOSEN = list(combinations(WORDS, 2))[:PAIRS]
SETTINGS = {
    "optimizer": {"learning_rate": 1e-2, "min_learning_rate": 1e-3},
    "batch_size": 8,
    "num_epochs": 6,
    "patience": 0,
    "compute": {"device": "cpu"},
}


def write_world(data: Path, has_pairs: bool = True, **params: Any) -> None:
    """Write what the stages before graph fusion would have written, and run it."""
    if params:
        _write(data, has_pairs, **params)
    else:
        name = "planted_pairs" if has_pairs else "planted_posts"
        build_once(name, partial(_write, has_pairs=has_pairs), data)


def _write(data: Path, has_pairs: bool, **params: Any) -> None:
    catalog = open_catalog(data)
    graphs, posts, pairs = [], [], []
    for n, (one, two) in enumerate(CHOSEN):
        question, answer = str(2 * n + 1), str(2 * n + 2)
        words = f"(w / {one} :mod (v / {two}))"
        graphs += [
            GraphRecord(question, f"(a / ask-01 :ARG1 {words})", "question"),
            GraphRecord(answer, f"(s / say-01 :ARG1 {words})", "answer"),
        ]
        texts = (f"why {n + 100}", f"because {n + 99}")
        for post, kind, text in zip(
            (question, answer), ("question", "answer"), texts, strict=True
        ):
            heads = (None, None, None, None, (), "")
            posts.append(Post(post, kind, question, *heads, text, ()))
        pairs.append(TrainingPair(question, answer))
    tables = {
        "amr_graphs": graphs,
        "topic_amr_graphs": [TOPIC],
        "returnable_formulas": [],
        "amr_post_failures": [],
        "training_pairs": pairs if has_pairs else [],
        "posts": posts,
        "topics": [],
        "judgments": [],
        "statements": [],
    }
    for name, rows in tables.items():
        catalog[name].save(Shard("all-0", "world", rows, {"written": len(rows)}))
        catalog[name].save(EndOfShards("world"))
    catalog["formula_trees"].save(EndOfShards("trees"))
    catalog.save("ingestion_statistics", INGESTED)
    catalog.save("amr_parser", {"parser": "builtin"})
    for stage in ("graph_fusion", "preprocessing"):
        run_stage(data, stage, **params)


def run_training(data: Path, **changes):
    return run_stage(data, "training", training=SETTINGS | changes)


def read_weights(catalog) -> dict[str, torch.Tensor]:
    return catalog.load("mathamr_plus.model").network.state_dict()


def same(one, two) -> bool:
    return all(torch.equal(one[n], two[n]) for n in one)
