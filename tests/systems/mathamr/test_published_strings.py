"""Our strings against those that the authors published, graph by graph.

Their graphs are read and written as strings by us. What does not agree is listed by its
class; every class but the first is a defect of the published files, or of how they were
made.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter

import pytest

from mathamr_kedro.amr import BuiltinConfig, format_graph, parse_documents
from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.graph import MathGraph, read_math_graph
from mathamr_kedro.systems.mathamr.contexts import LinearGraph

pytestmark = pytest.mark.shared

_TOKEN = re.compile(r'"[^"]*"|[()]|[^\s()"]+')


def read_column(path):
    csv.field_size_limit(10**7)
    with path.open(encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t")
        return {row[0]: row[1] for row in rows if len(row) > 1}


def read_published(text: str) -> MathGraph:  # noqa: C901
    """Read a graph: what is below ``:math`` is the tree of a formula.

    ``:value MATH :math (V1 / x)`` becomes ``:math (F / FORMULA_0 :opt (V1 / V!x))``.
    """
    tokens = _TOKEN.findall(text)
    out: list[str] = []
    depth, trees = 0, []  # depths at which trees began
    formulas = 0
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else ""
        if token == "(":
            depth += 1
            if before == ":math" and not trees:
                trees.append(depth)
                out.append(f"(_F{formulas} / FORMULA_{formulas} :opt")
                formulas += 1
            out.append("(")
        elif token == ")":
            out.append(")")
            if trees and trees[-1] == depth:
                trees.pop()
                out.append(")")
            depth -= 1
        elif token == "MATH":
            if out and out[-1].startswith(":"):
                out.pop()
        elif trees and before == "/":
            kind = tokens[place - 2][0]
            out.append(json.dumps(f"{kind}!{token}", ensure_ascii=False))
        elif trees and token.startswith(":op"):
            out.append(f":{token[3:]}")
        else:
            out.append(token)
            if trees and token == "/" and tokens[place + 1] == ")":
                out.append('"W!"')  # an empty place has no concept
    return read_math_graph(" ".join(out).replace("( ", "(").replace(" )", ")"))


def explain(ours: str | None, theirs: str) -> str:
    """Name the class of a difference."""
    if ours is None:
        return "their graph is no PENMAN"
    if not theirs:
        return "they published no string"
    if ours == theirs:
        return "agrees"
    return "order" if sorted(ours.split()) == sorted(theirs.split()) else "nodes"


def test_strings_agree_where_the_parses_do(shared):
    """All that can be read agrees, word by word."""
    folder = shared / "collection" / "mathamr_topics"
    graphs = read_column(folder / "mathamr_topics.tsv")
    strings = read_column(folder / "linearized_mathamr_topics.tsv")
    classes: Counter[str] = Counter()
    for topic, text in graphs.items():
        try:
            ours = LinearGraph(read_published(text)).write()
        except GraphError:
            ours = None
        classes[explain(ours, strings[topic])] += 1
    assert classes == {
        "agrees": 171,
        "their graph is no PENMAN": 13,
        "they published no string": 1,
    }


def test_our_parser_says_much_the_same(shared):
    """Words of our graphs against theirs, where only the parsers differ."""
    folder = shared / "collection" / "mathamr_topics"
    contexts = read_column(folder / "context_topic.tsv")
    graphs = read_column(folder / "mathamr_topics.tsv")
    scores = []
    for topic, context in list(contexts.items())[::4]:
        try:
            theirs = _list_concepts(read_published(graphs[topic]))
        except GraphError:
            continue
        names: dict[str, str] = {}
        text = re.sub(
            r'"?eqx(\d+)eqx"?',
            lambda m: names.setdefault(m[1], f"FORMULA_{len(names)}"),  # noqa: B023
            context,
        )
        (parsed,) = parse_documents([text], BuiltinConfig().open())
        ours = _list_concepts(read_math_graph(format_graph(parsed.graph)))
        common = sum((ours & theirs).values())
        scores.append(2 * common / (ours.total() + theirs.total()))
    assert 0.55 < sum(scores) / len(scores) < 0.95


def _list_concepts(graph: MathGraph) -> Counter[str]:
    """Only words of the text: no formulas, no placeholders."""
    words = LinearGraph(graph.without_formulas()).write().split()
    held = {"string-entity", "name", "multi-sentence"}
    return Counter(word for word in words if word not in held and '"' not in word)
