"""The judged subset: which posts, topics, formulas and pairs belong to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.records import Failure, Formula, Judgment, TrainingPair
from mathamr_kedro.corpus import Collection
from mathamr_kedro.corpus.raw import RawComment, RawPost, RawTopic
from mathamr_kedro.corpus.subset import PostChoice, SubsetCollection, SubsetConfig
from tests.conftest import PROJECT


def post(
    number: int, parent: int | None = None, accepted: int | None = None
) -> RawPost:
    kind = "question" if parent is None else "answer"
    ids = [None if n is None else str(n) for n in (parent, accepted)]
    body = f"text {number}"
    return RawPost("p", "", str(number), kind, *ids, None, None, (), "", body)


def formula(number: int, post_id: int, visual: str, issue: str = "") -> Formula:
    return Formula(str(number), str(post_id), visual, issue=issue, latex="x")


def judge(topic: str, document: str, task: str = "task1") -> Judgment:
    return Judgment(topic, document, 2, task, "qrels.tsv")


class Threads(Collection):
    """Ten questions 10, 20, ..., each with the answers 11 (accepted) and 12."""

    QRELS = (
        judge("A.5", "31"),  # of 2020
        judge("A.301", "11"),
        judge("A.301", "12"),
        judge("A.302", "11"),
        judge("A.302", "999"),
        judge("B.301", "7", "task2"),
        judge("B.301", "8", "task2"),
        judge("B.302", "9", "task2"),
    )

    def __init__(self, judgments: tuple[Judgment, ...] = QRELS) -> None:
        super().__init__("whole")
        self._judgments = judgments

    def list_files(self, part: str) -> list[Path]:
        return []

    def checksum(self, *parts: str) -> str:
        return "whole"

    def posts(self) -> Iterator[RawPost | Failure]:
        for q in range(10, 110, 10):
            yield post(q, accepted=q + 1)
            yield post(q + 1, q)
            yield post(q + 2, q)
        yield Failure("ingestion", "p", "line 9", "1", "other_post_type", "")
        yield post(500)._replace(post_type="example")

    def comments(self) -> Iterator[RawComment]:
        return (RawComment("c", "", f"c{n}", str(n), "so") for n in (10, 11, 21))

    def formulas(self) -> Iterator[Formula]:
        rows = [formula(n, n, "7") for n in range(20, 110, 10)]
        rows += [formula(1, 11, "8", "d"), formula(2, 41, "8"), formula(3, 12, "5")]
        return iter(rows)

    def topics(self) -> Iterator[RawTopic]:
        for topic in ("A.5", "A.301", "B.301"):
            task = "task1" if topic[0] == "A" else "task2"
            yield RawTopic("t", topic, task, 0, "", "", (), None, None)

    def judgments(self) -> Iterator[Judgment]:
        return iter(self._judgments)


def choose(**config) -> tuple[dict[str, list[str]], dict[str, int]]:
    rows, counts = PostChoice(Threads(), SubsetConfig(**config)).choose("accepted")
    reasons = ("judged", "question", "training")
    found = {r: [row.post_id for row in rows if row.reason == r] for r in reasons}
    return found, dict(counts)


def open_chosen(**config) -> SubsetCollection:
    settings = SubsetConfig(**config)
    rows, _ = PostChoice(Threads(), settings).choose("accepted")
    return SubsetCollection(Threads(), rows, "rows", settings)


def test_judged_answers_of_the_last_edition_are_kept():
    found, counts = choose()
    assert found == {"judged": ["11", "12"], "question": [], "training": []}
    # 999 is judged, and not in the collection
    assert counts == {"task1_judged": 3, "task1_found": 2, "judged": 2, "posts": 2}


def test_all_editions():
    assert choose(editions="all")[0]["judged"] == ["11", "12", "31"]


def test_questions_of_judged_answers():
    assert choose(questions=True)[0]["question"] == ["10"]


def test_the_overlay_shows_what_holds_where_nothing_is_said():
    shown = OmegaConf.load(PROJECT / "conf" / "overlays" / "judged.yml")
    values = shown.parameters.ingestion.subset
    names = ("tasks", "editions", "questions", "posts_per_formula")
    defaults = SubsetConfig()
    assert [values[name] for name in names] == [
        [*defaults.tasks], *(getattr(defaults, name) for name in names[1:])
    ]  # fmt: skip


def test_posts_of_judged_formulas():
    found, counts = choose(tasks=("task1", "task2"), posts_per_formula=3)
    # the first three with visual id 7; 41 has 8 (11 must not be returned for it)
    assert found["judged"] == ["11", "12", "20", "30", "40", "41"]
    assert (counts["task2_judged"], counts["task2_found"]) == (3, 2)


def test_formulas_that_are_judged_by_their_own_ids():
    collection = Threads((judge("B.301", "2", "task2_formulas"),))
    rows, counts = PostChoice(collection, SubsetConfig(("task2",))).choose("all")
    assert [row.post_id for row in rows] == ["41"]
    assert counts["task2_formulas_found"] == 1


def test_pairs_are_drawn_from_the_whole_collection_by_the_seed():
    found, _ = choose(pairs=4)
    assert len(found["training"]) == 4
    assert choose(pairs=4)[0] == found
    assert choose(pairs=4, seed=1)[0] != found
    assert len(choose(pairs=99)[0]["training"]) == 10  # there are no more


def test_posts_to_learn_from_come_last_and_cannot_be_found():
    posts = [p for p in open_chosen(pairs=99).posts() if isinstance(p, RawPost)]
    types = {p.post_id: p.post_type for p in posts}
    assert [p.post_id for p in posts[:2]] == ["11", "12"]
    assert {types.pop("11"), types.pop("12")} == {"answer"}
    assert set(types.values()) == {"example"}
    assert "10" in types  # the question of 11, drawn with it
    assert len(posts) == len(types) + 2 == 2 + 19 + 1  # 500 was an example before


def test_defects_of_the_files_are_still_reported_once():
    chosen = open_chosen(pairs=99)
    assert [p.reason for p in chosen.posts() if isinstance(p, Failure)] == [
        "other_post_type"
    ]


def test_formulas_to_learn_from_are_never_returned():
    issues = {f.formula_id: f.issue for f in open_chosen(pairs=99).formulas()}
    assert (issues["3"], issues["1"]) == ("", "d")
    assert issues["20"] == issues["2"] == "d"


def test_what_belongs_to_other_posts_and_topics_is_left_out():
    chosen = open_chosen(pairs=99)
    assert [c.comment_id for c in chosen.comments()] == ["c11"]
    assert [t.topic_id for t in chosen.topics()] == ["A.301"]
    assert {j.topic_id for j in chosen.judgments()} == {"A.301", "A.302"}
    assert chosen.checksum("posts") != Threads().checksum("posts")


def test_only_drawn_pairs_are_learnt_from():
    config = SubsetConfig(questions=True, pairs=2)
    rows, _ = PostChoice(Threads(), config).choose("accepted")
    drawn = {(r.post_id, r.answer_id) for r in rows if r.reason == "training"}
    within = {("10", "11"), ("10", "12")}
    every = [TrainingPair(*pair) for pair in sorted(drawn | within | {("500", "501")})]
    chosen = SubsetCollection(Threads(), rows, "rows", config)
    kept = set(filter(chosen.keeps_pair, every))
    assert kept == drawn | {("500", "501")}  # 500 is of a file of examples


def test_pairs_within_the_subset_where_none_are_drawn():
    assert open_chosen(questions=True).keeps_pair(TrainingPair("10", "11"))


def test_a_collection_without_judgments_is_refused():
    with pytest.raises(MissingInputError, match=r"\['task1'\].*'whole'.*subset: null"):
        PostChoice(Threads(()), SubsetConfig())


def test_judgments_of_another_collection_are_refused():
    collection = Threads((judge("A.301", "12345"),))
    with pytest.raises(MissingInputError, match=r"None of the 1 .*'12345'.*qrels"):
        PostChoice(collection, SubsetConfig()).choose("accepted")


@pytest.mark.parametrize("wrong", [{"tasks": ()}, {"pairs": -1}])
def test_settings_without_sense_are_refused(wrong):
    with pytest.raises(ConfigurationError):
        SubsetConfig(**wrong)
