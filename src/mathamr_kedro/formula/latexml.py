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
only the guilty formula is left alone.
"""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula.labels import ARQMATH_SPELLING
from mathamr_kedro.formula.latexml_source import LatexSource
from mathamr_kedro.formula.mathml import COMPATS, opt_from_mathml, slt_from_mathml
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


@dataclass(frozen=True)
class LatexmlConfig:
    """How LaTeXML is run."""

    batch_size: int = 100
    """Formulas in one document."""
    batch_seconds: float = 120.0
    """Time for one document; past it the batch is halved."""
    alone_seconds: float = 30.0
    """Time for a formula alone; past it the formula is given up."""
    compat: str = "arqmath"
    """``"arqmath"`` writes minus and norm bars as the published files do."""
    drop_shares: bool = True
    """Delete ``share`` elements as the published files do."""

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.batch_seconds <= 0 or self.alone_seconds <= 0:
            raise ConfigurationError(
                f"Expected a positive batch size and positive times (got {self!r})"
            )
        if self.compat not in COMPATS:
            raise ConfigurationError(
                f"Expected one of {list(COMPATS)} for compat (got {self.compat!r})"
            )


def _find_latexml() -> str | None:
    """Return the path of the ``latexml`` program, or None where it is missing."""
    if shutil.which("latexmlpost") is None:
        return None
    return shutil.which("latexml")


class LatexmlConverter:
    """Converts formulas in batches.

    Raises:
        ConfigurationError: the programs are not installed.
    """

    def __init__(self, config: LatexmlConfig | None = None) -> None:
        if _find_latexml() is None:
            raise ConfigurationError(
                "Expected the programs 'latexml' and 'latexmlpost' on the PATH; "
                "install the Debian package latexml, or choose the builtin LaTeX reader"
            )
        self.config = config or LatexmlConfig()

    def convert(self, formulas: Sequence[str]) -> list[_MathmlPair]:
        """Return both branches of each formula, in order."""
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
        size = self.config.batch_size
        for start in range(0, len(together), size):
            results.update(self._convert_batch(together[start : start + size]))
        for item in alone:
            results.update(self._convert_batch([item]))
        return [results[index] for index in range(len(formulas))]

    def build_trees(self, formulas: Sequence[str]) -> list[FormulaTrees]:
        """Return both trees of each formula (total mode), with the deviations."""
        return [_read_pair(pair) for pair in self.convert(formulas)]

    def _convert_batch(
        self, batch: Sequence[tuple[int, str]]
    ) -> dict[int, _MathmlPair]:
        """Convert a batch; halve it for the formulas that did not come back."""
        results: dict[int, _MathmlPair] = {}
        stack = [list(batch)]
        while stack:
            items = stack.pop()
            found, reason = self._run(items)
            results.update(found)
            missing = [item for item in items if item[0] not in found]
            if len(items) == 1 and missing:
                results[missing[0][0]] = _MathmlPair("", "", reason)
            elif missing:
                logger.info("Retrying %d of %d formulas", len(missing), len(items))
                half = (len(missing) + 1) // 2
                stack += [part for part in (missing[half:], missing[:half]) if part]
        return results

    def _run(
        self, items: Sequence[tuple[int, str]]
    ) -> tuple[dict[int, _MathmlPair], str]:
        """Run the programs once; return what came back, and why the rest did not."""
        config = self.config
        seconds = config.batch_seconds if len(items) > 1 else config.alone_seconds
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
            branches = [self._read(place / name) for name in ("p.xml", "c.xml")]
        presentations, contents = branches
        found = {
            index: _MathmlPair(presentations[index], contents.get(index, ""))
            for index, _ in items
            if index in presentations
        }
        return found, "latexml_failed"

    def _read(self, path: Path) -> dict[int, str]:
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
                found[int(mark[1])] = self._clean(math)
        return found

    def _clean(self, math: etree._Element) -> str:
        """Return the element as compact text without ids, in the default namespace."""
        config = self.config
        for element in list(math.iter("{*}*")):
            for name in list(element.attrib):
                if str(name).rpartition("}")[2] in _DROPPED_ATTRIBUTES:
                    del element.attrib[name]
            tag = local_name(element)
            if config.compat == "arqmath" and tag in _COMPAT_TAGS and element.text:
                element.text = element.text.translate(ARQMATH_SPELLING)
            parent = element.getparent()
            if tag == "share" and config.drop_shares and parent is not None:
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
