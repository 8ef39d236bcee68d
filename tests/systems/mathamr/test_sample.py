"""The embedded sample: a model from nothing, trained in seconds, beats chance."""

from __future__ import annotations

from collections import Counter
from contextlib import chdir
from pathlib import Path

import pytest

from mathamr_kedro.datasets.artefact import TABLES, collect
from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.runs import list_topic_sets
from mathamr_kedro.systems import Collection
from mathamr_kedro.systems.mathamr.judged import list_triples
from mathamr_kedro.trec import Run
from tests.systems.mathamr.world import make_text_model
from tests.systems.trained import SystemFolder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2400),  # the first waits for the demo
]


@pytest.fixture(scope="module")
def sources(demo: Path) -> Collection:
    with chdir(demo):
        catalog = open_catalog("demo")
        return collect({part: catalog.load(name) for part, name in TABLES.items()})


def test_a_model_from_nothing_beats_chance(sources, tmp_path):
    triples = list_triples("amr_opt", sources)
    assert len(triples) == 355
    assert {t.grade for t in triples} == {0, 1, 2, 3}
    words = Counter(w for t in triples for w in f"{t.query} {t.candidate}".split())
    text_model = make_text_model(tmp_path / "text_model", " ".join(words))
    model = {
        "text_model": str(text_model), "epochs": 1, "folds": 2, "max_length": 32,
        "learning_rate": 0.003,
    }  # fmt: skip
    values = {"model": model, "search": {"instances": 1}}
    folder = SystemFolder.create(tmp_path, "mathamr", values, 42, sources)
    folder.train()
    assert folder.index(sources)["models"] == 3
    visual_of = {f.formula_id: f.visual_id for f in sources.formulas()}
    sets = list_topic_sets(sources.topics(), sources.judgments(), {}, visual_of.get)
    (judged,) = (found for found in sets if found.task == 2)
    names = [topic.topic_id for topic in judged.topics]
    summaries = {}
    for name, rank in folder.open(sources)[2].items():
        lists = dict(zip(names, rank(judged.topics, 5000), strict=True))
        run = Run(name, lists, task=2)
        found = evaluate_run(run, judged.qrels, protocol_of("2"))
        summaries[name] = found.summarise()["nDCG'"]
    reranked = summaries["mathamr/rerank"]
    assert reranked.score > reranked.shuffled + 0.03
    assert summaries["mathamr"].score > reranked.floor + 0.15
    assert summaries["mathamr"].score > reranked.score
