r"""MathML in documents: the LaTeX of a ``<math>`` element.

```
<math alttext="x^2">...</math>                                          x^2
<math>...<annotation encoding="application/x-tex">x^2</annotation>      x^2
<math><msup><mi>x</mi><mn>2</mn></msup></math>                          x^{2}
```

Without given LaTeX, it is generated from the Presentation MathML for display and as an
identity; the trees of a formula are built from the MathML itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from lxml import etree

from mathamr_kedro.corpus.scanning import find_blocks, unescape_text

_START = re.compile(r"<(?:\w+:)?math\b", re.IGNORECASE)
_ALTTEXT = re.compile(r"""\balttext\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TEX = re.compile(r"<(?:\w+:)?annotation\b(?=[^<>]*?application/x-tex)[^<>]*>")
_END_OF_TEX = re.compile(r"</(?:\w+:)?annotation\s*>")
_CONTENT = re.compile(r"<(?:\w+:)?annotation-xml\b(?=[^<>]*?MathML-Content)[^<>]*>")
_END_OF_CONTENT = re.compile(r"</(?:\w+:)?annotation-xml\s*>")
_Element: TypeAlias = etree._Element
_Writer: TypeAlias = Callable[[_Element, int], str]

_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh exp log ln lim max "
    "min sup inf det dim ker gcd deg arg mod Pr".split()
)
_COMMANDS = {
    "−": "-", "∗": "*", "⋅": r"\cdot", "·": r"\cdot", "×": r"\times", "÷": r"\div",
    "±": r"\pm", "∓": r"\mp", "∘": r"\circ", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq",
    "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "≃": r"\simeq", "≅": r"\cong",
    "∝": r"\propto", "≪": r"\ll", "≫": r"\gg", "→": r"\to", "←": r"\leftarrow",
    "↦": r"\mapsto", "⇒": r"\Rightarrow", "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow",
    "↔": r"\leftrightarrow", "∈": r"\in", "∉": r"\notin", "∋": r"\ni", "⊂": r"\subset",
    "⊆": r"\subseteq", "⊃": r"\supset", "⊇": r"\supseteq", "∪": r"\cup", "∩": r"\cap",
    "∖": r"\setminus", "∅": r"\emptyset", "∀": r"\forall", "∃": r"\exists",
    "¬": r"\neg", "∧": r"\wedge", "∨": r"\vee", "⊕": r"\oplus", "⊗": r"\otimes",
    "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∮": r"\oint", "⋃": r"\bigcup",
    "⋂": r"\bigcap", "∂": r"\partial", "∇": r"\nabla", "∞": r"\infty", "′": r"\prime",
    "…": r"\ldots", "⋯": r"\cdots", "⋮": r"\vdots", "⋱": r"\ddots", "∣": r"\mid",
    "∥": r"\parallel", "⊥": r"\perp", "∠": r"\angle", "⌊": r"\lfloor",
    "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil", "⟨": r"\langle", "⟩": r"\rangle",
    "ℝ": r"\mathbb{R}", "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}", "ℚ": r"\mathbb{Q}",
    "ℂ": r"\mathbb{C}", "ϵ": r"\epsilon", "ε": r"\varepsilon", "ϕ": r"\phi",
    "φ": r"\varphi", "ℓ": r"\ell", "ⅆ": "d", "ⅇ": "e", "ⅈ": "i", "{": r"\{",
    "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "_": r"\_",
}  # fmt: skip
_ACCENTS = {
    "^": "hat", "ˆ": "hat", "¯": "bar", "―": "overline", "‾": "overline",
    "~": "tilde", "˜": "tilde", "→": "vec", "⃗": "vec", "˙": "dot", "¨": "ddot",
    "⏞": "overbrace", "⏟": "underbrace",
}  # fmt: skip
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b\u00a0\u2009"))
_LONE_BASE = re.compile(r"^\{(\w|\\[a-zA-Z]+)\}(?=[_^])")
_ENDS_IN_COMMAND = re.compile(r"\\[a-zA-Z]+$")
_MAX_DEPTH = 100
_PAIR = 2
_MATH_LETTERS = re.compile("[\U0001d400-\U0001d7ff]")  # such as 𝑥
_SILENT = frozenset(("annotation", "annotation-xml", "none", "mprescripts"))


def may_hold_math(text: str) -> bool:
    """Tell whether a document may hold a ``<math>`` element."""
    return _START.search(text) is not None


class MathElement(NamedTuple):
    r"""A ``<math>`` element of a document.

    >>> MathElement("<math><mfrac><mi>a</mi><mn>2</mn></mfrac></math>").read_latex()
    '\\frac{a}{2}'
    """

    markup: str
    """With its tags."""
    attributes: str = ""
    """Of its first tag."""

    @property
    def has_content(self) -> bool:
        """Whether it contains Content MathML too."""
        return any(find_blocks(self.markup, _CONTENT, {"": _END_OF_CONTENT}))

    def read_latex(self) -> str:
        """Return its LaTeX, empty if the element is."""
        for opened, closed in find_blocks(self.markup, _TEX, {"": _END_OF_TEX}):
            return unescape_text(self.markup[opened.end() : closed.start()]).strip()
        found = _ALTTEXT.search(self.attributes)
        text = unescape_text(found[1] or found[2] or "").strip() if found else ""
        return text or _write_latex(self.markup)


