"""Every system returns the formulas of one list, whatever the rule and the engine.

::

    formula  where            issue   looks like
    11       title of 1               x^2
    12       body of 1                a/b
    13       body of 1        d       u+v       not in the XML
    21       answer 2         v       x^2
    22       answer 2                 sin(t)
    23       nowhere                  p_1       in the index, but in no text
    51       comment on 1             sqrt(y)
    52       comment on 1     dv      w!        not in the XML
    61       comment on 2             a/b
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import pytest

from mathamr_kedro.project.search import open_search
from mathamr_kedro.search.responses import write_parts
from mathamr_kedro.systems.mathamr_plus import open_vectors
from tests.pipelines.graph_world import open_catalog, run_stage
from tests.pipelines.search_world import write_encoder

pytestmark = pytest.mark.slow

# formula, post, type, comment, visual id, issue, LaTeX
FORMULAS = [
    ("11", "1", "title", "", "70", "", "x^2"),
    ("12", "1", "question", "", "71", "", r"\frac{a}{b}"),
    ("13", "1", "question", "", "72", "d", "u+v"),
    ("21", "2", "answer", "", "70", "v", "x^2"),
    ("22", "2", "answer", "", "73", "", r"\sin(t)"),
    ("23", "2", "answer", "", "74", "", "p_1"),
    ("51", "1", "comment", "5", "75", "", r"\sqrt{y}"),
    ("52", "1", "comment", "5", "76", "dv", "w!"),
    ("61", "2", "comment", "6", "71", "", r"\frac{a}{b}"),
]
POSTS_ALONE = ["title", "question", "answer", "body"]
IN_POSTS = {"70", "71", "73", "74"}
BASELINES = ["bm25", "bm25_tuples", "bm25_slt", "bm25_opt", "bm25_ngrams"]


def mark(formula_id: str) -> str:
    latex = {f[0]: f[-1] for f in FORMULAS}[formula_id]
    span = f'<span class="math-container" id="{formula_id}">{latex}</span>'
    return html.escape(span)


def list_topics() -> str:
    """A topic for each formula, so that each is near to one query at least."""
    topics = [
        f'<Topic number="B.{f[0]}"><Formula_Id>q_{f[0]}</Formula_Id><Latex>{f[-1]}'
        f"</Latex><Title>T</Title><Question>&lt;p&gt;Find "
        f"{mark(f[0]).replace('id=&quot;', 'id=&quot;q_')}&lt;/p&gt;</Question>"
        "<Tags>a</Tags></Topic>"
        for f in FORMULAS
    ]
    return f"<Topics>{''.join(topics)}</Topics>"


def write_collection(folder: Path) -> None:
    files = {
        "Posts.V1.3.xml": f"""<posts>
            <row Id="1" PostTypeId="1" AcceptedAnswerId="2" Title="Why {mark("11")}?"
              Body="&lt;p&gt;Is {mark("12")} even?&lt;/p&gt;" Tags="" Score="4"/>
            <row Id="2" PostTypeId="2" ParentId="1"
              Body="&lt;p&gt;Yes, {mark("21")} is {mark("22")}.&lt;/p&gt;"/></posts>""",
        "Comments.V1.3.xml": f"""<comments>
            <row Id="5" PostId="1" Text="Not for {mark("51")}, I think."/>
            <row Id="6" PostId="2" Text="What about {mark("61")}?"/>
            <row Id="7" PostId="2" Text="Thank you."/></comments>""",
        "Topics/Task2/Topics_Task2.xml": list_topics(),
        "Topics/Task2/Information.csv": "Topic,Category,Difficulty,Dependency\n",
        "Qrels/qrel_task1.tsv": "A.1\t0\t2\t3\n",
        "Qrels/qrel_task2.tsv": "B.11\t0\t70\t2\n",
    }
    head = "id post_id thread_id type comment_id old_visual_id visual_id issue formula"
    for family in ("latex", "slt", "opt"):
        rows = [head.split()]
        rows += [
            [key, post, "1", place, comment, look, look, issue,
             latex if family == "latex" else ""]
            for key, post, place, comment, look, issue, latex in FORMULAS
        ]  # fmt: skip
        name = f"Formulas/{family}_representation_v3/1.tsv"
        files[name] = "".join("\t".join(row) + "\n" for row in rows)
        topics = [["id", "topic_id", "thread_id", "type", "formula"]]
        topics += [
            [
                f"q_{f[0]}",
                f"B.{f[0]}",
                "1",
                "question",
                f[-1] if family == "latex" else "",
            ]
            for f in FORMULAS
        ]
        name = {"latex": "Latex", "slt": "SLT", "opt": "OPT"}[family]
        text = "".join("\t".join(row) + "\n" for row in topics)
        files[f"Topics/Task2/Topics_Formulas_{name}.tsv"] = text
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("candidates")
    write_collection(folder)
    return folder


def prepare(data: Path, raw: Path, **params: Any) -> Path:
    """Run all stages before training, and lay an encoder beside the graphs."""
    params |= {"raw_root": str(raw)}
    for stage in ("ingestion", "amr_parsing", "graph_fusion", "preprocessing"):
        run_stage(data, stage, **params)
    write_encoder(data)
    open_catalog(data).save("training_history", [])
    return data


def evaluate(data: Path, engine: str = "exact") -> Any:
    """Run all stages behind training."""
    params: dict[str, Any] = {
        "indexing": {"engine": {"engine": engine}},
        "evaluation": {
            "baselines": BASELINES,
            "fusions": [{"name": "all", "of": ["mathamr_plus", *BASELINES]}],
        },
    }
    run_stage(data, "indexing", **params)
    return run_stage(data, "evaluation", **params)


@pytest.fixture(scope="module")
def data(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prepared by the rule of the lab."""
    return prepare(tmp_path_factory.mktemp("data"), raw)


