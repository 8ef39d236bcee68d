"""LaTeX to MathML by LaTeXML (Debian package ``latexml``): exact, and slow.

```
formulas ──> one document ──> latexml ──┬─> latexmlpost --pmml ──> presentation
   100       F0: $...$                  └─> latexmlpost --cmml ──> content
             F1: $...$
```

Each formula stands in a paragraph of its own behind a number, in display style but as
inline math, so that tables stay whole and each formula gives one ``math`` element. The
two branches are made apart: parallel markup leaves out the content of formulas that
LaTeXML could not parse. A batch that fails, hangs or loses formulas is halved until
only the guilty formula is left.
"""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula.labels import ARQMATH_SPELLING
from mathamr_kedro.formula.latexml_source import LatexSource
from mathamr_kedro.formula.mathml import opt_from_mathml, slt_from_mathml
from mathamr_kedro.formula.mathml.markup import local_name
from mathamr_kedro.formula.tree import FormulaTrees

logger = logging.getLogger(__name__)

MAX_CHARACTERS = 20_000
"""Characters of LaTeX beyond which a formula is not given to LaTeXML."""

_PREAMBLE = (
    "\\documentclass{article}\n\\usepackage{amsmath}\n\\usepackage{amsfonts}\n"
    "\\usepackage{amssymb}\n\\begin{document}\n"
)
_POST = ("--format=xml", "--nodefaultresources")
_BATCH_SIZE = 100  # formulas in one document
_BATCH_SECONDS = 120.0  # for one document; past it the batch is halved
_ALONE_SECONDS = 30.0  # for one formula; past it the formula is given up
_XML = etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True)
_MARK = re.compile(r"\s*F(\d+):")
_DROPPED_ATTRIBUTES = frozenset({"id", "class", "xref", "fragid", "about"})
_COMPAT_TAGS = frozenset({"mo", "ci", "csymbol"})
_MATHML = "http://www.w3.org/1998/Math/MathML"


class _MathmlPair(NamedTuple):
    """Both branches of one formula; empty text where there is none, and why."""

    presentation: str
    content: str
    reason: str = ""
    """Empty on success; else ``latexml_timeout``, ``latexml_failed``, ``empty``,
    ``forbidden`` or ``too_large``."""


def require_latexml() -> None:
    """Raise an error if the programs are missing.

    Raises:
        ConfigurationError: they are not installed.
    """
    if None in (shutil.which("latexml"), shutil.which("latexmlpost")):
        raise ConfigurationError(
            "Expected the programs 'latexml' and 'latexmlpost' on the PATH; install "
            "the Debian package latexml, or choose the builtin LaTeX reader"
        )


def trees_from_latexml(formulas: Sequence[str]) -> list[FormulaTrees]:
    """Return both trees of each formula (total mode), with the deviations.

    Raises:
        ConfigurationError: the programs are not installed.
    """
    require_latexml()
    results: dict[int, _MathmlPair] = {}
    together: list[tuple[int, str]] = []
    alone: list[tuple[int, str]] = []
    for index, formula in enumerate(formulas):
        source = LatexSource.prepare(formula[:MAX_CHARACTERS])
        reason = _refuse(formula, source)
        if reason:
            results[index] = _MathmlPair("", "", reason)
        elif source.is_self_contained:
            together.append((index, source.text))
        else:
            alone.append((index, source.text))
    starts = range(0, len(together), _BATCH_SIZE)
    batches = [together[start : start + _BATCH_SIZE] for start in starts]
    for batch in (*batches, *([item] for item in alone)):
        results.update(_convert_batch(batch))
    return [_read_pair(results[index]) for index in range(len(formulas))]


def _convert_batch(batch: Sequence[tuple[int, str]]) -> dict[int, _MathmlPair]:
    """Convert a batch; halve it for the formulas that did not come back."""
    results: dict[int, _MathmlPair] = {}
    stack = [list(batch)]
    while stack:
        items = stack.pop()
        found, reason = _run(items)
        results.update(found)
        missing = [item for item in items if item[0] not in found]
        if len(items) == 1 and missing:
            results[missing[0][0]] = _MathmlPair("", "", reason)
        elif missing:
            logger.info("Retrying %d of %d formulas", len(missing), len(items))
            half = (len(missing) + 1) // 2
            stack += [part for part in (missing[half:], missing[:half]) if part]
    return results