def _write_latex(markup: str) -> str:
    # As browsers read it: named entities are known, end tags may be missing.
    parser = etree.HTMLParser(recover=True, no_network=True)
    try:
        root = etree.fromstring(f"<body>{markup}</body>", parser)
    except (etree.XMLSyntaxError, ValueError):
        return ""
    found = [e for e in root.iter() if _name(e) == "math"] if root is not None else []
    return " ".join(_write_row(found[0], 0).split()) if found else ""


def _name(element: _Element) -> str:
    tag = element.tag
    return tag.rpartition(":")[2].lower() if isinstance(tag, str) else ""


def _write(element: _Element, depth: int) -> str:
    name = _name(element)
    if not name or name in _SILENT:
        return ""
    if depth > _MAX_DEPTH:
        return _write_symbols(_read_token(element))
    return _WRITERS.get(name, _write_row)(element, depth)


def _write_row(element: _Element, depth: int) -> str:
    pieces = [_write(child, depth + 1) for child in element]
    return _join([(element.text or "").strip(), *pieces])


def _write_parts(element: _Element, depth: int) -> list[str]:
    return [_write(child, depth + 1) for child in element if _name(child)]


def _join(pieces: Sequence[str]) -> str:
    """Join pieces; keep a command and a letter after it apart."""
    joined: list[str] = []
    for piece in filter(None, pieces):
        if joined and piece[0].isalpha() and _ENDS_IN_COMMAND.search(joined[-1]):
            joined.append(" ")
        joined.append(piece)
    return "".join(joined)


def _write_form(form: str, element: _Element, depth: int) -> str:
    """Fill a form such as ``{%s}^{%s}``; a lone letter needs no braces before it."""
    parts = _write_parts(element, depth)
    if len(parts) != form.count("%s"):
        return _write_row(element, depth)
    return _LONE_BASE.sub(r"\1", form % tuple(parts))


def _write_root(element: _Element, depth: int) -> str:
    parts = _write_parts(element, depth)
    if _name(element) == "mroot" and len(parts) == _PAIR:
        return rf"\sqrt[{parts[1]}]{{{parts[0]}}}"
    return rf"\sqrt{{{_write_row(element, depth)}}}"


def _write_table(element: _Element, depth: int) -> str:
    rows = r" \\ ".join(_write_parts(element, depth))
    return rf"\begin{{matrix}}{rows}\end{{matrix}}"


def _write_cells(element: _Element, depth: int) -> str:
    return " & ".join(_write_parts(element, depth))


def _write_over(element: _Element, depth: int) -> str:
    parts = _write_parts(element, depth)
    if len(parts) != _PAIR:
        return _write_row(element, depth)
    base, mark = parts
    accent = _ACCENTS.get(_read_token(element[-1]))
    if accent and _name(element) == "mover":
        return rf"\{accent}{{{base}}}"
    return f"{base}{'_' if _name(element) == 'munder' else '^'}{{{mark}}}"


def _write_fenced(element: _Element, depth: int) -> str:
    opened, closed = element.get("open", "("), element.get("close", ")")
    mark = element.get("separators", ",").strip()[:1]
    inside = mark.join(_write_parts(element, depth))
    return f"{_write_symbols(opened)}{inside}{_write_symbols(closed)}"


def _write_token(write: Callable[[str], str], element: _Element, depth: int) -> str:
    return write(_read_token(element))


def _read_token(element: etree._Element) -> str:
    text = "".join(element.itertext()).translate(_INVISIBLE)
    return " ".join(
        _MATH_LETTERS.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text).split()
    )


def _write_symbols(text: str) -> str:
    return _join([_write_symbol(character) for character in text])


def _write_symbol(character: str) -> str:
    if character in _COMMANDS:
        return _COMMANDS[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK") and " LETTER " in name and name.count(" ") == 3:
        size, letter = name.split()[1], name.split()[3].replace("LAMDA", "LAMBDA")
        return "\\" + (letter.capitalize() if size == "CAPITAL" else letter.lower())
    return character


def _write_name(text: str) -> str:
    if len(text) <= 1 or not text.isalpha():
        return _write_symbols(text)
    return rf"\{text}" if text in _FUNCTIONS else rf"\mathrm{{{text}}}"


def _write_text(text: str) -> str:
    return rf"\text{{{text}}}" if text else ""


_WRITERS: dict[str, _Writer] = {
    "mfrac": partial(_write_form, r"\frac{%s}{%s}"),
    "msup": partial(_write_form, "{%s}^{%s}"),
    "msub": partial(_write_form, "{%s}_{%s}"),
    "msubsup": partial(_write_form, "{%s}_{%s}^{%s}"),
    "munderover": partial(_write_form, "{%s}_{%s}^{%s}"),
    "munder": _write_over,
    "mover": _write_over,
    "msqrt": _write_root,
    "mroot": _write_root,
    "mtable": _write_table,
    "mtr": _write_cells,
    "mlabeledtr": _write_cells,
    "mfenced": _write_fenced,
    "mi": partial(_write_token, _write_name),
    "mo": partial(_write_token, _write_name),
    "mn": partial(_write_token, _write_symbols),
    "mtext": partial(_write_token, _write_text),
    "ms": partial(_write_token, _write_text),
    "mspace": lambda element, depth: r"\ ",
}
