"""Graphs as PENMAN shards in the catalog."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.errors import find_cause
from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets.penman_shards import PenmanShardsDataset
from mathamr_kedro.graph import GraphRecord
from tests.datasets.viz_markdown import convert

FIRST = GraphRecord("1", "(m / map)", "question")
SECOND = GraphRecord("2", "(s / set)", "answer")


def save(dataset: PenmanShardsDataset) -> None:
    dataset.save(Shard("posts-00000", "a", [FIRST], {"read": 2, "written": 1}))
    # A worker may hand over the text itself.
    dataset.save(Shard("posts-00001", "a", SECOND.format(), {"written": 1}))
    dataset.save(EndOfShards("a"))


def test_save_and_load(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    save(dataset)
    graphs = dataset.load()
    assert list(graphs.records()) == [FIRST, SECOND]
    assert [name for name, _ in graphs.shards()] == ["posts-00000", "posts-00001"]
    assert graphs.counts == {"read": 2, "written": 2}
    assert graphs.made_from == "a"
    assert graphs.find("2") == SECOND
    assert graphs.find("3") is None


def test_exists_when_all_shards_are_there(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    assert not dataset.exists()
    dataset.save(Shard("posts-00000", "a", [FIRST], {}))
    assert not dataset.exists()
    dataset.save(EndOfShards("a"))
    assert dataset.exists()


def test_load_missing_file(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    with pytest.raises(DatasetError) as caught:
        dataset.load()
    assert "run the stage that writes it" in str(find_cause(caught.value))


def test_preview_draws_graphs(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    mention = FormulaMention("FORMULA_0", "7", "3", "x_1 + x_2", start=0, end=9)
    with_formula = FIRST._replace(
        graph_id="9", graph="(f / FORMULA_0)", formula_map=(mention,)
    )
    dataset.save(Shard("posts-00000", "a", [FIRST, with_formula], {}))
    dataset.save(EndOfShards("a"))
    shown = dataset.preview(graphs=1)
    assert "<h3>question 9: 1 node</h3>" in shown and "question 1" not in shown
    assert convert(shown).count("<td>FORMULA_0</td><td>x_1 + x_2</td>") == 1
    content = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', shown)[1]
    assert "FORMULA_0</text>" in base64.b64decode(content).decode()
    assert "question 1" in dataset.preview(graphs=2)


def test_preview_prefers_what_is_narrow(tmp_path: Path) -> None:
    """Depth goes to the right; by their lengths, the deep one would come first."""
    chain = "".join(f":ARG0 (w{n} / word " for n in range(12)) + ")" * 12
    brothers = " ".join(f":ARG0 (w{n} / word)" for n in range(9))
    records = [
        FIRST._replace(graph_id="deep", graph=f"(a / and {chain})"),
        FIRST._replace(graph_id="flat", graph=f"(a / and {brothers})"),
    ]
    assert len(records[0].graph) > len(records[1].graph)
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    dataset.save(Shard("posts-00000", "a", records, {}))
    dataset.save(EndOfShards("a"))
    shown = dataset.preview(graphs=1)
    assert "question flat" in shown and "question deep" not in shown


def test_preview_looks_for_graphs_of_a_readable_size(tmp_path: Path) -> None:
    """Of many graphs few are drawn; all but one are tiny here."""
    brothers = " ".join(f":ARG0 (w{n} / word)" for n in range(9))
    tiny = [FIRST._replace(graph_id=f"tiny-{n}") for n in range(30)]
    records = [*tiny, FIRST._replace(graph_id="fit", graph=f"(a / and {brothers})")]
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    dataset.save(Shard("posts-00000", "a", records, {}))
    dataset.save(EndOfShards("a"))
    shown = dataset.preview(graphs=30)
    assert "question fit: 10 nodes" in shown
    assert shown.count("<h3>") == 20
    assert dataset.preview().count("<h3>") == 3


def test_preview_takes_graphs_with_formulas_first(tmp_path: Path) -> None:
    brothers = " ".join(f":ARG0 (w{n} / word)" for n in range(9))
    plain = FIRST._replace(graph=f"(a / and {brothers})")
    mention = FormulaMention("FORMULA_0", "7", "3", "x", start=0, end=9)
    rare = FIRST._replace(graph_id="rare", formula_map=(mention,))
    records = [plain._replace(graph_id=f"plain-{n}") for n in range(30)]
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    dataset.save(Shard("posts-00000", "a", [*records, rare], {}))
    dataset.save(EndOfShards("a"))
    assert dataset.preview(graphs=1).count("question rare: 1 node") == 1


def test_graphs_are_known_by_their_bytes(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    save(dataset)
    graphs = dataset.load()
    assert repr(graphs) == f"<PenmanShards: 2 graphs, in {tmp_path / 'graphs'}>"
    assert dataset._describe() == {"filepath": str(tmp_path / "graphs")}
    checksums = graphs.checksums()
    assert [*checksums] == ["posts-00000", "posts-00001"] and len(
        {*checksums.values()}
    ) == 2
    before = graphs.checksum
    other = SECOND._replace(graph="(t / tree)")
    dataset.save(Shard("posts-00001", "a", [other], {"written": 1}))
    dataset.save(EndOfShards("a"))
    assert before and dataset.load().checksum not in (before, None)
