"""A drawing as a page that opens anywhere: one HTML file, nothing to fetch."""

from __future__ import annotations

from html import escape

from mathamr_kedro.formula import MATH_STYLE, render_text
from mathamr_kedro.graph.drawing.svg import FILLS, STROKES, draw_math_graph
from mathamr_kedro.graph.penman_graph import format_math_graph, read_math_graph
from mathamr_kedro.graph.penman_records import GraphRecord
from mathamr_kedro.graph.variants import VariantGraph
from mathamr_kedro.graph.virtual_nodes import GraphVariant

_NAMES = {
    "amr": "AMR",
    "formula": "formula",
    "opt": "operator tree (OPT)",
    "slt": "symbol layout tree (SLT)",
    "virtual": "virtual node",
}
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#111827;margin:24px}
h1{font-size:20px;margin:0 0 4px}p{margin:4px 0 14px;color:#4b5563}
.key i{vertical-align:-2px}
.draw{overflow:auto;border:1px solid #e5e7eb;border-radius:8px;margin:14px 0}
table{border-collapse:collapse}td,th{padding:2px 12px 2px 0;text-align:left}
td{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
pre{background:#f8fafc;padding:12px;overflow:auto;border-radius:8px;font-size:12px}
"""
# Members of a virtual node light up under the mouse.
_SCRIPT = """
for (const pill of document.querySelectorAll('.pill')) {
  const nodes = [...document.querySelectorAll('.node')].filter(
    n => n.dataset.v.split(' ').includes(pill.dataset.n));
  for (const [event, on] of [['mouseenter', true], ['mouseleave', false]])
    pill.addEventListener(event,
      () => nodes.forEach(n => n.classList.toggle('hot', on)));
}
"""


def write_page(record: GraphRecord, variant: GraphVariant) -> str:
    """Return the drawing of a fused record as an HTML page."""
    graph = read_math_graph(record.graph)
    drawing = draw_math_graph(graph, variant)
    text = format_math_graph(VariantGraph.build(graph, variant).content)
    rows = "".join(
        f"<tr><td>{escape(m.placeholder)}</td><td>{escape(m.formula_id)}</td>"
        f"<td>{escape(m.visual_id)}</td><td>{render_text(f'${m.latex}$')}</td>"
        f"<td>{escape(m.latex)}</td></tr>"
        for m in record.formula_map
    )
    head = (
        "<tr><th>placeholder</th><th>formula</th><th>visual id</th><th></th>"
        "<th>LaTeX</th></tr>"
    )
    table = f"<table>{head}{rows}</table>" if rows else "<p>no formulas</p>"
    name = escape(f"{record.post_type} {record.graph_id}")
    what = escape(
        f"formulas: {variant.formula_mode} · virtual nodes: {variant.structure} · "
        f"auxiliary edges: {variant.auxiliary_edges} · sentences by "
        f"{variant.sentence_roots}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>'
        f"<style>{_STYLE}{MATH_STYLE}</style><h1>Math graph of {name}</h1><p>{what}. "
        f"Thick borders are the vectors of the post.</p><div class=key>"
        f'{write_key()}</div><div class="draw">{drawing}</div>{table}'
        f"<details><summary>PENMAN</summary><pre>{escape(text)}</pre></details>"
        f"<script>{_SCRIPT}</script></html>\n"
    )


def write_key() -> str:
    """Return what the colours of a drawing mean, as HTML."""
    return "".join(
        f'<span style="margin-right:14px;white-space:nowrap"><i style="display:'
        f"inline-block;width:14px;height:14px;border:1.5px solid {STROKES[kind]};"
        f'border-radius:3px;margin-right:5px;background:{FILLS[kind]}"></i>'
        f"{name}</span> "
        for kind, name in _NAMES.items()
    )
