"""Light Markdown to HTML, each construct beside what it becomes."""

from __future__ import annotations

import pytest

from tools.sample.markdown_html import math_span, render_body, render_line


def _mark(latex: str, display: bool) -> str:
    return f"[[{latex}]]" if display else f"[{latex}]"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one\ntwo\n\nthree", "<p>one two</p>\n<p>three</p>"),
        ("a *b* **c**", "<p>a <em>b</em> <strong>c</strong></p>"),
        ("`d*e*f`", "<p><code>d*e*f</code></p>"),
        ("- a\n  b\n- c", "<ul>\n<li>a b</li>\n<li>c</li>\n</ul>"),
        ("1. a\n\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"),
        ("so it is\n2. Then", "<p>so it is 2. Then</p>"),
        ("see:\n- a", "<p>see:</p>\n<ul>\n<li>a</li>\n</ul>"),
        ("> q\n> r", "<blockquote>\n<p>q r</p>\n</blockquote>"),
        (
            "[t](https://example.org/a_(b)?c=1&d=2)",
            '<p><a href="https://example.org/a_(b)?c=1&amp;d=2">t</a></p>',
        ),
        ("a < b & c", "<p>a &lt; b &amp; c</p>"),
        ("", ""),
    ],
)  # fmt: skip
def test_each_construct_becomes_its_html(text, html):
    assert render_body(text, _mark) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("$x$ and $$y\n=z$$", "<p>[x] and [[y =z]]</p>"),
        ("$a*b$ and $c*d$", "<p>[a*b] and [c*d]</p>"),
        ("it costs \\$5, not \\$6", "<p>it costs $5, not $6</p>"),
        ("`$x$` is code", "<p><code>$x$</code> is code</p>"),
        ("**if $x$ then**", "<p><strong>if [x] then</strong></p>"),
        ("$$a\n- b$$", "<p>[[a - b]]</p>"),
    ],
)
def test_formulas_are_found_and_left_alone(text, html):
    assert render_body(text, _mark) == html


def test_indented_text_is_the_same_as_text_at_the_margin():
    indented = """
        One $x$.

        - two
          three
        """
    expected = render_body("One $x$.\n\n- two\n  three", _mark)
    assert render_body(indented, _mark) == expected


def test_html_is_kept_but_for_its_formulas():
    text = "<p>A $bare$ one, <m>x<1</m> and <m bare>y&z</m>.</p>"
    expected = (
        "<p>A $bare$ one, [x<1] and "
        '<span class="math-container">y&amp;z</span>.</p>'
    )  # fmt: skip
    assert render_body(text, _mark) == expected


def test_a_line_has_no_blocks():
    assert render_line("Is $x$\n *prime*?", _mark) == "Is [x] <em>prime</em>?"


def test_spans_of_topics_carry_dollars():
    span = math_span("a<b", "q_1", "$$")
    assert span == '<span class="math-container" id="q_1">$$a&lt;b$$</span>'
