"""What Kedro-Viz 12 does with the HTML of a preview before it shows it, in Python.

The steps of its function for Markdown, in their order; ``.`` of JavaScript stops at
four ends of lines, that of Python at one.
"""

from __future__ import annotations

import re

_ANY = "[^\\n\\r\\u2028\\u2029]"
_STEPS = (
    (rf"\*\*({_ANY}*?)\*\*", r"<strong>\1</strong>"),
    (rf"__({_ANY}*?)__", r"<strong>\1</strong>"),
    (rf"\*({_ANY}*?)\*", r"<em>\1</em>"),
    (rf"_({_ANY}*?)_", r"<em>\1</em>"),
    (r"`([^`]+)`", r"<code>\1</code>"),
    (r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>'),
    (r"(<li>[\s\S]*</li>)", r"<ul>\1</ul>"),
    (r"\n\s*\n", "</p><p>"),
    (r"\n", "<br>"),
)


def convert(html: str) -> str:
    """Return what is shown, without what nobody sees."""
    for pattern, shown in _STEPS:
        html = re.sub(pattern, shown, html)
    return html.replace('<span class="line\u2028end"></span>', "")
