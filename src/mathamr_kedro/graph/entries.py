"""What graphs and vectors belong to: a post, a topic, or formulas beside the posts."""

from __future__ import annotations

from mathamr_kedro.types import PostId

FORMULA_TYPE = "formula"
"""Type of an entry that has formulas alone: no search for posts returns it."""

POST_TYPES = ("question", "answer", "document", "topic", "example", FORMULA_TYPE)
"""By number in ``post_type.npy``; the last one is no post."""

_SEPARATOR = "\x1f"  # in no id of a post: no run file could hold it


def name_entry(post_id: PostId, name: str) -> str:
    """Return the key of what belongs to a post and is none: a formula, a comment.

    >>> find_owner(name_entry("33701", "4711")), find_owner("33701")
    ('33701', '33701')
    """
    return f"{post_id}{_SEPARATOR}{name}"


def find_owner(key: str) -> PostId:
    """Return the post that an entry belongs to: itself, if it is one."""
    return key.partition(_SEPARATOR)[0]
