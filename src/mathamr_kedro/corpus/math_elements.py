r"""MathML in documents: the LaTeX of a ``<math>`` element.

```
<math alttext="x^2">...</math>                                          x^2
<math>...<annotation encoding="application/x-tex">x^2</annotation>      x^2
<math><msup><mi>x</mi><mn>2</mn></msup></math>                          x^{2}
```

Where authors left no LaTeX, it is written from the Presentation MathML, to be shown and
to tell formulas apart; the trees of a formula are built from the MathML itself.
"""

from __future__ import annotations

import re

from mathamr_kedro.corpus.mathml_latex import write_latex
from mathamr_kedro.corpus.scanning import find_blocks, unescape_text

_START = re.compile(r"<(?:\w+:)?math\b", re.IGNORECASE)
_ALTTEXT = re.compile(r"""\balttext\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TEX = re.compile(r"<(?:\w+:)?annotation\b(?=[^<>]*?application/x-tex)[^<>]*>")
_END_OF_TEX = re.compile(r"</(?:\w+:)?annotation\s*>")
_CONTENT = re.compile(r"<(?:\w+:)?annotation-xml\b(?=[^<>]*?MathML-Content)[^<>]*>")
_END_OF_CONTENT = re.compile(r"</(?:\w+:)?annotation-xml\s*>")


def find_math(text: str) -> bool:
    """Tell whether a document may hold MathML."""
    return _START.search(text) is not None


def has_content(markup: str) -> bool:
    """Tell whether a ``<math>`` element holds Content MathML too."""
    return any(find_blocks(markup, _CONTENT, {"": _END_OF_CONTENT}))


def read_latex(markup: str, attributes: str) -> str:
    r"""Return the LaTeX of a ``<math>`` element, empty where nothing is in it.

    Args:
        markup: the element, tags and all.
        attributes: of its first tag.

    >>> read_latex("<math><mfrac><mi>a</mi><mn>2</mn></mfrac></math>", "")
    '\\frac{a}{2}'
    """
    for opened, closed in find_blocks(markup, _TEX, {"": _END_OF_TEX}):
        return unescape_text(markup[opened.end() : closed.start()]).strip()
    alttext = _ALTTEXT.search(attributes)
    written = unescape_text(alttext[1] or alttext[2] or "").strip() if alttext else ""
    return written or write_latex(markup)
