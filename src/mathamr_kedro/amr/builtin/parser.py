"""The ``builtin`` parser."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr_kedro.amr.builtin.syntax import Token, is_word, parse_sentences
from mathamr_kedro.amr.graphs import (
    PLACEHOLDER,
    AMRGraph,
    Attribute,
    Edge,
    ParseFailure,
)
from mathamr_kedro.amr.merging import VariableNames, merge_graphs
from mathamr_kedro.amr.parser import Chunk
from mathamr_kedro.amr.penman_io import format_symbol

_CONTENT = frozenset({"NOUN", "VERB", "ADJ", "ADV", "PROPN", "NUM", "PRON"})
_ROLES = {
    "nsubj": "ARG0", "nsubjpass": "ARG1", "dobj": "ARG1", "pobj": "ARG2",
    "ccomp": "ARG1", "xcomp": "ARG1", "advcl": "condition", "poss": "poss",
}  # fmt: skip


class BuiltinParser:
    """Parses on any machine, without a download."""

    name = "builtin"

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch of chunks; a chunk without a word fails as ``empty_text``."""
        sentences = [s for chunk in chunks for s in chunk.sentences if is_word(s)]
        parses = parse_sentences(sentences)
        results: list[AMRGraph | ParseFailure] = []
        for chunk in chunks:
            graphs = [build_graph(next(parses)) for s in chunk.sentences if is_word(s)]
            if not graphs:
                results.append(
                    ParseFailure("empty_text", f"no words in {chunk.text!r}")
                )
            elif len(graphs) == 1:
                results.append(graphs[0])
            else:
                results.append(merge_graphs(graphs))
        return results


def build_graph(tokens: Sequence[Token]) -> AMRGraph:
    """Build the graph of one sentence from its dependency parse."""
    names = VariableNames()
    nodes: dict[str, str] = {}
    variables: dict[int, str] = {}
    formulas: dict[str, str] = {}
    for i, token in enumerate(tokens):
        formula = PLACEHOLDER.fullmatch(token.form) is not None
        if not formula and token.pos not in _CONTENT:
            continue
        concept = token.form if formula else format_symbol(token.lemma.lower())
        if token.pos == "VERB" and not formula:
            concept += "-01"
        if concept in formulas:
            variables[i] = formulas[concept]
            continue
        variables[i] = names.make(concept)
        nodes[variables[i]] = concept
        if formula:
            formulas[concept] = variables[i]
    if not variables:
        return AMRGraph("a", {"a": format_symbol(tokens[0].form.lower())}, [])
    return _connect(tokens, variables, nodes)


def _connect(
    tokens: Sequence[Token], variables: dict[int, str], nodes: dict[str, str]
) -> AMRGraph:
    edges: list[Edge] = []
    attributes: list[Attribute] = []
    loose: list[str] = []
    for i, token in enumerate(tokens):
        head = token.head
        while head != -1 and head not in variables:
            head = tokens[head].head
        if token.dep == "neg" and head != -1:
            attributes.append(Attribute(variables[head], "polarity", "-"))
        if i not in variables:
            continue
        if head == -1:
            loose.append(variables[i])
        elif variables[head] != variables[i]:
            role = _ROLES.get(token.dep, "mod")
            edges.append(Edge(variables[head], role, variables[i]))
    top = loose[0]
    edges.extend(Edge(top, "mod", v) for v in dict.fromkeys(loose) if v != top)
    return AMRGraph(top, nodes, list(dict.fromkeys(edges)), attributes)
