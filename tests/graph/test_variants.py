"""What each variant shows of one graph, drawn by hand.

(m / multi-sentence            0
  :snt1 (s / show-01           1
    :ARG1 (f / FORMULA_0       2
      :opt U!plus :0 V!x       3 4
      :slt V!x :n +)           5 6
    :ARG0-of (w / want-01      7
      :polarity -))            8
  :snt2 (h / hold-01           9
    :ARG1 f)
  :math (F1 / FORMULA_1        10
    :opt V!y                   11
    :slt V!y))                 12
"""

from __future__ import annotations

from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.graph import builder as variants
from mathamr_kedro.graph.arrays import (
    DOCUMENT,
    FORMULA,
    SENTENCE,
    GraphArrays,
    GraphSchema,
)
from mathamr_kedro.graph.builder import ArrayBuilder, RawNumbering
from mathamr_kedro.graph.math_graph import MathGraph
from mathamr_kedro.graph.penman_graph import read_math_graph
from mathamr_kedro.graph.shards.batches import GraphBatch
from mathamr_kedro.graph.virtual_nodes import (
    AuxiliaryEdges,
    FormulaMode,
    GraphVariant,
    SentenceRoots,
    Structure,
)
from tests.graph.slow_variants import VariantGraph
from tests.graph.small_graphs import lay_out_graph

POST = read_math_graph(
    """(m / multi-sentence
         :snt1 (s / show-01
           :ARG1 (f / FORMULA_0
             :opt (F0o0 / U!plus :0 (F0o1 / V!x))
             :slt (F0s0 / V!x :n (F0s1 / +)))
           :ARG0-of (w / want-01
             :polarity -))
         :snt2 (h / hold-01
           :ARG1 f)
         :math (F1 / FORMULA_1
           :opt (F1o0 / V!y)
           :slt (F1s0 / V!y)))"""
)
AMR_EDGES = [(0, "snt1", 1), (1, "ARG1", 2)]


SCHEMA = GraphSchema(
    num_node_types=1 << 24,
    num_forward=1 << 16,
    mask_type=0,
    virtual_relations=((1 << 16) - 3, (1 << 16) - 2, (1 << 16) - 1),
)
"""Room for labels and roles as they are met."""


def number_as_met() -> RawNumbering:
    numbering = RawNumbering()
    numbering.first_virtual = SCHEMA.num_node_types
    return numbering


def show(**options: str) -> VariantGraph:
    return VariantGraph.build(POST, GraphVariant(**options), {0: 77, 1: 88})  # type: ignore[arg-type]


def virtual(found: VariantGraph) -> list[tuple[int, list[int]]]:
    return [(kind, list(members)) for kind, members in found.virtual_nodes]


def test_the_hierarchy() -> None:
    found = show()
    assert found.nodes == list(range(13))
    assert found.edges == [
        (0, "snt1", 1),
        (1, "ARG1", 2),
        (2, "opt", 3), (3, "0", 4),
        (2, "slt", 5), (5, "n", 6),
        (7, "ARG0", 1),
        (7, "polarity", 8),
        (0, "snt2", 9),
        (9, "ARG1", 2),
        (0, "math", 10), (10, "opt", 11), (10, "slt", 12),
    ]  # fmt: skip
    assert virtual(found) == [
        (FORMULA, [3, 4, 5, 6]),  # 13
        (FORMULA, [11, 12]),  # 14
        (SENTENCE, [1, 2, 7, 8]),  # 15
        (SENTENCE, [2, 9]),  # 16: names FORMULA_0 again
        (DOCUMENT, [13, 14, 15, 16, 0]),  # 17, linked to the root too
    ]
    assert found.auxiliary == []
    assert found.representatives == [
        (13, FORMULA, 0, 77),
        (14, FORMULA, 1, 88),
        (15, SENTENCE, 0, 0),
        (16, SENTENCE, 1, 0),
        (17, DOCUMENT, 0, 0),
    ]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        # Document order: sentence 0 (15), FORMULA_0 (13), FORMULA_1 (14), sentence 1.
        ("none", []),
        ("sequential", [(15, 13), (13, 14), (14, 16)]),
        ("circular", [(15, 13), (13, 14), (14, 16), (16, 15)]),
        ("full", [(15, 13), (15, 14), (15, 16), (13, 14), (13, 16), (14, 16)]),
    ],
)
def test_auxiliary_edges(edges: str, expected: list[tuple[int, int]]) -> None:
    assert show(auxiliary_edges=edges).auxiliary == expected


def test_operator_trees_alone() -> None:
    found = show(formula_mode="opt")
    assert found.nodes == [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]
    assert found.edges == [
        (0, "snt1", 1), (1, "ARG1", 2),
        (2, "opt", 3), (3, "0", 4),
        (5, "ARG0", 1), (5, "polarity", 6),
        (0, "snt2", 7), (7, "ARG1", 2),
        (0, "math", 8), (8, "opt", 9),
    ]  # fmt: skip
    assert virtual(found) == [
        (FORMULA, [3, 4]),
        (FORMULA, [9]),
        (SENTENCE, [1, 2, 5, 6]),
        (SENTENCE, [2, 7]),
        (DOCUMENT, [10, 11, 12, 13, 0]),
    ]


