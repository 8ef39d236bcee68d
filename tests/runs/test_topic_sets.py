"""Topics and judgments by edition and by pattern."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import FormulaMention, Judgment, Post, Topic
from mathamr_kedro.runs.topic_sets import list_topic_sets
from mathamr_kedro.trec import Run


def topic(topic_id, category=None):
    task = "task1" if topic_id.startswith("A.") else "task2"
    return Topic(
        topic_id, task, 0, "", (), "", (), None, None, category, None, None
    )  # fmt: skip


def judge(topic_id, doc_id, grade, task="task1", source="a.tsv"):
    return Judgment(topic_id, doc_id, grade, task, source)


TOPICS = [topic("A.1", "Proof"), topic("A.250"), topic("A.7001"), topic("B.1")]


def list_sets(judgments=(), patterns=None, visual_ids=None, topics=TOPICS):
    find = (visual_ids or {}).get
    found = list_topic_sets(topics, judgments, patterns or {}, find)
    return {(s.task, s.name): s for s in found}


def test_topics_belong_to_their_edition():
    sets = list_sets([judge("A.250", "7", 2), judge("A.1", "7", 0)])
    assert list(sets) == [
        (1, "ARQMath-1"), (1, "ARQMath-2"), (1, "own"), (2, "ARQMath-1"),
    ]  # fmt: skip
    assert sets[1, "ARQMath-2"].qrels.grades == {"A.250": {"7": 2}}
    assert sets[2, "ARQMath-1"].qrels.grades == {}
    assert sets[1, "ARQMath-1"].notes["A.1"]["category"] == "Proof"


def test_judged_topics_count_where_their_set_has_topics():
    sets = list_sets([judge("A.2", "7", 2), judge("A.301", "7", 2)])
    assert sets[1, "ARQMath-1"].qrels.grades == {"A.2": {"7": 2}}
    assert (1, "ARQMath-3") not in sets


def test_patterns_choose_and_may_overlap():
    sets = list_sets(
        [judge("A.1", "7", 2), judge("A.250", "7", 1)],
        {"odd": ["A.*1"], "all": ["*"]},
    )
    assert {t.topic_id for t in sets[1, "odd"].topics} == {"A.1", "A.7001"}
    assert list(sets[1, "odd"].qrels.grades) == ["A.1"]
    assert list(sets[1, "all"].qrels.grades) == ["A.1", "A.250"]
    assert [t.topic_id for t in sets[2, "all"].topics] == ["B.1"]


def test_formula_judgments_become_visual_ids_unless_these_are_judged():
    by_formula = [
        judge(topic_id, formula, grade, "task2_formulas")
        for topic_id, formula, grade in (
            ("B.1", "f1", 1), ("B.1", "f2", 3), ("B.2", "f2", 2), ("B.2", "lost", 2),
        )
    ]  # fmt: skip
    visual_ids = {"f1": "70", "f2": "70"}
    sets = list_sets(by_formula, visual_ids=visual_ids)
    expected = {"B.1": {"70": 3}, "B.2": {"70": 2}}
    assert sets[2, "ARQMath-1"].qrels.grades == expected
    official = judge("B.1", "71", 0, "task2")
    sets = list_sets([*by_formula, official], visual_ids=visual_ids)
    assert sets[2, "ARQMath-1"].qrels.grades["B.1"] == {"71": 0}


def test_two_grades_for_one_document_are_refused():
    same = judge("A.1", "7", 2, source="b.tsv")
    assert list_sets([judge("A.1", "7", 2), same])
    with pytest.raises(MalformedInputError, match=r"0 in 'a.tsv', 2 in 'b.tsv'"):
        list_sets([judge("A.1", "7", 0), same])


def test_topic_set_without_topics_is_refused():
    with pytest.raises(ConfigurationError, match=r"No topic belongs .*'none'"):
        list_sets(patterns={"none": ["C.*"]})


def test_one_name_is_a_set_of_all_topics():
    sets = list_sets([judge("A.250", "7", 2), judge("A.1", "7", 0)], "dev")
    assert list(sets) == [(1, "dev"), (2, "dev")]
    assert [t.topic_id for t in sets[1, "dev"].topics] == ["A.1", "A.250", "A.7001"]
    assert sets[1, "dev"].qrels.num_judgments == 2


def test_candidates_are_what_a_system_could_return():
    """Answers and documents, shard by shard; formulas that look the same once."""
    shards = [
        {"post_id": ["1", "2"], "post_type": ["question", "answer"]},
        {"post_id": ["3", "4"], "post_type": ["answer", "document"]},
    ]
    formulas = [{"visual_id": ["v1", "v1"]}, {"visual_id": ["v2", "v1"]}]

    def read(tables):
        return lambda columns: [pa.table(t).select(columns) for t in tables]

    sets = list_sets(
        [
            *(judge("A.1", document, 2) for document in ("1", "3", "9")),
            *(judge("B.1", visual, 3, "task2") for visual in ("v2", "v7")),
        ]
    )
    tables = read(shards), read(formulas)
    assert sets[1, "ARQMath-1"].find_candidates(*tables) == ({"3"}, 3)
    assert sets[2, "ARQMath-1"].find_candidates(*tables) == ({"v2"}, 2)


def test_a_set_takes_its_own_topics_of_a_run():
    """Times are those of all topics: none of them is that of the set."""
    lists = {name: Hits(["7"], np.ones(1)) for name in ("A.250", "A.1", "A.9")}
    run = Run("x", lists, task=1, seconds=3.0, query_seconds={"A.1": 1.0})
    chosen = list_sets()[1, "ARQMath-1"].choose(run)
    assert list(chosen.lists) == ["A.1"]
    assert (chosen.name, chosen.topic_set) == ("x", "ARQMath-1")
    assert (chosen.seconds, chosen.query_seconds) == (0.0, {})
    assert list_sets()[1, "own"].choose(run).lists == {}


def test_notes_are_what_the_organisers_said_or_nothing():
    noted = topic("A.1", "Proof")._replace(difficulty="Hard", dependency="Both")
    sets = list_sets(topics=[noted, topic("A.2")])
    assert sets[1, "ARQMath-1"].notes == {
        "A.1": {"category": "Proof", "difficulty": "Hard", "dependency": "Both"},
        "A.2": {"category": "", "difficulty": "", "dependency": ""},
    }


def write_text(words, latex):
    mention = FormulaMention("FORMULA_0", "1", "1", latex, 0, 9)
    return f"FORMULA_0 {words}", (mention,)


SHARES = {"": 1.0, "one two": 3 / 5, "one two three four five six": 3 / 9}
"""Of the three tokens of ``a+b`` among these words."""


def test_parts_hold_questions_and_answers_that_are_mostly_formulas():
    keys = dict(zip(("A.1", "A.3", "A.5"), SHARES, strict=True))
    topics = [
        topic(key)._replace(**dict(zip(("text", "formula_map"),
                                       write_text(words, "a+b"), strict=True)))
        for key, words in keys.items()
    ]  # fmt: skip
    documents = [
        Post(name, "answer", name, None, None, None, 1, (), "", *write_text(w, "a+b"))
        for name, w in zip("xyz", SHARES, strict=True)
    ]
    grades = {
        "A.1": {"x": 1, "y": 2, "z": 3}, "A.3": {"z": 3}, "A.5": {"x": 2, "z": 0},
    }  # fmt: skip
    judged = [judge(t, d, g) for t, by_id in grades.items() for d, g in by_id.items()]
    whole = list_sets(judged, topics=topics)[1, "ARQMath-1"]
    parts = {
        part.name: part.qrels.grades
        for part in whole.split_by_formulas((0.5, 0.9), documents, relevant_from=2)
    }
    assert parts == {
        "ARQMath-1/questions_above_50": {t: grades[t] for t in ("A.1", "A.3")},
        "ARQMath-1/answers_above_50": {"A.1": {"x": 1, "y": 2}, "A.5": {"x": 2}},
        "ARQMath-1/questions_above_90": {"A.1": grades["A.1"]},
        "ARQMath-1/answers_above_90": {"A.5": {"x": 2}},
    }
    (first, *_) = whole.split_by_formulas((0.5,), documents, relevant_from=2)
    assert [t.topic_id for t in first.topics] == ["A.1", "A.3"]
    assert whole.split_by_formulas((1.0,), documents, relevant_from=2) == []
