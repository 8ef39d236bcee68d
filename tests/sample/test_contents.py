"""References of topics and threads: right ones pass, each wrong one is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mathamr_kedro.base.errors import MalformedInputError
from tools.sample.contents import Contents, check_contents, formulas_of
from tools.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

ANSWERS = tuple(Answer(f"$a_{n}$ is it.", comments=("No, $b$.",)) for n in range(8))
THREAD = Thread("area/one", "Is $x$ it?", "Or $y$?", ("tag",), ANSWERS)
TOPIC = AnswerTopic(
    key="area/topic",
    title="What is $z$?",
    question="It is\n$$z\n= 1$$",
    tags=("tag",),
    grades={"area/one#1": 3, "area/one#2": 2}
    | {f"area/one#{n}": 0 for n in range(3, 9)},
    category="Proof",
    difficulty="Low",
    dependency="Both",
)
FORMULA = FormulaTopic(
    "area/topic", "z = 1", {"a_0": 3, "x": 2} | {f"a_{n}": 0 for n in range(1, 7)}
)
CONTENTS = Contents((THREAD,), (TOPIC,), (FORMULA,))


def test_right_references_pass():
    check_contents(CONTENTS)


def test_formulas_of_a_thread_are_those_of_title_posts_and_comments():
    thread = replace(THREAD, answers=ANSWERS[:2], comments=("$c$",))
    assert list(formulas_of(thread)) == ["x", "y", "c", "a_0", "b", "a_1", "b"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": "One"}, "not of the form 'area/short-name'"),
        ({"tags": ()}, "has no tags"),
        ({"related": ("area/oen",)}, "unknown 'area/oen'; did you mean 'area/one'"),
        ({"duplicate_of": "b/two"}, "links to unknown 'b/two'"),
        ({"answers": (replace(ANSWERS[0], accepted=True),) * 2}, "more than one acc"),
    ],
)
def test_a_wrong_thread_is_named(change, message):
    contents = Contents((replace(THREAD, **change),), (), ())
    with pytest.raises(MalformedInputError, match=message):
        check_contents(contents)


def test_two_threads_with_one_key_are_refused():
    with pytest.raises(MalformedInputError, match="'area/one' occurs twice"):
        check_contents(Contents((THREAD, THREAD), (), ()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grades": {**TOPIC.grades, "area/one#9": 1}}, "unknown answer 'area/one#9'"),
        ({"grades": {**TOPIC.grades, "area/one#1": 4}}, "the grade 4, expected 0 to 3"),
        ({"grades": {**TOPIC.grades, "area/one#1": 1}}, "has 1 relevant items"),
        ({"grades": {**TOPIC.grades, "area/one#8": 1}}, "has 5 items of grade 0"),
        ({"category": "Prof"}, "'Prof', expected one of"),
        ({"dependency": "None"}, "'None', expected one of"),
    ],
)
def test_a_wrong_answer_topic_is_named(change, message):
    contents = Contents((THREAD,), (replace(TOPIC, **change),), ())
    with pytest.raises(MalformedInputError, match=message):
        check_contents(contents)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topic": "area/topik"}, "has no answer topic; did you mean 'area/topic'"),
        ({"latex": "z = 2"}, "'z = 2' is not in its question; did you mean 'z = 1'"),
        ({"grades": {**FORMULA.grades, "q": 1}}, "judges 'q', which no thread holds"),
    ],
)
def test_a_wrong_formula_topic_is_named(change, message):
    contents = Contents((THREAD,), (TOPIC,), (replace(FORMULA, **change),))
    with pytest.raises(MalformedInputError, match=message):
        check_contents(contents)


def test_a_topic_has_one_formula_topic_at_most():
    with pytest.raises(MalformedInputError, match="has 2 formula topics"):
        check_contents(Contents((THREAD,), (TOPIC,), (FORMULA, FORMULA)))