@pytest.fixture(scope="module")
def indexed(data: Path) -> Path:
    run_stage(data, "indexing", indexing={"engine": {"engine": "exact"}})
    return data


def read_returned(catalog: Any) -> dict[str, set[tuple[str, str, str]]]:
    """Visual id, formula and post of all that each system returned for any topic."""
    returned: dict[str, set[tuple[str, str, str]]] = {}
    look = {f[0]: f[4] for f in FORMULAS}
    for file in catalog.load("runs").folder.glob("task2/*/*.tsv"):
        for line in file.read_text().splitlines():
            _, formula, post, *_ = line.split("\t")
            returned.setdefault(file.stem, set()).add((look[formula], formula, post))
    return returned


def check(catalog: Any, expected: set[str]) -> None:
    listed = {f.visual_id for f in catalog.load("returnable_formulas").records()}
    assert listed == expected
    returned = read_returned(catalog)
    assert set(returned) == {"mathamr_plus", *BASELINES, "all"}
    posts = {f[0]: f[1] for f in FORMULAS}
    for system, found in returned.items():
        assert {look for look, _, _ in found} == expected, system
        assert all(post == posts[formula] for _, formula, post in found), system


def count(catalog: Any) -> tuple[int, int]:
    index = catalog.load("mathamr_plus.index")
    vectors = open_vectors(catalog.load("mathamr_plus.model").vectors_folder)
    assert len(vectors.posts) == index.counts["posts"] == 2
    return vectors.posts.num_formulas(), index.counts["formulas"]


@pytest.mark.parametrize("engine", ["exact", "edge"])
def test_all_systems_return_the_formulas_of_the_lab(data: Path, engine: str) -> None:
    catalog = evaluate(data, engine)
    check(catalog, IN_POSTS | {"75"})
    assert count(catalog) == (7, 7)
    graphs = catalog.load("mathamr_plus.prepared")
    assert (len(graphs.posts), len(graphs.formulas)) == (2, 3)  # only 23, 51 and 61


def test_all_systems_honour_another_rule(raw: Path, tmp_path: Path) -> None:
    rule = {"returnable": {"types": POSTS_ALONE, "issues_excluded": ["dv", "v"]}}
    catalog = evaluate(prepare(tmp_path, raw, ingestion=rule), "edge")
    check(catalog, IN_POSTS | {"72"})
    assert count(catalog) == (5, 5)


def test_a_search_for_a_formula_finds_comments(indexed: Path) -> None:
    (result, *others) = search(indexed, r"\sqrt{y}")
    said = r"Not for $\sqrt{y}$, I think."
    assert result == ("1", "comment", said, "Why $x^2$?", "F0")
    assert [post for post, *_ in others] == ["2"]  # each post once


def search(data: Path, latex: str) -> list[tuple[str, ...]]:
    searcher = open_search("test", str(data))
    try:
        results = searcher.search_formula(latex).results
    finally:
        searcher.close()
    return [
        (
            r.post_id,
            r.type,
            " ".join(write_parts(s.parts) for s in r.sentences),
            write_parts(r.title),
            r.matches[0].post,
        )
        for r in results
    ]


def test_no_search_for_posts_returns_a_formula(indexed: Path) -> None:
    searcher = open_search("test", str(indexed))
    try:
        found = searcher.search("Is it even?", post_types=[]).results
    finally:
        searcher.close()
    assert {(r.post_id, r.type) for r in found} == {
        ("1", "question"),
        ("2", "answer"),
    }
