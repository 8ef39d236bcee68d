r"""Why a post was found: which node of the query matched which node of the post.

::

                     F0 x^2 = 2   S0 Let us square it   D
    F0 \sqrt{2}         0.91 *          0.20            0.33      each query node counts
    S0 Why is it ..     0.15            0.48 *          0.40      with its best partner,
    D                   0.31            0.37            0.62 *    score = mean of the *
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from mathamr_kedro.files import replace_file
from mathamr_kedro.graph import KIND_NAMES
from mathamr_kedro.search.captions import Captions
from mathamr_kedro.search.post_vectors import PostEntry
from mathamr_kedro.types import PostId

_LONGEST_LABEL = 32
_LETTER = 0.1
"""Inches that a letter of a label takes at most."""
_MOST_NUMBERS = 900
"""Cells of a picture that still have room for their numbers."""


class NodeMatch(NamedTuple):
    """A node of the query and its best partner in the post."""

    query: str
    post: str
    similarity: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """The similarities between the nodes of a query and of a post."""

    query_key: PostId
    post_key: PostId
    query_labels: tuple[str, ...]
    post_labels: tuple[str, ...]
    similarity: NDArray[np.float64]
    """(query nodes, post nodes) cosines."""

    @property
    def best(self) -> NDArray[np.int64]:
        """(query nodes,) the best partner of each."""
        return self.similarity.argmax(1)

    @property
    def score(self) -> float:
        """MaxSim divided by the number of query nodes (Eq. 3.7)."""
        return float(self.similarity.max(1).mean())

    def matches(self) -> list[NodeMatch]:
        """Return the best partner of each query node, best matches first."""
        found = [
            NodeMatch(label, self.post_labels[j], float(self.similarity[i, j]))
            for i, (label, j) in enumerate(
                zip(self.query_labels, self.best.tolist(), strict=True)
            )
        ]
        return sorted(found, key=lambda match: -match.similarity)


def explain(
    query: PostEntry,
    post: PostEntry,
    query_captions: Captions | None = None,
    post_captions: Captions | None = None,
) -> Explanation:
    """Compare all nodes of a query with all nodes of a post."""
    mine, theirs = (p.vectors.astype(np.float64) for p in (query, post))
    return Explanation(
        query.key,
        post.key,
        label_nodes(query, query_captions or {}),
        label_nodes(post, post_captions or {}),
        mine @ theirs.T,
    )


def label_nodes(post: PostEntry, captions: Captions) -> tuple[str, ...]:
    r"""Name the nodes of a post: ``F0 \sqrt{2}``, ``S1 ...``, ``D``."""
    labels = []
    for kind, number in zip(post.kinds, post.numbers, strict=True):
        name = KIND_NAMES[kind][0].upper()
        name += "" if name == "D" else str(number)
        caption = " ".join(captions.get((kind, number), "").split())
        labels.append(f"{name} {caption}".strip())
    return tuple(labels)


def draw_heatmap(explanation: Explanation) -> Figure:
    """Draw the similarities, the best partner of each query node framed."""
    rows, columns = explanation.similarity.shape
    mine, theirs = (
        [_shorten(label) for label in labels]
        for labels in (explanation.query_labels, explanation.post_labels)
    )
    wide, high = (_LETTER * max(map(len, labels)) for labels in (mine, theirs))
    size = (2.2 + wide + 0.42 * columns, 1.4 + high + 0.42 * rows)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(explanation.similarity, cmap="viridis", vmin=-1.0, vmax=1.0)
    figure.colorbar(image, ax=axes, label="cosine", shrink=0.8)
    axes.set_xticks(range(columns), theirs, rotation=90)
    axes.set_yticks(range(rows), mine)
    title = axes.set_title(f"query {explanation.query_key}: {explanation.score:.3f}")
    axes.set_xlabel(f"post {explanation.post_key}").set_parse_math(False)
    for text in (*axes.get_xticklabels(), *axes.get_yticklabels(), title):
        text.set_parse_math(False)  # captions are LaTeX, not matplotlib's dialect
    for row, column in enumerate(explanation.best.tolist()):
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="red", lw=1.5))
    if rows * columns <= _MOST_NUMBERS:
        for (row, column), value in np.ndenumerate(explanation.similarity):
            colour = "black" if value > 0.4 else "white"
            axes.text(
                column, row, f"{value:.2f}", ha="center", va="center", color=colour,
                fontsize=6,
            )  # fmt: skip
    return figure


def save_heatmap(explanation: Explanation, path: Path) -> None:
    """Write the heatmap as PNG."""
    canvas = FigureCanvasAgg(draw_heatmap(explanation))
    with replace_file(path) as part:
        canvas.print_png(str(part))


def write_html(explanation: Explanation) -> str:
    """Return the heatmap and the matches as one page that needs nothing else."""
    best = explanation.best
    head = "".join(
        f'<th class="c" title="{_escape(label)}"><span>{_escape(_shorten(label))}'
        "</span></th>"
        for label in explanation.post_labels
    )
    rows = []
    for i, label in enumerate(explanation.query_labels):
        cells = "".join(
            f'<td{" class=best" if best[i] == j else ""} style="{_colour(value)}">'
            f"{value:.2f}</td>"
            for j, value in enumerate(explanation.similarity[i].tolist())
        )
        name = f'<th title="{_escape(label)}">{_escape(_shorten(label))}</th>'
        rows.append(f"<tr>{name}{cells}</tr>")
    matches = "".join(
        f"<li><b>{m.similarity:.3f}</b> {_escape(m.query)} → {_escape(m.post)}</li>"
        for m in explanation.matches()
    )
    title = _escape(f"Query {explanation.query_key}, post {explanation.post_key}")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style><h1>{title}</h1>"
        f"<p>MaxSim {explanation.score:.3f}: the mean of the framed cells, the best "
        "partner of each query node (rows) among the nodes of the post (columns); "
        "F formula, S sentence, D document.</p>"
        f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"
        f"<h2>Matches</h2><ol>{matches}</ol></html>\n"
    )


_STYLE = (
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}"
    "td{width:3em;height:2em;text-align:center;border:1px solid #fff}"
    "td.best{border:3px solid #c00;font-weight:bold}"
    "th{text-align:left;font-weight:normal;padding:0 .5em}"
    "th.c{vertical-align:bottom}th.c span{writing-mode:vertical-rl}"
)


def _colour(value: float) -> str:
    """From white (-1 to 0) to dark blue (1), text readable on it."""
    share = min(1.0, max(0.0, value))
    red, green = round(255 - 225 * share), round(255 - 165 * share)
    text = "#fff" if share > 0.6 else "#000"
    return f"background:rgb({red},{green},255);color:{text}"


def _shorten(label: str) -> str:
    too_long = len(label) > _LONGEST_LABEL
    return label[: _LONGEST_LABEL - 1] + "…" if too_long else label


def _escape(text: str) -> str:
    return html.escape(text, quote=True)
