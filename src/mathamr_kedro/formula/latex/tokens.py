r"""LaTeX as a list of tokens.

```
\frac{a}2 \text{if }    ->    ['\\frac', '{', 'a', '}', '2', '\\text', '{', 'i', 'f', ' ', '}']
```

A token is a command with its backslash, or one character. Spaces are tokens only in
formulas that contain text: elsewhere they mean nothing.
"""

from __future__ import annotations

import html
import re

END = ""
"""The token after the last one."""

_MATH = re.compile(r"\\[A-Za-z]+|\\.|[^ ]", re.DOTALL)
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_MIXED = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_HAS_TEXT = re.compile(r"\\(?:text|mbox|hbox|fbox|intertext|emph|textcolor)")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_ASCII_BLANKS = " \t\n\r\f\v"
_OUTER = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))


def clean_source(latex: str) -> str:
    r"""Return the formula without entities, comments, dollars and line breaks.

    >>> clean_source("$$ a &lt; b % note\n + c $$")
    'a < b + c'
    """
    if "&" in latex:
        latex = html.unescape(latex)
    if "%" in latex:
        latex = _COMMENT.sub(r"\1", latex)
    latex = latex.strip(_ASCII_BLANKS)
    for opening, closing in _OUTER:
        if (
            latex.startswith(opening)
            and latex.endswith(closing)
            and len(latex) >= len(opening) + len(closing)
        ):
            latex = latex[len(opening) : -len(closing)]
            break
    trimmed = _BLANKS.sub(" ", latex).strip(" ")
    # a backslash before the last space is a command, "\ "
    return trimmed + " " if trimmed.endswith("\\") else trimmed


def split_tokens(latex: str) -> list[str]:
    r"""Return the tokens of a cleaned formula, with :data:`END` behind them.

    >>> split_tokens(r"\frac{a}2")
    ['\\frac', '{', 'a', '}', '2', '']
    """
    pattern = _MIXED if _HAS_TEXT.search(latex) else _MATH
    tokens = pattern.findall(latex)
    tokens.append(END)
    return tokens
