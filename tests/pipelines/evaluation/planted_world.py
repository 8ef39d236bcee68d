"""A tiny collection whose vectors are planted, so that every score is known.

::

    topic A.1 = (1, 0, ...)      answers 2, 3, 4 at cosines .9, .5, .1; grades 0, 3, 2
    topic A.201 = (0, 1, ...)    answers 4, 3, 2 at cosines .8, .4, .2; grade of 4: 3
    topic A.2                    judged, but has no vectors
    topic A.3                    judged, but not among the topics
    topic B.1, formula q_1       formulas 13 (issue d), 11, 10, 12; 10 and 11 look alike
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from kedro.io import CatalogProtocol

from mathamr_kedro.base.records import (
    Formula,
    FormulaInstance,
    FormulaMention,
    Judgment,
    Post,
    Topic,
)
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import BuiltIndex
from mathamr_kedro.formula import TreeRow
from mathamr_kedro.graph import DOCUMENT, FORMULA, GraphRecord, GraphSchema
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.systems.changes import ChangeStore
from mathamr_kedro.systems.mathamr_plus import Encoder
from mathamr_kedro.vectors import (
    GraphRange,
    PostEntry,
    PostVectors,
    StoreWriter,
)
from tests.pipelines.graph_world import (
    open_catalog,
    open_session,
    save_math_graphs,
)
from tests.pipelines.search_world import plant_training

WIDTH = 8
ENCODER = "planted"


def post(key: str, text: str, parent: str | None = None) -> Post:
    kind = "answer" if parent else "question"
    title = "" if parent else text
    return Post(
        key, kind, parent or key, parent, None, None, None, (), title, text, ()
    )  # fmt: skip


POSTS = [
    post("1", "Why is the root irrational"),
    post("2", "A sum of squares", "1"),
    post("3", "The root is irrational by descent", "1"),
    post("4", "Descent is induction", "5"),
    post("5", "What is infinite descent"),
]


def topic(key: str, text: str, year: int, category: str | None = None) -> Topic:
    mention = FormulaMention("FORMULA_0", "q_1", "", r"\sqrt{2}", 0, 9)
    is_formula = key.startswith("B.")
    return Topic(
        key, "task2" if is_formula else "task1", year, "", (), text,
        (mention,) if is_formula else (), "q_1" if is_formula else None,
        r"\sqrt{2}" if is_formula else None, category, None, None,
    )  # fmt: skip


TOPICS = [
    topic("A.1", "irrational root", 2020, "Proof"),
    topic("A.2", "a question without a graph", 2020, "Concept"),
    topic("A.201", "infinite descent", 2021),
    topic("A.202", "nobody judged this", 2021),
    topic("B.1", "FORMULA_0 is irrational", 2020),
]


def judged(topic_id: str, grades: dict[str, int], task: str = "task1") -> list[Any]:
    return [Judgment(topic_id, i, g, task, f"{task}.tsv") for i, g in grades.items()]


JUDGMENTS = [
    *judged("A.1", {"2": 0, "3": 3, "4": 2}),
    *judged("A.2", {"2": 2, "3": 0}),
    *judged("A.3", {"2": 1}),
    *judged("A.201", {"4": 3, "99": 0}),
    *judged("B.1", {"70": 1, "71": 3, "72": 2}, "task2"),
]


def formula(key: str, post_id: str, visual: str, latex: str, issue: str = "") -> Any:
    return Formula(key, post_id, visual, "answer", issue=issue, latex=latex)


FORMULAS = [
    formula("10", "2", "70", r"\sqrt{2}"),
    formula("11", "3", "70", r"\sqrt{2}"),
    formula("12", "3", "71", r"\sqrt{x}"),
    formula("13", "4", "72", r"\sqrt{2}", "d"),
]


def point(**parts: float) -> np.ndarray:
    """A vector of length 1 with these parts (``x0`` ... ``x6``); the rest in x7."""
    vector = np.zeros(WIDTH)
    for name, value in parts.items():
        vector[int(name[1:])] = value
    vector[-1] = np.sqrt(1 - (vector**2).sum())
    return vector


def entry(key: str, kind: str, document: np.ndarray, *formulas: Any) -> PostEntry:
    """Formulas are (formula id, visual id, returnable, vector)."""
    return PostEntry(
        key, kind, np.stack([*(f[3] for f in formulas), document]),
        [FORMULA] * len(formulas) + [DOCUMENT], [*range(len(formulas)), 0],
        [f[0] for f in formulas], [f[1] for f in formulas], [f[2] for f in formulas],
    )  # fmt: skip


VECTORS = [
    entry("1", "question", point(x0=0.3, x1=0.1)),
    entry("2", "answer", point(x0=0.9, x1=0.2), ("10", "70", True, point(x3=0.5))),
    entry(
        "3", "answer", point(x0=0.5, x1=0.4),
        ("11", "70", True, point(x3=0.8)), ("12", "71", True, point(x3=0.3)),
    ),
    entry("4", "answer", point(x0=0.1, x1=0.8), ("13", "72", False, point(x3=0.99))),
    entry("5", "question", point(x0=0.7, x1=0.7)),
]  # fmt: skip
TOPIC_VECTORS = [
    entry("A.1", "topic", np.eye(WIDTH)[0]),
    entry("A.201", "topic", np.eye(WIDTH)[1]),
    entry("A.202", "topic", np.eye(WIDTH)[1]),
    entry("B.1", "topic", point(x0=0.1), ("q_1", "", True, np.eye(WIDTH)[3])),
]


MACHINE = {"device": "GPU", "cpu": "planted processor", "cores": 8, "gpu": "planted"}
INDEX = {
    "encoder": ENCODER, "engine": "exact", "posts": 5, "formulas": 3, "vectors": 9,
    "width": WIDTH, "bytes": 512, "post_bytes": 416, "formula_bytes": 96,
    "bytes_from": "computed", "seconds": 0.5, "machine": MACHINE,
    "post_types": {
        "question": {"posts": 2, "vectors": 2, "documents": 2, "formulas": 0,
                     "post_bytes": 128, "formula_bytes": 0},
        "answer": {"posts": 3, "vectors": 7, "documents": 3, "formulas": 3,
                   "post_bytes": 320, "formula_bytes": 96},
    },
}  # fmt: skip


def save_table(catalog: CatalogProtocol, name: str, rows: list[Any]) -> None:
    catalog[name].save(Shard("all", "planted", rows, {"written": len(rows)}))
    catalog[name].save(EndOfShards("planted"))


def plant(data: Path) -> None:
    """Write everything that the evaluation stage reads."""
    catalog = open_catalog(data)
    save_table(catalog, "posts", POSTS)
    save_table(catalog, "topics", TOPICS)
    save_table(catalog, "judgments", JUDGMENTS)
    save_table(catalog, "training_pairs", [])
    save_table(catalog, "statements", [])
    returnable = [
        FormulaInstance(f.formula_id, f.visual_id, f.post_id, f.latex)
        for f in FORMULAS
        if not f.issue
    ]
    save_table(catalog, "returnable_formulas", returnable)
    columns = {
        "formula_id": [f.formula_id for f in FORMULAS],
        "visual_id": [f.visual_id for f in FORMULAS],
    }
    catalog.save("visual_index", VisualIndex.build([pa.table(columns)]))
    trees = [TreeRow("12", "71", "[O!root,w[V!x]]", "[O!root,0[V!𝑥]]")]
    catalog["formula_trees"].save(Shard("all", "planted", trees, {}))
    catalog["formula_trees"].save(EndOfShards("planted"))
    graphs = [
        GraphRecord("2", "(s / sum-01 :ARG1 (q / square))", "answer"),
        GraphRecord("3", "(i / irrational :domain (r / root))", "answer"),
    ]
    save_math_graphs(catalog, graphs)
    query = GraphRecord("A.1", "(w / why :topic (r / root))", "topic")
    save_math_graphs(catalog, [query], "topic_")
    torch.manual_seed(0)
    schema = GraphSchema(9, 6, 1, virtual_relations=(3, 4, 5))
    model = MathAMRPlus(ModelConfig(8, 4, 1, num_bases=2), schema)
    graphs = SimpleNamespace(folder=data / "graphs", identity="planted")
    values = {"indexing": {"engine": {"engine": "exact"}}}
    encoder = plant_training(data, model, graphs, values)
    vectors = encoder.folder / "vectors"
    for name, posts in (("posts", VECTORS), ("topics", TOPIC_VECTORS)):
        with StoreWriter(vectors / name, ENCODER, WIDTH) as store:
            store.write(PostVectors.of(posts), GraphRange("planted", 0, len(posts)))
            store.complete()
    plant_index(data, catalog, encoder, values)
    history = [
        {"seconds": 2.0, "memory_mib": 10.0, "machine": MACHINE},
        {"seconds": 4.0, "memory_mib": 9.0, "machine": MACHINE},
    ]
    catalog.save("training_history", history)


def plant_index(
    data: Path, catalog: CatalogProtocol, encoder: Encoder, values: Any
) -> None:
    """Put an index of the planted vectors where the stage would."""
    folder = encoder.folder.parent / "indexes" / "planted"
    folder.mkdir(parents=True)
    posts = os.path.relpath(catalog.load("posts").path, folder)
    noted = {
        "system": "mathamr_plus",
        "values": values,
        "training": os.path.relpath(encoder.folder, folder),
        "tables": {"posts": posts},
    }
    counts = {
        **INDEX,
        "encoder": ENCODER,
        "vectors_folder": f"{encoder.folder.name}/vectors",
        "rankings": {"posts": ["mathamr_plus"], "formulas": ["mathamr_plus"]},
    }
    for name, content in (
        ("index.json", noted),
        ("counts.json", counts),
        ("vectors.json", {"vectors": "vectors"}),
    ):
        (folder / name).write_text(json.dumps(content))
    catalog.save("mathamr_plus.index", BuiltIndex(folder))
    catalog.save("changes", ChangeStore(data / "06_models" / "changes"))


def evaluate(data: Path, systems: Any = None, **parameters: Any) -> CatalogProtocol:
    """Run the stage with the exact engine; return a fresh catalog."""
    values = {
        "indexing": {"engine": {"engine": "exact"}},
        "evaluation": {"baselines": [], **parameters},
        "systems": systems or {},
    }
    for name in values["evaluation"]["baselines"]:
        with open_session(data, **values) as session:
            session.run(pipeline_names=["indexing"], namespaces=[f"indexing.{name}"])
    with open_session(data, **values) as session:
        session.run(pipeline_names=["evaluation"])
    return open_catalog(data)