def test_layout_trees_alone() -> None:
    found = show(formula_mode="slt")
    assert found.nodes == [0, 1, 2, 5, 6, 7, 8, 9, 10, 12]
    assert virtual(found)[:2] == [(FORMULA, [3, 4]), (FORMULA, [9])]


def test_without_formulas_the_amr_alone_stays() -> None:
    found = show(formula_mode="none")
    assert found.nodes == [0, 1, 2, 7, 8, 9]  # FORMULA_0 is a word of the AMR
    assert found.edges == [
        (0, "snt1", 1), (1, "ARG1", 2),
        (3, "ARG0", 1), (3, "polarity", 4),
        (0, "snt2", 5), (5, "ARG1", 2),
    ]  # fmt: skip
    assert virtual(found) == [
        (SENTENCE, [1, 2, 3, 4]),
        (SENTENCE, [2, 5]),
        (DOCUMENT, [6, 7, 0]),
    ]
    assert [r[:3] for r in found.representatives] == [
        (6, SENTENCE, 0),
        (7, SENTENCE, 1),
        (8, DOCUMENT, 0),
    ]


def test_no_virtual_nodes() -> None:
    found = show(structure="none")
    assert found.virtual_nodes == []
    assert found.representatives == [
        (2, FORMULA, 0, 77),  # FORMULA_n nodes
        (10, FORMULA, 1, 88),
        (1, SENTENCE, 0, 0),  # roots of sentences
        (9, SENTENCE, 1, 0),
    ]


@pytest.mark.parametrize("structure", ["global_maxsim", "global_single"])
def test_a_global_node_gathers_every_node(structure: str) -> None:
    found = show(structure=structure)
    assert virtual(found) == [(DOCUMENT, list(range(13)))]
    nodes = [r.node for r in found.representatives]
    assert nodes == ([2, 10, 1, 9, 13] if structure == "global_maxsim" else [13])


def test_without_formulas_and_virtual_nodes_sentence_roots_stand_for_the_post() -> None:
    found = show(formula_mode="none", structure="none")
    assert [r.node for r in found.representatives] == [1, 5]


def test_a_formula_without_trees_is_gathered_itself() -> None:
    graph = read_math_graph("(s / show-01 :ARG1 (f / FORMULA_0))")
    assert virtual(VariantGraph.build(graph, GraphVariant()))[0] == (FORMULA, [1])


def test_numbers_of_formulas_are_those_of_their_placeholders() -> None:
    graph = read_math_graph("(s / show-01 :ARG1 (f / FORMULA_7))")
    found = VariantGraph.build(graph, GraphVariant())
    assert found.representatives[0][:3] == (2, FORMULA, 7)


ALL_VARIANTS = [
    GraphVariant(mode, structure, edges, roots)
    for mode, structure, edges, roots in product(
        get_args(FormulaMode),
        get_args(Structure),
        get_args(AuxiliaryEdges),
        get_args(SentenceRoots),
    )
    if edges == "none" or structure == "hierarchy"
]


def lay_out_plainly(graph: MathGraph, variant: GraphVariant) -> GraphArrays:
    """The slow twin: the variant shown node by node, then put into arrays."""
    numbering = number_as_met()
    found = VariantGraph.build(graph, variant, {0: 77, 1: 88})
    graph = found.graph
    trees = {n for part in graph.formulas for n in (*part.opt, *part.slt)}
    types = [
        numbering.symbols[atom]
        if n in trees or not graph.variables[n]
        else numbering.concepts[atom]
        for n, atom in enumerate(graph.atoms)
    ]
    edges = [(s, t, numbering.roles[r]) for s, r, t in found.edges]
    edges += [(s, t, numbering.roles["auxiliary_vn"]) for s, t in found.auxiliary]
    return lay_out_graph(
        [types[n] for n in found.nodes],
        edges,
        found.virtual_nodes,
        found.representatives,
        SCHEMA,
    )


def by_name(graph: GraphArrays, roles: list[str]) -> list[tuple[int, int, str]]:
    rows = zip(graph.source, graph.target, graph.relation, strict=True)
    return [(int(s), int(t), roles[r]) for s, t, r in rows]


def assert_equal(graph: MathGraph, variant: GraphVariant) -> None:
    numbering = number_as_met()
    fast = ArrayBuilder(numbering, variant).build(graph, {0: 77, 1: 88})
    slow = lay_out_plainly(graph, variant)
    fast.check(SCHEMA)
    # Roles are numbered in the order of use, which is not the same in both.
    assert len(fast.relation) == len(slow.relation)
    assert np.array_equal(fast.source, slow.source)
    assert np.array_equal(fast.target, slow.target)
    for name in (
        "node_type", "member_count", "member", "representative",
        "representative_kind", "representative_number", "representative_label",
    ):  # fmt: skip
        assert np.array_equal(getattr(fast, name), getattr(slow, name)), name
    shown = variants.VariantGraph.build(graph, variant)
    plain = VariantGraph.build(graph, variant)
    assert shown.nodes == plain.nodes
    assert shown.virtual_nodes == virtual(plain)
    assert shown.auxiliary == plain.auxiliary
    assert shown.representatives == {r.node for r in plain.representatives}
    assert shown.content.lines == plain.content.lines


