"""HTML of previews: what Kedro-Viz makes of it."""

from __future__ import annotations

import pytest

from mathamr_kedro.datasets.previews import render_markdown, write_text
from tests.datasets.viz_markdown import convert

PLAIN = "bm25_slt, bm25_opt, a*b*c, __init__, **x**, [0](1)"


def test_names_keep_their_marks():
    assert convert(render_markdown(f"See `{PLAIN}`.")).count(PLAIN) == 1
    assert convert(write_text(PLAIN)) == PLAIN
    assert "<em>" in convert(f"<p>{PLAIN}</p>")  # what the guard is for


def test_tables_have_no_line_ends():
    shown = convert(
        render_markdown("| a_b | c_d |\n|---|---|\n| 1 | 2 |\n\nmore\ntext")
    )
    assert "<br>" not in shown
    assert "<th>a_b</th>" in shown and "more text" in shown


def test_lists_stay_as_they_are():
    shown = convert(render_markdown("- one\n- two\n\ntext\n\n1. three"))
    assert shown.count("<ul>") == shown.count("<ol>") == 1


def test_lines_of_code_stay_lines():
    shown = convert(render_markdown("    a\n\n    b\n"))
    assert "a<br><br>b" in shown


def test_links_lead_where_they_led():
    assert 'href="a%5Fb%5Fc.md"' in convert(render_markdown("[page](a_b_c.md)"))


@pytest.mark.parametrize("found", [None, b"picture"])
def test_pictures_fit_the_page(found):
    shown = convert(
        render_markdown("![Scores_by_system](a_b_c.png)", lambda name: found)
    )
    address = "a%5Fb%5Fc.png" if found is None else "data:image/png;base64,cGljdHVyZQ=="
    assert f'<img src="{address}" alt="Scores by system"' in shown
    assert "max-width:100%" in shown
