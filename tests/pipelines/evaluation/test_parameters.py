"""Settings of the evaluation stage."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.pipelines.evaluation import EvaluationConfig
from mathamr_kedro.systems.mathamr_plus import Strategy


def test_one_strategy_is_the_system_itself_and_several_have_names() -> None:
    settings = EvaluationConfig.read({"depth": 10})
    default = Strategy("rerank", candidates=7, post_types=("document",))
    (name, found), *rest = settings.list_strategies(default).items()
    assert (name, found.depth, found.candidates, rest) == ("mathamr_plus", 10, 7, [])
    assert found.post_types == ("document",)
    both = [{"retrieval": "single"}, {"name": "mine", "depth": 5}]
    named = EvaluationConfig.read({"strategies": both}).list_strategies(default)
    assert list(named) == ["mathamr_plus/single-exact", "mathamr_plus/mine"]
    assert named["mathamr_plus/mine"].depth == 5
    assert named["mathamr_plus/mine"].post_types == ("answer", "document")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"measures": ["nDGC'"]}, "Unknown measure"),
        ({"depth": 0}, "at least 1"),
        ({"baselines": ["bm52"]}, "did you mean 'bm25'"),
        ({"average": "mean"}, "average"),
        ({"fusions": [{"name": "x"}]}, "name and the systems"),
    ],
)
def test_wrong_values_are_refused(values, message) -> None:
    with pytest.raises(ConfigurationError, match=message):
        EvaluationConfig.read(values)


def test_strategies_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="different names"):
        EvaluationConfig.read({"strategies": [{"hnsw_ef": 1}, {"hnsw_ef": 2}]})


def test_optional_baselines_are_skipped_with_a_warning_without_their_model(
    monkeypatch, caplog
) -> None:
    where = "mathamr_kedro.text.explain_absence"
    settings = EvaluationConfig.read(
        {
            "baselines": ["bm25"],
            "optional_baselines": ["minilm_title"],
            "fusions": [
                {"name": "both", "of": ["bm25", "minilm_title"]},
                {"name": "one", "of": ["bm25"]},
            ],
        }
    )
    monkeypatch.setattr(where, lambda model: None)
    assert settings.list_baselines() == ["bm25", "minilm_title"]
    assert [f.name for f in settings.list_fusions()] == ["both", "one"]
    monkeypatch.setattr(where, lambda model: f"get {model}")
    assert settings.list_baselines() == ["bm25"]
    assert [f.name for f in settings.list_fusions()] == ["one"]
    assert "Skipped both, which need minilm_title (get minilm)" in caplog.text


def test_plain_protocol_counts_from_grade_1_for_both_tasks():
    config = EvaluationConfig.read({"protocol": "trec", "measures": ["MAP", "MRR"]})
    for task in (1, 2):
        chosen = config.choose_protocol(task)
        assert not chosen.pooled
        assert {m.relevant_from for m in chosen.measures} == {1}
    assert config.choose_protocol(2).task == "2"  # visual ids are ranked as ever
    official = EvaluationConfig.read({}).choose_protocol(1)
    assert official.pooled
    assert {m.relevant_from for m in official.measures} == {2}