def _run(items: Sequence[tuple[int, str]]) -> tuple[dict[int, _MathmlPair], str]:
    """Run the programs once; return what came back, and why the rest did not."""
    seconds = _BATCH_SECONDS if len(items) > 1 else _ALONE_SECONDS
    with tempfile.TemporaryDirectory(prefix="latexml-") as folder:
        place = Path(folder)
        (place / "in.tex").write_text(_write_document(items), encoding="utf-8")
        commands = [
            ["latexml", "--quiet", "--nocomments", "--dest=doc.xml", "in.tex"],
            ["latexmlpost", "--quiet", "--pmml", *_POST, "--dest=p.xml", "doc.xml"],
            ["latexmlpost", "--quiet", "--cmml", *_POST, "--dest=c.xml", "doc.xml"],
        ]
        try:
            for command in commands:
                _call(command, place, seconds)
        except subprocess.TimeoutExpired:
            return {}, "latexml_timeout"
        presentations, contents = (_read(place / name) for name in ("p.xml", "c.xml"))
    found = {
        index: _MathmlPair(presentations[index], contents.get(index, ""))
        for index, _ in items
        if index in presentations
    }
    return found, "latexml_failed"


def _read(path: Path) -> dict[int, str]:
    """Return the first ``math`` of each numbered paragraph."""
    try:
        root = etree.parse(path, _XML).getroot()
    except (OSError, etree.XMLSyntaxError):
        return {}
    found: dict[int, str] = {}
    for paragraph in root.iter("{*}p"):
        mark = _MARK.match(paragraph.text or "")
        math = paragraph.find(f".//{{{_MATHML}}}math")
        if mark and math is not None:
            found[int(mark[1])] = _clean(math)
    return found


def _clean(math: etree._Element) -> str:
    """Return the element as compact text without ids, as the files of ARQMath have it.

    They have no ``share`` elements, and a spelling of minus and norm bars of their own.
    """
    for element in list(math.iter("{*}*")):
        for name in list(element.attrib):
            if str(name).rpartition("}")[2] in _DROPPED_ATTRIBUTES:
                del element.attrib[name]
        tag = local_name(element)
        if tag in _COMPAT_TAGS and element.text:
            element.text = element.text.translate(ARQMATH_SPELLING)
        parent = element.getparent()
        if tag == "share" and parent is not None:
            parent.remove(element)
    return _write_math(math)


def _write_document(items: Sequence[tuple[int, str]]) -> str:
    r"""Return a LaTeX document with one numbered paragraph per formula.

    >>> _write_document([(7, "x^2")]).splitlines()[-3]
    'F7: $\\displaystyle x^2$'
    """
    paragraphs = "".join(
        f"F{index}: $\\displaystyle {source}$\n\n" for index, source in items
    )
    return f"{_PREAMBLE}{paragraphs}\\end{{document}}\n"


def _read_pair(pair: _MathmlPair) -> FormulaTrees:
    """Return the trees of both branches (total mode), with the deviations."""
    counter: Counter[str] = Counter()
    if pair.reason:
        counter[pair.reason] += 1
    slt = opt = None
    if pair.presentation:
        slt = slt_from_mathml(pair.presentation, counter=counter)
    if pair.content:
        opt = opt_from_mathml(pair.content, counter=counter)
    return FormulaTrees(slt, opt, counter)


def _refuse(formula: str, source: LatexSource) -> str:
    if len(formula) > MAX_CHARACTERS:
        return "too_large"
    if not source.text:
        return "empty"
    return "forbidden" if source.is_forbidden else ""


def _call(command: list[str], place: Path, seconds: float) -> None:
    """Run a program; its exit status is ignored, its output file decides.

    Raises:
        subprocess.TimeoutExpired: it took longer than ``seconds``.
    """
    subprocess.run(
        command,
        cwd=place,
        timeout=seconds,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _write_math(math: etree._Element) -> str:
    math.tail = None
    fresh = etree.Element(f"{{{_MATHML}}}math", dict(math.attrib), {None: _MATHML})
    fresh.text = math.text
    fresh.extend(list(math))
    etree.cleanup_namespaces(fresh)
    return etree.tostring(fresh, encoding="unicode")
