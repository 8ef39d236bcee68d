"""Numbers of labels and edges."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.systems.formula_rgcn.vocabulary import Vocabulary

LABELS = {"V!x": 5, "+": 2, "N!2": 2, "V!y": 1, "O!SUP": 9}
EDGES = {"n": 7, "a": 2, "o": 1}


def test_what_was_met_often_enough_has_a_number_the_most_frequent_first():
    found = Vocabulary.count(LABELS, EDGES, 2)
    assert found.labels == ("?", "N!?", "O!?", "V!?", "O!SUP", "V!x", "+", "N!2")
    assert found.edges == ("?", "n", "a")
    assert len(Vocabulary.count(LABELS, EDGES, 1).labels) == 9
    assert Vocabulary.count(LABELS, EDGES, 99).edges == ("?",)


def test_rare_labels_are_unknown_of_their_type_and_others_unknown():
    found = Vocabulary.count(LABELS, EDGES, 2)
    numbers = [found.number(label) for label in ("V!x", "V!y", "N!7", "-", "T!a")]
    assert numbers == [5, 3, 1, 0, 0]
    assert [found.number_edge(edge) for edge in ("n", "a", "o")] == [1, 2, 0]


def test_labels_of_a_type_share_its_number():
    found = Vocabulary.count(LABELS, EDGES, 2)
    assert found.types == (0, 1, 2, 3, 2, 3, 0, 1)


def test_relations_of_virtual_nodes_stand_behind_the_edges():
    schema = Vocabulary.count(LABELS, EDGES, 2).schema
    assert (schema.num_node_types, schema.num_forward, schema.mask_type) == (8, 6, 0)
    assert schema.virtual_relations == (3, 4, 5)


def test_what_is_written_is_read_back_and_what_is_missing_named(tmp_path):
    found = Vocabulary.count(LABELS, EDGES, 2)
    found.write(tmp_path, "opg")
    assert Vocabulary.read(tmp_path, "opg") == found
    with pytest.raises(MissingInputError, match=r"Expected slg\.json .*'training'"):
        Vocabulary.read(tmp_path, "slg")
