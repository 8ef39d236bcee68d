r"""LaTeX to the MathML cells of the formula index, by LaTeXML.

Recipe: outer dollars and numbering are dropped, environments that build their own
display become tables (``align`` -> ``aligned``), then each formula is set as inline
``\displaystyle`` mathematics, so that it stays one ``math`` element. Presentation and
content are converted separately: together, LaTeXML omits the content of a formula that
it could not parse. Cells look as LaTeXML 0.8.5 wrote them for ARQMath.
"""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from mathamr_kedro.base.errors import MissingInputError, WorkerError

logger = logging.getLogger(__name__)

MATHML = "http://www.w3.org/1998/Math/MathML"
_BATCH = 300
_TIMEOUT_S = 600
_HEAD = r"""\documentclass{article}
\usepackage{amsmath}\usepackage{amsfonts}\usepackage{amssymb}
\begin{document}
"""
_MATH = re.compile(r'<p class="ltx_p">F(\d+): (<math\b.*?</math>)</p>', re.DOTALL)
_DROPPED = re.compile(r"\\(?:nonumber|notag)\b|\\(?:label|tag\*?)\s*\{[^{}]*\}")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_PLAIN = ("equation", "displaymath", "math")
_TABLES = {
    "align": "aligned", "eqnarray": "aligned", "flalign": "aligned", "split": "aligned",
    "gather": "gathered", "multline": "gathered",
}  # fmt: skip
_OLDER_SIGNS = str.maketrans({"\u2212": "-", "\u2016": "\u2225"})


class Cells(NamedTuple):
    """Presentation (``slt``) and content (``opt``) MathML; empty where it failed."""

    slt: str
    opt: str


def make_cells(latex: Iterable[str], known: Mapping[str, Cells]) -> dict[str, Cells]:
    """Return the cells of each formula: ``known`` ones as they are, others by LaTeXML.

    Raises:
        MissingInputError: formulas are new and LaTeXML is not installed.
        WorkerError: LaTeXML ran longer than ten minutes on a batch.
    """
    wanted = sorted(set(latex))
    cells = {formula: known[formula] for formula in wanted if formula in known}
    new = [formula for formula in wanted if formula not in cells]
    cells |= {formula: Cells("", "") for formula in new if not is_balanced(formula)}
    new = [formula for formula in new if formula not in cells]
    if new and shutil.which("latexmlc") is None:
        raise MissingInputError(
            f"Expected LaTeXML for {len(new)} formulas without MathML, the first "
            f"{new[0]!r}; install it (Debian: apt install latexml) and run again"
        )
    for start in range(0, len(new), _BATCH):
        batch = new[start : start + _BATCH]
        logger.info("LaTeXML: formulas %d to %d", start + 1, start + len(batch))
        slts, opts = _convert(batch, "--pmml"), _convert(batch, "--cmml")
        for formula in batch:
            slt, opt = slts.get(formula, ""), opts.get(formula, "")
            cells[formula] = Cells(
                _clean_presentation(slt) if slt else "",
                _clean_content(opt) if opt else "",
            )
    return cells


def is_balanced(latex: str) -> bool:
    r"""Whether braces, ``\left``/``\right`` and environments match.

    A formula that fails would swallow its neighbours, so it is not converted.

    >>> is_balanced(r"\frac{1}{2}"), is_balanced(r"\frac{1}{2"), is_balanced(r"\{1, 2")
    (True, False, True)
    """
    depth = 0
    for sign in re.findall(r"(?<!\\)(?:\\\\)*([{}])", latex):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
    begins = re.findall(r"\\begin\s*\{(\w+\*?)\}", latex)
    ends = re.findall(r"\\end\s*\{(\w+\*?)\}", latex)
    lefts = len(re.findall(r"\\left(?![a-zA-Z])", latex))
    rights = len(re.findall(r"\\right(?![a-zA-Z])", latex))
    blocks_match = sorted(begins) == sorted(ends) and lefts == rights
    return depth == 0 and blocks_match and not re.search(r"(?<!\\)[$#]", latex)


