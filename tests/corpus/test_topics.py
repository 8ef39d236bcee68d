import pytest

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.corpus.topics import read_topic_formulas, read_topics

TASK2 = """<?xml version="1.0" ?>
<Topics>
  <Topic number="B.201">
    <Formula_Id>q_1</Formula_Id>
    <Latex>$n\\times n$</Latex>
    <Title>An &lt;b&gt;n&lt;/b&gt;</Title>
    <Question>&lt;p&gt;Why?&lt;/p&gt;</Question>
    <Tags>algebra,rings</Tags>
  </Topic>
  <Topic><Title>no number</Title></Topic>
</Topics>
"""


def test_task2_topic_has_its_formula(tmp_path):
    file = tmp_path / "Topics_Task2.xml"
    file.write_text(TASK2)
    topic, failure = read_topics(file, "Topics_Task2.xml")
    assert (topic.topic_id, topic.task, topic.year) == ("B.201", "task2", 2021)
    assert (topic.formula_id, topic.latex) == ("q_1", r"n\times n")
    assert topic.tags == ("algebra", "rings")
    assert topic.question == "<p>Why?</p>"
    assert isinstance(failure, Failure)
    assert (failure.reason, failure.place) == ("topic_without_number", "line 10")


def test_file_that_holds_no_topics_is_refused(tmp_path):
    file = tmp_path / "Posts.xml"
    file.write_text("<posts><row Id='1'/></posts>")
    with pytest.raises(MalformedInputError, match="root element 'Topics'"):
        list(read_topics(file, "Posts.xml"))


def test_broken_topics_file_names_the_line(tmp_path):
    file = tmp_path / "Topics.xml"
    file.write_text(TASK2[:120])
    with pytest.raises(MalformedInputError, match=r"Topics\.xml.*line 5"):
        list(read_topics(file, "Topics.xml"))


def test_topic_formulas_of_two_years_do_not_mix(tmp_path):
    latex = tmp_path / "latex.tsv"
    latex.write_text(
        "id\ttopic_id\tthread_id\ttype\tformula\n"
        "q_1\tA.1\t5\ttitle\t$c$\nq_1\tA.201\t6\tquestion\td\nq_2\tA.201\n"
    )
    opt = tmp_path / "opt.tsv"
    opt.write_text(
        "id\ttopic_id\tthread_id\ttype\topt\nq_1\tA.1\t5\ttitle\t<ci>c</ci>\n"
    )
    found = list(read_topic_formulas({"latex": [latex], "opt": [opt]}))
    failures = [f for f in found if isinstance(f, Failure)]
    formulas = [f for f in found if not isinstance(f, Failure)]
    assert [(f.post_id, f.formula_id, f.latex, f.content) for f in formulas] == [
        ("A.1", "q_1", "c", "<ci>c</ci>"),
        ("A.201", "q_1", "d", ""),
    ]
    assert [(f.reason, f.place) for f in failures] == [("too_few_columns", "line 4")]
