r"""Blocks: the graphs of one shard as flat arrays, on their way to a vocabulary.

::

    PENMAN shard ── build_block ──> block, numbered by itself ── count_labels ──┐
                                                                            vocabulary
    graph shards  <── GraphBlock.renumber <── block <───────────────────────────┘

A block is one ``.npz`` file. It only depends on the graphs and on the variant, so
every vocabulary and every split of the training pairs can be made from the same blocks.

Formulas that are in no graph of a text, those of comments above all, get blocks of
their own: each is encoded as a text that is nothing but this formula (as a query for a
formula is)::

    (m / multi-sentence                     formula   members F0o0 ... F0s0 ...
      :snt1 (f / FORMULA_0                  sentence  members f
        :opt (F0o0 / ...)                   document  members of both, m
        :slt (F0s0 / ...)))

Its key names the post and the formula, so that a search knows where it was found.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import GraphError, MathAMRError
from mathamr_kedro.base.records import FormulaInstance, FormulaMention
from mathamr_kedro.base.types import FormulaId, PostId
from mathamr_kedro.graph.arrays import FORMULA, GraphArrays, GraphSchema
from mathamr_kedro.graph.builder import (
    CONCEPT,
    RAW_SCHEMA,
    ArrayBuilder,
    RawNumbering,
    VocabularyNumbering,
    label_formulas,
    normalise_atom,
)
from mathamr_kedro.graph.entries import FORMULA_TYPE, name_entry, split_entry
from mathamr_kedro.graph.fusion import StoredTrees, fuse_graph
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.penman_records import GraphRecord, RecordFile
from mathamr_kedro.graph.released import ReleasedEncoder
from mathamr_kedro.graph.shards.layout import (
    GROUPS,
    NO_NAME,
    FormulaName,
)
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    AUXILIARY_ROLE,
    UNK,
    NodeVocabulary,
    RelationVocabulary,
    VocabularyConfig,
    VocabularyReport,
    classify_number,
)

VERSION = 2
"""Of the files; blocks of another version are rebuilt."""

_COLUMNS = tuple(name for names in GROUPS.values() for name in names)
_FIRST_VIRTUAL = RAW_SCHEMA.num_node_types
_AMR = "(m / multi-sentence :snt1 (f / FORMULA_0))"


class LabelCounts(NamedTuple):
    """How often labels and roles occur in some graphs."""

    graphs: int
    labels: Counter[tuple[str, str]]
    roles: Counter[str]

    @classmethod
    def of_blocks(
        cls, blocks: Iterable[GraphBlock], chosen: Collection[PostId] | None
    ) -> LabelCounts:
        """Add up the counts of all blocks; one of them is in memory at a time."""
        graphs, labels, roles = 0, Counter[tuple[str, str]](), Counter[str]()
        for block in blocks:
            counts = block.count_labels(chosen)
            graphs += counts.graphs
            labels.update(counts.labels)
            roles.update(counts.roles)
        return cls(graphs, labels, roles)


class GraphBlock(NamedTuple):
    """Graphs as flat arrays, one after another."""

    keys: list[str]
    post_types: list[str]
    arrays: dict[str, NDArray[np.uint32]]
    """``sizes`` and the files of :mod:`~mathamr_kedro.graph.shards.layout`."""
    formulas: list[list[FormulaName]]
    """Of each graph: the formulas among its representatives, in their order."""
    labels: list[tuple[str, str]]
    """Kind (``concept`` or ``symbol``) and PENMAN atom of each node type."""
    roles: list[str]
    """Of each relation."""
    failures: list[tuple[str, str]]
    """Id and reason of each graph of the shard that is not here."""

    @classmethod
    def build(
        cls,
        records: Iterable[GraphRecord],
        variant: GraphVariant,
        build: Callable[[ArrayBuilder, GraphRecord], GraphArrays] = (
            ArrayBuilder.build_record
        ),
    ) -> GraphBlock:
        """Turn records into arrays; those that cannot be are noted as failures."""
        numbering = RawNumbering()
        builder = ArrayBuilder(numbering, variant)
        block = cls([], [], {}, [], numbering.labels, [], [])
        rows: list[dict[str, NDArray[np.uint32]]] = []
        for record in records:
            try:
                graph = build(builder, record)
            except MathAMRError as exc:
                post, _, formula = split_entry(record.graph_id)
                block.failures.append((formula or post, str(exc)))
                continue
            block.keys.append(record.graph_id)
            block.post_types.append(record.post_type)
            block.formulas.append(_name_formulas(record, graph))
            rows.append({name: graph.column(name) for name in _COLUMNS})
        arrays = {n: _concatenate(n, [row[n] for row in rows]) for n in _COLUMNS}
        sizes = [[len(row[names[0]]) for names in GROUPS.values()] for row in rows]
        arrays["sizes"] = np.array(sizes, dtype=np.uint32).reshape(-1, len(GROUPS))
        return block._replace(arrays=arrays, roles=list(numbering.roles))

    def graphs(self) -> Iterator[tuple[str, GraphArrays]]:
        """Yield key and arrays of each graph."""
        ends = np.cumsum(self.arrays["sizes"], axis=0, dtype=np.int64).tolist()
        starts = [[0] * len(GROUPS), *ends]
        for key, start, end in zip(self.keys, starts, ends, strict=False):
            values = {
                name: self.arrays[name][a:b]
                for (a, b), names in zip(
                    zip(start, end, strict=True), GROUPS.values(), strict=True
                )
                for name in names
            }
            edge = values.pop("edge")
            source, target, relation = edge[:, 0], edge[:, 1], edge[:, 2]
            yield (
                key,
                GraphArrays(source=source, target=target, relation=relation, **values),
            )

    def renumber(
        self,
        types: NDArray[np.uint32],
        relations: NDArray[np.uint32],
        schema: GraphSchema,
    ) -> GraphBlock:
        """Return the block with the numbers of a vocabulary."""
        raw = self.arrays["node_type"]
        is_virtual = raw >= _FIRST_VIRTUAL
        shift = _FIRST_VIRTUAL - schema.num_node_types
        known = np.append(types, np.uint32(0))  # so that there is a number 0
        node_type = np.where(
            is_virtual, raw - shift, known[np.where(is_virtual, 0, raw)]
        )
        edge = self.arrays["edge"].copy()
        edge[:, 2] = relations[edge[:, 2]] if len(edge) else 0
        arrays = {**self.arrays, "node_type": node_type.astype(np.uint32), "edge": edge}
        return self._replace(arrays=arrays)

    def count_labels(self, chosen: Collection[str] | None = None) -> LabelCounts:
        """Count labels and roles in the graphs with the chosen keys (``None``: all)."""
        picked = np.array([chosen is None or key in chosen for key in self.keys], bool)
        sizes = self.arrays["sizes"]
        types = self.arrays["node_type"][np.repeat(picked, sizes[:, 0])]
        relations = self.arrays["edge"][np.repeat(picked, sizes[:, 1]), 2]
        return LabelCounts(
            int(picked.sum()),
            _count(types[types < _FIRST_VIRTUAL], self.labels),
            _count(relations, self.roles),
        )

    def save(self, path: Path) -> None:
        """Write the block to one file."""
        text = {
            "keys": self.keys,
            "post_types": self.post_types,
            "formulas": self.formulas,
            "labels": self.labels,
            "roles": self.roles,
            "failures": self.failures,
        }
        raw = np.frombuffer(json.dumps(text).encode(), dtype=np.uint8)
        with path.open("wb") as file:
            np.savez(file, text=raw, **self.arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path) -> GraphBlock:
        """Read what :meth:`save` wrote."""
        with np.load(path) as file:
            arrays = {name: file[name] for name in ("sizes", *_COLUMNS)}
            text = json.loads(file["text"].tobytes())
        return cls(
            text["keys"],
            text["post_types"],
            arrays,
            [[(name, visual) for name, visual in found] for found in text["formulas"]],
            [(kind, atom) for kind, atom in text["labels"]],
            text["roles"],
            [(key, reason) for key, reason in text["failures"]],
        )

    @staticmethod
    def load_keys(path: Path) -> list[PostId]:
        """Return the keys of the graphs in a file that :meth:`save` wrote."""
        with np.load(path) as file:
            return json.loads(file["text"].tobytes())["keys"]

    @staticmethod
    def load_formula_ids(path: Path) -> list[FormulaId]:
        """Return the ids of the formulas that have a vector in the graphs of a file."""
        with np.load(path) as file:
            found = json.loads(file["text"].tobytes())["formulas"]
        return [formula_id for names in found for formula_id, _ in names]


def build_graph_blocks(
    paths: Sequence[Path], variant: GraphVariant
) -> list[GraphBlock]:
    """Return one block per shard of fused graphs: what a worker of the stage does."""
    return [GraphBlock.build(RecordFile(path), variant) for path in paths]


def _name_formulas(record: GraphRecord, graph: GraphArrays) -> list[FormulaName]:
    """Return formula id and visual id of each representative that is a formula."""
    names = {n: (m.formula_id, m.visual_id) for n, m in record.formulas().items()}
    is_formula = graph.representative_kind == FORMULA
    # A parser may invent a placeholder that the text does not have.
    return [
        names.get(number, NO_NAME)
        for number in graph.representative_number[is_formula].tolist()
    ]


def _concatenate(name: str, parts: list[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    empty = np.empty((0, 3) if name == "edge" else 0, dtype=np.uint32)
    return np.concatenate([empty, *parts])


def _count(numbers: NDArray[np.uint32], names: list[Any]) -> Counter[Any]:
    counts = np.bincount(numbers, minlength=len(names)).tolist()
    return Counter({name: n for name, n in zip(names, counts, strict=True) if n})


class BuildFormulaBlocks:
    """Turns formulas into blocks of graphs, one graph each: what a worker does.

    Args:
        store: file of the formula-tree store; ``None``: all trees from LaTeX.
        variant: of the graphs.
    """

    def __init__(self, store: Path | None, variant: GraphVariant) -> None:
        self._find_trees, self._variant = StoredTrees(store), variant

    def __call__(
        self, batches: Sequence[Sequence[FormulaInstance]]
    ) -> list[GraphBlock]:
        """Return one block per batch of formulas."""
        return [
            GraphBlock.build(map(_make_record, batch), self._variant, self._build)
            for batch in batches
        ]

    def _build(self, builder: ArrayBuilder, record: GraphRecord) -> GraphArrays:
        fused = fuse_graph(record, self._find_trees).graph
        return builder.build(fused, label_formulas(record))


def _make_record(formula: FormulaInstance) -> GraphRecord:
    placeholder = "FORMULA_0"
    mention = FormulaMention(
        placeholder, formula.formula_id, formula.visual_id, formula.latex,
        0, len(placeholder),
    )  # fmt: skip
    key = name_entry(formula.post_id, formula.comment_id or "", formula.formula_id)
    return GraphRecord(key, _AMR, FORMULA_TYPE, (mention,))


class Vocabularies(NamedTuple):
    """Numbers of node types and relations, and how good they are."""

    types: NodeVocabulary
    relations: RelationVocabulary
    report: VocabularyReport

    @classmethod
    def build(
        cls,
        counts: LabelCounts,
        config: VocabularyConfig,
        variant: GraphVariant | None = None,
    ) -> Vocabularies:
        """Choose the types and relations that get an embedding.

        Raises:
            GraphError: there is nothing to count.
        """
        if not counts.graphs:
            raise GraphError("Expected graphs to count a vocabulary on (got none)")
        normal: Counter[str] = Counter()
        for (kind, atom), count in counts.labels.items():
            normal[normalise_atom(kind, atom)] += count
        roles = Counter(counts.roles)
        del roles[AUXILIARY_ROLE]
        if config.source is None:
            types = NodeVocabulary.build(normal, config.size, config.rare_numbers_below)
            relations = RelationVocabulary.build(roles, config.rare_roles_below)
        else:
            types, relations = ReleasedEncoder(config.source).load_vocabularies(
                variant or GraphVariant()
            )
        unknown = types.find(UNK)
        nodes = normal.total()
        lost = sum(
            count for name, count in normal.items() if types.find(name) == unknown
        )
        known = set(types.names)
        report = VocabularyReport(
            graphs=counts.graphs,
            nodes=nodes,
            raw_types=len({read_label(atom) for _, atom in counts.labels}),
            normalised_types=len(normal),
            rare_numbers=sum(
                name not in known and classify_number(name) is not None
                for name in normal
            ),
            types=len(types),
            coverage=1 - lost / max(nodes, 1),
            raw_relations=len(roles),
            relations=2 * len(relations),
            coverage_by_size=_find_coverage(normal),
        )
        return cls(types, relations, report)

    def renumber(self, blocks: Iterable[GraphBlock]) -> Iterator[GraphBlock]:
        """Yield blocks with the numbers of these vocabularies."""
        numbering = VocabularyNumbering(self.types, self.relations)
        for block in blocks:
            types = [
                (numbering.concepts if kind == CONCEPT else numbering.symbols)[atom]
                for kind, atom in block.labels
            ]
            relations = [numbering.roles[role] for role in block.roles]
            yield block.renumber(
                np.array(types, dtype=np.uint32),
                np.array(relations, dtype=np.uint32),
                numbering.schema,
            )


def _find_coverage(counts: Counter[str]) -> tuple[tuple[int, float], ...]:
    """Return which share of the nodes the n most frequent types are."""
    ranked = np.sort(np.array(list(counts.values()), dtype=np.int64))[::-1]
    shares = np.cumsum(ranked) / max(int(ranked.sum()), 1)
    steps = [base * 10**power for power in range(2, 6) for base in (1, 2, 5)]
    sizes = [*(n for n in steps if n < len(ranked)), len(ranked)]
    return tuple((n, float(shares[n - 1])) for n in sizes if n)
