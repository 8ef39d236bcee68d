"""What Kedro-Viz draws: a box for each stage, everything in layers and described."""

from __future__ import annotations

import inspect
import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from kedro.framework.project import pipelines
from kedro.framework.startup import bootstrap_project
from kedro_viz.constants import ROOT_MODULAR_PIPELINE_ID
from kedro_viz.data_access import data_access_manager
from kedro_viz.integrations.kedro.data_loader import load_data
from kedro_viz.server import load_and_populate_data

from mathamr_kedro.project.checks import STAGES
from mathamr_kedro.systems import LEARNING

PROJECT = Path(__file__).parents[1]
CATALOGS = sorted((PROJECT / "conf/base/catalog").glob("*.yml"))
PAGES = sorted(PROJECT.glob("docs/**/*.md"))
LAYERS = [
    "raw", "intermediate", "primary", "feature", "model_input", "models",
    "model_output", "reporting",
]  # fmt: skip


@pytest.fixture(scope="module")
def registered():
    bootstrap_project(PROJECT)
    return dict(pipelines)


@pytest.fixture(scope="module")
def viz():
    """The data behind the page of Kedro-Viz."""
    bootstrap_project(PROJECT)
    load_and_populate_data(PROJECT)
    return data_access_manager


@pytest.fixture(scope="module")
def boxes(viz):
    """Boxes of the whole pipeline, by name."""
    return viz.create_modular_pipelines_tree_for_registered_pipeline("__default__")


def read_entries():
    """All datasets of the base catalog: file, name, entry."""
    for file in CATALOGS:
        for name, entry in yaml.safe_load(file.read_text()).items():
            if not name.startswith("_"):
                yield file, name, entry


def read_layers():
    return {
        name: LAYERS.index(entry["metadata"]["kedro-viz"]["layer"])
        for _, name, entry in read_entries()
    }


def test_the_page_opens_on_a_box_for_each_stage(boxes):
    shown = boxes[ROOT_MODULAR_PIPELINE_ID].children
    assert {c.id for c in shown if c.type == "modularPipeline"} == set(STAGES)
    assert "task" not in {c.type for c in shown}  # every node is inside a box


def test_boxes_are_drawn_in_the_order_of_the_stages(boxes):
    """Every stage reads what the one before it wrote, and none what comes later."""
    ordered = [boxes[stage] for stage in STAGES]
    for place, box in enumerate(ordered):
        later = {name for after in ordered[place + 1 :] for name in after.outputs}
        assert not later & set(box.inputs)
    for before, after in pairwise(ordered):
        assert set(before.outputs) & set(after.inputs)


def test_every_pipeline_is_one_namespace(registered):
    """Inside of it, a system may have one of its own: ``indexing.bm25``."""
    assert {*registered} == {*STAGES, "__default__"}
    for stage in STAGES:
        nodes = registered[stage].nodes
        assert {node.namespace.partition(".")[0] for node in nodes} == {stage}
        assert all(node.name.startswith(f"{stage}.") for node in nodes)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_nodes_that_the_documentation_names_exist(page, registered):
    known = {node.name for node in registered["__default__"].nodes}
    known |= {f"training.{name}.prepare" for name in LEARNING}  # with its overlay
    for names in re.findall(r"--(?:from-|to-)?nodes[ =]([\w.,]+)", page.read_text()):
        assert set(names.split(",")) <= known


def test_only_datasets_of_systems_have_a_prefix(registered):
    """``bm25.runs`` is that of a system; a stage is no part of a name."""
    names = [n for n in registered["__default__"].datasets() if "param" not in n]
    prefixed = [name.split(".") for name in names if "." in name]
    assert {kind for _, kind in prefixed} <= {
        "prepared",
        "model",
        "vectors",
        "index",
        "runs",
    }
    assert not {system for system, _ in prefixed} & {*STAGES}


def test_every_dataset_is_in_the_catalog(registered):
    entries = {name for _, name, _ in read_entries()}
    patterns = [re.sub(r"\{\w+\}", r"\\w+", name) for name in entries if "{" in name]
    for name in registered["__default__"].datasets():
        if not name.startswith("param"):
            assert name in entries or any(re.fullmatch(p, name) for p in patterns), name


def test_every_entry_of_the_catalog_is_used():
    """By an environment that asks for all that is optional."""
    _, registered, _ = load_data(PROJECT, env="pool+distil_text")
    used = registered["__default__"].datasets()
    entries = {name for _, name, _ in read_entries() if "{" not in name}
    assert entries <= used


def test_every_dataset_has_a_layer():
    assert len(read_layers()) > 60
    for _, name, entry in read_entries():
        assert entry["metadata"]["kedro-viz"]["layer"] in LAYERS, name


@pytest.mark.parametrize("file", CATALOGS, ids=lambda file: file.stem)
def test_every_dataset_is_described_by_a_comment_above_it(file):
    lines = file.read_text().splitlines()
    places = [n for n, line in enumerate(lines) if re.match(r'["a-z].*:', line)]
    assert places
    for place in places:
        assert re.match(r"# \w", lines[place - 1]), lines[place]


def test_layers_are_drawn_in_order(viz):
    assert viz.get_sorted_layers_for_registered_pipeline("__default__") == LAYERS


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_drawn_in_layers(stage, viz):
    """Kedro-Viz shows none where a dataset leads back to an earlier layer."""
    nodes = viz.get_nodes_for_registered_pipeline(stage)
    shown = {node.layer for node in nodes if getattr(node, "layer", None)}
    assert shown
    assert shown <= {*viz.get_sorted_layers_for_registered_pipeline(stage)}


def test_no_node_writes_to_an_earlier_layer(registered):
    layers, latest = read_layers(), {}
    for node in registered["__default__"].nodes:  # in the order of their data
        reached = max((latest.get(name, 0) for name in node.inputs), default=0)
        for name in node.inputs:
            reached = max(reached, layers.get(name, 0))
        for name in node.outputs:
            assert layers.get(name, reached) >= reached, (node.name, name)
            latest[name] = layers.get(name, reached)


def test_every_node_says_what_it_does(registered):
    for node in registered["__default__"].nodes:
        summary = (inspect.getdoc(node.func) or "").split("\n")[0]
        assert re.fullmatch(r"[A-Z].{15,}\.", summary), node.name


def test_reports_figures_and_metrics_are_shown(registered):
    """By datasets of Kedro's own."""
    kinds = {name: entry["type"] for _, name, entry in read_entries()}
    pages = {n for _, n, e in read_entries() if str(e.get("filepath")).endswith(".md")}
    assert {kinds[name] for name in pages} == {"kedro_datasets.text.TextDataset"}
    assert len(pages) >= 7
    figures = {kind for name, kind in kinds.items() if name.endswith("_figure")}
    assert figures == {"kedro_datasets.matplotlib.MatplotlibDataset"}
    assert kinds["metrics"] == "kedro_datasets.json.JSONDataset"


def test_pictures_of_reports_are_made(registered):
    """Every picture that a page links to is beside it, made from a figure."""
    stems = {
        Path(entry["filepath"]).stem
        for _, _, entry in read_entries()
        if entry["type"].endswith("MatplotlibDataset")
    }
    sources = (PROJECT / "src").rglob("*.py")
    found = (re.findall(r"!\[[^]]+\]\((\w+)\.png\)", f.read_text()) for f in sources)
    linked = {name for names in found for name in names}
    assert len(linked) >= 6
    assert linked <= stems and {"topic_differences", "seeds", "tradeoff"} <= stems
