"""Diagrams of pages as pictures: nothing is lost, nothing overlaps."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tests.conftest import PROJECT
from tools.site.diagrams import draw_diagrams
from tools.site.flow_layout import FlowChart

FLOW = """flowchart LR
  subgraph one["first part"]
    A["a < b<br/>second line"] --> B[b] & C[("store")]
  end
  B & C -- "said twice" --> D(("+")) -->|"and <br/>on"| E[end of it]
"""
CHART = """xychart-beta
  title "quality"
  x-axis "lambda" [0, 0.5, 1]
  y-axis "nDCG" 0.5 --> 1
  line [0.5, 1, 0.75]
"""


def wrap(source: str) -> str:
    return f"before\n\n```mermaid\n{source}```\n\nafter"


def test_a_flow_chart_is_read_whole():
    chart = FlowChart.read(FLOW)
    assert {n: (b.lines, b.shape, b.group) for n, b in chart.boxes.items()} == {
        "A": (("a < b", "second line"), "box", "first part"),
        "B": (("b",), "box", "first part"),
        "C": (("store",), "store", "first part"),
        "D": (("+",), "round", ""),
        "E": (("end of it",), "box", ""),
    }
    twice = ("said twice",)
    assert chart.edges == [
        ("A", "B", ()), ("A", "C", ()), ("B", "D", twice), ("C", "D", twice),
        ("D", "E", ("and", "on")),
    ]  # fmt: skip


def list_charts():
    pattern = re.compile(r"```mermaid\n(flowchart.*?)```", re.DOTALL)
    pages = sorted((PROJECT / "docs").rglob("*.md"))
    return [FLOW, *(s for p in pages for s in pattern.findall(p.read_text("utf-8")))]


@pytest.mark.parametrize("source", [FLOW, CHART])
def test_pages_get_pictures_that_browsers_can_read(source):
    page, problems = draw_diagrams(wrap(source))
    assert problems == []
    assert page.startswith("before\n\n<figure")
    assert page.endswith("</figure>\n\nafter")
    assert "\n" not in page.removeprefix("before\n\n").removesuffix("\n\nafter")
    ET.fromstring(re.search(r"<svg.*</svg>", page)[0])


def test_a_line_chart_has_its_values_where_they_belong():
    page, _ = draw_diagrams(wrap(CHART))
    points = re.search(r'points="(.*?)"', page)[1].split()
    found = [tuple(map(float, p.split(","))) for p in points]
    bottom, top, middle = (y for _, y in found)
    assert top < middle < bottom
    assert middle == pytest.approx((top + bottom) / 2)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("sequenceDiagram\n  A->>B: x\n", "sequenceDiagram"),
        ("flowchart LR\n  A{?} --> B\n", "A{?}"),
        ("flowchart LR\n  A --> B --> A\n", "circle"),
        (CHART.replace(", 0.75", ""), "3 values"),
        (CHART.replace("title", "name"), "title"),
    ],
)
def test_what_cannot_be_drawn_is_told(source, problem):
    page, problems = draw_diagrams(wrap(source))
    assert page == wrap(source)
    assert len(problems) == 1
    assert problem in problems[0]
