"""The stores and posts of the tests of ``vectors``."""

from tests.vectors.conftest import posts, store

__all__ = ["posts", "store"]
