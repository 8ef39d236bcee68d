"""Statistics of AMR parsing, after Table 4.2 of the thesis."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mathamr_kedro.amr.graphs import PLACEHOLDER, ROOT_CONCEPT
from mathamr_kedro.base.errors import MalformedInputError

_BINS = (0, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000)

_ATOM = r'"(?:[^"\\]|\\.)*"|\S+?'
_LINE = re.compile(
    rf"^ *(?::(\S+) )?(?:\((\S+) / ({_ATOM})|({_ATOM}))\)*$", re.MULTILINE
)


class GraphStatistics:
    """Counts graphs one by one; keeps numbers, not graphs."""

    def __init__(self) -> None:
        self._nodes: dict[str, array[int]] = defaultdict(lambda: array("i"))
        self._edges: dict[str, array[int]] = defaultdict(lambda: array("i"))
        self._formulas: dict[str, array[int]] = defaultdict(lambda: array("i"))
        self._sentences = array("i")
        self._concepts: set[str] = set()
        self._roles: Counter[str] = Counter()
        self._missing = 0
        self._whole = 0

    def add(self, kind: str, graph: str, formulas: int, missing: int) -> None:
        """Count one graph.

        Args:
            kind: ``question``, ``answer``, ...
            graph: its PENMAN text.
            formulas: number of placeholders of its text.
            missing: how many of them have no node.
        """
        size = measure_graph(graph)
        self._nodes[kind].append(len(size.concepts))
        self._edges[kind].append(len(size.roles))
        self._formulas[kind].append(formulas)
        self._sentences.append(size.sentences)
        self._concepts.update(c for c in size.concepts if not PLACEHOLDER.fullmatch(c))
        self._roles.update(size.roles)
        self._missing += missing
        self._whole += not missing

    def describe(self) -> dict[str, Any]:
        """Return the counts."""
        kinds = sorted(self._nodes)
        formulas = sum(sum(values) for values in self._formulas.values())
        nodes = _join(self._nodes)
        return {
            "graphs": {"total": len(nodes), **{k: len(self._nodes[k]) for k in kinds}},
            "nodes_per_graph": _spreads(self._nodes),
            "edges_per_graph": _spreads(self._edges),
            "formulas_per_graph": _spreads(self._formulas),
            "sentences_per_graph": _spread(np.array(self._sentences)),
            "node_histogram": _histogram(nodes),
            "node_types": len(self._concepts),
            "relation_types": sum(not r.startswith("snt") for r in self._roles),
            "relations": dict(self._roles.most_common(30)),
            "placeholders": {
                "total": formulas,
                "kept": formulas - self._missing,
                "kept_percent": _percent(formulas - self._missing, formulas),
                "graphs_with_all": self._whole,
            },
        }


def describe_outcomes(
    graphs: int, reasons: Mapping[str, int], partial: Mapping[str, int]
) -> dict[str, Any]:
    """Return how many texts became graphs and why others did not.

    Args:
        graphs: number of graphs.
        reasons: failed texts by reason.
        partial: failed chunks by reason, of texts that have a graph all the same.
    """
    failed = sum(reasons.values())
    return {
        "processed": graphs + failed,
        "graphs": graphs,
        "graphs_percent": _percent(graphs, graphs + failed),
        "failed": failed,
        "failed_by_reason": dict(sorted(reasons.items())),
        "chunks_lost_in_graphs": dict(sorted(partial.items())),
    }


def check_account(
    shard: str,
    expected: Iterable[str],
    graphs: Iterable[str],
    failed: Iterable[str],
) -> None:
    """Refuse a shard in which a text was lost, doubled or made up.

    Args:
        shard: its name, for the message.
        expected: ids that were to be parsed.
        graphs: ids that have a graph.
        failed: ids that have none.

    Raises:
        MalformedInputError: some id is not exactly once a graph or a failure.
    """
    wanted, found = Counter(expected), Counter(graphs)
    found.update(failed)
    if wanted != found:
        wrong = sorted((wanted - found) | (found - wanted))
        raise MalformedInputError(
            f"The account of shard {shard!r} does not balance: {len(wrong)} ids "
            f"are not exactly once a graph or a failure, e.g. {wrong[0]!r}; delete "
            "the folder of the graphs and run the stage again"
        )


class GraphSize(NamedTuple):
    """What one graph consists of."""

    concepts: tuple[str, ...]
    """One per node."""
    roles: tuple[str, ...]
    """One per edge, ``ARG1-of`` as ``ARG1``."""
    attributes: int
    sentences: int
    """Sentences of all chunks."""


def measure_graph(text: str) -> GraphSize:
    r"""Measure a graph by its PENMAN text, without building it.

    :func:`~mathamr_kedro.amr.penman_io.format_graph` writes one edge or attribute per
    line, so lines can be counted::

        (s / show-01             node
          :mode imperative       attribute: the target is no variable of this graph
          :ARG1 (f / FORMULA_0   edge and node
            :ARG1-of s))         edge: the target is a variable

    >>> size = measure_graph("(s / show-01\n  :mode polite\n  :ARG1 (f / FORMULA_0))")
    >>> size.concepts, size.roles, size.attributes, size.sentences
    (('show-01', 'FORMULA_0'), ('ARG1',), 1, 0)
    """
    lines = _LINE.findall(text)
    variables = {variable for _, variable, _, _ in lines if variable}
    concepts = tuple(concept for _, variable, concept, _ in lines if variable)
    roles = tuple(
        _without_inversion(role)
        for role, variable, _, target in lines
        if role and (variable or target in variables)
    )
    attributes = sum(
        bool(target) and target not in variables for _, _, _, target in lines
    )
    # A chunk of several sentences is no sentence itself.
    chunks = sum(
        role.startswith("snt") and concept == ROOT_CONCEPT
        for role, _, concept, _ in lines
    )
    sentences = sum(role.startswith("snt") for role in roles) - chunks
    return GraphSize(concepts, roles, attributes, sentences)


@cache
def _without_inversion(role: str) -> str:
    """Return ``ARG1`` for ``ARG1-of``, but ``consist-of`` for itself."""
    # penman is not there on every machine that imports this package
    from penman.models.amr import model as amr_model  # noqa: PLC0415

    return amr_model.canonicalize_role(
        amr_model.invert_role(f":{role}")
        if amr_model.is_role_inverted(f":{role}")
        else f":{role}"
    )[1:]


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 100.0


def _join(values: Mapping[str, array[int]]) -> np.ndarray:
    parts = [np.array(values[kind], np.int64) for kind in sorted(values)]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _spreads(values: Mapping[str, array[int]]) -> dict[str, dict[str, float]]:
    kinds = {kind: _spread(np.array(values[kind])) for kind in sorted(values)}
    return {"all": _spread(_join(values)), **kinds}


def _spread(values: np.ndarray) -> dict[str, float]:
    if not len(values):
        return {"mean": 0.0, "median": 0.0, "p90": 0.0, "max": 0}
    return {
        "mean": round(float(values.mean()), 2),
        "median": float(np.median(values)),
        "p90": round(float(np.percentile(values, 90)), 2),
        "max": int(values.max()),
    }


def _histogram(values: np.ndarray) -> dict[str, int]:
    counts = np.histogram(values, bins=[*_BINS, 10**9])[0]
    names = [f"{a}-{b - 1}" for a, b in pairwise(_BINS)]
    names.append(f"{_BINS[-1]}+")
    return {n: int(count) for n, count in zip(names, counts, strict=True)}
