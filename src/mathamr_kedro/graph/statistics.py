"""Statistics of a collection of math graphs, with the rows of the thesis' Table 4.2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mathamr_kedro.graph.math_graph import is_inverted
from mathamr_kedro.graph.penman_graph import read_label, read_math_graph
from mathamr_kedro.graph.penman_records import RecordFile
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
    def of_files(cls, paths: Sequence[Path]) -> list[GraphTally]:
        """Return a tally per file of fused graphs: what a worker of the stage does."""
        return [cls._of_file(path) for path in paths]

    @classmethod
    def _of_file(cls, path: Path) -> GraphTally:
        tally = cls()
        for record in RecordFile(path):
            graph = read_math_graph(record.graph)
            kind = record.post_type
            tally.sizes.setdefault(kind, Counter())[graph.num_nodes] += 1
            tally.totals.setdefault(kind, Counter()).update(
                {
                    "graphs": 1,
                    "nodes": graph.num_nodes,
                    "edges": graph.num_edges,
                    "sentences": len(Sentences.of(graph).roots),
                    "formulas": len(record.formula_map),
                    "with_formulas": bool(record.formula_map),
                    "lost_formulas": len(record.missing),
                    "opt_nodes": sum(len(part.opt) for part in graph.formulas),
                    "slt_nodes": sum(len(part.slt) for part in graph.formulas),
                }
            )
            tally.atoms.update(graph.atoms)
            tally.roles.update(role for _, role, _ in graph.lines)
        return tally

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
        """Return the statistics of a collection whose graphs of posts were counted.

        Args:
            failures: posts without a graph, by reason.
            training_pairs: questions with an answer to train on.
        """
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
    total = counts.total()
    if not total:
        return 0.0
    wanted = ((total - 1) // 2, total // 2)
    found: list[int] = []
    seen = 0
    for number in sorted(counts):
        seen += counts[number]
        found += [number for place in wanted[len(found) :] if place < seen]
    return (found[0] + found[1]) / 2


def _group_sizes(sizes: Counter[int]) -> dict[str, int]:
    """Count graphs by the power of two that their number of nodes reaches."""
    groups: Counter[int] = Counter()
    for nodes, count in sizes.items():
        groups[nodes.bit_length() - 1] += count
    return {f"{1 << power}": groups[power] for power in sorted(groups)}
