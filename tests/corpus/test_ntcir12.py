import unicodedata
from dataclasses import replace

import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.corpus.extraction import PostCleaner
from mathamr_kedro.corpus.ntcir12 import Ntcir12Collection, Ntcir12Files

ARTICLE = """<html><body><p>Since <math alttext="x"><semantics><mi>x</mi>
<annotation-xml encoding="MathML-Content"><ci>x</ci></annotation-xml>
<annotation encoding="application/x-tex">x^{2}</annotation></semantics></math> is
<math id="Zeta:7" alttext="a&lt;b"><mi>a</mi></math> even.</p></body></html>"""

QUERIES = """<topics xmlns="http://www.w3.org/1998/Math/MathML"><topic>
<num>NTCIR12-MathWiki-1</num><query><formula id="f.0"><math><semantics><mi>P</mi>
<annotation encoding="application/x-tex">P</annotation></semantics></math>
</formula></query></topic></topics>"""


@pytest.fixture
def folder(tmp_path):
    name = unicodedata.normalize("NFD", "Erdős–Rényi")
    (tmp_path / "articles").mkdir()
    (tmp_path / "articles" / f"{name}.html").write_text(ARTICLE)
    (tmp_path / "queries.xml").write_text(QUERIES)
    (tmp_path / "qrels.dat").write_text(f"NTCIR12-MathWiki-1 xxx {name}:0 3.0\n")
    return tmp_path


FILES = Ntcir12Files(("articles/*.html",), ("queries.xml",), ("qrels.dat",))


def test_article_becomes_a_document_with_named_formulas(folder):
    (raw,) = Ntcir12Collection(folder, FILES).posts()
    post, _ = PostCleaner()(raw)
    assert post.text == "Erdős–Rényi\n\nSince FORMULA_0 is FORMULA_1 even."
    assert [(m.formula_id, m.latex) for m in post.formula_map] == [
        ("Erdős–Rényi:0", "x^{2}"),
        ("Zeta:7", "a<b"),
    ]


def test_a_name_of_the_page_alone_is_none_of_a_formula(folder):
    (article,) = (folder / "articles").iterdir()
    article.write_text(ARTICLE.replace("Zeta:7", "m7"))
    (raw,) = Ntcir12Collection(folder, FILES).posts()
    post, _ = PostCleaner()(raw)
    names = [mention.formula_id for mention in post.formula_map]
    assert names == ["Erdős–Rényi:0", "Erdős–Rényi:1"]


def test_formulas_carry_their_markup(folder):
    first, second = Ntcir12Collection(folder, FILES).formulas()
    assert first.formula_id == "Erdős–Rényi:0"
    assert "<mi>x</mi>" in first.presentation
    assert "<ci>x</ci>" in first.content
    assert second.content == ""


def test_names_in_judgments_are_normalised(folder):
    (judgment,) = Ntcir12Collection(folder, FILES).judgments()
    assert (judgment.doc_id, judgment.grade) == ("Erdős–Rényi:0", 3)


def test_query_is_a_formula(folder):
    collection = Ntcir12Collection(folder, FILES)
    (topic,) = collection.topics()
    assert (topic.topic_id, topic.task, topic.latex) == (
        "NTCIR12-MathWiki-1",
        "ntcir12",
        "P",
    )
    (formula,) = collection.topic_formulas()
    assert formula.formula_id == topic.formula_id


def test_line_without_a_tab_is_named(folder):
    (folder / "queries.tsv").write_text("NTCIR12-MathWiki-1\tx^2\nno tab here\n")
    files = replace(FILES, topics=("queries.tsv",))
    topics = Ntcir12Collection(folder, files).topics()
    assert next(topics).latex == "x^2"
    with pytest.raises(MalformedInputError, match=r"queries\.tsv', line 2: expected"):
        next(topics)


def test_missing_part_is_named(tmp_path):
    with pytest.raises(MissingInputError, match="articles"):
        Ntcir12Collection(tmp_path, FILES).check_layout()


@pytest.mark.shared
def test_real_queries_and_judgments_are_read(shared):
    files = Ntcir12Files(
        topics=("NTCIR12-MathWikiFormula-queries-participants.xml",),
        qrels=("qrels.ntcir12-math-browsing.txt",),
    )
    collection = Ntcir12Collection(shared / "collection" / "ntcir12", files)
    assert len(list(collection.topics())) == 40
    assert len(list(collection.judgments())) == 2687
