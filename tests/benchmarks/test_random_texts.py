"""Random graphs come back from their text; ten thousand of them in the benchmark."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.random_texts import draw_graph
from mathamr_kedro.graph import format_math_graph, read_math_graph


@pytest.mark.parametrize("start", range(0, 2000, 500))
def test_random_graphs_come_back(start: int) -> None:
    for seed in range(start, start + 500):
        graph = draw_graph(seed)
        text = format_math_graph(graph)
        assert read_math_graph(text) == graph, seed
        assert format_math_graph(read_math_graph(text)) == text


def test_random_graphs_have_every_kind_of_line() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(200):
        graph = draw_graph(seed)
        kinds["constant"] += "" in graph.variables
        kinds["again"] += graph.num_edges >= graph.num_nodes
        kinds["inverted"] += "ARG1-of" in graph.roles
        kinds["quoted"] += any(atom.startswith('"') for atom in graph.atoms)
    assert min(kinds.values()) > 50
