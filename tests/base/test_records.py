"""Records that make others, or judge themselves."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.records import Failure, Formula, FormulaMention


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("timeout", "transient"),
        ("worker_died", "transient"),
        ("out_of_memory", "transient"),
        ("unreadable_file", "transient"),
        ("duplicate_post_id", "permanent"),
    ],
)
def test_what_the_machine_is_to_blame_for_is_tried_again(reason, kind):
    failure = Failure("ingestion", "Posts.xml", "line 1", "7", reason, "", kept=True)
    found = failure.classify()
    assert found == failure._replace(kind=kind)
    assert found._replace(kind="transient").classify() == found  # classified again


def test_formula_of_a_text_becomes_a_row_of_the_index():
    mention = FormulaMention("FORMULA_0", "f1", "70", "x", 0, 9)
    row = Formula.of_mention(mention, "7")
    assert (row.formula_id, row.post_id, row.visual_id) == ("f1", "7", "70")
    assert (row.place, row.latex, row.comment_id, row.issue) == ("body", "x", None, "")
    assert (row.presentation, row.content) == ("", "")
