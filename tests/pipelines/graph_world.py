"""A tiny collection after AMR parsing, in a catalog of its own."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path
from typing import Any

from kedro.framework.hooks.markers import HOOK_NAMESPACE
from kedro.framework.hooks.specs import DatasetSpecs, NodeSpecs
from kedro.framework.project import pipelines
from kedro.framework.session import KedroSession
from kedro.io import CatalogProtocol
from kedro.runner import SequentialRunner
from pluggy import PluginManager

from mathamr_kedro.base.records import (
    Failure,
    FormulaInstance,
    FormulaMention,
    TrainingPair,
)
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.formula import TreeRow
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.pipelines.graph_fusion.nodes import fuse_graphs
from mathamr_kedro.project import catalog as project
from tests.kills import kill_code
from tests.worlds import build_once

PROJECT = Path(__file__).resolve().parents[2]


def formula(number: int, visual_id: str, latex: str) -> FormulaMention:
    return FormulaMention(f"FORMULA_{number}", f"f{number}", visual_id, latex, 0, 9)


SQUARE = formula(0, "70", "x^2")
SUM = formula(1, "xabc", "y+1")

FIRST = [
    GraphRecord("1", "(e / even-01 :ARG1 (f / FORMULA_0))", "question", (SQUARE, SUM)),
    GraphRecord("2", "(y / yes)", "answer"),
]
SECOND = [
    GraphRecord(
        "3",
        "(m / multi-sentence :snt1 (f / functions) :snt2 (g / FORMULA_0))",
        "question",
        (SQUARE,),
    ),
    GraphRecord("4", "(n / no :polarity -)", "answer"),
    GraphRecord("5", "(broken / graph", "answer"),
]
TOPIC = GraphRecord("A.1", "(s / solve-01 :ARG1 (f / FORMULA_0))", "topic", (SUM,))
TOPIC = TOPIC._replace(formula_map=(SUM._replace(placeholder="FORMULA_0"),))


def open_session(data: Path, **params: Any) -> KedroSession:
    project.configure_kedro(PROJECT)
    values = {"data_root": str(data), **params}
    return KedroSession.create(PROJECT, env="test", runtime_params=values)


def open_catalog(data: Path) -> CatalogProtocol:
    with chdir(PROJECT):
        return project.open_catalog("test", str(data))


INGESTED = {
    "posts": {"total": 5, "answer": 3, "question": 2},
    "formulas": {"rows": 7},
    "judgments": {
        "qrel_task1_2022.tsv": {
            "task": "task1", "topics": 2, "judgments": 40, "documents": 30,
        }
    },
}  # fmt: skip
"""What the statistics of ingestion tell the stages behind it."""


def write_inputs(data: Path, first: list[GraphRecord] = FIRST) -> CatalogProtocol:
    """Write what the stages before fusion would have written."""
    catalog = open_catalog(data)
    made_from = f"amr {len(first)}"
    returnable = [FormulaInstance(m[1], m[2], "1", m[3]) for m in (SQUARE, SUM)]
    tables: dict[str, list[tuple[str, Any]]] = {
        "amr_graphs": [("posts-0", first), ("posts-1", SECOND)],
        "topic_amr_graphs": [("topics-0", [TOPIC])],
        "posts": [],
        "topics": [],
        "judgments": [],
        "statements": [],
        "returnable_formulas": [("formulas-0", returnable)],
        "amr_post_failures": [
            ("posts-0", [Failure("amr_parsing", "posts", "", "9", "empty_text", "")])
        ],
        "training_pairs": [
            ("pairs", [TrainingPair("1", "2"), TrainingPair("3", "4")]),
            ("more", [TrainingPair("3", "5"), TrainingPair("7", "8")]),
        ],
    }
    for name, shards in tables.items():
        for shard, rows in shards:
            counts = {"read": len(rows), "written": len(rows)}
            catalog[name].save(Shard(shard, made_from, rows, counts))
        catalog[name].save(EndOfShards(made_from))
    catalog.save("ingestion_statistics", INGESTED)
    row = TreeRow("f0", "70", "[V!x,a[N!2]]", "[O!SUP,0[V!𝑥],1[N!2]]")
    trees = catalog["formula_trees"]
    if not trees.exists():
        trees.save(Shard("all", "trees", [row], {}))
        trees.save(EndOfShards("trees"))
    return catalog


def save_math_graphs(
    catalog: CatalogProtocol, records: list[GraphRecord], prefix: str = ""
) -> None:
    """Write AMR records and what fusion comes to; formula trees are there already."""
    amr = catalog[f"{prefix}amr_graphs"]
    amr.save(Shard("all", "planted", records, {"written": len(records)}))
    amr.save(EndOfShards("planted"))
    names = f"{prefix}math_graph_failures", f"{prefix}math_graphs"
    for items in fuse_graphs(amr.load(), catalog.load("formula_trees"), {}):
        for name, item in zip(names, items, strict=True):
            catalog[name].save(item)


def prepare_graphs(data: Path) -> CatalogProtocol:
    """Write the inputs, fuse and prepare their graphs."""

    def build(data: Path) -> None:
        write_inputs(data)
        for stage in ("graph_fusion", "preprocessing"):
            run_stage(data, stage)

    build_once("five_graphs", build, data)
    return open_catalog(data)


def run_stage(data: Path, stage: str, **params: Any) -> CatalogProtocol:
    with open_session(data, **params) as session:
        session.run(pipeline_names=[stage])
    return open_catalog(data)


def watch_stage(data: Path, stage: str, hooks: object, **params: Any) -> None:
    """Run a stage whose nodes and datasets tell hooks what they do."""
    manager = PluginManager(HOOK_NAMESPACE)
    for specs in (NodeSpecs, DatasetSpecs):
        manager.add_hookspecs(specs)
    manager.register(hooks)
    catalog = open_session(data, **params).load_context().catalog
    SequentialRunner().run(pipelines[stage], catalog, manager)


def kill_stage(data: Path, stage: str, after: tuple[str, int], **params: Any) -> None:
    """Run a stage in a process of its own, which dies after it has written files."""
    script = (
        "import json, pathlib, sys\n"
        "from tests.pipelines.graph_world import run_stage\n"
        "data, stage, params = sys.argv[1:]\n"
        "run_stage(pathlib.Path(data), stage, **json.loads(params))\n"
    )
    kill_code(script, str(data), stage, json.dumps(params), after=after)
