"""Trees of NTCIR-12 whose labels are numbers."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
import yaml

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.corpus.extraction import PostCleaner
from mathamr_kedro.corpus.ntcir12 import Ntcir12Tuples, TupleFiles
from mathamr_kedro.corpus.raw import RawTopic
from tests.conftest import PROJECT

QUERY, SECOND = "NTCIR12-MathWiki-1", "NTCIR12-MathWiki-2"
TOPIC = """<topic>
<num>NAME</num><query><formula id="f.0"><math><semantics>
<mrow><msup><mi>x</mi><mn>2</mn></msup><mo>-</mo><mi>y</mi></mrow>
<annotation-xml encoding="MathML-Content"><apply><minus/><apply><csymbol cd="ambiguous">
superscript</csymbol><ci>x</ci><cn type="integer">2</cn></apply><ci>y</ci></apply>
</annotation-xml><annotation encoding="application/x-tex">x^{2}-y</annotation>
</semantics></math></formula></query></topic>"""
QUERIES = (
    '<topics xmlns="http://www.w3.org/1998/Math/MathML">'
    + TOPIC.replace("NAME", QUERY)
    + TOPIC.replace("NAME", SECOND)
    + "</topics>"
)
V, N, OP, END = 60006, 60002, 60008, 60004
MINUS, SUP = [OP, 60026], [OP, 60009]
X, Y, TWO, OTHER = [V, 60007], [V, 60061], [N, 60021], [V, 60999]


def opt(outer, base, exponent, last):
    """Pairs of an operator tree: outer(SUP(base, exponent), last)."""
    return [
        [[*outer, 0], [*SUP, 1], [500]],
        [[*SUP, 1], [*base, 2], [500]],
        [[*base, 2], [END, 60005, 3], [500]],
        [[*SUP, 1], [*exponent, 4], [501]],
        [[*outer, 0], [*last, 5], [501]],
    ]


def slt(first, exponent, last):
    """Pairs of a layout tree, above before next as in the published files."""
    v, n = 60003, 60014
    return [
        [[v, first[1], 0], [n, exponent[1], 1], [506]],
        [[v, first[1], 0], [60028, 0, 2], [501]],
        [[60028, 0, 2], [v, last[1], 3], [501]],
        [[v, last[1], 3], [60006, 60007, 4], [501]],
    ]


def write_tuples(folder: Path) -> None:
    """Write two judged formulas and a query as the files are published."""
    judged = {
        "Parabola:3": opt(MINUS, X, TWO, OTHER),
        "Fermat's:1": opt(MINUS, Y, TWO, X),
    }
    layout = {"Parabola:3": slt(X, TWO, OTHER), "Fermat's:1": slt(Y, TWO, X)}
    files = {
        "gcl_tuples/opt_judge.json.gz": judged,
        "gcl_tuples/slt_judge.json.gz": layout,
        "gcl_tuples/query_opt_list.json.gz": dict.fromkeys(
            (QUERY, SECOND), opt(MINUS, X, TWO, Y)
        ),
        "gcl_tuples/query_slt_list.json.gz": dict.fromkeys(
            (QUERY, SECOND), slt(X, TWO, Y)
        ),
    }
    for name in ("gcl_tuples", "runs"):
        (folder / name).mkdir(parents=True)
    for name, values in files.items():
        (folder / name).write_bytes(gzip.compress(json.dumps(values).encode()))
    (folder / "NTCIR12-MathWikiFormula-queries-participants.xml").write_text(QUERIES)
    judgments = "".join(
        f"{query} 0 Parabola:3 {best}\n{query} 0 Fermat's:1 {3 - best}\n"
        for query, best in ((QUERY, 3), (SECOND, 0))
    )
    (folder / "qrels.ntcir12-math-browsing-concrete.txt").write_text(judgments)
    article = b'<html><body><math id="Line:1"><mi>z</mi></math></body></html>'
    (folder / "mathemb_top_results_mathml.html.gz").write_bytes(gzip.compress(article))
    stated = (PROJECT / "conf/ntcir12_judged/parameters.yml").read_text()
    for name in re.findall(r"ntcir12/runs/(\S+)", stated):
        run = f"{QUERY} Q0 Fermat's:1 1 0.9 x\n{QUERY} Q0 Parabola:3 2 0.8 x\n"
        (folder / "runs" / name).write_bytes(gzip.compress(run.encode()))


@pytest.fixture
def collection(tmp_path):
    write_tuples(tmp_path / "ntcir12")
    stated = (PROJECT / "conf/ntcir12_judged/catalog.yml").read_text()
    files = yaml.safe_load(stated)["collection"]["files"]
    return Ntcir12Tuples(tmp_path, read_parameters(TupleFiles, files, "files"))


def test_numbers_become_the_labels_of_queries(collection):
    parabola, circle = collection.formulas()
    assert parabola.formula_id == "Parabola:3"
    assert circle.content == "[O!minus,0[O!SUP,0[V!𝑦],1[N!2]],1[V!𝑥]]"
    assert circle.presentation == "[V!y[-[V!x]],a[N!2]]"
    # No query has it: it keeps its number, and its kind.
    assert parabola.content == "[O!minus,0[O!SUP,0[V!𝑥],1[N!2]],1[V!#60999]]"
    assert parabola.presentation == "[V!x[-[V!#60999]],a[N!2]]"


def test_queries_ask_for_formulas(collection):
    topic, _ = collection.topics()
    assert isinstance(topic, RawTopic)
    assert (topic.topic_id, topic.task, topic.latex) == (QUERY, "ntcir12", "x^{2}-y")
    formula, _ = collection.topic_formulas()
    assert formula.content == "[O!minus,0[O!SUP,0[V!𝑥],1[N!2]],1[V!𝑦]]"
    found = collection.judgments()
    grades = {j.doc_id: j.grade for j in found if j.topic_id == QUERY}
    assert grades == {"Parabola:3": 3, "Fermat's:1": 0}
    assert [post.post_id for post in collection.posts()] == list(grades)


def test_formulas_of_posts_are_those_of_the_index(collection):
    """So that their trees are found, whatever letters a name has."""
    clean = PostCleaner()
    posts = [clean(raw)[0] for raw in collection.posts()]
    shown = {m.formula_id: m.visual_id for post in posts for m in post.formula_map}
    assert shown == {f.formula_id: f.visual_id for f in collection.formulas()}
    assert "Fermat's:1" in shown


def test_a_file_that_is_no_json_is_named(collection):
    bad = collection.root / "ntcir12/gcl_tuples/opt_judge.json.gz"
    bad.write_bytes(gzip.compress(b"{"))
    with pytest.raises(MalformedInputError, match=r"opt_judge\.json.*JSON object"):
        list(collection.formulas())
