"""Drawings of math graphs: well-formed, complete, and without overlaps."""

from __future__ import annotations

import re
from itertools import combinations, product
from typing import get_args
from xml.etree import ElementTree

import pytest

from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.graph import FusedRecord
from mathamr_kedro.graph.drawing import draw_math_graph, place_nodes, write_page
from mathamr_kedro.graph.math_graph import MathGraph
from mathamr_kedro.graph.penman_graph import read_math_graph
from mathamr_kedro.graph.virtual_nodes import FormulaMode, GraphVariant, Structure

TEXT = """(m / multi-sentence
  :snt1 (s / show-01
    :ARG1 (f / FORMULA_0
      :opt (F0o0 / "O!<interval>" :0 (F0o1 / V!x))
      :slt (F0s0 / V!x :n (F0s1 / + :a (F0s2 / N!2) :b (F0s3 / N!3)))))
  :snt2 (h / hold-01
    :ARG1 f
    :polarity -)
  :math (F1 / FORMULA_1))"""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def graph() -> MathGraph:
    return read_math_graph(TEXT)


def list_labels(drawing: str, style: str) -> list[str]:
    root = ElementTree.fromstring(drawing)
    groups = [g for g in root.iter(f"{SVG}g") if style in g.get("class", "").split()]
    return [text.text or "" for g in groups for text in g.iter(f"{SVG}text")]


def test_every_node_is_drawn_once(graph: MathGraph) -> None:
    labels = list_labels(draw_math_graph(graph), "node")
    assert labels == [
        "multi-sentence", "show-01", "FORMULA_0", "O!<interval>", "V!x", "V!x", "+",
        "N!2", "N!3", "hold-01", "-", "FORMULA_1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "structure"), list(product(get_args(FormulaMode), get_args(Structure)))
)
def test_every_variant_can_be_drawn(
    graph: MathGraph, mode: FormulaMode, structure: Structure
) -> None:
    drawing = draw_math_graph(graph, GraphVariant(mode, structure))
    ElementTree.fromstring(drawing)
    labels = list_labels(drawing, "node")
    assert ("+" in labels) == (mode in ("both", "slt"))
    assert ("DOC" in list_labels(drawing, "pill")) == (structure != "none")
    if structure == "none" and mode != "none":
        vectors = list_labels(drawing, "vector")
        assert vectors == ["show-01", "FORMULA_0", "hold-01", "FORMULA_1"]


def test_auxiliary_edges_are_drawn(graph: MathGraph) -> None:
    drawing = draw_math_graph(graph, GraphVariant(auxiliary_edges="full"))
    assert drawing.count('class="aux"') == 6


def test_no_two_boxes_overlap(graph: MathGraph) -> None:
    boxes = place_nodes(graph, range(graph.num_nodes)).values()
    for a, b in combinations(boxes, 2):
        assert (
            a.right <= b.left or b.right <= a.left
            or a.bottom <= b.top or b.bottom <= a.top
        )  # fmt: skip


def test_a_page_stands_alone_and_escapes_what_it_shows() -> None:
    mention = FormulaMention("FORMULA_0", "7", "70", "a<b", 0, 9)
    record = FusedRecord("<1>", read_math_graph(TEXT), "question", (mention,))
    page = write_page(record, GraphVariant())
    assert "Math graph of question &lt;1&gt;" in page
    assert "a&lt;b" in page
    addresses = re.findall(r"https?://[^\"' <]+", page)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}


def test_notebooks_show_a_drawing(graph: MathGraph) -> None:
    drawing = draw_math_graph(graph)
    assert drawing._repr_svg_() == drawing


def test_boxes_and_curves_lie_within_the_picture(graph: MathGraph) -> None:
    root = ElementTree.fromstring(draw_math_graph(graph, GraphVariant()))
    _, _, wide, high = map(float, root.get("viewBox", "").split())
    for box in root.iter(f"{SVG}rect"):
        left, top, width, height = (float(box.get(name, "0")) for name in _SIDES)
        assert 0 <= left < left + width <= wide
        assert 0 <= top < top + height <= high


_SIDES = ("x", "y", "width", "height")
