"""Hard negatives: near, never right, and the same after a kill."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import GraphShards, ShardWriter
from mathamr_kedro.learning import rounds, trainer
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.negatives import (
    NegativesConfig,
    group_pairs,
    mine_by_model,
)
from mathamr_kedro.learning.pairs import NOTHING, TrainingPairs
from mathamr_kedro.learning.rounds import NEGATIVES, train_in_rounds
from mathamr_kedro.learning.steps import split_pairs
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.maxsim import padded_maxsim, take_documents
from mathamr_kedro.model.weights import load_model

CPU = ComputeConfig(device="cpu")


@pytest.fixture
def pairs(shards):
    return TrainingPairs.of_rows(np.arange(40).reshape(20, 2), shards)


@pytest.fixture
def model(shards, model_config):
    torch.manual_seed(0)
    return MathAMRPlus(model_config, shards.schema)


@pytest.fixture
def config(config):
    return replace(
        config,
        num_epochs=2,
        hard_negatives=1,
        negatives=NegativesConfig("model", kept=3, skip=1),
    )


def score_slowly(model, shards, pairs, compare):
    ids = np.concatenate([pairs.queries, pairs.documents])
    batch = shards.assemble(ids)
    queries, documents = split_pairs(batch, model(batch).detach(), len(pairs))
    if compare == "document":
        return take_documents(queries) @ take_documents(documents).T
    return padded_maxsim(queries, documents)


@pytest.mark.parametrize("compare", ["maxsim", "document"])
def test_the_nearest_wrong_documents_are_found(
    shards, pairs, model, compare, monkeypatch
):
    blocks = {"cpu": (7, 6)}
    monkeypatch.setattr("mathamr_kedro.learning.negatives._BLOCK", blocks)
    config = NegativesConfig("model", kept=4, skip=2, compare=compare)
    found = mine_by_model(model, shards, pairs, config, seed=0)
    scores = score_slowly(model, shards, pairs, compare)
    scores.fill_diagonal_(-torch.inf)
    best = scores.argsort(1, descending=True)[:, 2:6].numpy()
    assert np.array_equal(found, pairs.documents[best])


def test_right_documents_of_any_kind_are_no_negatives(shards, model, tmp_path):
    # 0 asks with answers 1 and 2; 3 is a duplicate of 0 with answer 4; 6 has the graph
    # of 1 and answers 5; 7 and 8 are a pair of their own.
    graphs = [0, 1, 2, 3, 4, 5, 1, 7, 8]
    with ShardWriter(tmp_path / "shards", shards.schema) as writer:
        for key, position in enumerate(graphs):
            writer.add(str(key), shards.graph(position))
    planted = GraphShards(tmp_path / "shards")
    pairs = TrainingPairs.of_rows([[0, 1], [0, 2], [3, 4], [5, 6], [7, 8]], planted)
    groups = group_pairs(pairs, planted, duplicates=[(3, 0)])
    assert groups.tolist() == [0, 0, 0, 0, 1]
    config = NegativesConfig("model", kept=3, skip=0)
    found = mine_by_model(model, planted, pairs, config, 0, groups)
    assert found[0].tolist() == [8, NOTHING, NOTHING]
    assert set(found[4]) <= {1, 2, 4, 6}
    without = group_pairs(pairs, planted)
    assert without.tolist() == [0, 0, 1, 0, 2]


def test_a_pool_bounds_the_search(shards, pairs, model):
    config = NegativesConfig("model", kept=4, skip=0, pool=5)
    pool = pairs.draw_documents(config.pool, seed=3)
    assert len(pool) == 5
    assert np.array_equal(pool, pairs.draw_documents(config.pool, seed=3))
    found = mine_by_model(model, shards, pairs, config, seed=3)
    assert set(found[found >= 0]) <= set(pairs.documents[pool])


def weights_of(result):
    return load_model(result.model_dir, CPU).state_dict()


def test_second_round_starts_from_the_first_with_its_negatives(
    shards, pairs, config, tmp_path
):
    result = train_in_rounds(shards, pairs, config, tmp_path / "out")
    first = load_model(tmp_path / "out/round-0/model", CPU)
    held_out = pairs.hold_out(config.validation_share, config.seed)
    groups = group_pairs(pairs, shards)[~held_out]
    expected = mine_by_model(
        first, shards, pairs.take(~held_out), config.negatives, config.seed, groups
    )
    found = np.load(tmp_path / "out" / NEGATIVES)["negatives"]
    assert np.array_equal(found[~held_out], expected)
    assert (found[held_out] == NOTHING).all()
    again = trainer.train(
        shards,
        replace(pairs, negatives=found),
        config,
        tmp_path / "by hand",
        start=tmp_path / "out/round-0/model",
    )
    one, two = weights_of(result), weights_of(again)
    assert all(torch.equal(one[n], two[n]) for n in one)
    fresh = trainer.train(
        shards, replace(pairs, negatives=found), config, tmp_path / "fresh"
    )
    assert not torch.equal(weights_of(fresh)["nodes.content"], one["nodes.content"])


def test_killed_rounds_end_with_the_same_bits(
    shards, pairs, config, tmp_path, monkeypatch
):
    config = replace(config, negatives=replace(config.negatives, rounds=2))
    whole = weights_of(train_in_rounds(shards, pairs, config, tmp_path / "whole"))
    original, calls = rounds.mine_by_model, []

    def die(*args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(rounds, "mine_by_model", die)
    with pytest.raises(KeyboardInterrupt):
        train_in_rounds(shards, pairs, config, tmp_path / "killed")
    assert (tmp_path / "killed/round-1/model").is_dir()
    killed = weights_of(train_in_rounds(shards, pairs, config, tmp_path / "killed"))
    assert len(calls) == 3  # what was found before is read, not searched again
    assert all(torch.equal(whole[n], killed[n]) for n in whole)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kept": 0}, "kept of at least 1"),
        ({"skip": -1}, "skip of at least 0"),
        ({"rounds": 0}, "rounds of at least 1"),
        ({"pool": 1}, "pool of at least 2"),
    ],
)
def test_impossible_settings_are_refused(changes, message):
    with pytest.raises(ConfigurationError, match=message):
        NegativesConfig("model", **changes)


def test_the_least_settings_are_allowed():
    least = {"kept": 1, "skip": 0, "rounds": 1, "pool": 2}
    config = NegativesConfig("model", **least)
    assert {name: getattr(config, name) for name in least} == least


def test_fewer_documents_than_are_skipped_leave_nothing(shards, pairs, model):
    few = pairs.take(np.arange(3))
    config = NegativesConfig("model", kept=2, skip=3)
    assert (mine_by_model(model, shards, few, config, seed=0) == NOTHING).all()


def test_negatives_that_no_batch_uses_are_refused():
    with pytest.raises(ConfigurationError, match="hard_negatives of at least 1"):
        TrainingConfig(negatives=NegativesConfig("bm25"))


def test_several_processes_are_refused(shards, pairs, config, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigurationError, match="one process"):
        train_in_rounds(shards, pairs, config, tmp_path)
