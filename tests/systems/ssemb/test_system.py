"""SSEmb over the embedded sample: trained in seconds, asked for judged topics."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from lxml import etree

from mathamr_kedro.base.records import FormulaInstance, FormulaMention, Post, Topic
from mathamr_kedro.formula import trees_from_latex
from mathamr_kedro.systems import Collection, read_system
from mathamr_kedro.systems.ssemb import search
from tests.conftest import PROJECT
from tests.systems.ssemb.slow import rank_one_by_one
from tests.systems.trained import SystemFolder

SAMPLE = PROJECT / "data/01_raw/sample"
MODEL = {
    "dimension": 64,
    "batch_size": 128,
    "min_label_count": 3,
    "num_epochs": 6,
    "learning_rate": 2e-3,
}


@pytest.fixture(scope="module")
def qrels():
    grades = defaultdict(dict)
    for line in (SAMPLE / "Qrels/qrel_task2_sample.tsv").read_text().splitlines():
        topic, _, visual, grade = line.split()
        grades[topic][visual] = int(grade)
    return grades


@pytest.fixture(scope="module")
def formulas(qrels):
    judged = {v for of_topic in qrels.values() for v in of_topic}
    found, seen = [], set()
    for part in (1, 2):
        path = SAMPLE / f"Formulas/latex_representation_v3/{part}.tsv"
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                visual = row["visual_id"]
                if (visual in judged and visual not in seen) or len(found) < 600:
                    seen.add(visual)
                    found.append(
                        FormulaInstance(
                            row["id"], visual, row["post_id"], row["formula"]
                        )
                    )
    return found


@pytest.fixture(scope="module")
def topics():
    tree = etree.parse(SAMPLE / "Topics/Task2/Topics_Task2_Sample.xml")
    found = []
    for item in tree.iter("Topic"):
        formula, latex = item.findtext("Formula_Id"), item.findtext("Latex")
        mention = FormulaMention("FORMULA_0", formula, "", latex, 4, 13)
        text = f"See FORMULA_0 of {item.get('number')}"
        found.append(
            Topic(
                item.get("number"), "task2", 2022, "", (), text, (mention,), formula,
                latex, None, None, None,
            )
        )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def sources(formulas, topics):
    return Collection(
        formulas=lambda: formulas,
        trees_of=lambda f: trees_from_latex(f.latex),
        topics=lambda: topics,
    )


def mean_average_precision(rank, topics, qrels):
    """Of only judged formulas (MAP'), relevant from grade 2."""
    values = []
    for topic, hits in zip(topics, rank(topics, 1000), strict=True):
        grades = qrels[topic.topic_id]
        relevant = sum(grade >= 2 for grade in grades.values())
        judged = [grades[v] >= 2 for v in hits.visual_ids if v in grades]
        found = np.cumsum(judged)
        precision = [found[n] / (n + 1) for n, good in enumerate(judged) if good]
        values.append(sum(precision) / max(relevant, 1))
    return float(np.mean(values))


def test_formulas_of_comments_are_found_but_not_learnt_from(
    tmp_path, sources, formulas
):
    commented = [f._replace(comment_id="c") for f in formulas[::2]]
    every = [*commented, *formulas[1::2]]
    data = replace(sources, formulas=lambda: every)
    system = read_system("ssemb", {})
    counts = system.prepare(data, tmp_path)
    assert counts["visual_ids"] == len({f.visual_id for f in formulas[1::2]}) > 0


def test_trained_it_finds_what_is_relevant(tmp_path, sources, topics, qrels):
    values = {"model": MODEL, "search": {"text_model": "no such model"}}
    folder = SystemFolder.create(tmp_path, "ssemb", values, 1, sources)
    history = folder.train()
    assert history[-1]["loss"] < 0.8 * history[0]["loss"]
    assert folder.index(sources)["texts"] == 0
    rankers = folder.open(sources)[2]
    assert list(rankers) == ["ssemb"]  # a half is not the whole
    asked = [t for t in topics if qrels[t.topic_id]]
    by_chance = np.mean(
        [np.mean([g >= 2 for g in qrels[t.topic_id].values()]) for t in asked]
    )
    found = mean_average_precision(rankers["ssemb"], asked, qrels)
    assert found > by_chance + 0.25


class _Words:
    """A sentence encoder of one number for each of two words."""

    def __init__(self, folder, device="cpu"):
        pass

    def encode(self, texts):
        rows = [[1.0, 0.0] if "prime" in t else [0.0, 1.0] for t in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, 2)


@pytest.fixture
def pair():
    """Two formulas that look alike, in texts that do not."""

    def post(name, text, latex):
        mention = FormulaMention("FORMULA_0", f"f{name}", f"v{name}", latex, 0, 9)
        whole = f"FORMULA_0 {text}"
        return Post(
            name, "answer", name, None, None, None, None, (), "", whole, (mention,)
        )

    posts = [post("1", "is even", "x+y=z"), post("2", "is prime", "x+y=w+z")]
    formulas = [
        FormulaInstance(m.formula_id, m.visual_id, p.post_id, m.latex)
        for p in posts
        for m in p.formula_map
    ]
    mention = FormulaMention("FORMULA_0", "q", "", "x+y=z", 0, 9)
    topic = Topic(
        "B.1", "task2", 2020, "", (), "FORMULA_0 of a prime", (mention,), "q", "x+y=z",
        None, None, None,
    )  # fmt: skip
    made = Collection(
        formulas=lambda: formulas,
        trees_of=lambda f: trees_from_latex(f.latex),
        posts=lambda: posts,
    )
    return made, topic


def test_text_and_structure_are_weighed(tmp_path, pair, monkeypatch, caplog):
    sources, topic = pair
    monkeypatch.setattr(search, "explain_absence", lambda name: None)
    monkeypatch.setattr(search, "find_text_model", lambda name: name)
    monkeypatch.setattr(search, "SentenceEncoder", _Words)
    model = MODEL | {"min_label_count": 1, "batch_size": 2, "dimension": 8}
    values = {"model": model, "search": {"curve": [0.9]}}
    folder = SystemFolder.create(tmp_path, "ssemb", values, 1, sources)
    folder.train()
    assert folder.index(sources)["texts"] == 2
    rankers = folder.open(sources)[2]
    assert list(rankers) == [
        "ssemb", "ssemb/structure", "ssemb/text", "ssemb/lambda_0.9",
    ]  # fmt: skip
    found = {name: rank([topic], 5)[0] for name, rank in rankers.items()}
    assert found["ssemb/structure"].ids == ["f1", "f2"]  # the very same formula
    assert found["ssemb/structure"].scores[0] == pytest.approx(1.0, abs=1e-3)
    assert found["ssemb/text"].ids == ["f2", "f1"]
    assert found["ssemb/text"].scores.tolist() == [1.0, 0.0]
    for name, weight in (("ssemb", 0.5), ("ssemb/lambda_0.9", 0.9)):
        parts = (dict(found[f"ssemb/{half}"]) for half in ("structure", "text"))
        structure, text = parts
        for formula, score in found[name]:
            expected = weight * structure[formula] + (1 - weight) * text[formula]
            assert score == pytest.approx(expected, abs=1e-6)
    monkeypatch.setattr(search, "explain_absence", lambda name: "It is gone.")
    assert list(folder.open(sources)[2]) == ["ssemb"]
    assert "structure only, no texts. It is gone." in caplog.text


@pytest.mark.parametrize("candidates", [2, 500_000])
def test_ranking_is_that_of_the_equation(tmp_path, monkeypatch, candidates):
    """Two stages, the best instance of each visual id, as a loop over instances."""
    latex = ["x+y=z", "x+y=w+z", "x^2", "\\frac{x}{y}"]
    posts, formulas = [], []
    for n, word in enumerate(["prime", "even", "prime", "even", "odd", "prime"]):
        visual = n % len(latex)
        mention = FormulaMention(
            "FORMULA_0", f"f{n}", f"v{visual}", latex[visual], 0, 9
        )
        posts.append(
            Post(f"p{n}", "answer", f"p{n}", None, None, None, None, (), "",
                 f"FORMULA_0 is {word}", (mention,))
        )  # fmt: skip
        formulas.append(FormulaInstance(f"f{n}", f"v{visual}", f"p{n}", mention.latex))
    formulas.append(FormulaInstance("f9", "v3", "no such post", latex[3]))
    sources = Collection(
        formulas=lambda: formulas,
        trees_of=lambda f: trees_from_latex(f.latex),
        posts=lambda: posts,
    )
    mention = FormulaMention("FORMULA_0", "q", "", "x+y=z", 0, 9)
    topic = Topic(
        "B.1", "task2", 2020, "", (), "FORMULA_0 of a prime", (mention,), "q", "x+y=z",
        None, None, None,
    )  # fmt: skip
    monkeypatch.setattr(search, "explain_absence", lambda name: None)
    monkeypatch.setattr(search, "find_text_model", lambda name: name)
    monkeypatch.setattr(search, "SentenceEncoder", _Words)
    model = MODEL | {"min_label_count": 1, "batch_size": 2, "dimension": 8}
    values = {"model": model, "search": {"curve": [0.25]}}
    folder = SystemFolder.create(tmp_path, "ssemb", values, 1, sources)
    folder.train()
    folder.index(sources)
    rankers = folder.open(sources)[2]
    (whole,) = rankers["ssemb/structure"]([topic], 9)
    structure = dict(zip(whole.visual_ids, whole.scores.tolist(), strict=True))
    texts = [1.0, 0.0]  # of the prime, and of others
    numbers = {f"f{n}": int("prime" not in p.text) for n, p in enumerate(posts)}
    instances = [
        (f.formula_id, f.visual_id, numbers.get(f.formula_id, -1)) for f in formulas
    ]
    # Fewer than the sample has formulas.
    monkeypatch.setattr(search, "_CANDIDATES", candidates)
    for name, weight in (("ssemb", 0.5), ("ssemb/lambda_0.25", 0.25)):
        for depth in (1, 9):
            (found,) = rankers[name]([topic], depth)
            assert found.ids == rank_one_by_one(
                instances, structure, texts, weight, candidates, depth
            )
            assert len(set(found.visual_ids)) == len(found)


def test_a_formula_without_tree_finds_nothing(tmp_path, pair):
    sources, topic = pair
    model = MODEL | {"min_label_count": 1, "batch_size": 2, "dimension": 8}
    values = {"model": model, "search": {"text_model": "no such model"}}
    folder = SystemFolder.create(tmp_path, "ssemb", values, 1, sources)
    folder.train()
    folder.index(sources)
    blind = Collection(trees_of=lambda f: None)
    (hits,) = folder.open(blind)[2]["ssemb"]([topic], 5)
    assert hits.ids == []


def test_an_index_without_texts_says_how_to_have_them(
    tmp_path, pair, monkeypatch, caplog
):
    sources, _ = pair
    model = MODEL | {"min_label_count": 1, "batch_size": 2, "dimension": 8}
    values = {"model": model, "search": {"text_model": "no such model"}}
    folder = SystemFolder.create(tmp_path, "ssemb", values, 1, sources)
    folder.train()
    folder.index(sources)
    monkeypatch.setattr(search, "explain_absence", lambda name: None)
    assert list(folder.open(sources)[2]) == ["ssemb"]
    assert "run the stage 'indexing'" in caplog.text


def test_the_published_numbers_are_the_default():
    config = read_system("ssemb", {}).config
    model = config.model
    assert (model.dimension, model.batch_size, model.num_epochs) == (400, 2560, 25)
    assert model.learning_rate == 1e-4
    assert model.augmentation.substitution == (0.3, 0.005, 0.002)
    assert model.augmentation.attribute_masking == 0.01
    assert config.search.structure_weight == 0.5
