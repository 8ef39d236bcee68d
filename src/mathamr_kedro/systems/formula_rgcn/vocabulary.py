"""Numbers of the labels and edges of one representation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.graph import KIND_NAMES, GraphSchema

UNKNOWN = "?"
"""Of labels and edges that are rare or were never met; behind the type of a label."""


@dataclass(frozen=True)
class Vocabulary:
    """What the numbers in graphs mean; number 0 is unknown.

    A label that has no number is unknown of its type (Table 1 of the paper):

    >>> vocabulary = Vocabulary(("?", "V!?", "V!x", "N!2"), ("?", "n"))
    >>> [vocabulary.number(label) for label in ("V!x", "V!y", "N!7", "+")]
    [2, 1, 0, 0]
    >>> vocabulary.types
    (0, 2, 2, 1)
    """

    labels: tuple[str, ...]
    edges: tuple[str, ...]

    @classmethod
    def count(
        cls, labels: Mapping[str, int], edges: Mapping[str, int], min_count: int
    ) -> Vocabulary:
        """Number what was met often enough, the most frequent first."""
        types = sorted({_find_type(label) for label in labels} - {""})
        return cls(
            (UNKNOWN, *(t + UNKNOWN for t in types), *_choose(labels, min_count)),
            (UNKNOWN, *_choose(edges, min_count)),
        )

    @classmethod
    def read(cls, folder: Path, name: str) -> Vocabulary:
        """Read what :meth:`write` wrote.

        Raises:
            MissingInputError: there is none.
        """
        path = folder / f"{name}.json"
        if not path.is_file():
            raise MissingInputError(
                f"Expected {path.name} in {str(folder)!r}; run the stage 'training'"
            )
        found = json.loads(path.read_text(encoding="utf-8"))
        return cls(tuple(found["labels"]), tuple(found["edges"]))

    def write(self, folder: Path, name: str) -> None:
        """Write it as ``NAME.json``."""
        write_text(folder / f"{name}.json", json.dumps(asdict(self)))

    def number(self, label: str) -> int:
        """Return the number of a label."""
        known = self._label_numbers
        found = known.get(label, known.get(_find_type(label) + UNKNOWN, 0))
        return found

    def number_edge(self, edge: str) -> int:
        """Return the number of an edge."""
        return self._edge_numbers.get(edge, 0)

    @cached_property
    def types(self) -> tuple[int, ...]:
        """The type of each label as a number; operators of an SLT have none, 0."""
        names = sorted({_find_type(label) for label in self.labels} | {""})
        place = {name: number for number, name in enumerate(names)}
        return tuple(place[_find_type(label)] for label in self.labels)

    @property
    def schema(self) -> GraphSchema:
        """The same for the convolution, which wants relations of virtual nodes too."""
        count = len(self.edges)
        formula, sentence, document = range(count, count + len(KIND_NAMES))
        return GraphSchema(
            num_node_types=len(self.labels),
            num_forward=count + len(KIND_NAMES),
            mask_type=0,
            virtual_relations=(formula, sentence, document),
        )

    @cached_property
    def _label_numbers(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def _edge_numbers(self) -> dict[str, int]:
        return {edge: number for number, edge in enumerate(self.edges)}


def _choose(counts: Mapping[str, int], min_count: int) -> Sequence[str]:
    ordered = sorted(Counter(counts).items(), key=lambda item: (-item[1], item[0]))
    return [name for name, count in ordered if count >= min_count]


def _find_type(label: str) -> str:
    """Return the type of a label, e.g. ``V!``; nothing for operators of an SLT."""
    return label[:2] if label[1:2] == "!" else ""
