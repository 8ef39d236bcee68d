"""Markdown, LaTeX and plain text to flat text, beside the HTML of Stack Exchange."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from markdown_it import MarkdownIt

from mathamr_kedro.corpus.html_text import FoundFormula, flatten_html, tidy_lines
from mathamr_kedro.corpus.placeholders import mark_formulas

_CODE = re.compile(r"(^(```|~~~).*?^\2[ \t]*$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)


def flatten_markup(text: str, formulas: list[FoundFormula], markup: str) -> str:
    """Return the flat text of a source in one of the known markups."""
    if markup == "html":
        return flatten_html(text, formulas)
    if markup == "markdown":
        return flatten_markdown(text, formulas)
    if markup == "latex":
        return flatten_latex(text, formulas)
    return tidy_lines(mark_formulas(text, formulas))


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def flatten_markdown(text: str, formulas: list[FoundFormula]) -> str:
    r"""Flatten Markdown; formulas are taken out first, so ``_`` and ``*`` stay theirs.

    >>> flatten_markdown("# Sum\n\nLet $a_1 * b_1$ be *big*.", found := [])[:4]
    'Sum\n'
    >>> found[0].latex
    'a_1 * b_1'
    """
    pieces, position = [], 0
    for code in _CODE.finditer(text):
        pieces += [mark_formulas(text[position : code.start()], formulas), code[0]]
        position = code.end()
    pieces.append(mark_formulas(text[position:], formulas))
    return flatten_html(_markdown().render("".join(pieces)), formulas)


_COMMENT = re.compile(r"(?<!\\)%.*")
_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)
_TITLE = re.compile(r"\\title\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_VERBATIM = re.compile(
    r"\\begin\{(verbatim|lstlisting|comment)\}.*?\\end\{\1\}", re.DOTALL
)
_HEADING = re.compile(
    r"\\(?:part|chapter|section|subsection|subsubsection|paragraph)\*?\s*"
    r"(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_BEGIN = re.compile(r"\\begin\{([a-zA-Z]+)\*?\}(?:\[([^\]]*)\])?")
_END = re.compile(r"\\end\{[a-zA-Z]+\*?\}")
_ITEM = re.compile(r"\\item\b\s*(?:\[([^\]]*)\])?")
_DROPPED = re.compile(
    r"\\(?:label|ref|eqref|cref|autoref|cite[a-z]*|bibliography|bibliographystyle"
    r"|includegraphics|vspace|hspace|usepackage|pagestyle|index|input|include)\*?"
    r"(?:\[[^\]]*\])*\{[^{}]*\}"
)
_ACCENT = re.compile(
    r"\\([`'^\"~=.uvHcdr])\s*"
    r"(?:\{\\?([a-zA-Z])\}|\\?([a-zA-Z])(?![a-zA-Z]))"
)
_COMBINING = dict(
    zip("`'^\"~=.uvHcdr", "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c"
        "\u030b\u0327\u0323\u030a", strict=True)
)  # fmt: skip
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\s*|\\(?=[^a-zA-Z])")
_NAMED = {
    "theorem", "lemma", "proposition", "corollary", "definition", "proof", "remark",
    "example", "exercise", "claim", "conjecture", "problem", "solution", "question",
}  # fmt: skip


def flatten_latex(text: str, formulas: list[FoundFormula]) -> str:
    r"""Flatten a LaTeX document or a part of one.

    >>> flatten_latex(r"\begin{lemma}[Gauss] If $p\mid a$, \emph{then}.\end{lemma}", [])
    'Lemma (Gauss). If \ue0010\ue002, then.'
    """
    title = _TITLE.search(text)
    document = _DOCUMENT.search(text)
    body = document[1] if document else _TITLE.sub("", text)
    if title and document:
        body = f"\\section{{{title[1]}}}\n{body}"
    body = _VERBATIM.sub("\n\n", _COMMENT.sub("", body))
    body = mark_formulas(body, formulas)
    body = _HEADING.sub(r"\n\n\1\n\n", body)
    body = _BEGIN.sub(_begin, body)
    body = _ITEM.sub(lambda m: f"\n- {m[1] or ''} ", _END.sub("\n\n", body))
    body = _ACCENT.sub(_accent, _DROPPED.sub("", body))
    body = body.replace(r"\\", "\n").replace("~", " ").replace("``", "“")
    body = body.replace("''", "”").replace("---", "—").replace("--", "–")
    body = _COMMAND.sub("", body.replace(r"\ ", " "))
    return tidy_lines(re.sub(r"[{}]", "", _join_lines(body)))


def _begin(match: re.Match[str]) -> str:
    name, note = match[1], match[2]
    if name not in _NAMED:
        return "\n\n"
    return f"\n\n{name.capitalize()}{f' ({note})' if note else ''}. "


def _accent(match: re.Match[str]) -> str:
    letter = match[2] or match[3]
    return unicodedata.normalize("NFC", letter + _COMBINING[match[1]])


def _join_lines(text: str) -> str:
    """A single line break of LaTeX is a blank; list items keep their lines."""
    return re.sub(r"(?<!\n)\n(?!\n|- )", " ", re.sub(r"[ \t]*\n[ \t]*", "\n", text))
