"""Six posts through all stages to an index, with an encoder of random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from kedro.io import CatalogProtocol

from mathamr_kedro.base.records import Post, Topic, TrainingPair
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.corpus import PostCleaner
from mathamr_kedro.corpus.formula_index import ReturnableRule
from mathamr_kedro.corpus.raw import RawPost
from mathamr_kedro.learning.checkpoints import MODEL
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import save_model
from mathamr_kedro.systems import list_systems
from mathamr_kedro.systems.mathamr_plus import Encoder
from mathamr_kedro.systems.mathamr_plus.encoder import FACTS
from mathamr_kedro.systems.training import Training
from tests.pipelines.graph_world import (
    INGESTED,
    open_catalog,
    open_session,
    run_stage,
)
from tests.worlds import build_once

TEXTS = {
    "1": r"Why is $\sqrt{2}$ irrational? I know that $\sqrt{4}$ is an integer.",
    "2": r"Suppose that $\sqrt{2} = \frac{a}{b}$. Then $a^2 = 2b^2$, so $a$ is even.",
    "3": r"How can I integrate $\int x e^x dx$ by parts?",
    "4": r"Let $u = x$. The integral is $(x-1)e^x + C$.",
    "5": "Are there infinitely many primes?",
    "6": r"Multiply all primes and add one: $p_1 p_2 \cdots p_n + 1$. A new prime.",
}
TITLES = {"1": r"The root of $2$", "3": "Integration by parts", "5": "Primes"}


def make_posts() -> list[Post]:
    clean = PostCleaner()
    posts = []
    for key, text in TEXTS.items():
        kind = "question" if key in TITLES else "answer"
        parent = None if key in TITLES else str(int(key) - 1)
        raw = RawPost(
            "posts", key, key, kind, parent, None, None, None, (), TITLES.get(key, ""),
            text, "text",
        )  # fmt: skip
        post, _ = clean(raw)
        assert post is not None
        posts.append(post)
    return posts


def make_topics(posts: list[Post]) -> list[Topic]:
    """The first post as a topic of both tasks; Task 2 asks for its last formula."""
    text = (posts[0].title, (), posts[0].text, posts[0].formula_map)
    asked = posts[0].formula_map[-1]
    heads = (asked.formula_id, asked.latex, None, None, None)
    return [
        Topic("A.1", "task1", 2020, *text, None, None, None, None, None),
        Topic("B.1", "task2", 2020, *text, *heads),
    ]


def plant_training(
    data: Path,
    model: MathAMRPlus,
    prepared: Any,
    values: Any,
    seed: int = 0,
    **facts: Any,
) -> Encoder:
    """Put a model where a training would."""
    base = data / "06_models/systems/mathamr_plus"
    training = Training.begin(base, "mathamr_plus", values, seed, prepared)
    save_model(training.model / MODEL, model)
    known = {"prepared_graphs": prepared.folder.name, "start_from": None, **facts}
    (training.model / FACTS).write_text(json.dumps(known))
    (training.folder / "history.json").write_text("[]")
    encoder = Encoder(training.folder)
    open_catalog(data).save("mathamr_plus.model", encoder)
    return encoder


def write_encoder(data: Path, seed: int = 0) -> str:
    """Put a model beside the graphs as training would; return its checksum."""
    catalog = open_catalog(data)  # one version each
    graphs = catalog.load("mathamr_plus.prepared")
    torch.manual_seed(seed)
    model = MathAMRPlus(ModelConfig(16, 8, 2, num_bases=4), graphs.posts.schema)
    values = list_systems(open_session(data).load_context().params)["mathamr_plus"]
    return plant_training(data, model, graphs, values, seed).checksum


def build_index(data: Path, **params: Any) -> CatalogProtocol:
    """Run every stage behind ingestion and training; once if nothing is changed."""
    if params:
        return _build(data, **params)
    build_once("six_posts", _build, data)
    return open_catalog(data)


def _build(data: Path, **params: Any) -> CatalogProtocol:
    catalog = open_catalog(data)
    pairs = [TrainingPair(key, str(int(key) + 1)) for key in TITLES]
    posts = make_posts()
    returnable = ReturnableRule().choose_mentions(posts)
    tables: dict[str, list[Any]] = {
        "posts": posts, "topics": make_topics(posts), "comments": [],
        "training_pairs": pairs, "returnable_formulas": returnable, "statements": [],
        "judgments": [],
    }  # fmt: skip
    for name, rows in tables.items():
        counts = {"read": len(rows), "written": len(rows)}
        catalog[name].save(Shard(f"{name}-0", "world", rows, counts))
        catalog[name].save(EndOfShards("world"))
    catalog["formula_trees"].save(Shard("all", "trees", [], {}))
    catalog["formula_trees"].save(EndOfShards("trees"))
    catalog.save("ingestion_statistics", INGESTED)
    for stage in ("amr_parsing", "graph_fusion", "preprocessing"):
        run_stage(data, stage, **params)
    write_encoder(data)
    return run_stage(data, "indexing", **params)
