"""A sentence in, its graph out, and a small way to ask for edges."""

from __future__ import annotations

import pytest

from mathamr_kedro.amr.builtin.parser import BuiltinParser
from mathamr_kedro.amr.documents import parse_documents


class Meaning:
    """A graph that answers questions in concepts instead of variables."""

    def __init__(self, graph):
        self.graph = graph
        self.concepts = list(graph.nodes.values())

    @property
    def tops(self):
        """Concepts of the sentences' tops, in order."""
        edges = [e for e in self.graph.edges if e.source == self.graph.top]
        return [self.graph.nodes[e.target] for e in edges]

    def has(self, source, role, target):
        """Tell whether there is such an edge or attribute."""
        nodes = self.graph.nodes
        edges = {(nodes[s], r, nodes[t]) for s, r, t in self.graph.edges}
        values = {(nodes[s], r, v) for s, r, v in self.graph.attributes}
        return (source, role, target) in edges | values


@pytest.fixture(scope="session")
def parse():
    """Return a function from text to :class:`Meaning`."""
    parser = BuiltinParser()
    return lambda text: Meaning(parse_documents([text], parser)[0].graph)