def simplify_latex(latex: str) -> str:
    r"""Return LaTeX that gives one ``math`` element.

    >>> simplify_latex(r"\begin{align*} a &= b \tag{1} \end{align*}")
    '\\begin{aligned} a &= b  \\end{aligned}'
    >>> simplify_latex(r"\begin{equation} x \end{equation}")
    'x'
    """
    latex = _DROPPED.sub("", _COMMENT.sub("", latex))
    for name in _PLAIN:
        latex = re.sub(rf"\\(?:begin|end)\{{{name}\*?\}}", "", latex)
    for name, table in _TABLES.items():
        pattern = rf"\\(begin|end)\{{{name}\*?\}}"
        latex = re.sub(pattern, rf"\\\1{{{table}}}", latex)
    return re.sub(r"\n\s*\n", "\n", latex).strip()


def _convert(batch: Sequence[str], markup: str) -> dict[str, str]:
    """Convert a batch in one process; formulas that fail are retried one by one."""
    found = _run_latexml(batch, markup)
    for formula in batch:
        if formula not in found and len(batch) > 1:
            found |= _run_latexml([formula], markup)
    return found


def _run_latexml(batch: Sequence[str], markup: str) -> dict[str, str]:
    paragraphs = [
        f"{{F{n}: $\\displaystyle {simplify_latex(formula)}$}}\n"
        for n, formula in enumerate(batch)
    ]
    document = _HEAD + "\n".join(paragraphs) + "\n\\end{document}\n"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "formulas.tex"), Path(folder, "formulas.xhtml")
        source.write_text(document, encoding="utf-8")
        command = [
            "latexmlc", markup, "--format=xhtml", "--nodefaultresources", "--quiet",
            "--nocomments", f"--dest={target}", str(source),
        ]  # fmt: skip
        try:
            subprocess.run(
                command, capture_output=True, check=False, timeout=_TIMEOUT_S
            )
        except subprocess.TimeoutExpired as exc:
            raise WorkerError(
                f"LaTeXML took more than {_TIMEOUT_S} s for {len(batch)} formulas, the "
                f"first {batch[0]!r}; run it again or correct the formula"
            ) from exc
        if not target.exists():
            return {}
        page = target.read_text(encoding="utf-8")
    return {batch[int(number)]: math for number, math in _MATH.findall(page)}


def _clean_presentation(math: str) -> str:
    root = _parse(math)
    alttext = root.get("alttext", "").removeprefix("\\displaystyle")
    alttext = " ".join(alttext.replace("%", "").split())
    for element in list(root.iter(f"{{{MATHML}}}mstyle")):
        if set(element.attrib) <= {"displaystyle"} and len(element) == 1:
            _replace(element, element[0])
    children = list(root)
    semantics = etree.SubElement(root, f"{{{MATHML}}}semantics")
    semantics.extend(children)
    root.attrib.clear()
    for name, value in (
        ("alttext", alttext), ("class", "ltx_Math"), ("display", "block")
    ):  # fmt: skip
        root.set(name, value)
    return _serialise(root)


def _clean_content(math: str) -> str:
    root = _parse(math)
    for element in list(root.iter(f"{{{MATHML}}}share")):
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
    root.attrib.clear()
    root.set("encoding", "MathML-Content")
    return _serialise(root)


def _parse(math: str) -> etree._Element:
    root = etree.fromstring(math.encode())
    for element in root.iter():
        for name in ("id", "xref", "class", "{http://www.w3.org/XML/1998/namespace}id"):
            if element is not root:
                element.attrib.pop(name, None)
        element.text = (element.text or "").strip().translate(_OLDER_SIGNS) or None
        element.tail = None
    return root


def _replace(element: etree._Element, child: etree._Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.replace(element, child)


def _serialise(root: etree._Element) -> str:
    return etree.tostring(root, encoding="unicode").replace("\n", " ")
