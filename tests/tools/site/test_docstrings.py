"""Docstrings of this project as Markdown."""

from __future__ import annotations

import pytest

pytest.importorskip("griffe")

from tools.site.docstrings import write_markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See :class:`~mathamr_kedro.trec.Run`.", "See `Run`."),
        ("So::\n\n    a = 1\n", "So:\n\n    a = 1\n"),
        ("First.\n\n::\n\n    a\n", "First.\n\n\n    a\n"),
        ("Sum.\n\n>>> 1 + 1\n2\n\nEnd.", "Sum.\n\n```pycon\n>>> 1 + 1\n2\n```\nEnd."),
        ("===  ==\na    b\n===  ==\n", "```text\n===  ==\na    b\n===  ==\n```\n"),
    ],
)
def test_marks_of_restructuredtext_are_translated(text, expected):
    assert write_markdown(text) == expected
