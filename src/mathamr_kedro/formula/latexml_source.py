r"""LaTeX as people write it, made fit for a document of many formulas.

``$$ \begin{align} a &= b \tag{1} \end{align} $$`` becomes
``\begin{aligned} a &= b \end{aligned}``: alone in a display, ``align`` would give one
``math`` element per cell, and inside a formula it is an error.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_DROPPED = re.compile(
    r"\\(?:label|tag\*?)\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])"
)
_BLANK_LINES = re.compile(r"\n[ \t\r]*(?=\n)")
_REMOVED_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\s*\{(?:equation\*?|displaymath|math)\}"
)
_ALIGNED = re.compile(
    r"\\(begin|end)\s*\{(?:align\*?|eqnarray\*?|flalign\*?|split"
    r"|(alignat\*?|IEEEeqnarray\*?))\}(?:(?<=at\})\{\d*\}|(?<=at\*\})\{\d*\}"
    r"|(?<=eqnarray\})\{[a-zA-Z?+*/.:;'{}]{1,20}\})?"
)
_GATHERED = re.compile(r"\\(begin|end)\s*\{(?:gather\*?|multline\*?)\}")
_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))

# What wants an argument at the very end takes the closing dollar for it.
_HUNGRY_END = re.compile(
    r"(?:[\^_]|\\(?:[dtc]?frac|[dt]?binom|sqrt|text\w*|math\w+|operatorname\*?|overline"
    r"|underline|(?:wide)?hat|(?:wide)?tilde|bar|vec|d?dot|(?:over|under)(?:set|brace)"
    r"|stackrel|boxed|left|right|[bB]igg?[lrm]?))\s*$"
)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_COMMAND = re.compile(r"\\([A-Za-z@]+|.)", re.DOTALL)
_FORBIDDEN = frozenset(
    """
    input include includegraphics openin openout read readline write immediate special
    usepackage RequirePackage documentclass catcode lccode uccode mathcode csname
    endcsname everymath everypar output directlua ShellEscape bye stop iftrue iffalse
    newread newwrite makeatletter batchmode loop expandafter afterassignment aftergroup
    """.split()
)
_STATEFUL = frozenset(
    """
    def gdef edef xdef let futurelet newcommand renewcommand providecommand global
    DeclareMathOperator newenvironment renewenvironment setcounter setlength par
    """.split()
)


@dataclass(frozen=True)
class LatexSource:
    """One formula, fit for a document."""

    text: str

    @classmethod
    def prepare(cls, latex: str) -> LatexSource:
        r"""Return a formula without delimiters, comments, numbering, outer displays.

        >>> LatexSource.prepare("$$x &lt; 1 \\tag{2}$$")
        LatexSource(text='x < 1')
        """
        source = _COMMENT.sub(r"\1", html.unescape(latex)).strip()
        for opening, closing in _DELIMITERS:
            inside = len(source) >= len(opening) + len(closing)
            if inside and source.startswith(opening) and source.endswith(closing):
                source = source[len(opening) : -len(closing)]
                break
        source = _DROPPED.sub("", source)
        source = _REMOVED_ENVIRONMENT.sub("", source)
        source = _ALIGNED.sub(r"\\\1{aligned}", source)
        source = _GATHERED.sub(r"\\\1{gathered}", source)
        return cls(_BLANK_LINES.sub("", source.replace("\r", "\n")).strip())

    @property
    def is_forbidden(self) -> bool:
        r"""Whether it reaches out of itself: files, packages, TeX's own state.

        >>> LatexSource(r"\input{/etc/hosts}").is_forbidden
        True
        """
        return "\\end{document}" in self.text or not _FORBIDDEN.isdisjoint(
            _COMMAND.findall(self.text)
        )

    @property
    def is_self_contained(self) -> bool:
        r"""Whether it can share a document with others without harm.

        Unbalanced braces, fences, environments or dollars would swallow what follows,
        and definitions would change it.

        >>> LatexSource(r"\frac{a}{b}").is_self_contained
        True
        >>> LatexSource(r"\frac{a}{b").is_self_contained
        False
        """
        commands = _COMMAND.findall(self.text)
        plain = _ESCAPED.sub("", self.text)
        return (
            commands.count("begin") == commands.count("end")
            and commands.count("left") == commands.count("right")
            and "$" not in plain
            and _STATEFUL.isdisjoint(commands)
            and not self.text.endswith("\\")
            and _HUNGRY_END.search(self.text) is None
            and _has_balanced_braces(plain)
        )


def _has_balanced_braces(plain: str) -> bool:
    depth = 0
    for character in plain:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0
