"""Settings of the systems: the least value of each is allowed, less is refused."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.systems.formula_rgcn.config import NodeSearchConfig, RgcnConfig
from mathamr_kedro.systems.marf import config as marf
from mathamr_kedro.systems.mathamr import config as mathamr
from mathamr_kedro.systems.ssemb import config as ssemb

WHOLE = {
    RgcnConfig: {
        "hidden_dim": 1, "num_layers": 1, "num_bases": 1, "min_count": 1,
        "max_nodes": 1, "num_epochs": 0, "max_formulas": 0, "batch_size": 2,
    },
    NodeSearchConfig: {"candidates": 1, "neighbours": 1, "hnsw_m": 1, "rrf_k": 0},
    ssemb.AugmentationConfig: {"wildcards": 1},
    ssemb.StructureConfig: {
        "dimension": 1, "num_layers": 1, "min_label_count": 1, "min_nodes": 1,
        "num_epochs": 1, "batch_size": 2,
    },
    ssemb.RankingConfig: {"context_length": 1, "context_step": 1, "candidates": 1},
    marf.PhaseConfig: {"epochs": 0, "batch_size": 2},
    marf.ModelConfig: {
        "max_tokens": 8, "max_formulas": 1, "max_formula_tokens": 1, "vocabulary": 1,
        "layers": 1, "heads": 1, "width": 2, "max_pairs": 0,
    },
    marf.SearchConfig: {"candidates": 0},
    mathamr.ModelConfig: {
        "folds": 2, "epochs": 0, "batch_size": 2, "max_length": 1,
    },
    mathamr.SearchConfig: {"depth": 1, "batch_size": 1, "instances": 0},
}  # fmt: skip
BESIDE = {"dimension": {"num_layers": 1}, "width": {"heads": 1}}
"""What must be small as well for a number to be the least."""


def name_case(value: object) -> str | None:
    if isinstance(value, type):
        return f"{value.__module__.split('.')[-2]}.{value.__name__}"
    return None


@pytest.mark.parametrize(
    ("kind", "name", "least"),
    [(kind, *limit) for kind, limits in WHOLE.items() for limit in limits.items()],
    ids=name_case,
)
def test_whole_numbers_have_a_least_one(kind, name, least):
    values = {name: least} | BESIDE.get(name, {})
    assert getattr(kind(**values), name) == least
    with pytest.raises(ConfigurationError, match=f"{name}.* of at least"):
        kind(**values | {name: least - 1})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind, names in {
            RgcnConfig: ("temperature", "learning_rate"),
            ssemb.StructureConfig: ("temperature", "learning_rate"),
            marf.PhaseConfig: ("temperature", "learning_rate"),
        }.items()
        for name in names
    ],
    ids=name_case,
)
def test_temperatures_and_rates_are_above_zero(kind, name):
    assert getattr(kind(**{name: 1e-9}), name) == 1e-9
    with pytest.raises(ConfigurationError, match=f"{name}.* above 0"):
        kind(**{name: 0.0})


@pytest.mark.parametrize(
    ("kind", "name", "highest"),
    [
        (ssemb.AugmentationConfig, "attribute_masking", 1.0),
        (ssemb.AugmentationConfig, "node_dropping", 1.0),
        (ssemb.AugmentationConfig, "edge_perturbation", 1.0),
        (ssemb.RankingConfig, "structure_weight", 1.0),
        (mathamr.ModelConfig, "warmup", 1.0),
        (mathamr.ModelConfig, "validation", 0.99),
        (marf.ModelConfig, "validation_share", 0.99),
    ],
    ids=name_case,
)
def test_shares_lie_between_nothing_and_all(kind, name, highest):
    for value in (0.0, highest):
        assert getattr(kind(**{name: value}), name) == value
    for value in (-0.01, highest + 0.01):
        with pytest.raises(ConfigurationError, match=name):
            kind(**{name: value})


@pytest.mark.parametrize(
    ("kind", "name"),
    [(ssemb.AugmentationConfig, "substitution"), (ssemb.RankingConfig, "curve")],
    ids=name_case,
)
def test_each_of_several_shares_is_checked(kind, name):
    assert getattr(kind(**{name: (0.0, 1.0)}), name) == (0.0, 1.0)
    for values in ((0.5, 1.5), (-0.5, 0.5)):
        with pytest.raises(ConfigurationError, match=f"{name} within 0 and 1"):
            kind(**{name: values})


def test_sizes_must_divide_each_other():
    with pytest.raises(ConfigurationError, match="multiple of num_layers 3"):
        ssemb.StructureConfig(dimension=400, num_layers=3)
    with pytest.raises(ConfigurationError, match="twice the heads, 6"):
        marf.ModelConfig(width=9, heads=3)
    assert marf.ModelConfig(width=12, heads=3).width == 12


def test_tasks_of_marf_are_one_two_or_both():
    for tasks in ((1,), (2,), (1, 2)):
        assert marf.SearchConfig(tasks=tasks).tasks == tasks
    for tasks in ((), (0,), (1, 3)):
        with pytest.raises(ConfigurationError, match="tasks among"):
            marf.SearchConfig(tasks=tasks)


def test_a_post_has_its_longest_formula_or_several():
    assert marf.ModelConfig(selection="longest").formulas_of_a_post == 1
    assert marf.ModelConfig(max_formulas=4).formulas_of_a_post == 4
