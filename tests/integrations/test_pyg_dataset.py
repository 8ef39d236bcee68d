"""Prepared graphs as a dataset of PyTorch Geometric."""

from __future__ import annotations

import shutil

import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.graph import read_label
from mathamr_kedro.integrations import MathGraphDataset
from mathamr_kedro.project.catalog import open_catalog
from tests.graph.test_prepared import prepare

pytestmark = [
    pytest.mark.timeout(2400),  # the first of them waits for the demo
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def dataset(demo) -> MathGraphDataset:
    return MathGraphDataset(demo / "data")


def test_graphs_have_names_of_types_and_relations(dataset, demo, monkeypatch):
    from torch_geometric.data import Data

    data = dataset[0]
    assert isinstance(data, Data) and data.validate()
    assert len(data.node_names) == data.num_nodes
    assert len(data.edge_names) == data.num_edges
    monkeypatch.chdir(demo)
    record = open_catalog("demo").load("math_graphs")
    (graph,) = [r for r in record.records() if r.graph_id == data.key]
    written = {read_label(atom) for atom in graph.graph.atoms}
    content = {n for n, v in zip(data.node_names, data.virtual, strict=True) if not v}
    assert len(content & written) > len(content) / 2  # rare ones have no type of theirs
    assert data.node_names[-1] == "document"
    edges = zip(*data.edge_index.tolist(), data.edge_names, strict=True)
    assert {n for s, t, n in edges if data.node_names[s] == "document"}


def test_loader_makes_batches(dataset):
    from torch_geometric.loader import DataLoader

    batch = next(iter(DataLoader(dataset, batch_size=4)))
    assert batch.num_graphs == 4
    assert batch.key == [dataset[n].key for n in range(4)]


def test_transforms_are_applied(demo):
    from torch_geometric.transforms import Constant

    dataset = MathGraphDataset(demo / "data", part="topics", transform=Constant())
    assert dataset[0].x.shape[1] == 2


def test_folder_without_graphs_is_named(tmp_path):
    with pytest.raises(MissingInputError, match="preprocessing"):
        MathGraphDataset(tmp_path)


def test_graphs_are_found_in_their_folder_or_below_a_data_root(tmp_path):
    base = tmp_path / "05_model_input" / "mathamr_plus"
    folder = base / "some"
    folder.parent.mkdir(parents=True)
    prepare(tmp_path).folder.rename(folder)
    (tmp_path / "graph_arrays").rename(tmp_path / "05_model_input" / "graph_arrays")
    for root in (tmp_path, folder):
        dataset = MathGraphDataset(root)
        assert [data.key for data in dataset] == ["10", "11", "12", "13"]
    assert [data.key for data in MathGraphDataset(folder, "topics")] == ["A.1"]
    shutil.copytree(folder, base / "other")
    with pytest.raises(MissingInputError, match=r"Expected one folder.*'other'"):
        MathGraphDataset(tmp_path)
