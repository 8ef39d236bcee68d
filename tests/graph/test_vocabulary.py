"""Vocabularies of node types and relations."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph.vocabulary import (
    SPECIAL_TYPES,
    NodeVocabulary,
    RelationVocabulary,
    Vocabularies,
    VocabularyConfig,
    classify_number,
)


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("7", "integer"), ("-7", "integer"), ("N!0", "integer"), ("1,000", "integer"),
        ("N!14 776 336", "integer"),
        ("3.14", "decimal"), (".5", "decimal"), ("N!.75", "decimal"), ("2.", "decimal"),
        ("1e10", "decimal"), ("6.02E+23", "decimal"), ("-1.5e-3", "decimal"),
        ("1/2", "rational"), ("N!-3/4", "rational"), ("1⁄2", "rational"),
        ("x", None), ("N!", None), ("N!x", None), ("V!2", None), ("1.1.9", None),
        ("1 2 3", None), ("op1", None), ("", None), ("2-3", None), ("٣", None),
    ],
)  # fmt: skip
def test_numbers_are_told_apart(label: str, kind: str | None) -> None:
    assert classify_number(label) == kind


COUNTS = {"set": 9, "N!2": 7, "map": 7, "7": 4, "N!1729": 4, "N!0.5": 4, "1/3": 1}


def test_the_most_frequent_types_come_first_and_ties_by_name() -> None:
    vocabulary = NodeVocabulary.build(COUNTS, size=20, rare_below=5)
    assert vocabulary.names == (*SPECIAL_TYPES, "set", "N!2", "map")


def test_rare_numbers_share_a_token_of_their_kind() -> None:
    vocabulary = NodeVocabulary.build(COUNTS, size=20, rare_below=5)
    found = [vocabulary.names[vocabulary.find(n)] for n in ("7", "N!1729", "N!0.5")]
    assert found == ["[UNKNUM_INT]", "[UNKNUM_INT]", "[UNKNUM_DEC]"]
    assert vocabulary.names[vocabulary.find("1/3")] == "[UNKNUM_RAT]"
    assert vocabulary.names[vocabulary.find("N!2")] == "N!2"


def test_the_threshold_is_the_least_count_of_an_own_type() -> None:
    vocabulary = NodeVocabulary.build(COUNTS, size=20, rare_below=4)
    assert vocabulary.names[-3:] == ("7", "N!0.5", "N!1729")


def test_what_does_not_fit_is_unknown() -> None:
    vocabulary = NodeVocabulary.build(COUNTS, size=len(SPECIAL_TYPES) + 1, rare_below=5)
    assert vocabulary.names[6:] == ("set",)
    assert vocabulary.names[vocabulary.find("map")] == "[UNK]"
    assert vocabulary.names[vocabulary.find("N!2")] == "[UNKNUM_INT]"


def test_a_url_has_its_type_even_where_no_training_graph_has_one() -> None:
    vocabulary = NodeVocabulary.build({}, size=20, rare_below=5)
    assert vocabulary.names[vocabulary.find("[URL]")] == "[URL]"


def test_a_vocabulary_without_room_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="size of at least 6"):
        VocabularyConfig(size=5)


def test_foreign_types_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="begin with"):
        NodeVocabulary(["a", "b"])


def test_vocabularies_survive_being_written(tmp_path: Path) -> None:
    types = NodeVocabulary.build({"V!𝑥": 2, '"\n': 1, "\ud800": 1}, 20, 5)
    types.save(tmp_path / "types.json")
    assert NodeVocabulary.load(tmp_path / "types.json").names == types.names
    relations = RelationVocabulary.build({"ARG0": 2, "é": 1})
    relations.save(tmp_path / "relations.json")
    found = RelationVocabulary.load(tmp_path / "relations.json")
    assert found.names == relations.names


def test_relations_end_with_the_virtual_and_auxiliary_ones() -> None:
    relations = RelationVocabulary.build({"mod": 5, "ARG0": 5, "0": 9, "opt": 1})
    assert relations.names == (
        "unknown", "0", "ARG0", "mod", "opt",
        "virtual_formula", "virtual_sentence", "virtual_document", "auxiliary_vn",
    )  # fmt: skip


def test_numbered_roles_fall_back_to_the_next_smaller_one() -> None:
    relations = RelationVocabulary.build({"snt2": 3, "snt5": 2, "op1": 4})
    names = [relations.names[relations.find(r)] for r in ("snt4", "snt99", "snt1")]
    assert names == ["snt2", "snt5", "snt2"]
    assert relations.names[relations.find("ARG7")] == "unknown"


def test_the_schema_counts_both_vocabularies() -> None:
    types = NodeVocabulary.build({"set": 1}, 20, 5)
    relations = RelationVocabulary.build({"ARG0": 1, "mod": 1})
    schema = Vocabularies(types, relations).schema
    assert schema.num_node_types == 7
    assert schema.num_relations == 2 * (1 + 2 + 4)
    assert schema.mask_type == 1
    assert schema.virtual_relations == (3, 4, 5)


def test_rare_numbered_roles_count_as_smaller_ones():
    counts = {"snt1": 9, "snt40": 8, "snt57": 1, "prep-under": 1}
    relations = RelationVocabulary.build(counts, rare_below=2)
    assert "snt57" not in relations.names
    assert relations.find("snt57") == relations.find("snt40")
    assert relations.find("snt3") == relations.find("snt1")
    assert relations.names[relations.find("prep-under")] == "prep-under"
