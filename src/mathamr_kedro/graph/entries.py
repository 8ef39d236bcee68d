"""What graphs and vectors belong to: a post, a topic, or formulas beside the posts."""

from __future__ import annotations

from mathamr_kedro.base.types import FormulaId, PostId

FORMULA_TYPE = "formula"
"""Type of an entry that only has formulas: no search for posts returns it."""

POST_TYPES = ("question", "answer", "document", "topic", "example", FORMULA_TYPE)
"""By number in ``post_type.npy``; the last one is no post."""

_SEPARATOR = "\x1f"  # in no id of a post: no run file could hold it


def name_entry(post_id: PostId, comment_id: str = "", formula_id: str = "") -> str:
    """Return the key of what belongs to a post and is none: a comment, a formula.

    >>> split_entry(name_entry("33701", comment_id="12", formula_id="4711"))
    ('33701', '12', '4711')
    """
    return _SEPARATOR.join((post_id, comment_id, formula_id))


def split_entry(key: str) -> tuple[PostId, str, FormulaId]:
    """Return post, comment and formula of an entry; those of a post are empty.

    >>> split_entry("33701")
    ('33701', '', '')
    """
    post_id, comment_id, formula_id = (*key.split(_SEPARATOR), "", "")[:3]
    return post_id, comment_id, formula_id


def find_owner(key: str) -> PostId:
    """Return the post that an entry belongs to: itself, if it is one."""
    return key.partition(_SEPARATOR)[0]
