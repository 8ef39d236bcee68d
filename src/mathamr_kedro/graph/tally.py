"""What math graphs come to: statistics of each shard, and what of it has no graph.

The stage fuses every record once to check it. What remains of that is a file of facts a
shard; the graphs themselves are fused again when somebody reads them, from the AMR and
the trees::

    posts-00000-000.facts.json
      dropped     places of the AMR records that have no math graph
      checksum    of all graphs: what is made of them depends on it
      tally       sizes, totals by post type, distinct labels and roles
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mathamr_kedro.base.errors import GraphError, MalformedInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.graph.fusion import FusedRecord, StoredTrees, describe_failure
from mathamr_kedro.graph.math_graph import is_inverted
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.penman_records import GraphRecord
from mathamr_kedro.graph.sentences import Sentences


class GraphTally:
    """Counts over graphs; the tallies of several shards add up."""

    def __init__(self) -> None:
        self.sizes: dict[str, Counter[int]] = {}
        """By post type: how many graphs have so many nodes."""
        self.totals: dict[str, Counter[str]] = {}
        """By post type: nodes, edges, formulas, sentences, lost formulas, ..."""
        self.atoms: set[str] = set()
        self.roles: set[str] = set()

    @classmethod
    def of_record(cls, record: FusedRecord) -> GraphTally:
        """Count one graph."""
        tally, graph = cls(), record.graph
        tally.sizes[record.post_type] = Counter({graph.num_nodes: 1})
        tally.totals[record.post_type] = Counter(
            graphs=1,
            nodes=graph.num_nodes,
            edges=graph.num_edges,
            sentences=len(Sentences.of(graph).roots),
            formulas=len(record.formula_map),
            with_formulas=int(bool(record.formula_map)),
            lost_formulas=len(record.lost),
            opt_nodes=sum(len(part.opt) for part in graph.formulas),
            slt_nodes=sum(len(part.slt) for part in graph.formulas),
        )
        tally.atoms.update(graph.atoms)
        tally.roles.update(graph.roles)
        return tally

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> GraphTally:
        """Read what :meth:`to_values` wrote."""
        tally = cls()
        for kind, sizes in values["sizes"].items():
            tally.sizes[kind] = Counter({int(size): n for size, n in sizes.items()})
        for kind, totals in values["totals"].items():
            tally.totals[kind] = Counter(totals)
        tally.atoms, tally.roles = set(values["atoms"]), set(values["roles"])
        return tally

    def to_values(self) -> dict[str, Any]:
        """Return what JSON can write."""
        return {
            "sizes": self.sizes,
            "totals": self.totals,
            "atoms": sorted(self.atoms),
            "roles": sorted(self.roles),
        }

    def merge(self, other: GraphTally) -> None:
        """Add what another tally counted."""
        for kind, sizes in other.sizes.items():
            self.sizes.setdefault(kind, Counter()).update(sizes)
        for kind, totals in other.totals.items():
            self.totals.setdefault(kind, Counter()).update(totals)
        self.atoms |= other.atoms
        self.roles |= other.roles

    def describe(
        self, failures: Mapping[str, int], training_pairs: int
    ) -> dict[str, Any]:
        """Return the statistics of a collection whose graphs of posts were counted."""
        sizes = sum(self.sizes.values(), Counter[int]())
        totals = sum(self.totals.values(), Counter[str]())
        graphs, failed = totals["graphs"], sum(failures.values())
        return {
            "posts_processed": graphs + failed,
            "graphs": graphs,
            "failed_posts": failed,
            "failures": dict(sorted(failures.items(), key=lambda item: -item[1])),
            "training_pairs": training_pairs,
            "all": _describe_part(sizes, totals),
            "by_post_type": {
                kind: _describe_part(self.sizes[kind], self.totals[kind])
                for kind in sorted(self.sizes)
            },
            "raw_node_types": len({read_label(atom) for atom in self.atoms}),
            "raw_relations": len(
                {role[:-3] if is_inverted(role) else role for role in self.roles}
            ),
            "size_histograms": {
                kind: _group_sizes(self.sizes[kind]) for kind in sorted(self.sizes)
            },
        }


def _describe_part(sizes: Counter[int], totals: Counter[str]) -> dict[str, Any]:
    graphs = max(totals["graphs"], 1)
    return {
        "graphs": totals["graphs"],
        "nodes_per_graph": totals["nodes"] / graphs,
        "median_nodes": _find_median(sizes),
        "largest_graph": max(sizes, default=0),
        "edges_per_graph": totals["edges"] / graphs,
        "formulas_per_graph": totals["formulas"] / graphs,
        "sentences_per_graph": totals["sentences"] / graphs,
        "formulas": totals["formulas"],
        "with_formulas": totals["with_formulas"],
        "lost_formulas": totals["lost_formulas"],
        "opt_nodes_per_graph": totals["opt_nodes"] / graphs,
        "slt_nodes_per_graph": totals["slt_nodes"] / graphs,
    }


def _find_median(counts: Counter[int]) -> float:
    """Return the median of numbers given by how often each occurs.

    >>> _find_median(Counter({3: 1, 5: 2, 9: 1}))
    5.0
    >>> _find_median(Counter({3: 1, 4: 1}))
    3.5
    """
    if not counts:
        return 0.0
    return float(np.median(np.repeat(list(counts), list(counts.values()))))


def _group_sizes(sizes: Counter[int]) -> dict[str, int]:
    """Count graphs by the power of two that their number of nodes reaches."""
    groups: Counter[int] = Counter()
    for nodes, count in sizes.items():
        groups[nodes.bit_length() - 1] += count
    return {f"{1 << power}": groups[power] for power in sorted(groups)}


class CheckedRecord(NamedTuple):
    """What a record comes to."""

    problems: tuple[Failure, ...] = ()
    """Without source and place, which the caller knows."""
    checksum: str = ""
    """Of the graph and its formulas; empty: there is no graph."""
    tally: GraphTally | None = None


class CheckRecords:
    """Fuses the texts of AMR records; made in one process, called in others.

    Args:
        store: file of the formula-tree store; ``None``: all trees from LaTeX.
    """

    VERSION: ClassVar = 2
    """Of what comes out; another one rebuilds the math graphs."""

    def __init__(self, store: Path | None) -> None:
        self._find_trees = StoredTrees(store)

    def __call__(self, blocks: Sequence[str]) -> list[CheckedRecord]:
        """Return one result per record."""
        return [self._check(block) for block in blocks]

    def _check(self, block: str) -> CheckedRecord:
        try:
            record = GraphRecord.read(block)
        except MalformedInputError as exc:
            problem = describe_failure("", "malformed_record", str(exc))
            return CheckedRecord((problem,))
        try:
            fused = FusedRecord.read(record, self._find_trees, check=True)
        except GraphError as exc:
            problem = describe_failure(record.graph_id, "graph_error", str(exc))
            return CheckedRecord((problem,))
        tally = GraphTally.of_record(fused)
        return CheckedRecord(fused.problems, _checksum_record(fused), tally)


class ShardFacts(NamedTuple):
    """What a shard comes to."""

    dropped: list[int]
    checksum: str
    tally: GraphTally

    @classmethod
    def of_records(cls, records: Sequence[CheckedRecord | None]) -> ShardFacts:
        """Sum up the records of a shard; ``None``: no worker could finish it."""
        tally, found = GraphTally(), [r or CheckedRecord() for r in records]
        hasher = hashlib.blake2b(digest_size=16)
        for record in found:
            hasher.update(f"{record.checksum}\n".encode())
            if record.tally is not None:
                tally.merge(record.tally)
        dropped = [n for n, record in enumerate(found) if record.tally is None]
        return cls(dropped, hasher.hexdigest(), tally)

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> ShardFacts:
        """Read what :meth:`to_values` wrote."""
        tally = GraphTally.of_values(values["tally"])
        return cls(values["dropped"], values["checksum"], tally)

    def to_values(self) -> dict[str, Any]:
        """Return what JSON can write."""
        return {**self._asdict(), "tally": self.tally.to_values()}


def _checksum_record(record: FusedRecord) -> str:
    graph = record.graph
    lines = graph.holders, graph.roles, graph.targets
    content = record.graph_id, record.post_type, record.formula_map
    parts = (*content, graph.variables, graph.atoms, *map(tuple, lines))
    text = repr(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
