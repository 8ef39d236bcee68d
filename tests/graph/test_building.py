"""Arrays of a collection: built once, whatever a vocabulary makes of their numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.amr import ParseTexts
from mathamr_kedro.base.errors import GraphError, MissingInputError
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.graph import (
    FORMULA_TYPE,
    POST_TYPES,
    GraphRecord,
    GraphShards,
    GraphVariant,
    Vocabularies,
    find_owner,
    number_labels,
    read_math_graph,
    record_formula,
    split_entry,
)
from mathamr_kedro.graph.builder import (
    ArrayBuilder,
    VocabularyNumbering,
    label_formulas,
)
from mathamr_kedro.graph.fusion import FusedRecord, StoredTrees
from mathamr_kedro.graph.vocabulary import NodeVocabulary, RelationVocabulary
from tests.graph.arrays_world import RECORDS, build, mention

VARIANT = GraphVariant(auxiliary_edges="sequential")


def test_a_folder_says_what_its_graphs_are(tmp_path: Path) -> None:
    found = build(tmp_path / "posts", {"a": RECORDS[:2], "b": RECORDS[2:]})
    assert found.keys == ["1", "2", "3"]
    assert found.position("3") == 2
    types = [POST_TYPES[n] for n in found.post_types]
    assert types == ["question", "answer", "answer"]
    formula_ids, visual_ids = found.name_formulas(range(3))
    assert (list(formula_ids), list(visual_ids)) == (["0"], ["70"])
    assert list(found.formula_ids()) == [["0"]]
    assert found.failures == []
    found.check()


def test_equal_labels_of_shards_have_one_number(tmp_path: Path) -> None:
    one = build(tmp_path / "one", {"a": RECORDS})
    two = build(tmp_path / "two", {n.graph_id: [n] for n in RECORDS})
    assert one.labels == two.labels
    assert one.roles == two.roles
    assert one.checksum == two.checksum
    assert ("concept", "functions") in one.labels
    assert ("symbol", "V!𝑥") in one.labels


def test_a_vocabulary_numbers_arrays_as_it_numbers_a_graph(tmp_path: Path) -> None:
    found = build(tmp_path / "posts", {"a": RECORDS[:1], "b": RECORDS[1:]}, VARIANT)
    types = NodeVocabulary.build({"function": 2, "V!x": 2, "solve-01": 1}, 9, 5)
    relations = RelationVocabulary.build({"mod": 1, "ARG0": 1, "opt": 1})
    vocabularies = Vocabularies(types, relations)
    numbers = number_labels(found, vocabularies)
    shards = GraphShards(found.folder, numbers, vocabularies.schema)
    builder = ArrayBuilder(VocabularyNumbering(vocabularies), VARIANT)
    for place, record in enumerate(RECORDS):
        fused = FusedRecord.read(record, StoredTrees(None))
        expected = builder.build(fused.graph, label_formulas(fused.formulas()))
        assert shards.graph(place) == expected
        expected.check(vocabularies.schema)
    names = [types.names[n] for n in shards.graph(0).node_type[:5]]
    assert names == ["function", "[UNK]", "V!x", "V!x", "[UNKNUM_INT]"]
    batch = shards.assemble([2, 0])
    rows = [shards.graph(place) for place in (2, 0)]
    assert batch.node_type.tolist() == [n for g in rows for n in g.node_type]
    assert batch.relation.tolist() == [n for g in rows for n in g.relation]
    assert shards.count_type(types.find("V!x")) == 2


def test_arrays_without_a_vocabulary_have_no_batches(tmp_path: Path) -> None:
    found = build(tmp_path / "posts", {"a": RECORDS})
    with pytest.raises(MissingInputError, match="open the folder of prepared graphs"):
        GraphShards(found.folder)


def test_formulas_that_look_the_same_share_a_label() -> None:
    labels = label_formulas(
        {n: mention(n, v) for n, v in enumerate(("70", "71", "70"))}
    )
    assert labels[0] == labels[2] != labels[1]
    assert 0 not in labels.values()


def test_labels_stay_above_zero_in_a_batch() -> None:
    labels = label_formulas({n: mention(n, str(n)) for n in range(200)})
    assert (np.array(list(labels.values())).astype(np.int32) > 0).all()


def test_a_placeholder_that_the_text_lacks_has_no_name(tmp_path: Path) -> None:
    text = "(a / and :op1 (g / FORMULA_7) :op2 (f / FORMULA_0))"
    record = GraphRecord("1", text, formula_map=(mention(0, "70"),))
    found = build(tmp_path / "posts", {"a": [record]})
    formula_ids, _ = found.name_formulas([0])
    assert list(formula_ids) == ["0"]


def test_a_graph_that_cannot_be_read_is_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = GraphRecord("4", "(a / and :op1 (f / FORMULA_0)")
    found = build(tmp_path / "posts", {"a": [RECORDS[2], broken]})
    assert found.keys == ["3"]
    ((name, reason),) = found.failures
    assert name == "4"
    assert "Expected a PENMAN graph" in reason
    assert "no arrays for 4" in caplog.text


def test_shards_may_be_empty(tmp_path: Path) -> None:
    assert len(build(tmp_path / "none", {})) == 0
    found = build(tmp_path / "empty", {"a": [], "b": RECORDS[:1], "c": []})
    assert found.keys == ["1"]


def test_a_graph_that_comes_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="got '1' twice"):
        build(tmp_path / "posts", {"a": RECORDS, "b": RECORDS[:1]})


def test_other_shards_leave_those_before_them_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "posts"
    build(folder, {"a": RECORDS[:1], "b": RECORDS[1:]})
    other = [GraphRecord("9", "(n / new)")]
    found = build(folder, {"a": RECORDS[:1], "b": other, "c": RECORDS[2:]})
    assert found.keys == ["1", "9", "3"]
    fresh = build(tmp_path / "fresh", {"a": [RECORDS[0], *other, RECORDS[2]]})
    assert found.checksum == fresh.checksum
    assert build(folder, {"a": RECORDS[:1]}).keys == ["1"]
    assert build(folder, {"a": RECORDS[:1]}, made_from="others").keys == ["1"]


def test_what_is_finished_is_not_touched(tmp_path: Path) -> None:
    folder = tmp_path / "posts"
    build(folder, {"a": RECORDS})
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    build(folder, {"a": RECORDS})
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["edge.npy", "keys.npy", "progress.json"])
def test_damaged_arrays_are_built_again(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "posts"
    whole = build(folder, {"a": RECORDS[:1], "b": RECORDS[1:]}).checksum
    (folder / name).write_bytes(b"damaged")
    found = build(folder, {"a": RECORDS[:1], "b": RECORDS[1:]})
    assert found.checksum == whole
    found.check()


def test_a_stopped_build_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "posts"
    shards = {"a": RECORDS[:1], "b": RECORDS[1:2], "c": RECORDS[2:]}
    whole = build(tmp_path / "whole", shards).checksum

    class Stop(list[GraphRecord]):
        def __iter__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(folder, shards | {"c": Stop(RECORDS[2:])})
    with pytest.raises(MissingInputError, match="it resumes"):
        GraphShards(folder)
    # What a killed writer may have left behind the last whole shard.
    with (folder / "edge.npy").open("ab") as file:
        file.write(b"half of the next one")
    built = {"a": Stop(RECORDS[:1]), "b": Stop(RECORDS[1:2]), "c": RECORDS[2:]}
    assert build(folder, built).checksum == whole


FORMULAS = [
    FormulaInstance("51", "70", "1", "x^2", "5"),
    FormulaInstance("52", "71", "1", r"\frac{a}{b}"),
]


def test_a_formula_alone_is_read_as_a_query_for_it_is() -> None:
    (parsed,) = ParseTexts()(["FORMULA_0"])
    alone = record_formula(FORMULAS[0])
    assert read_math_graph(parsed.graph) == read_math_graph(alone.graph)


def test_every_formula_has_a_graph_that_names_post_comment_and_formula(
    tmp_path: Path,
) -> None:
    records = [record_formula(formula) for formula in FORMULAS]
    found = build(tmp_path / "formulas", {"a": records})
    assert [split_entry(key) for key in found.keys] == [
        ("1", "5", "51"),
        ("1", "", "52"),
    ]
    assert [find_owner(key) for key in found.keys] == ["1", "1"]
    assert [POST_TYPES[n] for n in found.post_types] == [FORMULA_TYPE] * 2
    formula_ids, visual_ids = found.name_formulas(range(2))
    assert (list(formula_ids), list(visual_ids)) == (["51", "52"], ["70", "71"])
    # x^2: 3 nodes of the operator tree and 2 of the layout tree below the formula
    assert found.arrays["member_count"][:3].tolist() == [5, 1, 3]
