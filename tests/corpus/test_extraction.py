import pytest

from mathamr_kedro.base.records import Failure
from mathamr_kedro.corpus.extraction import (
    PostCleaner,
    clean_in_batches,
)
from mathamr_kedro.corpus.raw import RawPost, RawTopic
from mathamr_kedro.corpus.topics import clean_topic


def raw_post(post_id="1", title="", body="<p>x</p>", **values):
    fields = {
        "source": "Posts.xml", "place": "line 3", "post_id": post_id,
        "post_type": "question", "parent_id": None, "accepted_answer_id": None,
        "creation_date": None, "score": None, "tags": (), "title": title, "body": body,
    }  # fmt: skip
    return RawPost(**(fields | values))


def clean(raw, index=None):
    return PostCleaner(None if index is None else index.get)(raw)


def test_title_stands_first_and_formulas_are_numbered_through():
    post, failures = clean(raw_post(title="Is $a$ odd?", body="<p>And $b$?</p>"))
    assert post.text == "Is FORMULA_0 odd?\n\nAnd FORMULA_1?"
    assert post.title == "Is FORMULA_0 odd?"
    assert failures == []


def test_answer_belongs_to_the_thread_of_its_question():
    post, _ = clean(raw_post("2", post_type="answer", parent_id="1"))
    assert post.thread_id == "1"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (raw_post(body=""), "empty_text"),
        (raw_post(body='a <span class="math-container"></span>'), "empty_formula"),
        (raw_post(post_type="answer"), "answer_without_parent"),
        (
            raw_post(body='<span class="math-container" id="9">x</span>'),
            "formula_not_in_index",
        ),
    ],
)
def test_defect_is_noted_and_the_post_is_kept(raw, reason):
    post, failures = clean(raw, index={})
    assert post is not None
    assert [(f.reason, f.kept, f.place) for f in failures] == [(reason, True, "line 3")]


def test_second_post_with_an_id_is_left_out():
    watched = list(PostCleaner().watch([raw_post("7")] * 2))
    assert isinstance(watched[0], RawPost)
    assert isinstance(watched[1], Failure)
    assert (watched[1].reason, watched[1].kept) == ("duplicate_post_id", False)


def test_batches_balance_their_accounts():
    note = Failure("ingestion", "f", "", "x", "no_slt_row", "", kept=True)
    bad = Failure("ingestion", "f", "", "x", "too_few_columns", "")
    batches = list(clean_in_batches(["a", note, bad, "b", "c"], None, size=3))
    assert [b.records for b in batches] == [["a"], ["b", "c"]]
    assert [b.counts for b in batches] == [
        {"read": 2, "written": 1, "dropped": 1},
        {"read": 2, "written": 2, "dropped": 0},
    ]


def test_finished_batches_are_not_cleaned_again():
    seen = []

    def clean_and_remember(record):
        seen.append(record)
        return record, []

    batches = clean_in_batches("abcdef", clean_and_remember, 2, lambda n: n == 1)
    assert [b.number for b in batches] == [0, 2]
    assert seen == ["a", "b", "e", "f"]


def test_topic_takes_its_notes():
    raw = RawTopic("t.xml", "B.7", "task2", 2020, "", "<p>hm</p>", (), "q_1", "x")
    notes = {"B.7": {"category": "Proof", "difficulty": "Low", "dependency": ""}}
    topic, failures = clean_topic(raw, notes)
    assert (topic.category, topic.difficulty, topic.dependency) == (
        "Proof",
        "Low",
        None,
    )
    assert [f.reason for f in failures] == ["query_formula_not_in_text"]
