"""Texts of what an index holds beside the posts: comments and single formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mathamr_kedro.base.records import CleanText, FormulaInstance, FormulaMention, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import find_owner, name_entry, split_entry


def find_comment_texts(
    keys: Iterable[str],
    formulas: Any,
    comments: Any,
    find_posts: Callable[[Iterable[PostId]], Mapping[str, Post]],
) -> dict[str, Post]:
    """Return the existing texts of what an index holds beside the posts, by key.

    A formula that was encoded by itself is a text that is nothing but this formula.

    Args:
        keys: of entries; posts among them are skipped.
        formulas: table of the formulas that may be returned.
        comments: table of comments.
        find_posts: gives posts by id.
    """
    parts = {key: split_entry(key) for key in keys if find_owner(key) != key}
    if not parts:
        return {}
    names = [formula for _, _, formula in parts.values() if formula]
    wanted = [comment for _, comment, formula in parts.values() if not formula]
    rows = formulas.select("formula_id", names)
    texts = {row.formula_id: _show_alone(row) for row in rows}
    for comment in comments.select("comment_id", wanted):
        key = name_entry(comment.post_id, comment.comment_id)
        texts[key] = CleanText(comment.text, comment.formula_map)
    posts = find_posts(post_id for post_id, _, _ in parts.values())
    found: dict[str, Post] = {}
    for key, (post_id, comment, formula) in parts.items():
        text, post = texts.get(formula or key), posts.get(post_id)
        if text is not None:
            kind = "comment" if comment or post is None else post.post_type
            thread = post_id if post is None else post.thread_id
            found[key] = Post(
                post_id=key,
                post_type=kind,
                thread_id=thread,
                parent_id=thread,
                text=text.text,
                formula_map=text.formula_map,
            )
    return found


def _show_alone(formula: FormulaInstance) -> CleanText:
    name = "FORMULA_0"
    mention = FormulaMention(
        name, formula.formula_id, formula.visual_id, formula.latex, 0, len(name)
    )
    return CleanText(name, (mention,))
