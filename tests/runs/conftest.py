"""The stores and posts of the tests of ``search``."""

from tests.search.conftest import posts, store

__all__ = ["posts", "store"]
