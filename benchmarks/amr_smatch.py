"""Smatch F of the builtin parser, without ``:wiki``.

Little Prince: the gold graphs of a split (``lpp`` of the AMR corpora), sentence by
sentence as published.

ARQMath contexts: the graphs that MathAMR's authors made with amrlib for the contexts
of the Task 2 topics of 2020 and 2021 (silver). Their formula trees below ``:math`` are
cut off; what stays of a formula is ``(s / string-entity :value MATH)``. The tree is
read from the indentation, because formula labels hold unbalanced brackets. Lower-case
core roles are capitalised. Our graphs are put into that notation: ``(f / FORMULA_3)``
becomes ``(f / string-entity :value MATH)``; nothing else is changed. A strict variant
compares a formula as one node ``MATH`` on both sides, so it counts once and not twice.

A context counts as a single sentence, and belongs to the test set, if its silver graph
is not rooted in ``multi-sentence`` or if no ``.``, ``?`` or ``!`` in it is followed by
a capital letter, quote or bracket. All other contexts are the development set.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import smatch

from mathamr_kedro.amr import (
    PLACEHOLDER,
    AMRGraph,
    Attribute,
    ParseFailure,
    format_graph,
    read_graph,
    split_chunks,
)
from mathamr_kedro.amr.builtin import BuiltinParser
from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.graphs import merge_graphs
from tools.amr_tables.corpora import read_split

INDENT = 6
_SENTENCE_END = re.compile(r"(?<=[.?!])[\"')]*\s+(?=[A-Z\"(])")


class Scored(NamedTuple):
    """A text, our graph and the reference."""

    text: str
    ours: AMRGraph
    reference: AMRGraph


def parse_texts(parser: BuiltinParser, texts: Sequence[str]) -> list[AMRGraph]:
    """Parse whole texts; several sentences get a ``multi-sentence`` root."""
    graphs = []
    for text in texts:
        results = parser.parse_chunks(split_chunks(text))
        parsed = [r for r in results if not isinstance(r, ParseFailure)]
        graphs.append(parsed[0] if len(parsed) == 1 else merge_graphs(parsed))
    return graphs


def score_little_prince(
    parser: BuiltinParser, shared: Path, split: str
) -> list[Scored]:
    """Parse the Little Prince, one sentence a time."""
    items = read_split(shared / "collection" / "amr", "lpp", split)
    ours = parser.parse_chunks([Chunk((item.text,)) for item in items])
    return [
        Scored(item.text, graph, item.graph)
        for item, graph in zip(items, ours, strict=True)
        if isinstance(graph, AMRGraph)
    ]


def read_contexts(shared: Path, split: str) -> Iterator[tuple[str, AMRGraph]]:
    """Yield contexts with placeholders and their silver graphs."""
    folder = shared / "collection" / "mathamr_topics"
    csv.field_size_limit(sys.maxsize)
    with (folder / "context_topic.tsv").open(encoding="utf-8") as stream:
        contexts = {row[0]: row[1] for row in csv.reader(stream, delimiter="\t")}
    with (folder / "mathamr_topics.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))
    for topic, drawing in rows:
        numbers = iter(range(1000))
        text = re.sub(
            r'"?eqx\d+eqx"?', lambda _, n=numbers: f"FORMULA_{next(n)}", contexts[topic]
        )
        graph = read_graph(read_drawing(drawing))
        pieces = [p for p in _SENTENCE_END.split(text.strip()) if p.strip()]
        single = graph.nodes[graph.top] != "multi-sentence" or len(pieces) == 1
        if single == (split == "test"):
            yield text, graph


def read_drawing(drawing: str) -> str:
    """Return balanced PENMAN from an indented drawing, without the formula trees."""
    text = ""
    open_levels: list[int] = []
    for line in drawing.split("\n"):
        if not line.strip() or line.startswith(" :math"):
            continue
        level = (len(line) - len(line.lstrip())) // INDENT
        while open_levels and level and open_levels[-1] >= level:
            open_levels.pop()
            text += ")"
        content = line.strip().split(" :math")[0].rstrip(")")
        content = re.sub(r":arg(\d)", r":ARG\1", content)
        content = re.sub(r'"?\beqx\d*eqx\b"?', "MATH", content)
        text += " " + content
        if re.search(r"\(\S+ / ", content):
            open_levels.append(level)
    return text.strip() + ")" * len(open_levels)


def spell_out(graph: AMRGraph) -> AMRGraph:
    """Write formulas as amrlib does: ``(s / string-entity :value MATH)``."""
    formulas = [
        v for v, concept in graph.nodes.items() if PLACEHOLDER.fullmatch(concept)
    ]
    values = [Attribute(v, "value", "MATH") for v in formulas]
    nodes = {**graph.nodes, **dict.fromkeys(formulas, "string-entity")}
    return graph._replace(nodes=nodes, attributes=[*graph.attributes, *values])


def shorten(graph: AMRGraph) -> AMRGraph:
    """Write formulas as one node: ``(s / MATH)``."""
    valued = {a.source for a in graph.attributes if a[1:] == ("value", "MATH")}
    nodes = {v: "MATH" if v in valued else c for v, c in graph.nodes.items()}
    rest = [a for a in graph.attributes if a[1:] != ("value", "MATH")]
    return graph._replace(nodes=nodes, attributes=rest)


def compute_smatch(pairs: Iterable[tuple[AMRGraph, AMRGraph]]) -> tuple[float, ...]:
    """Return precision, recall and F over all pairs, in per cent."""
    random.seed(0)
    totals = [0, 0, 0]
    for ours, reference in pairs:
        smatch.match_triple_dict.clear()
        counts = smatch.get_amr_match(
            format_graph(ours, None), format_graph(reference, None)
        )
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
    return tuple(100 * value for value in smatch.compute_f(*totals))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--drawings", type=Path, help="write all graphs to this file")
    args = parser.parse_args()
    builtin = BuiltinParser()
    prince = score_little_prince(builtin, args.shared, args.split)
    contexts = list(read_contexts(args.shared, args.split))
    graphs = parse_texts(builtin, [text for text, _ in contexts])
    spelled = [
        Scored(text, spell_out(graph), reference)
        for (text, reference), graph in zip(contexts, graphs, strict=True)
    ]
    one_root = [
        s for s in spelled if s.reference.nodes[s.reference.top] != "multi-sentence"
    ]
    rows = {
        "Little Prince (gold)": [(s.ours, s.reference) for s in prince],
        "ARQMath contexts (silver)": [(s.ours, s.reference) for s in spelled],
        ".. strict: a formula is one node": [
            (shorten(s.ours), shorten(s.reference)) for s in spelled
        ],
        ".. silver graph is one sentence": [(s.ours, s.reference) for s in one_root],
    }
    print(f"{args.split:<34}{'n':>5}{'P':>8}{'R':>8}{'F':>8}")
    for name, pairs in rows.items():
        if pairs:
            p, r, f = compute_smatch(pairs)
            print(f"{name:<34}{len(pairs):>5}{p:>8.2f}{r:>8.2f}{f:>8.2f}")
    if args.drawings:
        args.drawings.write_text(
            "\n\n".join(
                f"# {s.text}\n{format_graph(s.ours)}\n# reference\n"
                f"{format_graph(s.reference)}"
                for s in [*prince, *spelled]
            ),
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
