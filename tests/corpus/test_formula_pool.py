import gzip

import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import Failure, Formula
from mathamr_kedro.corpus.extraction import PostCleaner
from mathamr_kedro.corpus.formula_pool import FormulaPool, FormulaPoolFiles
from mathamr_kedro.corpus.placeholders import FormulaRow
from mathamr_kedro.corpus.raw import RawPost, RawTopic
from mathamr_kedro.corpus.topics import TopicFormulas, clean_topic
from mathamr_kedro.formula import TreeRow

FORMULAS = """visual_id\tjudged\tlatex\tslt\topt
31\t1\ta<b\t[V!a[<[V!b]]]\t[O!lt,0[V!a],1[V!b]]
7\t1\t\t[V!f,a[′]]\t[O!SUP,0[V!f],1[V!′]]
9\t1\t\t\t"[V!""]"
"""
TOPICS = """topic\tformula_id\tlatex\tslt\topt\tqrels
B.5\tq_1\tk^{2}.\t[V!k,a[N!2]]\t[O!SUP,0[V!k],1[N!2]]\tincluded
B.206\tq_2\t\t[V!m]\t[V!m]\tnot included
"""
FILES = FormulaPoolFiles(("formulas.tsv.gz",), ("topics.tsv",), ("qrels.tsv",))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "formulas.tsv.gz").write_bytes(gzip.compress(FORMULAS.encode()))
    (tmp_path / "topics.tsv").write_text(TOPICS)
    (tmp_path / "qrels.tsv").write_text("B.5\t0\t31\t2\nB.5\t0\t7\t0\n")
    return tmp_path


def test_each_formula_is_a_post_of_its_own(folder):
    pool = FormulaPool(folder, FILES)
    rows = {
        f.formula_id: FormulaRow(f.visual_id, f.latex, f.post_id)
        for f in pool.formulas()
    }
    clean = PostCleaner(rows.get)
    posts = [clean(raw) for raw in pool.posts()]
    assert [problems for _, problems in posts] == [[], [], []]
    assert {post.text for post, _ in posts} == {"FORMULA_0"}
    assert {post.post_type for post, _ in posts} == {"document"}
    mentions = [post.formula_map[0] for post, _ in posts]
    assert [m.visual_id for m in mentions] == ["31", "7", "9"]
    assert [m.formula_id for m in mentions] == [post.post_id for post, _ in posts]
    # Where the LaTeX is not known, the text shows a tree.
    assert [m.latex for m in mentions] == ["a<b", "[V!f,a[′]]", '[V!"]']


def test_trees_are_those_of_the_table(folder):
    rows = [TreeRow.build(f) for f in FormulaPool(folder, FILES).formulas()]
    assert [row.slt for row in rows] == ["[V!a[<[V!b]]]", "[V!f,a[′]]", None]
    assert rows[1].opt == "[O!SUP,0[V!f],1[V!′]]"
    assert rows[2].opt == '[V!"]'
    assert {row.opt_source for row in rows} == {"brackets"}


def test_topic_finds_its_trees_by_the_visual_id_of_its_text(folder):
    pool = FormulaPool(folder, FILES)
    formulas = {f.formula_id: f for f in pool.topic_formulas()}
    raws = list(pool.topics())
    assert [(raw.topic_id, raw.task, raw.year) for raw in raws] == [
        ("B.5", "task2", 2020),
        ("B.206", "task2", 2021),
    ]
    for raw in raws:
        rows = TopicFormulas(formulas.values())
        topic, problems = clean_topic(raw, {}, rows)
        (mention,) = topic.formula_map
        assert problems == []
        assert topic.formula_id == mention.formula_id
        assert mention.visual_id == formulas[mention.formula_id].visual_id
    assert formulas["q_1"].presentation == "[V!k,a[N!2]]"


def test_judgments_name_visual_ids(folder):
    found = list(FormulaPool(folder, FILES).judgments())
    assert [(j.doc_id, j.grade, j.task) for j in found] == [
        ("31", 2, "task2"),
        ("7", 0, "task2"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("12\t1\t\t\t", "empty_cells"),
        ("x12\t1\tx\t\t", "bad_visual_id"),
        ("12\t1\tx", "too_few_columns"),
    ],
)
def test_row_that_cannot_be_used_is_reported_once(folder, line, reason):
    text = f"{FORMULAS}{line}\n"
    (folder / "formulas.tsv.gz").write_bytes(gzip.compress(text.encode()))
    pool = FormulaPool(folder, FILES)
    *posts, failure = pool.posts()
    assert len(posts) == 3
    assert isinstance(failure, Failure)
    assert (failure.reason, failure.place) == (reason, "line 5")
    assert len(list(pool.formulas())) == 3


def test_missing_column_is_named(folder):
    (folder / "topics.tsv").write_text("topic\tformula_id\tlatex\tslt\n")
    with pytest.raises(MalformedInputError, match=r"topics\.tsv.*'opt'"):
        list(FormulaPool(folder, FILES).topics())


def test_missing_file_is_named(tmp_path):
    with pytest.raises(MissingInputError, match="formulas"):
        FormulaPool(tmp_path, FILES).check_layout()


def test_other_topics_and_judgments_leave_the_formulas_alone(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "topics.tsv").write_text(TOPICS.replace("B.5", "B.50"))
    (elsewhere / "mine.tsv").write_text("B.50\t0\t7\t3\n")
    files = FormulaPoolFiles(
        FILES.formulas, (f"{elsewhere}/topics.tsv",), (f"{elsewhere}/mine.tsv",)
    )
    here, there = FormulaPool(folder, FILES), FormulaPool(folder, files)
    assert here.checksum("posts") == there.checksum("posts")
    assert here.checksum("topics") != there.checksum("topics")
    assert [j.topic_id for j in there.judgments()] == ["B.50"]


@pytest.mark.shared
def test_real_pool_is_read_whole(shared):
    prefix = "task2_2020_pool/"
    files = FormulaPoolFiles(
        (f"{prefix}formulas.tsv.gz",),
        (f"{prefix}topics.tsv",),
        (f"{prefix}qrel_all74_visual_v2.odd.tsv",),
    )
    pool = FormulaPool(shared / "collection", files)
    posts = list(pool.posts())
    assert sum(isinstance(post, RawPost) for post in posts) == 9350
    # One row has only an id.
    assert [p.reason for p in posts if isinstance(p, Failure)] == ["empty_cells"]
    assert sum(isinstance(topic, RawTopic) for topic in pool.topics()) == 74
    assert len(list(pool.judgments())) == 4503
    formulas = [*pool.formulas(), *pool.topic_formulas()]
    assert all(isinstance(formula, Formula) for formula in formulas)
    rows = [TreeRow.build(formula) for formula in formulas]
    assert sum(row.slt_source == "brackets" for row in rows) == 9347 + 74
    assert sum(row.opt_source == "brackets" for row in rows) == 9350 + 74
    assert [row.slt or "" for row in rows] == [f.presentation for f in formulas]
    assert [row.opt or "" for row in rows] == [f.content for f in formulas]