@pytest.mark.parametrize("variant", ALL_VARIANTS, ids=str)
def test_arrays_show_the_same_as_the_plain_way(variant: GraphVariant) -> None:
    assert_equal(POST, variant)


def test_relations_of_arrays_are_those_of_the_edges() -> None:
    numbering = number_as_met()
    variant = GraphVariant(auxiliary_edges="sequential")
    graph = ArrayBuilder(numbering, variant).build(POST)
    found = VariantGraph.build(POST, variant)
    expected = [(s, t, role) for s, role, t in found.edges]
    expected += [(s, t, "auxiliary_vn") for s, t in found.auxiliary]
    assert by_name(graph, list(numbering.roles)) == expected


def test_virtual_edges_go_both_ways() -> None:
    numbering = number_as_met()
    graph = ArrayBuilder(numbering, GraphVariant()).build(POST)
    edges = GraphBatch.of_graph(graph, SCHEMA).list_edges()
    source, target, relation = edges
    rows = set(zip(source.tolist(), target.tolist(), relation.tolist(), strict=True))
    formula, _, document = SCHEMA.virtual_relations
    inverse = SCHEMA.num_forward
    assert (13, 4, formula) in rows
    assert (4, 13, formula + inverse) in rows
    assert (17, 0, document) in rows
    assert (0, 17, document + inverse) in rows
    assert len(rows) == 2 * (13 + 4 + 2 + 4 + 2 + 5)


WORDS = st.sampled_from(["set", "map-01", "multi-sentence", "5", '"a b"'])


@st.composite
def draw_texts(draw: st.DrawFn) -> str:
    """Draw the text of a fused graph with sentences, formulas and re-entrancies."""
    lost = draw(st.integers(0, 2))
    count = lost + draw(st.integers(0, 3))
    waiting = [f"FORMULA_{n}" for n in range(lost, count)]
    named: list[str] = []

    def tree() -> str:
        size = draw(st.integers(1, 3))
        names = [f"t{len(named)}_{i}" for i in range(size)]
        named.append("")
        return " :n (".join(f"{n} / V!x" for n in names) + ")" * size

    def formula(atom: str) -> str:
        name = f"f{len(named)}"
        named.append(name)
        kinds = draw(st.sampled_from([[], ["opt"], ["slt"], ["opt", "slt"]]))
        return f"({name} / {atom} " + " ".join(f":{k} ({tree()}" for k in kinds) + ")"

    def node(depth: int) -> str:
        if waiting and draw(st.booleans()):
            return formula(waiting.pop())
        if [n for n in named if n] and draw(st.integers(0, 3)) == 0:
            return draw(st.sampled_from([n for n in named if n]))
        name = f"v{len(named)}"
        named.append(name)
        roles = st.sampled_from(["ARG0", "ARG1-of", "mod", "quant"])
        below = [
            f":{draw(roles)} {node(depth + 1) if draw(st.booleans()) else draw(WORDS)}"
            for _ in range(draw(st.integers(0, 2 if depth < 3 else 0)))
        ]
        return f"({name} / {draw(WORDS)} {' '.join(below)})"

    sentences = draw(st.integers(0, 3))
    lines = [f":snt{n + 1} {node(0)}" for n in range(sentences)]
    while waiting:
        lines.append(f":mod {formula(waiting.pop())}")
    lines += [f":math {formula(f'FORMULA_{n}')}" for n in range(lost)]
    return f"(top / multi-sentence {' '.join(lines)})"


@settings(max_examples=250, deadline=None)
@given(draw_texts(), st.sampled_from(ALL_VARIANTS))
def test_any_graph_gives_the_same_arrays_both_ways(
    text: str, variant: GraphVariant
) -> None:
    assert_equal(read_math_graph(text), variant)


def test_chunks_are_nodes_or_gone() -> None:
    graph = read_math_graph(
        "(m / multi-sentence :snt1 (n / multi-sentence :snt1 (a / one) :snt2 (b / two))"
        " :snt2 (c / three))"
    )
    found = VariantGraph.build(graph, GraphVariant())
    assert [role for _, role, _ in found.edges] == ["snt1", "snt1", "snt2", "snt2"]
    assert virtual(found)[:3] == [(SENTENCE, [2]), (SENTENCE, [3]), (SENTENCE, [4])]
    flat = VariantGraph.build(graph, GraphVariant(sentence_roots="document"))
    assert [role for _, role, _ in flat.edges] == ["snt1", "snt2", "snt3"]
    assert virtual(flat)[:3] == [(SENTENCE, [1]), (SENTENCE, [2]), (SENTENCE, [3])]
    for variant in ALL_VARIANTS:
        assert_equal(graph, variant)
