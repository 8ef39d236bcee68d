"""Single formulas against graphs that are built for them alone, and plain loops."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.random_graphs import RandomGraphs, write_random_shards
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import (
    GraphShards,
    GraphVariant,
    MathGraph,
    NodeVocabulary,
    RelationVocabulary,
    ShardWriter,
    read_math_graph,
)
from mathamr_kedro.graph.builder import ArrayBuilder
from mathamr_kedro.graph.fusion import _fuse_formulas
from mathamr_kedro.graph.numbering import VocabularyNumbering
from mathamr_kedro.graph.tree_lookup import FormulaLines, TreeLines
from mathamr_kedro.learning import pattern_teacher, single_formulas
from mathamr_kedro.learning.card import Provenance
from mathamr_kedro.learning.distillation import DistillationConfig
from mathamr_kedro.learning.negatives import NegativesConfig
from mathamr_kedro.learning.pairs import NOTHING, TrainingPairs
from mathamr_kedro.learning.rounds import NEGATIVES, train_in_rounds
from mathamr_kedro.learning.single_formulas import FOLDER, add_single_formulas
from mathamr_kedro.learning.trainer import train
from mathamr_kedro.model.weights import load_model
from tests.learning.conftest import SCHEMA
from tests.learning.process_work import TEACHER_WIDTH
from tests.learning.test_trainer import Killed, read_last, same, weights_of

SYMBOLS = [f"V!{c}" for c in "abcdefghijkl"]
PLACEHOLDERS = [f"FORMULA_{n}" for n in range(4)]
TYPES = NodeVocabulary.build(
    dict.fromkeys([*SYMBOLS, *PLACEHOLDERS, "show-01", "hold-01"], 9), 99, 1
)
RELATIONS = RelationVocabulary.build(
    dict.fromkeys(["opt", "slt", "math", "snt1", "snt2", "ARG1", "0", "1", "n"], 1)
)
NUMBERING = VocabularyNumbering(TYPES, RELATIONS)
# The second formula stands in both sentences, the last is lost by the parser.
TEXT = """(m / multi-sentence
  :snt1 (s / show-01 :ARG1 (f / FORMULA_0) :ARG2 (g / FORMULA_1))
  :snt2 (h / hold-01 :ARG1 g :ARG2 (i / FORMULA_2)))"""


def draw_tree(rng, size, roles):
    """A random tree in preorder: a node hangs from one of those on the path."""
    atoms = tuple(rng.choice(SYMBOLS, size).tolist())
    path, parents = [0], []
    for node in range(1, size):
        path = path[: rng.integers(1, len(path) + 1)]
        parents.append(path[-1])
        path.append(node)
    edges = tuple(rng.choice(roles, size - 1).tolist())
    return TreeLines(atoms, tuple(parents), edges)


def draw_formula(rng):
    sizes = rng.integers(1, 14, 2)
    return FormulaLines(
        draw_tree(rng, sizes[0], ["0", "1"]), draw_tree(rng, sizes[1], ["n"])
    )


def build(formulas, variant, text=TEXT, labels=None):
    graph = _fuse_formulas(read_math_graph(text), formulas)
    return ArrayBuilder(NUMBERING, variant).build(graph, labels)


def build_alone(lines, variant, label):
    """The graph that the project builds for a post that is one formula."""
    graph = _fuse_formulas(MathGraph(["f"], ["FORMULA_0"], []), {0: lines})
    return ArrayBuilder(NUMBERING, variant).build(graph, {0: label})


class World:
    """Posts of four formulas each, and the trees of those."""

    def __init__(self, folder, posts=24, variant=None):
        rng = np.random.default_rng(1)
        self.variant = variant or GraphVariant()
        self.lines = [[draw_formula(rng) for _ in range(4)] for _ in range(posts)]
        with ShardWriter(folder, NUMBERING.schema) as writer:
            for post, lines in enumerate(self.lines):
                labels = {n: self.label(post, n) for n in range(4)}
                graph = build(dict(enumerate(lines)), self.variant, labels=labels)
                writer.add(f"p{post}", graph)
        self.shards = GraphShards(folder)
        rows = np.arange(posts).reshape(-1, 2)
        rows = np.concatenate([rows, np.roll(rows, 3, 0)], 1)
        self.pairs = TrainingPairs.of_rows(rows, self.shards)
        self.held_out = np.arange(len(self.pairs)) % 5 == 4

    def label(self, post, number):
        return 10 * post + number + 1

    def alone(self, post, number):
        return build_alone(
            self.lines[post][number], self.variant, self.label(post, number)
        )

    def types(self, post, number):
        """Types of the nodes of the trees that the variant shows; or none."""
        graph = self.alone(post, number)
        members = graph.member[: graph.member_count[0]]
        return set(graph.node_type[members].tolist()) if 8 <= len(members) <= 90 else {}

    def choose(self, query, document):
        """By brute force: the pair of formulas with the largest Jaccard index."""
        found = []
        for a in range(4):
            for b in range(4):
                ours, theirs = self.types(query, a), self.types(document, b)
                if ours and theirs:
                    index = len(ours & theirs) / len(ours | theirs)
                    found.append((-index, a, b))
        found = [row for row in sorted(found) if -1 < row[0] < -0.35]
        return found[0][1:] if found else None


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world") / "posts")


VARIANTS = [
    GraphVariant(),
    GraphVariant(formula_mode="opt"),
    GraphVariant(auxiliary_edges="circular"),
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: str(v)[13:50])
def test_graphs_and_choice_are_those_of_a_slow_twin(tmp_path, variant):
    world = World(tmp_path / "posts", variant=variant)
    shards, pairs, held_out = world.shards, world.pairs, world.held_out
    joined, more = add_single_formulas(shards, pairs, held_out, tmp_path)
    expected = []
    for n in np.flatnonzero(~held_out):
        posts = int(pairs.queries[n]), int(pairs.documents[n])
        chosen = world.choose(*posts)
        if chosen is not None:
            expected.append(tuple(zip(posts, chosen, strict=True)))
    assert 3 < len(expected) <= (~held_out).sum()
    assert len(more) == len(pairs) + len(expected)
    rows = zip(more.queries[len(pairs) :], more.documents[len(pairs) :], strict=True)
    for row, formulas in zip(rows, expected, strict=True):
        for position, (post, number) in zip(row, formulas, strict=True):
            assert joined.keys[position] == f"p{post}/FORMULA_{number}"
            assert joined.graph(int(position)) == world.alone(post, number)
            joined.graph(int(position)).check(joined.schema)


def test_posts_stay_and_nothing_is_added_to_validation(world, tmp_path):
    shards, pairs, held_out = world.shards, world.pairs, world.held_out
    joined, more = add_single_formulas(shards, pairs, held_out, tmp_path)
    assert joined.keys[: len(shards)] == shards.keys
    assert all(joined.graph(i) == shards.graph(i) for i in range(len(shards)))
    count = len(pairs)
    for name in ("queries", "documents", "negatives"):
        assert np.array_equal(getattr(more, name)[:count], getattr(pairs, name))
    assert (more.negatives[count:] == NOTHING).all()
    assert more.validation[:count].tolist() == held_out.tolist()
    assert not more.validation[count:].any()
    of_held_out = {*pairs.queries[held_out], *pairs.documents[held_out]}
    added = [joined.keys[p].split("/")[0] for p in more.queries[count:]]
    assert added and not {f"p{post}" for post in of_held_out} & set(added)


def test_a_formula_of_several_pairs_is_written_once(world, tmp_path):
    rows = np.column_stack([world.pairs.queries, world.pairs.documents])
    once = TrainingPairs.of_rows(rows, world.shards)
    twice = TrainingPairs.of_rows(np.concatenate([rows, rows]), world.shards)
    sizes = []
    for name, pairs in (("once", once), ("twice", twice)):
        (tmp_path / name).mkdir()
        joined, more = add_single_formulas(
            world.shards, pairs, np.zeros(len(pairs), dtype=bool), tmp_path / name
        )
        sizes.append((len(joined), len(more) - len(pairs)))
    assert sizes[0][1] > 0
    assert sizes[1] == (sizes[0][0], 2 * sizes[0][1])


def test_finished_work_is_read_again(world, tmp_path, monkeypatch):
    arguments = (world.shards, world.pairs, world.held_out, tmp_path)
    _, first = add_single_formulas(*arguments)
    assert not list(tmp_path.rglob("*.alone"))
    monkeypatch.setattr(single_formulas, "_write", None)
    _, second = add_single_formulas(*arguments)
    assert np.array_equal(first.queries, second.queries)


def test_other_pairs_are_searched_anew(world, tmp_path):
    arguments = (world.shards, world.pairs)
    _, first = add_single_formulas(*arguments, world.held_out, tmp_path)
    nothing = np.zeros(len(world.pairs), dtype=bool)
    joined, second = add_single_formulas(*arguments, nothing, tmp_path)
    assert len(second) > len(first)
    assert second.queries.max() < len(joined)


@pytest.mark.parametrize("killed_in", ["join_shards", "replace_file"])
def test_killed_search_starts_again(world, tmp_path, monkeypatch, killed_in):
    whole, aside = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir(), aside.mkdir()
    arguments = (world.shards, world.pairs)
    nothing = np.zeros(len(world.pairs), dtype=bool)
    # An older result of other pairs lies there and must not be taken for the new one.
    add_single_formulas(*arguments, nothing, aside)

    def die(*_, **__):
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(f"{single_formulas.__name__}.{killed_in}", die)
        add_single_formulas(*arguments, world.held_out, aside)
    for held_out in (nothing, world.held_out):
        results = [
            add_single_formulas(*arguments, held_out, folder)
            for folder in (aside, whole)
        ]
        (killed, its_pairs), (expected, pairs) = results
        assert killed.keys == expected.keys
        assert np.array_equal(its_pairs.documents, pairs.documents)
    assert sorted(p.name for p in aside.iterdir()) == [FOLDER, f"{FOLDER}.npz"]


def test_posts_without_formulas_are_no_obstacle(tmp_path, config):
    with ShardWriter(tmp_path / "posts", NUMBERING.schema) as writer:
        for n in range(12):
            text = f"(s / show-01 :ARG1 (h / hold-01) :op{n % 3} (i / show-01))"
            writer.add(str(n), build({}, GraphVariant(), text))
    shards = GraphShards(tmp_path / "posts")
    pairs = TrainingPairs.of_rows(np.arange(12).reshape(6, 2), shards)
    wanted = replace(config, single_formulas=True, num_epochs=1)
    result = train(shards, pairs, wanted, tmp_path / "with")
    plain = train(shards, pairs, replace(config, num_epochs=1), tmp_path / "without")
    assert same(weights_of(result), weights_of(plain))


def test_formulas_that_count_from_one_are_refused(tmp_path, world):
    with ShardWriter(tmp_path / "posts", NUMBERING.schema) as writer:
        for post, lines in enumerate(world.lines):
            graph = build(dict(enumerate(lines[:2], start=2)), GraphVariant())
            writer.add(str(post), graph)
    shards = GraphShards(tmp_path / "posts")
    with pytest.raises(ConfigurationError, match="trees below FORMULA_0"):
        add_single_formulas(shards, world.pairs, world.held_out, tmp_path)


@pytest.mark.parametrize("structure", ["none", "global_maxsim", "global_single"])
def test_graphs_of_another_structure_are_refused(tmp_path, config, structure):
    write_random_shards(tmp_path / "flat", 8, RandomGraphs(SCHEMA, None, structure))
    shards = GraphShards(tmp_path / "flat")
    pairs = TrainingPairs.of_rows(np.arange(8).reshape(4, 2), shards)
    wanted = replace(config, single_formulas=True)
    with pytest.raises(ConfigurationError, match="structure 'hierarchy'"):
        train(shards, pairs, wanted, tmp_path)


@pytest.fixture
def wanted(config, world, tmp_path, monkeypatch):
    """All teachers, and hard negatives from the pairs."""
    monkeypatch.setattr(pattern_teacher, "_WIDTH", TEACHER_WIDTH)
    rng = np.random.default_rng(3)
    np.save(tmp_path / "texts.npy", rng.normal(size=(len(world.shards), 6)))
    teachers = DistillationConfig(
        weight=1.0, document_weight=1.0, document_vectors=str(tmp_path / "texts.npy")
    )
    return replace(
        config, single_formulas=True, distillation=teachers, hard_negatives=1
    )


def test_killed_training_ends_with_the_same_bits(world, wanted, tmp_path):
    def kill(progress):
        if (progress.epoch, progress.step) == (2, 1):
            raise Killed

    whole = train(world.shards, world.pairs, wanted, tmp_path / "whole")
    with pytest.raises(Killed):
        train(world.shards, world.pairs, wanted, tmp_path / "killed", kill)
    resumed = train(world.shards, world.pairs, wanted, tmp_path / "killed")
    assert same(weights_of(whole), weights_of(resumed))
    ends = [read_last(tmp_path / name)["tensors"] for name in ("whole", "killed")]
    assert same(ends[0]["model"], ends[1]["model"])


def test_single_formulas_make_more_steps_and_no_more_validation(
    world, config, wanted, tmp_path
):
    more = train(world.shards, world.pairs, wanted, tmp_path / "more")
    plain = replace(wanted, single_formulas=False)
    less = train(world.shards, world.pairs, plain, tmp_path / "less")
    assert more.history[0].step > less.history[0].step
    facts = [(tmp_path / n / "training.json").read_text() for n in ("more", "less")]
    assert "single_formula_pairs" in facts[0]
    assert "single_formula_pairs" not in facts[1]
    for text in facts:
        assert '"pairs": 10' in text and '"validation_pairs": 2' in text
    known = Provenance(facts=json.loads(facts[0]))
    model = load_model(more.model_dir, config.compute)
    card = known.write_card("mine", model, GraphVariant())
    count = known.facts["single_formula_pairs"]
    assert count > 0 and f"| pairs of single formulas | {count} |" in card


def test_negatives_by_the_model_are_those_of_posts(world, config, tmp_path):
    negatives = NegativesConfig(source="model", kept=3, skip=0)
    wanted = replace(
        config,
        single_formulas=True,
        hard_negatives=1,
        negatives=negatives,
        num_epochs=1,
    )
    train_in_rounds(world.shards, world.pairs, wanted, tmp_path)
    found = np.load(tmp_path / NEGATIVES)["negatives"]
    assert found.shape == (len(world.pairs), 3)
    assert found.max() < len(world.shards)
    assert set(found[found >= 0].tolist()) <= set(world.pairs.documents.tolist())
