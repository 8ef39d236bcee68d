"""Training pairs: those whose graphs exist, in a training and a validation part."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.types import PostId

Pair = tuple[PostId, PostId]
"""A question and its answer."""


@dataclass(frozen=True)
class SplitConfig:
    """How training pairs are chosen and split (thesis 3.4.5)."""

    train_share: float = 0.9
    seed: int = 42
    max_pairs: int | None = None
    """Pairs to draw for an experiment, e.g. 50,000 (thesis 4.3); ``None``: all."""

    def __post_init__(self) -> None:
        check_range(self, "train_share", above=0, most=1)
        check_range(self, "max_pairs", least=1)


class PairSplit(NamedTuple):
    """Pairs to train on and pairs to stop by."""

    train: list[Pair]
    validation: list[Pair]
    without_graph: int = 0
    """Pairs dropped because the question or the answer has no graph."""

    @property
    def training_posts(self) -> set[PostId]:
        """Posts that training may see; the vocabulary is counted on their graphs."""
        return {post for pair in self.train for post in pair}

    @classmethod
    def draw(
        cls, pairs: Iterable[Pair], graphs: Collection[PostId], config: SplitConfig
    ) -> PairSplit:
        """Shuffle the pairs whose graphs exist by the seed, and split them.

        Args:
            pairs: questions and answers; a repeated pair counts once.
            graphs: ids of the posts that have a graph.
            config: seed and shares.

        >>> pairs = [(f"q{n}", f"a{n}") for n in range(10)]
        >>> split = PairSplit.draw(pairs, {post for pair in pairs for post in pair},
        ...                        SplitConfig(seed=1))
        >>> len(split.train), len(split.validation)
        (9, 1)
        """
        distinct = list(dict.fromkeys(pairs))
        whole = [pair for pair in distinct if pair[0] in graphs and pair[1] in graphs]
        order = np.random.default_rng(config.seed).permutation(len(whole))
        shuffled = [whole[place] for place in order.tolist()][: config.max_pairs]
        middle = round(len(shuffled) * config.train_share)
        return cls(shuffled[:middle], shuffled[middle:], len(distinct) - len(whole))
