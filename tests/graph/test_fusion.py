"""Fusion of AMR and formula trees, and what it must never break."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.graph.fusion import (
    NO_TREES,
    FormulaLines,
    check_fusion,
    fuse_formulas,
    lay_out_trees,
)
from mathamr_kedro.graph.math_graph import MathGraph
from mathamr_kedro.graph.penman_graph import (
    format_math_graph,
    read_label,
    read_math_graph,
    unify_formulas,
)


def make_trees(opt: str | None, slt: str | None) -> FormulaLines:
    return lay_out_trees(
        FormulaTree.from_string(opt, "opt") if opt else None,
        FormulaTree.from_string(slt, "slt") if slt else None,
    )


X_PLUS_1 = make_trees("[U!plus,0[V!x],1[N!1]]", "[V!x[+[N!1]]]")
X_SQUARED = make_trees("[O!SUP,0[V!x],1[N!2]]", "[V!x,a[N!2]]")

SHOW = read_math_graph(
    """(s / show-01
      :ARG0 (y / you)
      :ARG1 (e / even-01
        :ARG1 (f / FORMULA_0)))"""
)


def test_trees_hang_below_their_formula() -> None:
    fused = fuse_formulas(SHOW, {0: X_PLUS_1})
    assert format_math_graph(fused) == (
        "(s / show-01\n"
        "  :ARG0 (y / you)\n"
        "  :ARG1 (e / even-01\n"
        "    :ARG1 (f / FORMULA_0\n"
        "      :opt (F0o0 / U!plus :0 (F0o1 / V!x) :0 (F0o2 / N!1))\n"
        "      :slt (F0s0 / V!x :n (F0s1 / + :n (F0s2 / N!1))))))"
    )


def test_missing_placeholder_hangs_from_root() -> None:
    fused = fuse_formulas(SHOW, {0: NO_TREES, 1: X_SQUARED})
    assert format_math_graph(fused) == (
        "(s / show-01\n"
        "  :ARG0 (y / you)\n"
        "  :ARG1 (e / even-01\n"
        "    :ARG1 (f / FORMULA_0))\n"
        "  :math (F1 / FORMULA_1\n"
        "    :opt (F1o0 / O!SUP :0 (F1o1 / V!x) :1 (F1o2 / N!2))\n"
        "    :slt (F1s0 / V!x :a (F1s1 / N!2))))"
    )


def test_lost_formulas_hang_in_the_order_of_the_text() -> None:
    """Whatever order they are known in; 10 comes after 9."""
    formulas = dict.fromkeys((10, 2, 9, 0, 1), NO_TREES)
    fused = fuse_formulas(SHOW, formulas)
    lost = [fused.atoms[t] for _, role, t in fused.lines if role == "math"]
    assert lost == ["FORMULA_1", "FORMULA_2", "FORMULA_9", "FORMULA_10"]


def test_a_formula_without_trees_is_still_there() -> None:
    fused = fuse_formulas(SHOW, {0: NO_TREES})
    assert fused == SHOW


def test_the_root_may_be_a_formula() -> None:
    fused = fuse_formulas(read_math_graph("(f / FORMULA_0)"), {0: X_SQUARED})
    assert fused.formulas[0].node == 0
    assert len(fused.formulas[0].opt) == 3


def test_a_lost_formula_may_hang_from_a_formula() -> None:
    trees = {0: X_SQUARED, 1: X_PLUS_1}
    fused = fuse_formulas(read_math_graph("(f / FORMULA_0)"), trees)
    assert [part.is_lost for part in fused.formulas] == [False, True]


def test_a_second_mention_is_a_reentrancy_and_brings_no_second_tree() -> None:
    amr = read_math_graph("(a / and :op1 (f / FORMULA_0) :op2 (h / hold-01 :ARG1 f))")
    fused = fuse_formulas(amr, {0: X_SQUARED})
    assert fused.num_nodes == 3 + 5
    assert fused.lines[-1] == (8 - 1, "ARG1", 1)


def test_two_nodes_of_one_placeholder_become_one() -> None:
    amr = read_math_graph(
        "(a / and :op1 (f / FORMULA_0) :op2 (h / hold-01 :ARG1 (g / FORMULA_0 :mod 5)))"
    )
    assert (
        format_math_graph(unify_formulas(amr)).split()
        == ("(a / and :op1 (f / FORMULA_0 :mod 5) :op2 (h / hold-01 :ARG1 f))").split()
    )


def test_a_placeholder_that_is_a_constant_becomes_a_node() -> None:
    amr = read_math_graph('(s / string-entity :value "FORMULA_2" :mod (f2 / big))')
    unified = unify_formulas(amr)
    assert sorted(unified.atoms) == ["FORMULA_2", "big", "string-entity"]
    assert len(fuse_formulas(unified, {2: X_SQUARED}).formulas[0].slt) == 2


def test_a_formula_that_points_to_itself_after_joining_loses_that_edge() -> None:
    amr = read_math_graph("(f / FORMULA_0 :ARG1 (g / FORMULA_0) :ARG2 (s / set))")
    assert format_math_graph(unify_formulas(amr)).split() == (
        "(f / FORMULA_0 :ARG2 (s / set))".split()
    )


def test_graphs_with_one_node_per_placeholder_stay_as_they_are() -> None:
    assert unify_formulas(SHOW) is SHOW


def test_names_of_trees_never_meet_names_of_the_amr() -> None:
    amr = read_math_graph("(F0o0 / big :mod (f / FORMULA_0) :value FF)")
    fused = fuse_formulas(amr, {0: X_SQUARED})
    assert len(set(fused.variables) - {""}) == 2 + 5
    assert read_math_graph(format_math_graph(fused)) == fused


def test_removing_the_formulas_gives_the_amr_back() -> None:
    fused = fuse_formulas(SHOW, {0: X_PLUS_1, 1: X_SQUARED})
    assert fused.without_formulas() == SHOW


def test_what_fusion_lost_is_told() -> None:
    fused = fuse_formulas(SHOW, {0: X_PLUS_1})
    with pytest.raises(GraphError, match="FORMULA_0 in the graph with trees of"):
        check_fusion(fused, SHOW, {0: X_SQUARED})
    with pytest.raises(GraphError, match=r"FORMULA_1 .*\(got None\)"):
        check_fusion(fused, SHOW, {0: X_PLUS_1, 1: X_SQUARED})
    other = read_math_graph("(s / show-01 :ARG1 (f / FORMULA_0))")
    with pytest.raises(GraphError, match="Expected the AMR of 2 nodes"):
        check_fusion(fused, other, {0: X_PLUS_1})


LABELS = st.text(
    st.characters(exclude_characters="[],", exclude_categories=["Cs"]), min_size=1
)


@st.composite
def draw_post(draw: st.DrawFn) -> tuple[MathGraph, dict[int, FormulaLines]]:
    """Draw an AMR with some of the formulas of a post, and their trees."""
    count = draw(st.integers(0, 4))
    named = draw(st.lists(st.integers(0, count), max_size=6)) if count else []
    words = draw(st.lists(st.sampled_from(["set", "map-01", "x"]), max_size=5))
    atoms = [*(f"FORMULA_{n}" for n in dict.fromkeys(named) if n < count), *words]
    atoms = ["multi-sentence", *draw(st.permutations(atoms))]
    lines = [
        (draw(st.integers(0, node - 1)), "ARG0", node) for node in range(1, len(atoms))
    ]
    pieces = {n: [line for line in lines if line[0] == n] for n in range(len(atoms))}

    def write(node: int) -> str:
        below = " ".join(f":{role} {write(t)}" for _, role, t in pieces[node])
        return f"(v{node} / {atoms[node]} {below})"

    trees = {}
    for n in range(count):
        first, second = draw(LABELS), draw(LABELS)
        # A comma in front belongs to a label, so "[x,y" must not look like an edge.
        opt = f"[O!{first},0[V!{second}],1[N!2]]"
        trees[n] = make_trees(opt, f"[V!{second}[{first.lstrip(',') or '+'}]]")
    return read_math_graph(write(0)), trees


@settings(max_examples=200, deadline=None)
@given(draw_post())
def test_fusing_loses_nothing(post: tuple) -> None:
    amr, trees = post
    fused = fuse_formulas(amr, trees)
    check_fusion(fused, amr, trees)
    text = format_math_graph(fused)
    back = read_math_graph(text)
    assert back == fused
    assert [part.number for part in back.formulas] == sorted(trees)
    for part in back.formulas:
        labels = [read_label(back.atoms[node]) for node in part.opt]
        assert labels == [read_label(a) for a in trees[part.number].opt.atoms]
    assert back.without_formulas() == amr
