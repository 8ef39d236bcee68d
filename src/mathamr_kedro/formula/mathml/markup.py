"""MathML text to elements: a fast way, and a lenient one for damaged cells.

Most cells are well-formed XML and are read by one call into libxml2. The cells of
ARQMath were unescaped once too often (``<mo><</mo>``, ``alttext="a<b"``), so a cell
that is not XML is repaired by rule and read again; if that fails too, it is read as
HTML, which closes whatever was left open.
"""

from __future__ import annotations

import html
import re
from typing import Literal, TypeAlias

from lxml import etree

from mathamr_kedro.base.errors import FormulaError

_REFERENCE_CLASSES = {
    "unknown_tag": "UnknownTagException",
    "empty": "None",
    "missing_child": "IndexError",
    "broken_chain": "AttributeError",
    "ill_formed": "ParseError",
    "too_large": "TooLargeError",
}
Branch: TypeAlias = Literal["MathML-Presentation", "MathML-Content"]
MAX_CHARACTERS = 500_000
"""Characters of MathML beyond which a formula is refused."""

MAX_DEPTH = 250
"""Nested elements beyond which a formula is refused (libxml2 itself stops at 256)."""

_XML = etree.XMLParser(
    encoding="utf-8",
    resolve_entities=False,
    remove_comments=True,
    remove_pis=True,
    no_network=True,
    collect_ids=False,
)
_HTML = etree.HTMLParser(
    encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False
)
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MATH = re.compile(r"<(?:[\w.-]+:)?math[\s/>]", re.IGNORECASE)
_AMPERSAND = re.compile(r"&(#[0-9]{1,7};|#[xX][0-9a-fA-F]{1,6};|\w{1,32};)?")
_ANGLE = re.compile(r"<(?!!--|!\[CDATA)(/?)([A-Za-z][\w.:-]*)?(?=([\s/>])?)")
# No attribute value may hold an angle here: a scan that looked for closing quotes would
# take quadratic time on malicious texts.
_TAG = re.compile(r"<(/?)[A-Za-z][^<>]*?(/?)>")
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w.:-]*)([^<>]*)/>")
_CLOSED_NAMES = re.compile(r"</([A-Za-z][\w.:-]*)")
_XML_ENTITIES = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})


