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
from mathamr_kedro.graph.tensors import FORMULA
from mathamr_kedro.learning.distillation import (
    DistillationConfig,
    PathTeacher,
    TextTeacher,
    list_paths,
)
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.pairs import list_pairs
from mathamr_kedro.learning.step import split_pairs
from mathamr_kedro.learning.trainer import train

CPU = torch.device("cpu")


def walk_paths(graph, schema, longest):
    """Yield (representative, path) for each path inside a formula, by hand."""
    above = {}
    starts = [0, *np.cumsum(graph.member_count).tolist()]
    content = graph.num_nodes - len(graph.member_count)
    formula_of = {}
    for v, (a, b) in enumerate(pairwise(starts)):
        if graph.node_type[content + v] == schema.num_node_types + FORMULA:
            formula_of |= {int(m): v for m in graph.member[a:b]}
    edges = zip(graph.source, graph.target, graph.relation, strict=True)
    for s, t, r in sorted((int(s), int(t), int(r)) for s, t, r in edges):
        if s in formula_of and formula_of[s] == formula_of.get(t):
            above[t] = (s, r)
    types = graph.node_type.tolist()
    for node, owner in formula_of.items():
        place, path = node, ()
        for _ in range(longest + 1):
            yield content + owner, (types[place], path, types[node])
            if place not in above:
                break
            place, relation = above[place]
            path = (*path, relation)


@pytest.fixture
def bags(shards):
    """Bag of paths of each formula, by its row in the shards."""
    found = defaultdict(Counter)
    for i in range(len(shards)):
        graph = shards.graph(i)
        row = {
            int(node): int(shards.offsets["representative"][i]) + n
            for n, node in enumerate(graph.representative)
        }
        for node, path in walk_paths(graph, shards.schema, 3):
            found[row[node]][path] += 1
    return found


def test_paths_are_those_of_a_walk_up_each_tree(shards):
    batch = shards.assemble(np.arange(len(shards)))
    owners, terms = list_paths(batch, 3)
    nodes = batch.virtual_node.long()[owners]
    mine = Counter(zip(nodes.tolist(), terms.tolist(), strict=True))
    expected, first = Counter(), batch.node_ptr.tolist()
    for i in range(len(shards)):
        for node, path in walk_paths(shards.graph(i), shards.schema, 3):
            expected[first[i] + node, path] += 1
    assert sum(expected.values()) > 150
    # Terms stand for paths: the same counts, and one term for one path.
    assert sorted(mine.values()) == sorted(expected.values())
    assert len({term for _, term in mine}) == len({path for _, path in expected})


def test_likeness_is_the_cosine_of_weighted_bags(shards, bags):
    teacher = PathTeacher(shards, DistillationConfig(1.0, dimension=8192), CPU)
    found = Counter(path for bag in bags.values() for path in bag)

    def weigh(bag):
        return {
            path: math.sqrt(n * math.log((len(bags) + 1) / (found[path] + 0.5)))
            for path, n in bag.items()
        }

    weighted = {row: weigh(bag) for row, bag in bags.items()}
    length = {r: math.hypot(*bag.values()) for r, bag in weighted.items()}
    rows = sorted(bags)
    mine = teacher.vectors[rows].float() @ teacher.vectors[rows].float().T
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            dot = sum(w * weighted[b].get(path, 0) for path, w in weighted[a].items())
            assert mine[i, j].item() == pytest.approx(
                dot / (length[a] * length[b]), abs=0.06
            )


def test_only_formulas_have_a_teacher(shards, bags):
    vectors = PathTeacher(shards, DistillationConfig(1.0), CPU).vectors
    assert set(vectors.abs().amax(1).nonzero().flatten().tolist()) == set(bags)
    assert not vectors[-1].any()


def test_a_graph_in_several_parts_has_the_same_teacher(shards, monkeypatch):
    config = DistillationConfig(1.0, dimension=32)
    whole = PathTeacher(shards, config, CPU).vectors
    monkeypatch.setattr("mathamr_kedro.learning.distillation._GRAPHS", 7)
    assert torch.equal(PathTeacher(shards, config, CPU).vectors, whole)


def make_posts(shards):
    torch.manual_seed(2)
    batch = shards.assemble(np.arange(12))
    vectors = F.normalize(torch.randn(len(batch.representative), 8), dim=1)
    return split_pairs(batch, vectors, 6)


def test_the_loss_is_that_of_a_loop(shards, bags):
    teacher = PathTeacher(shards, DistillationConfig(1.0, temperature=0.2), CPU)
    queries, documents = make_posts(shards)
    tau = torch.tensor(0.3)
    table = teacher.vectors.double()
    rows = [posts.row.tolist() for posts in (queries, documents)]
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
    teacher = PathTeacher(shards, DistillationConfig(1.0), CPU)
    queries, documents = make_posts(shards)
    nothing = documents._replace(kind=torch.full_like(documents.kind, 2))
    vectors = queries.vectors.requires_grad_()
    loss = teacher.distil(queries, nothing, torch.tensor(0.3))
    loss.backward()
    assert loss.item() == 0
    assert not vectors.grad.any()


def test_the_weight_counts_in_the_whole_loss(shards):
    queries, documents = make_posts(shards)
    plain = ContrastiveLoss(LossConfig())(queries, documents).loss
    teacher = PathTeacher(shards, DistillationConfig(2.0), CPU)
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
    vectors = PathTeacher(empty, DistillationConfig(1.0), CPU).vectors
    assert vectors.shape == (1, 256)


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
    [{"weight": -1}, {"path_length": -1}, {"temperature": 0}, {"dimension": 0}],
)
def test_impossible_settings_are_refused(values):
    with pytest.raises(ConfigurationError, match="distillation"):
        DistillationConfig(**values)
