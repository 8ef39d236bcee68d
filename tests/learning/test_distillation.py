"""The teacher of formula vectors against plain loops over its definition."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mathamr_kedro.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.graph.tensor_files import ShardWriter
from mathamr_kedro.graph.tensor_shards import GraphShards
from mathamr_kedro.graph.tensors import FORMULA, GraphArrays, GraphSchema
from mathamr_kedro.learning.distillation import (
    DistillationConfig,
    PatternTeacher,
    TextTeacher,
    list_patterns,
)
from mathamr_kedro.learning.formula_symbols import FormulaSymbols, name_symbols
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.maxsim import maxsim
from mathamr_kedro.learning.pairs import list_pairs
from mathamr_kedro.learning.step import split_pairs
from mathamr_kedro.learning.trainer import train

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def width(monkeypatch):
    """Few dimensions of hashed sets: finding the principal ones takes their cube."""
    monkeypatch.setattr("mathamr_kedro.learning.distillation._WIDTH", 256)


def walk_patterns(graph, schema, longest, symbols):
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
        for length in range(longest + 1):
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
    return FormulaSymbols(kinds, is_layout)


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
    symbols = name_symbols(types, roles)
    counts = [len(list_patterns(batch, n, symbols)[1].unique()) for n in range(4)]
    assert counts == [4, 4 + 6, 4 + 6 + 2, 4 + 6 + 2]
    owners, _ = list_patterns(batch, 3, symbols)
    assert set(owners.tolist()) == {0}
    # Without names every tree counts, and variables differ.
    plain = FormulaSymbols.of_schema(schema)
    assert len(list_patterns(batch, 1, plain)[1].unique()) == 5 + 3 + 1


def test_graphs_without_layout_trees_lend_their_operators():
    assert name_symbols(["V!x"], ["opt", "0"]).is_layout.all()
    assert name_symbols(["V!x"], ["opt", "0", "slt"]).is_layout.tolist() == [0, 0, 1]


def test_likeness_is_the_cosine_of_weighted_sets(shards, sets, symbols, monkeypatch):
    monkeypatch.setattr("mathamr_kedro.learning.distillation._WIDTH", 2048)
    config = DistillationConfig(1.0, dimension=2048)
    teacher = PatternTeacher(shards, config, CPU, symbols)
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


def test_few_dimensions_are_the_principal_ones(shards, symbols):
    whole, few = (
        PatternTeacher(shards, DistillationConfig(1.0, dimension=d), CPU, symbols)
        .vectors.double().numpy()
        for d in (256, 5)
    )  # fmt: skip
    with_patterns = np.abs(few).max(1) > 0
    largest = np.linalg.svd(whole)[2][:5]
    wanted = (whole @ largest.T)[with_patterns]
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    mine = few[with_patterns]
    assert np.linalg.matrix_rank(whole) > 10
    assert np.allclose(mine @ mine.T, wanted @ wanted.T, atol=0.02)


def test_principal_dimensions_of_a_part_keep_the_likeness(shards, symbols, monkeypatch):
    config = DistillationConfig(1.0, dimension=256)
    whole = PatternTeacher(shards, config, CPU, symbols).vectors.float()
    monkeypatch.setattr("mathamr_kedro.learning.distillation._SAMPLE", 1)
    monkeypatch.setattr("mathamr_kedro.learning.distillation._GRAPHS", 4)
    part = PatternTeacher(shards, config, CPU, symbols).vectors.float()
    # All dimensions remain here, whatever their order.
    assert torch.allclose(part @ part.T, whole @ whole.T, atol=1e-2)


def test_only_formulas_have_a_teacher(shards, bags):
    vectors = PatternTeacher(shards, DistillationConfig(1.0), CPU).vectors
    assert set(vectors.abs().amax(1).nonzero().flatten().tolist()) == bags
    assert not vectors[-1].any()


def test_a_graph_in_several_parts_has_the_same_teacher(shards, monkeypatch):
    config = DistillationConfig(1.0, dimension=32)
    whole = PatternTeacher(shards, config, CPU).vectors.float()
    assert torch.equal(PatternTeacher(shards, config, CPU).vectors.float(), whole)
    monkeypatch.setattr("mathamr_kedro.learning.distillation._GRAPHS", 7)
    parts = PatternTeacher(shards, config, CPU).vectors.float()
    # Eigenvectors may turn by rounding; likeness may not.
    assert torch.allclose(parts @ parts.T, whole @ whole.T, atol=1e-2)


def test_the_names_of_symbols_make_another_training(shards, pairs, config, tmp_path):
    taught = replace(config, num_epochs=1, distillation=DistillationConfig(1.0))
    train(shards, pairs, taught, tmp_path)
    other = FormulaSymbols.of_schema(shards.schema)
    other.is_layout[0] = False
    with pytest.raises(ConfigurationError, match="of the same training"):
        train(shards, pairs, taught, tmp_path, symbols=other)


def make_posts(shards):
    torch.manual_seed(2)
    batch = shards.assemble(np.arange(12))
    vectors = F.normalize(torch.randn(len(batch.representative), 8), dim=1)
    return split_pairs(batch, vectors, 6)


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
        likeness = [
            (table[rows[0][i]] @ table[rows[1][j]] / 0.2).item() for j in partners
        ]
        mine = [
            (queries.vectors[i].double() @ documents.vectors[j].double() / 0.3).item()
            for j in partners
        ]
        p = [math.exp(x) / sum(map(math.exp, likeness)) for x in likeness]
        q = [math.exp(x) / sum(map(math.exp, mine)) for x in mine]
        total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    loss = teacher.distil(queries, documents, tau)
    assert loss.item() == pytest.approx(total / len(anchors), rel=1e-4)


def test_posts_without_formulas_have_no_loss(shards):
    teacher = PatternTeacher(shards, DistillationConfig(1.0), CPU)
    queries, documents = make_posts(shards)
    nothing = replace(
        documents,
        columns={
            **documents.columns,
            "kind": torch.full_like(documents.columns["kind"], 2),
        },
    )
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


def test_a_training_brings_formulas_nearer_to_their_teacher(shards, config, tmp_path):
    pairs = list_pairs([[2 * i, 2 * i + 1] for i in range(20)], shards)
    longer = replace(config, num_epochs=8, validation_share=0.0, patience=0)
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


TEXTS = DistillationConfig(document_weight=2.0, document_temperature=0.2)


@pytest.fixture
def texts(shards):
    """A vector of each post; some have none."""
    torch.manual_seed(5)
    vectors = torch.randn(len(shards), 6)
    vectors[[1, 4, 8]] = 0
    return vectors


def lose_by_text(queries, documents, texts, temperature):
    """The loss of a text teacher with one post after another, in float64."""
    table = F.normalize(texts.double(), dim=1)
    # Posts 0 to 5 are queries, 6 to 11 documents; the document vector is the last.
    mine = [
        [posts.vectors[int(end) - 1].double() for end in posts.ptr[1:]]
        for posts in (queries, documents)
    ]
    partners = [j for j in range(6) if texts[6 + j].any()]
    anchors = [i for i in range(6) if texts[i].any()]
    total = 0.0
    for i in anchors:
        likeness = [(table[i] @ table[6 + j] / 0.2).item() for j in partners]
        found = [(mine[0][i] @ mine[1][j] / temperature).item() for j in partners]
        p = [math.exp(x) / sum(map(math.exp, likeness)) for x in likeness]
        q = [math.exp(x) / sum(map(math.exp, found)) for x in found]
        total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    return 2.0 * total / len(anchors)


def test_scores_learn_from_texts_too(shards, texts):
    queries, documents = make_posts(shards)
    both = replace(TEXTS, document_weight=0.0, score_weight=3.0)
    teacher = TextTeacher(texts, shards, both)
    scores = torch.randn(6, 6, generator=torch.Generator().manual_seed(1))
    table = F.normalize(texts.double(), dim=1)
    partners = [j for j in range(6) if texts[6 + j].any()]
    total, anchors = 0.0, [i for i in range(6) if texts[i].any()]
    for i in anchors:
        wanted = [math.exp(table[i] @ table[6 + j] / 0.2) for j in partners]
        found = [math.exp(scores[i, j] / 0.3) for j in partners]
        p, q = ([x / sum(xs) for x in xs] for xs in (wanted, found))
        total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    loss = teacher.distil(queries, documents, torch.tensor(0.3), scores)
    assert loss.item() == pytest.approx(3 * total / len(anchors), rel=1e-5)
    # A training by document vectors alone has no scores.
    assert teacher.distil(queries, documents, torch.tensor(0.3)).item() == 0
    plain = ContrastiveLoss(LossConfig())(queries, documents).loss
    whole = ContrastiveLoss(LossConfig(), teachers=[teacher])
    more = whole(queries, documents).loss - plain
    mine = maxsim(queries, documents, "fp32")
    expected = teacher.distil(queries, documents, whole.temperature, mine)
    assert more.item() == pytest.approx(expected.item(), rel=1e-4)


def test_the_loss_of_texts_is_that_of_a_loop(shards, texts):
    queries, documents = make_posts(shards)
    teacher = TextTeacher(texts, shards, TEXTS)
    loss = teacher.distil(queries, documents, torch.tensor(0.3))
    assert loss.item() == pytest.approx(
        lose_by_text(queries, documents, texts, 0.3), rel=1e-5
    )


def test_graphs_behind_the_posts_have_no_teacher(shards, texts):
    queries, documents = make_posts(shards)
    texts[10:] = 0
    losses = [
        TextTeacher(rows, shards, TEXTS, posts).distil(
            queries, documents, torch.tensor(0.3)
        )
        for rows, posts in ((texts, None), (texts[:10], 10))
    ]
    assert losses[0].item() == losses[1].item() > 0


@pytest.fixture
def taught(config, tmp_path, texts):
    path = tmp_path / "texts.npy"
    np.save(path, texts.numpy())
    return replace(
        config,
        num_epochs=1,
        distillation=replace(TEXTS, document_vectors=str(path)),
    )


@pytest.fixture
def pairs(shards):
    return list_pairs([[2 * i, 2 * i + 1] for i in range(20)], shards)


def test_a_wrong_number_of_rows_is_refused(shards, pairs, taught, tmp_path):
    np.save(taught.distillation.document_vectors, np.zeros((39, 6)))
    with pytest.raises(
        ConfigurationError, match=r"each of 40 graphs.*document_vectors"
    ):
        train(shards, pairs, taught, tmp_path / "out")


def test_a_missing_file_is_named_with_its_setting(shards, pairs, taught, tmp_path):
    gone = replace(taught.distillation, document_vectors=str(tmp_path / "gone.npy"))
    with pytest.raises(
        MissingInputError, match=r"gone\.npy.*distillation\.document_vectors"
    ):
        train(shards, pairs, replace(taught, distillation=gone), tmp_path / "out")


def test_another_kind_of_file_is_named_with_its_setting(
    shards, pairs, taught, tmp_path
):
    path = taught.distillation.document_vectors
    with open(path, "w") as file:
        file.write("no numbers")
    with pytest.raises(MalformedInputError, match=r"distillation\.document_vectors"):
        train(shards, pairs, taught, tmp_path / "out")


def test_no_vectors_for_the_document_weight_are_refused(
    shards, pairs, taught, tmp_path
):
    with pytest.raises(ConfigurationError, match=r"distillation\.document_vectors"):
        train(shards, pairs, replace(taught, distillation=TEXTS), tmp_path / "out")


def test_what_vectors_hold_makes_the_training_not_where_they_are(
    shards, pairs, taught, texts, tmp_path
):
    first = train(shards, pairs, taught, tmp_path / "out")
    moved = tmp_path / "moved.npy"
    np.save(moved, texts.numpy())
    there = replace(taught.distillation, document_vectors=str(moved))
    again = replace(taught, distillation=there)
    assert train(shards, pairs, again, tmp_path / "out") == first
    np.save(moved, texts.numpy() + 1)
    with pytest.raises(ConfigurationError, match="of the same training"):
        train(shards, pairs, again, tmp_path / "out")
    assert "moved.npy" not in (tmp_path / "out" / "training.json").read_text()


@pytest.mark.parametrize(
    "values",
    [
        {"weight": -1},
        {"score_weight": -1},
        {"path_length": -1},
        {"temperature": 0},
        {"dimension": 0},
    ],
)
def test_impossible_settings_are_refused(values):
    with pytest.raises(ConfigurationError, match="distillation"):
        DistillationConfig(**values)