class TreeError(FormulaError):
    """A formula has no tree; total mode counts the same event by its reason.

    =================  ============================================================
    ``unknown_tag``    an element or csymbol that no rule covers
    ``empty``          nothing is left to draw a tree of
    ``several_roots``  the formula has more than one element at the top
    ``wrong_arity``    an operator with too few or too many operands
    ``missing_child``  an element that must have a child has none
    ``broken_chain``   a part that vanished is where a symbol is needed
    ``ill_formed``     the text is not MathML, even after repair
    ``too_large``      longer or deeper than the limits of this project
    =================  ============================================================
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason

    @property
    def reference_class(self) -> str:
        """Name of the error that the published converters raise there."""
        return _REFERENCE_CLASSES.get(self.reason, "Exception")

    def __str__(self) -> str:
        return str(self.args[1])


def local_name(element: etree._Element) -> str:
    """Return the tag without namespace and prefix, in lower case (XML or HTML)."""
    tag = element.tag
    if not isinstance(tag, str):
        return ""
    return tag.rpartition("}")[2].rpartition(":")[2].lower()


def read_branch(
    text: str, branch: Branch, deviations: list[str] | None
) -> list[etree._Element]:
    """Return the elements at the top of one branch of a formula.

    Args:
        text: a ``math`` element, or its content; a prolog and text around it are
            ignored.
        branch: which half of parallel markup to take.
        deviations: gets a reason for each repair; None for strict reading.

    Raises:
        TreeError: the text is empty, too large, or cannot be read at all.
    """
    if len(text) > MAX_CHARACTERS:
        raise TreeError(
            "too_large",
            f"Expected at most {MAX_CHARACTERS} characters of MathML (got {len(text)})",
        )
    try:
        root = etree.fromstring(text.encode(), _XML)
    except (etree.XMLSyntaxError, UnicodeEncodeError, ValueError):
        root = _read_damaged(text, deviations)
    math = _find_math(root)
    if math is None:
        return [root]
    if "annotation" in text:
        math = _isolate(math, branch)
    return list(math)


def _find_math(root: etree._Element) -> etree._Element | None:
    if local_name(root) == "math":
        return root
    found = root.find(".//{*}math")
    if found is None:
        named = (element for element in root.iter() if local_name(element) == "math")
        found = next(named, root.find(".//{*}ltx_markedasmath"))
    return found


def _isolate(math: etree._Element, branch: Branch) -> etree._Element:
    """Return the element that holds the branch; the other branch is deleted."""
    for annotation in list(math.iter()):
        kind = local_name(annotation)
        encoding = annotation.get("encoding") if kind.startswith("annotation") else None
        if kind == "annotation-xml" and encoding == branch:
            return annotation
    other = (
        "MathML-Content" if branch == "MathML-Presentation" else "MathML-Presentation"
    )
    dropped = {("annotation", "application/x-tex"), ("annotation-xml", other)}
    for annotation in list(math.iter()):
        if (local_name(annotation), annotation.get("encoding")) in dropped:
            parent = annotation.getparent()
            if parent is not None:
                parent.remove(annotation)
    return math


def _read_damaged(text: str, deviations: list[str] | None) -> etree._Element:
    """Repair the text by rule and read it; as a last resort read it as HTML."""
    if not text.strip():
        raise TreeError("empty", "Expected MathML (got an empty text)")
    if _ILLEGAL.search(text):
        if deviations is None:
            raise TreeError(
                "ill_formed", "Found a character that XML forbids in a formula"
            )
        deviations.append("control_character")
        text = _ILLEGAL.sub("", text)
    text = _strip_prolog(text)
    if not _MATH.search(text):
        text = f"<math>{text}</math>"
        root = _try_xml(text)
        if root is not None:
            return root
    _refuse_deep_markup(text)
    repaired = repair_markup(text)
    if deviations is not None:
        deviations.append("repaired_markup")
    root = _try_xml(repaired)
    return root if root is not None else _read_html(repaired)


def _strip_prolog(text: str) -> str:
    """Return the text after its XML declaration, doctype and leading comments."""
    place = 0
    while True:
        while place < len(text) and text[place].isspace():
            place += 1
        if text.startswith("<?", place):
            end = text.find("?>", place) + 2
        elif text.startswith("<!--", place):
            end = text.find("-->", place) + 3
        elif text.startswith("<!", place):
            bracket, angle = text.find("[", place), text.find(">", place)
            inside = 0 <= bracket < angle
            end = (text.find("]>", place) + 2) if inside else angle + 1
        else:
            return text[place:]
        if end <= place:
            return text[place:]
        place = end


def _try_xml(text: str) -> etree._Element | None:
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), _XML)
    except etree.XMLSyntaxError:
        return None


def _read_html(text: str) -> etree._Element:
    # HTML has no self-closed elements of foreign names: <mi/> would swallow the rest.
    opened = _SELF_CLOSED.sub(r"<\1\2></\1>", text)
    try:
        root = etree.fromstring(opened.encode("utf-8", "replace"), _HTML)
    except etree.LxmlError:
        root = None
    if root is None:
        raise TreeError("ill_formed", f"Found no MathML in {text[:60]!r}")
    return root


def _refuse_deep_markup(text: str) -> None:
    """Raise if elements nest deeper than :data:`MAX_DEPTH`."""
    depth = 0
    for match in _TAG.finditer(text):
        if match[1]:
            depth = max(0, depth - 1)
        elif not match[2]:
            depth += 1
            if depth > MAX_DEPTH:
                raise TreeError(
                    "too_large",
                    f"Expected at most {MAX_DEPTH} nested elements "
                    f"(more by character {match.start()})",
                )


def repair_markup(text: str) -> str:
    """Return text with every stray ``<`` and ``&`` escaped and entities spelt out.

    A ``<`` is stray unless it begins a tag of MathML or of a name that is closed
    somewhere in the text.

    >>> repair_markup("<mo><</mo><mi>&alpha;</mi><mtext>0<r≤1 & x<b c</mtext>")
    '<mo>&lt;</mo><mi>α</mi><mtext>0&lt;r≤1 &amp; x&lt;b c</mtext>'
    """
    known = MATHML_TAGS.union(name.lower() for name in _CLOSED_NAMES.findall(text))

    def repair_angle(match: re.Match[str]) -> str:
        name = match[2]
        if name is None or match[3] is None:
            return "&lt;" + match[0][1:]
        if name.lower() in known or name.rpartition(":")[2].lower() in MATHML_TAGS:
            return match[0]
        return "&lt;" + match[0][1:]

    return _ANGLE.sub(repair_angle, _AMPERSAND.sub(_repair_ampersand, text))


def _repair_ampersand(match: re.Match[str]) -> str:
    entity = match[1]
    if entity is None:
        return "&amp;"
    if entity in _XML_ENTITIES:
        return match[0]
    value = html.unescape(match[0])
    if value == match[0]:
        return "&amp;" + entity
    return html.escape(_ILLEGAL.sub("", value), quote=False)


MATHML_TAGS = frozenset(
    """
    math semantics annotation annotation-xml mi mn mo mtext mspace ms mglyph mrow
    mfrac msqrt mroot mstyle merror mpadded mphantom mfenced menclose msub msup
    msubsup munder mover munderover mmultiscripts mprescripts none mtable mlabeledtr
    mtr mtd maligngroup malignmark maction qvar apply ci cn csymbol sep cerror share
    interval condition declare lambda compose ident domain codomain image piecewise
    piece otherwise quotient factorial divide max min minus plus power rem times
    root gcd and or xor not implies forall exists abs conjugate arg real imaginary
    lcm floor ceiling eq neq gt lt geq leq equivalent approx factorof int diff
    partialdiff lowlimit uplimit bvar degree divergence grad curl laplacian set list
    union intersect in notin subset prsubset notsubset notprsubset setdiff card
    cartesianproduct sum product limit tendsto exp ln log logbase sin cos tan sec
    csc cot sinh cosh tanh sech csch coth arcsin arccos arctan arccosh arccot
    arccoth arccsc arccsch arcsec arcsech arcsinh arctanh mean sdev variance median
    mode moment momentabout vector matrix matrixrow determinant transpose selector
    vectorproduct scalarproduct outerproduct integers reals rationals naturalnumbers
    complexes primes exponentiale imaginaryi notanumber true false emptyset pi
    eulergamma infinity domainofapplication bind cbytes cs
    """.split()
)
"""Names that begin a tag even in a damaged text."""
