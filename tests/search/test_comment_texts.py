"""Texts of comments and of single formulas, which an index holds beside the posts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mathamr_kedro.base.records import FormulaInstance, Post
from mathamr_kedro.graph import name_entry
from mathamr_kedro.search.comment_texts import find_comment_texts
from tests.fake_tables import Rows

FORMULA = FormulaInstance("f1", "70", "7", "x^2")
COMMENT = SimpleNamespace(comment_id="c1", post_id="7", text="so", formula_map=("m",))
POST = Post("7", "answer", "5", "5", None, None, None, (), "", "text", ())


@pytest.fixture
def texts():
    find_posts = lambda ids: {"7": POST} if "7" in ids else {}  # noqa: E731
    return lambda keys: find_comment_texts(
        keys, Rows([FORMULA]), Rows([COMMENT]), find_posts
    )


def test_posts_have_no_text_here(texts):
    assert texts(["7", "8"]) == {}


def test_comment_belongs_to_the_thread_of_its_post(texts):
    key = name_entry("7", "c1")
    found = texts(["7", key, name_entry("7", "c2")])
    assert [*found] == [key]
    post = found[key]
    assert (post.post_id, post.post_type, post.thread_id) == (key, "comment", "5")
    assert (post.parent_id, post.text, post.formula_map) == ("5", "so", ("m",))


@pytest.mark.parametrize(
    ("post_id", "comment", "kind", "thread"),
    [("7", "", "answer", "5"), ("7", "c1", "comment", "5"), ("9", "", "comment", "9")],
)
def test_formula_alone_is_a_text_of_nothing_else(texts, post_id, comment, kind, thread):
    key = name_entry(post_id, comment, "f1")
    (post,) = texts([key]).values()
    assert (post.post_type, post.thread_id, post.text) == (kind, thread, "FORMULA_0")
    (mention,) = post.formula_map
    assert mention == ("FORMULA_0", "f1", "70", "x^2", 0, 9)
