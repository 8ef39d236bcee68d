"""Vocabularies, counted on arrays."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.graph import GraphVariant, LabelCounts, choose_vocabularies
from mathamr_kedro.graph.vocabulary import VocabularyConfig
from tests.graph.arrays_world import RECORDS, build

VARIANT = GraphVariant(auxiliary_edges="sequential")


@pytest.fixture
def graphs(tmp_path: Path):
    return build(tmp_path / "posts", {"a": RECORDS[:1], "b": RECORDS[1:]}, VARIANT)


def test_labels_are_counted_with_their_kind(graphs) -> None:
    counts = LabelCounts.of_graphs(graphs)
    assert counts.graphs == 3
    assert counts.labels["concept", "functions"] == 1
    assert counts.labels["symbol", "V!𝑥"] == 1
    assert counts.labels["symbol", "3"] == 1
    assert counts.labels.total() == 5 + 3 + 1
    assert counts.roles == Counter(
        {"quant": 2, "mod": 1, "opt": 1, "slt": 1, "ARG0": 1, "auxiliary_vn": 1}
    )


def test_only_the_chosen_graphs_are_counted(graphs) -> None:
    counts = LabelCounts.of_graphs(graphs, {"3", "9"})
    assert counts.graphs == 1
    assert counts.labels == Counter({("concept", "set"): 1})
    assert counts.roles == Counter()


def test_a_vocabulary_is_counted_over_all_graphs(graphs) -> None:
    counts = LabelCounts.of_graphs(graphs)
    config = VocabularyConfig(rare_numbers_below=2)
    _, report = choose_vocabularies(counts, config, VARIANT)
    assert report.graphs == 3
    assert report.nodes == 9
    assert report.raw_types == 9  # functions function FORMULA_0 V!𝑥 V!x 3 12345 ...
    assert report.normalised_types == 7  # function FORMULA_0 V!x 3 12345 solve-01 set
    assert report.rare_numbers == 2
    assert report.types == 6 + 5
    assert report.coverage == 1
    assert report.raw_relations == 5  # the auxiliary one is ours
    assert report.relations == 2 * (1 + 5 + 4)
    assert report.coverage_by_size == ((7, 1.0),)


def test_coverage_is_the_share_of_known_nodes(graphs) -> None:
    counts = LabelCounts.of_graphs(graphs)
    config = VocabularyConfig(size=8, rare_numbers_below=1)
    _, report = choose_vocabularies(counts, config, VARIANT)
    # function and V!x (2 each) have a type; 3 and 12345 share one; of nine nodes
    # FORMULA_0, solve-01 and set are unknown.
    assert report.types == 8
    assert report.coverage == pytest.approx(6 / 9)


def test_nothing_to_count_is_refused(graphs) -> None:
    counts = LabelCounts.of_graphs(graphs, {"9"})
    with pytest.raises(GraphError, match="got none"):
        choose_vocabularies(counts, VocabularyConfig(), VARIANT)
