r"""LaTeX as a list of tokens.

```
\frac{a}2      ['\\frac', '{', 'a', '}', '2', '']
\text{a b}     ['\\text', '{', 'a', ' ', 'b', '}', '']
```

A token is a command with its backslash, or one character. Spaces are tokens only in
formulas that contain text: elsewhere they mean nothing.
"""

from __future__ import annotations

import html
import re

END = ""
"""The token after the last one."""

_MATH = re.compile(r"\\[A-Za-z]+|\\.|[^ \t\n\r\f\v]", re.DOTALL)
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_MIXED = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_HAS_TEXT = re.compile(r"\\(?:text|mbox|hbox|fbox|intertext|emph|textcolor)")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_ASCII_BLANKS = " \t\n\r\f\v"
_OUTER_STARTS = ("$", "\\")
_OUTER = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))


def clean_source(latex: str) -> str:
    r"""Return the formula without entities, comments and dollars.

    >>> clean_source("$$ a &lt; b $$ % note")
    'a < b'
    """
    if "&" in latex:
        latex = html.unescape(latex)
    if "%" in latex:
        latex = _COMMENT.sub(r"\1", latex)
    latex = latex.strip(_ASCII_BLANKS)
    for opening, closing in _OUTER if latex[:1] in _OUTER_STARTS else ():
        if (
            latex.startswith(opening)
            and latex.endswith(closing)
            and len(latex) >= len(opening) + len(closing)
        ):
            latex = latex[len(opening) : -len(closing)]
            break
    trimmed = latex.strip(_ASCII_BLANKS)
    # a backslash before the last space is a command, "\ "
    backslashes = len(trimmed) - len(trimmed.rstrip("\\"))
    return trimmed + " " if backslashes % 2 else trimmed


def split_tokens(latex: str) -> list[str]:
    r"""Return the tokens of a cleaned formula, with :data:`END` behind them.

    >>> split_tokens(r"\frac{a}2")
    ['\\frac', '{', 'a', '}', '2', '']
    """
    if _HAS_TEXT.search(latex):
        tokens = _MIXED.findall(_BLANKS.sub(" ", latex))
    else:
        tokens = _MATH.findall(latex)
    tokens.append(END)
    return tokens
