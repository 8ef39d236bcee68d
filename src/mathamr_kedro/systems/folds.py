"""Topics dealt into folds, so that nothing is scored on what it was chosen by.

::

    topics    B.1  B.2  B.3  B.4  B.5  B.6        judged ones, in the order of their ids
    fold      0    1    2    0    1    2
    model 0   .    B.2  B.3  .    B.5  B.6        learns from these, serves B.1 and B.4
    model all B.1  B.2  B.3  B.4  B.5  B.6        serves topics without judgments
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from mathamr_kedro.base.types import TopicId

ALL = "all"
"""What was chosen by all judged topics."""


def deal_topics(topics: Iterable[TopicId], folds: int) -> dict[TopicId, str]:
    """Return the fold of each topic.

    >>> deal_topics(["B.10", "B.9", "B.11"], 2)
    {'B.9': '0', 'B.10': '1', 'B.11': '0'}
    """
    ordered = sorted(set(topics), key=lambda topic: (len(topic), topic))
    return {topic: str(n % folds) for n, topic in enumerate(ordered)}


def hash_to_unit(text: str) -> float:
    """Return a number from 0 to 1 that looks drawn, and is always that of the text.

    >>> hash_to_unit("q1") == hash_to_unit("q1") != hash_to_unit("q2")
    True
    """
    content = text.encode("utf-8", errors="surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest()) / 2**64
