"""Blocks: numbered by themselves, counted, and renumbered by a vocabulary."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.graph.arrays import GraphArrays
from mathamr_kedro.graph.blocks import (
    GraphBlock,
    LabelCounts,
    Vocabularies,
    build_graph_blocks,
)
from mathamr_kedro.graph.builder import (
    CONCEPT,
    SYMBOL,
    ArrayBuilder,
    VocabularyNumbering,
    label_formulas,
)
from mathamr_kedro.graph.penman_records import GraphRecord, RecordFile
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    NodeVocabulary,
    RelationVocabulary,
    VocabularyConfig,
)


def formula(number: int, visual_id: str) -> FormulaMention:
    return FormulaMention(f"FORMULA_{number}", str(number), visual_id, "x", 0, 9)


RECORDS = [
    GraphRecord(
        "1",
        "(f / functions :mod (g / FORMULA_0 :opt (o / V!𝑥) :slt (t / V!x)) :quant 3)",
        "question",
        (formula(0, "70"),),
    ),
    GraphRecord("2", "(f / function :ARG0-of (s / solve-01) :quant 12345)", "answer"),
    GraphRecord("3", "(s / set)", "answer"),
]
VARIANT = GraphVariant(auxiliary_edges="sequential")


def renumber(
    block: GraphBlock, types: NodeVocabulary, relations: RelationVocabulary
) -> GraphBlock:
    return next(Vocabularies(types, relations, None).renumber([block]))  # type: ignore[arg-type]


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    path = tmp_path / "posts-00000.amr.txt"
    RecordFile(path).write(RECORDS)
    return path


def test_a_block_survives_being_written(shard: Path, tmp_path: Path) -> None:
    block = GraphBlock.build(RecordFile(shard), VARIANT)
    block.save(tmp_path / "block.npz")
    found = GraphBlock.load(tmp_path / "block.npz")
    assert found.keys == block.keys == ["1", "2", "3"]
    assert found.post_types == ["question", "answer", "answer"]
    assert (found.labels, found.roles) == (block.labels, block.roles)
    assert found.formulas == block.formulas == [[("0", "70")], [], []]
    assert list(found.graphs()) == list(block.graphs())
    assert GraphBlock.load_keys(tmp_path / "block.npz") == block.keys


def test_labels_are_counted_with_their_kind(shard: Path) -> None:
    counts = GraphBlock.build(RecordFile(shard), VARIANT).count_labels()
    assert counts.graphs == 3
    assert counts.labels[CONCEPT, "functions"] == 1
    assert counts.labels[SYMBOL, "V!𝑥"] == 1
    assert counts.labels[SYMBOL, "3"] == 1
    assert counts.labels.total() == 5 + 3 + 1
    assert counts.roles == Counter(
        {"quant": 2, "mod": 1, "opt": 1, "slt": 1, "ARG0": 1, "auxiliary_vn": 1}
    )


def test_only_the_chosen_graphs_are_counted(shard: Path) -> None:
    counts = GraphBlock.build(RecordFile(shard), VARIANT).count_labels({"3", "9"})
    assert counts.graphs == 1
    assert counts.labels == Counter({(CONCEPT, "set"): 1})
    assert counts.roles == Counter()


def test_renumbered_graphs_are_those_built_with_the_vocabulary(shard: Path) -> None:
    block = GraphBlock.build(RecordFile(shard), VARIANT)
    types = NodeVocabulary.build({"function": 2, "V!x": 2, "solve-01": 1}, 9, 5)
    relations = RelationVocabulary.build({"mod": 1, "ARG0": 1, "opt": 1})
    found = dict(renumber(block, types, relations).graphs())
    builder = ArrayBuilder(VocabularyNumbering(types, relations), VARIANT)
    expected = {r.graph_id: builder.build_record(r) for r in RECORDS}
    assert found == expected
    assert isinstance(found["1"], GraphArrays)
    names = [types.names[n] for n in found["1"].node_type[:5]]
    assert names == ["function", "[UNK]", "V!x", "V!x", "[UNKNUM_INT]"]
    for graph in found.values():
        graph.check(builder.numbering.schema)


def test_a_vocabulary_is_counted_over_blocks(shard: Path) -> None:
    block = GraphBlock.build(RecordFile(shard), VARIANT)
    counts = LabelCounts.of_blocks([block, block], None)
    vocabularies = Vocabularies.build(counts, VocabularyConfig(rare_numbers_below=3))
    report = vocabularies.report
    assert report.graphs == 6
    assert report.nodes == 18
    assert report.raw_types == 9  # functions function FORMULA_0 V!𝑥 V!x 3 12345 ...
    assert report.normalised_types == 7  # function FORMULA_0 V!x 3 12345 solve-01 set
    assert report.rare_numbers == 2
    assert report.types == 6 + 5
    assert report.coverage == 1
    assert report.raw_relations == 5  # the auxiliary one is ours
    assert report.relations == 2 * (1 + 5 + 4)
    assert report.coverage_by_size == ((7, 1.0),)


def test_coverage_is_the_share_of_known_nodes(shard: Path) -> None:
    counts = LabelCounts.of_blocks([GraphBlock.build(RecordFile(shard), VARIANT)], None)
    options = VocabularyConfig(size=8, rare_numbers_below=1)
    report = Vocabularies.build(counts, options).report
    # function and V!x (2 each) have a type; 3 and 12345 share one; of nine nodes
    # FORMULA_0, solve-01 and set are unknown.
    assert report.types == 8
    assert report.coverage == pytest.approx(6 / 9)


def test_nothing_to_count_is_refused(shard: Path) -> None:
    counts = LabelCounts.of_blocks(
        [GraphBlock.build(RecordFile(shard), VARIANT)], {"9"}
    )
    with pytest.raises(GraphError, match="got none"):
        Vocabularies.build(counts, VocabularyConfig())


def test_formulas_that_look_the_same_share_a_label() -> None:
    record = RECORDS[0]._replace(
        formula_map=(formula(0, "70"), formula(1, "71"), formula(2, "70"))
    )
    labels = label_formulas(record)
    assert labels[0] == labels[2] != labels[1]
    assert 0 not in labels.values()


def test_labels_stay_above_zero_in_a_batch() -> None:
    formulas = tuple(formula(n, str(n)) for n in range(200))
    labels = label_formulas(RECORDS[0]._replace(formula_map=formulas))
    assert (np.array(list(labels.values())).astype(np.int32) > 0).all()


def test_a_placeholder_that_the_text_lacks_has_no_name(tmp_path: Path) -> None:
    path = tmp_path / "posts-00000.amr.txt"
    text = "(a / and :op1 (g / FORMULA_7) :op2 (f / FORMULA_0))"
    RecordFile(path).write([GraphRecord("1", text, formula_map=(formula(0, "70"),))])
    block = GraphBlock.build(RecordFile(path), VARIANT)
    assert block.formulas == [[("0", "70"), ("", "")]]


def test_a_graph_that_cannot_be_read_is_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "posts-00000.amr.txt"
    twice = "(a / and :op1 (f / FORMULA_0) :op2 (g / FORMULA_0))"
    RecordFile(path).write([RECORDS[2], GraphRecord("4", twice)])
    (block,) = build_graph_blocks([path], VARIANT)
    assert block.keys == ["3"]
    assert block.failures[0][0] == "4"
    assert "FORMULA_0" in block.failures[0][1]


def test_an_empty_shard_is_an_empty_block(tmp_path: Path) -> None:
    path = tmp_path / "posts-00000.amr.txt"
    RecordFile(path).write([])
    block = GraphBlock.build(RecordFile(path), VARIANT)
    block.save(tmp_path / "block.npz")
    found = GraphBlock.load(tmp_path / "block.npz")
    assert list(found.graphs()) == []
    assert found.count_labels().graphs == 0
    types = NodeVocabulary.build({}, 9, 5)
    assert renumber(found, types, RelationVocabulary.build({})).keys == []
