"""Posts that were added, replaced and deleted after indexing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mathamr_kedro.base.records import Post
from mathamr_kedro.base.types import PostId


@dataclass(frozen=True)
class Changes:
    """How the posts of a data root differ from those that were indexed."""

    added: Mapping[PostId, Post] = field(default_factory=dict)
    """With their clean texts; those that replaced others among them."""
    deleted: frozenset[PostId] = frozenset()
