"""Matched nodes, drawn on both trees."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given

from mathamr_kedro.formula import FormulaTree, draw_text
from mathamr_kedro.systems.formula_rgcn.search import NodeMatches
from tests.systems.formula_rgcn.trees import OPT, SLT, draw_trees

OTHER = FormulaTree.from_string("[O!SUP,0[V!x],1[N!2]]")


def slow_partners(mine, theirs):
    """Eq. 4, a pair at a time."""
    partners = []
    for a in mine:
        cosines = [float(sum(x * y for x, y in zip(a, b, strict=True))) for b in theirs]
        partners.append((cosines.index(max(cosines)), max(cosines)))
    return partners


def align():
    random = np.random.default_rng(1)
    vectors = [random.normal(size=(tree.size, 4)) for tree in (OPT, OTHER)]
    vectors = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors]
    return NodeMatches.align("opg", (OPT, OTHER), vectors), vectors


def test_partners_are_the_nearest_nodes():
    matches, vectors = align()
    expected = slow_partners(*(v.tolist() for v in vectors))
    assert list(matches.partners) == [partner for partner, _ in expected]
    assert matches.similarities == pytest.approx([s for _, s in expected])
    assert matches.score == pytest.approx(sum(s for _, s in expected))


def test_text_shows_both_trees_with_their_matches():
    matches = NodeMatches("opg", OPT, OTHER, (0, 0, 1, 0, 2, 1, 2), (0.5,) * 7)
    text = matches.describe()
    assert text.startswith("Operator Tree: 0.5000, the mean over 7 query nodes")
    assert "  0.5000  ·2 O!SUP  ~  O!SUP" in text
    assert "U!plus ·1 0.50" in text and "└─1─ N!2 ·5,7" in text
    assert "O!SUP ·1,2,4\n├─0─ V!x ·3,6" in text


def test_a_picture_shows_all_representations():
    layout = NodeMatches("slg", SLT, SLT, tuple(range(5)), (1.0,) * 5)
    operators = NodeMatches("opg", OPT, OTHER, (0,) * 7, (0.25,) * 7)
    drawn = NodeMatches.draw([layout, operators])
    assert drawn.startswith("<svg") and drawn.count("<svg") == 5
    for part in (
        "Symbol Layout Tree: 1.0000",
        "Operator Tree: 0.2500",
        "query",
        "found",
    ):
        assert part in drawn
    assert ">V!x ·1 1.00<" in drawn and ">O!SUP ·1,2,3,4,5,6,7<" in drawn


@given(draw_trees("slt"))
def test_notes_leave_layout_trees_as_they_are(tree):
    check_drawing("slg", tree)


@given(draw_trees("opt"))
def test_notes_leave_operator_trees_as_they_are(tree):
    check_drawing("opg", tree)


def check_drawing(kind, tree):
    """Without its notes and the length of lines, a query is drawn as its tree."""
    places = tuple(range(tree.size))
    text = NodeMatches(kind, tree, tree, places, (1.0,) * tree.size).describe()
    drawn = text.partition("query:\n")[2].partition("\n\nfound:")[0]
    without = re.sub(r" ·\d+ 1\.00", "", drawn)
    mine, theirs = (re.split(r"[\s─│]+", t) for t in (without, draw_text(tree)))
    assert mine == theirs
