"""The teacher of formula vectors against plain loops over its definition."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import (
    FORMULA,
    GraphArrays,
    GraphSchema,
    GraphShards,
    ShardWriter,
)
from mathamr_kedro.learning.distillation import (
    DistillationConfig,
    FormulaSymbols,
    PatternTeacher,
    list_patterns,
)
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.trainer import train
from tests.learning.conftest import make_posts

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def width(monkeypatch):
    """Few dimensions of hashed sets: finding the principal ones takes their cube."""
    # Seconds, not minutes.
    monkeypatch.setattr("mathamr_kedro.learning.distillation._WIDTH", 256)


def walk_patterns(graph, schema, max_length, symbols):
    """Yield (representative, pattern) for each one inside a formula, by hand."""
    above = {}
    starts = [0, *np.cumsum(graph.member_count).tolist()]
    content = graph.num_nodes - len(graph.member_count)
    formula_of = {}
    for v, (a, b) in enumerate(pairwise(starts)):
        if graph.node_type[content + v] == schema.num_node_types + FORMULA:
            formula_of |= {int(m): v for m in graph.member[a:b]}
    edges = zip(graph.source, graph.target, graph.relation, strict=True)
    layout = [tuple(map(int, edge)) for edge in edges if symbols.is_layout[edge[2]]]
    on_tree = {t for _, t, _ in layout} & set(formula_of)
    for s, t, r in sorted(layout):
        if s in on_tree and t in on_tree and formula_of[s] == formula_of[t]:
            above[t] = (s, r)
    types = graph.node_type.tolist()
    for node in sorted(on_tree):
        owner, place, path = content + formula_of[node], node, ()
        for length in range(max_length + 1):
            ends = types[place], types[node]
            yield owner, (ends[0], path, ends[1])
            kinds = tuple(int(symbols.kind_of[t]) for t in ends)
            if length and kinds != ends:
                yield owner, (kinds[0], path, kinds[1])
            if place not in above:
                break
            place, relation = above[place]
            path = (*path, relation)


@pytest.fixture
def symbols(shards):
    """A third of the types are variables, a fifth numbers; a relation is no layout."""
    schema = shards.schema
    kinds = FormulaSymbols.of_schema(schema).kind_of.copy()
    kinds[::3], kinds[1::5] = schema.num_node_types, schema.num_node_types + 1
    is_layout = np.ones(schema.num_forward, dtype=np.bool_)
    is_layout[0] = False
    is_operator = np.ones(schema.num_forward, dtype=np.bool_)
    is_operator[1:4] = False
    return FormulaSymbols(kinds, is_layout, is_operator)


@pytest.fixture
def pairs(shards):
    return TrainingPairs.of_rows([[2 * i, 2 * i + 1] for i in range(20)], shards)


@pytest.fixture
def sets(shards, symbols):
    """Patterns of each formula, by its row in the shards."""
    found = defaultdict(set)
    for i in range(len(shards)):
        graph = shards.graph(i)
        row = {
            int(node): int(shards.offsets["representative"][i]) + n
            for n, node in enumerate(graph.representative)
        }
        for node, pattern in walk_patterns(graph, shards.schema, 3, symbols):
            found[row[node]].add(pattern)
    return found


@pytest.fixture
def bags(shards):
    """The same where no names are known: all types differ, all edges count."""
    found, plain = set(), FormulaSymbols.of_schema(shards.schema)
    for i in range(len(shards)):
        graph = shards.graph(i)
        row = {
            int(node): int(shards.offsets["representative"][i]) + n
            for n, node in enumerate(graph.representative)
        }
        found |= {row[n] for n, _ in walk_patterns(graph, shards.schema, 0, plain)}
    return found


def test_patterns_are_those_of_a_walk_up_each_tree(shards, symbols):
    batch = shards.assemble(np.arange(len(shards)))
    owners, terms = list_patterns(batch, 3, symbols)
    nodes = batch.virtual_node.long()[owners]
    mine = Counter(zip(nodes.tolist(), terms.tolist(), strict=True))
    expected, first = Counter(), batch.node_ptr.tolist()
    for i in range(len(shards)):
        graph = shards.graph(i)
        for node, pattern in walk_patterns(graph, shards.schema, 3, symbols):
            expected[first[i] + node, pattern] += 1
    assert sum(expected.values()) > 60
    assert {len(pattern[1]) for _, pattern in expected} >= {0, 1}
    # Terms stand for patterns: the same counts, and one term for one pattern.
    assert sorted(mine.values()) == sorted(expected.values())
    assert len({term for _, term in mine}) == len({p for _, p in expected})


def test_the_patterns_of_a_formula(tmp_path):
    """Those of x^2 + y in the description of the module."""
    types = ["FORMULA_0", "V!x", "N!2", "+", "V!y", "U!plus", "[MASK]"]
    roles = ["slt", "opt", "n", "a", "0", "f", "s", "d"]
    schema = GraphSchema(len(types), len(roles), 6, (5, 6, 7))
    edges = [(0, 1, 0), (1, 2, 3), (1, 3, 2), (3, 4, 2), (0, 5, 1), (5, 4, 4)]
    edges = [*edges[:-1], (5, 6, 4)]  # the operator tree has nodes of its own
    columns = [np.array(c, dtype=np.uint32) for c in zip(*edges, strict=True)]
    first = 7
    graph = GraphArrays(
        node_type=np.array([0, 1, 2, 3, 4, 5, 4, *(len(types) + k for k in range(3))]),
        source=columns[0],
        target=columns[1],
        relation=columns[2],
        member_count=np.array([6, 1, 3]),
        member=np.array([1, 2, 3, 4, 5, 6, 0, first, first + 1, 0]),
        representative=first + np.arange(3),
        representative_kind=np.arange(3),
        representative_number=np.zeros(3, dtype=np.uint32),
        representative_label=np.zeros(3, dtype=np.uint32),
    )
    with ShardWriter(tmp_path / "one", schema) as writer:
        writer.add("x", graph)
    batch = GraphShards(tmp_path / "one").assemble(np.arange(1))
    symbols = FormulaSymbols.of_names(types, roles)
    counts = [len(list_patterns(batch, n, symbols)[1].unique()) for n in range(4)]
    assert counts == [4, 4 + 6, 4 + 6 + 2, 4 + 6 + 2]
    owners, _ = list_patterns(batch, 3, symbols)
    assert set(owners.tolist()) == {0}
    # Without names every tree counts, and variables differ.
    plain = FormulaSymbols.of_schema(schema)
    assert len(list_patterns(batch, 1, plain)[1].unique()) == 5 + 3 + 1


def test_graphs_without_layout_trees_lend_their_operators():
    assert FormulaSymbols.of_names(["V!x"], ["opt", "0"]).is_layout.all()
    assert FormulaSymbols.of_names(["V!x"], ["opt", "0", "slt"]).is_layout.tolist() == [
        0,
        0,
        1,
    ]


@pytest.mark.slow
def test_similarity_is_the_cosine_of_weighted_sets(shards, sets, symbols, monkeypatch):
    # As many dimensions as there are patterns: nothing is lost.
    for name in ("_WIDTH", "_DIMENSION"):
        monkeypatch.setattr(f"mathamr_kedro.learning.distillation.{name}", 2048)
    teacher = PatternTeacher(shards, DistillationConfig(1.0), CPU, symbols)
    found = Counter(pattern for each in sets.values() for pattern in each)
    idf = {p: max(0.0, math.log((len(sets) + 1) / (n + 0.5))) for p, n in found.items()}
    length = {row: math.sqrt(sum(idf[p] for p in each)) for row, each in sets.items()}
    rows = sorted(sets)
    mine = teacher.vectors[rows].float() @ teacher.vectors[rows].float().T
    wanted = torch.tensor(
        [
            [sum(idf[p] for p in sets[a] & sets[b]) / (length[a] * length[b])
             for b in rows]
            for a in rows
        ]
    )  # fmt: skip
    error = (mine - wanted).abs()
    assert wanted.std() > 0.1
    assert error.mean() < 0.01  # patterns that share a bucket
    assert error.max() < 0.2


def test_few_dimensions_are_the_principal_ones(shards, symbols, monkeypatch):
    found = []
    for dimension in (256, 5):
        home = "mathamr_kedro.learning.distillation._DIMENSION"
        monkeypatch.setattr(home, dimension)
        teacher = PatternTeacher(shards, DistillationConfig(1.0), CPU, symbols)
        found.append(teacher.vectors.double().numpy())
    whole, few = found
    with_patterns = np.abs(few).max(1) > 0
    largest = np.linalg.svd(whole)[2][:5]
    wanted = (whole @ largest.T)[with_patterns]
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    mine = few[with_patterns]
    assert np.linalg.matrix_rank(whole) > 10
    assert np.allclose(mine @ mine.T, wanted @ wanted.T, atol=0.02)


def test_principal_dimensions_of_a_part_keep_similarities(shards, symbols, monkeypatch):
    config = DistillationConfig(1.0)
    whole = PatternTeacher(shards, config, CPU, symbols).vectors.float()
    for name, value in (("_SAMPLE", 1), ("_GRAPHS", 4)):  # of a few graphs, a part
        monkeypatch.setattr(f"mathamr_kedro.learning.distillation.{name}", value)
    part = PatternTeacher(shards, config, CPU, symbols).vectors.float()
    # All dimensions remain here, whatever their order.
    assert torch.allclose(part @ part.T, whole @ whole.T, atol=1e-2)


def test_only_formulas_have_a_teacher(shards, bags):
    vectors = PatternTeacher(shards, DistillationConfig(1.0), CPU).vectors
    assert set(vectors.abs().amax(1).nonzero().flatten().tolist()) == bags
    assert not vectors[-1].any()


def test_a_graph_in_several_parts_has_the_same_teacher(shards, monkeypatch):
    config = DistillationConfig(1.0)
    whole = PatternTeacher(shards, config, CPU).vectors.float()
    assert torch.equal(PatternTeacher(shards, config, CPU).vectors.float(), whole)
    # Parts of a few graphs, as the collection has few.
    monkeypatch.setattr("mathamr_kedro.learning.distillation._GRAPHS", 7)
    parts = PatternTeacher(shards, config, CPU).vectors.float()
    # Eigenvectors may turn by rounding; similarities may not.
    assert torch.allclose(parts @ parts.T, whole @ whole.T, atol=1e-2)


def test_the_names_of_symbols_make_another_training(shards, pairs, config, tmp_path):
    taught = replace(config, num_epochs=1, distillation=DistillationConfig(1.0))
    train(shards, pairs, taught, tmp_path)
    other = FormulaSymbols.of_schema(shards.schema)
    other.is_layout[0] = False
    with pytest.raises(ConfigurationError, match="of the same training"):
        train(shards, pairs, taught, tmp_path, symbols=other)


def test_the_loss_is_that_of_a_loop(shards, bags):
    teacher = PatternTeacher(shards, DistillationConfig(1.0, temperature=0.2), CPU)
    queries, documents = make_posts(shards)
    tau = torch.tensor(0.3)
    table = teacher.vectors.double()
    rows = [posts.columns["row"].tolist() for posts in (queries, documents)]
    first, last = documents.ptr[0], documents.ptr[-1]
    partners = [j for j in range(first, last) if rows[1][j] in bags]
    anchors = [i for i in range(int(queries.ptr[-1])) if rows[0][i] in bags]
    total = 0.0
    for i in anchors:
        wanted = [
            (table[rows[0][i]] @ table[rows[1][j]] / 0.2).item() for j in partners
        ]
        mine = [
            (queries.vectors[i].double() @ documents.vectors[j].double() / 0.3).item()
            for j in partners
        ]
        p = [math.exp(x) / sum(map(math.exp, wanted)) for x in wanted]
        q = [math.exp(x) / sum(map(math.exp, mine)) for x in mine]
        total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    loss = teacher.distil(queries, documents, tau)
    assert loss.item() == pytest.approx(total / len(anchors), rel=1e-4)


def test_posts_without_formulas_have_no_loss(shards):
    teacher = PatternTeacher(shards, DistillationConfig(1.0), CPU)
    queries, documents = make_posts(shards)
    kinds = torch.full_like(documents.columns["kind"], 2)
    nothing = replace(documents, columns={**documents.columns, "kind": kinds})
    vectors = queries.vectors.requires_grad_()
    loss = teacher.distil(queries, nothing, torch.tensor(0.3))
    loss.backward()
    assert loss.item() == 0
    assert not vectors.grad.any()


def test_the_weight_counts_in_the_whole_loss(shards):
    queries, documents = make_posts(shards)
    plain = ContrastiveLoss(LossConfig())(queries, documents).loss
    teacher = PatternTeacher(shards, DistillationConfig(2.0), CPU)
    loss = ContrastiveLoss(LossConfig(), teachers=[teacher])
    more = loss(queries, documents).loss - plain
    expected = teacher.distil(queries, documents, loss.temperature)
    assert more.item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.slow
def test_a_training_brings_formulas_nearer_to_their_teacher(
    shards, pairs, config, tmp_path
):
    longer = replace(config, num_epochs=8, patience=0)
    pairs = replace(pairs, validation=np.zeros(len(pairs), dtype=bool))
    taught = replace(longer, distillation=DistillationConfig(5.0, temperature=0.2))
    losses = [r.train_loss for r in train(shards, pairs, taught, tmp_path).history]
    plain = train(shards, pairs, longer, tmp_path / "plain").history
    assert losses[0] > plain[0].train_loss
    assert losses[-1] < losses[0]


def test_formulas_without_trees_and_empty_shards_are_no_obstacle(tmp_path, shards):
    with ShardWriter(tmp_path / "none", shards.schema):
        pass
    empty = GraphShards(tmp_path / "none")
    vectors = PatternTeacher(empty, DistillationConfig(1.0), CPU).vectors
    assert vectors.shape == (1, 256)
    assert not vectors.any()


def test_both_trees_teach_in_equal_parts(shards, symbols):
    """The similarity of two formulas is the mean of those by either tree."""
    layout, operator, both = (
        PatternTeacher(
            shards, DistillationConfig(1.0, trees=trees), CPU, symbols
        ).vectors.float()
        for trees in ("layout", "operator", "both")
    )
    has_both = (layout.norm(dim=1) > 0) & (operator.norm(dim=1) > 0)
    assert has_both.sum() > 3
    assert not torch.allclose(layout, operator, atol=0.1)
    one, two, three = (v[has_both] for v in (layout, operator, both))
    mean = (one @ one.T + two @ two.T) / 2
    assert torch.allclose(three @ three.T, mean, atol=5e-3)
    only = (layout.norm(dim=1) > 0) & (operator.norm(dim=1) == 0)
    alike = both[only] @ both[only].T
    assert torch.allclose(alike, layout[only] @ layout[only].T, atol=5e-3)
