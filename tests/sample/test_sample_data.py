"""The committed sample: its size, its soundness, and that the generator makes it."""

from __future__ import annotations

import csv
import gzip
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.sample.collection import build_collection
from tools.sample.contents import Contents, area_names, gather_contents
from tools.sample.folder import read_cells
from tools.sample.mathml import is_balanced, make_cells
from tools.sample.rows import Collection

PROJECT = Path(__file__).resolve().parents[2]
SAMPLE = PROJECT / "data/01_raw/sample"
SPAN = re.compile(
    r'<span class="math-container"(?: id="(\w+)")?>(.*?)</span>', re.DOTALL
)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return gather_contents()


@pytest.fixture(scope="module")
def collection(contents) -> Collection:
    return build_collection(contents)


def _rows(name: str) -> list[dict[str, str]]:
    return [row.attrib for row in ElementTree.parse(SAMPLE / name).getroot()]


def _index(family: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    for part in sorted(SAMPLE.glob(f"Formulas/{family}_representation_v3/*")):
        opened = gzip.open(part, "rt") if part.suffix == ".gz" else part.open()
        with opened as lines:
            rows.extend(csv.DictReader(lines, dialect="excel-tab"))
    return rows


def _judgments(task: int) -> list[list[str]]:
    text = (SAMPLE / f"Qrels/qrel_task{task}_sample.tsv").read_text()
    return [line.split("\t") for line in text.splitlines()]


def test_it_is_as_large_as_promised_and_no_larger():
    posts = _rows("Posts.V1.3.xml")
    kinds = Counter(row["PostTypeId"] for row in posts)
    assert kinds["1"] >= 150
    assert len(posts) >= 400
    assert sum("AcceptedAnswerId" in row for row in posts) >= 150
    assert len(_index("latex")) >= 2000
    assert sum(p.stat().st_size for p in SAMPLE.rglob("*") if p.is_file()) <= 3_000_000


def test_it_covers_at_least_twelve_areas(contents):
    threads = Counter(thread.key.split("/")[0] for thread in contents.threads)
    assert len(area_names()) >= 12
    assert set(area_names()) | {"defects"} == set(threads)
    assert min(threads[area] for area in area_names()) >= 11


def test_answers_are_two_for_a_question_on_average(contents):
    answers = sum(len(thread.answers) for thread in contents.threads)
    assert answers >= 1.8 * len(contents.threads)


def test_there_are_twenty_four_topics_for_each_task():
    for task, letter in ((1, "A"), (2, "B")):
        root = ElementTree.parse(
            SAMPLE / f"Topics/Task{task}/Topics_Task{task}_Sample.xml"
        )
        numbers = [topic.get("number") for topic in root.getroot()]
        assert numbers == [f"{letter}.{1001 + n}" for n in range(24)]


def test_every_answer_has_its_question_and_every_link_its_posts():
    posts = {row["Id"]: row for row in _rows("Posts.V1.3.xml")}
    for row in posts.values():
        if row["PostTypeId"] == "2":
            assert posts[row["ParentId"]]["PostTypeId"] == "1"
        if "AcceptedAnswerId" in row:
            assert posts[row["AcceptedAnswerId"]]["ParentId"] == row["Id"]
    for name in ("Comments.V1.3.xml", "Votes.V1.3.xml"):
        assert {row["PostId"] for row in _rows(name)} <= set(posts)
    for row in _rows("PostLinks.V1.3.xml"):
        assert row["PostId"] in posts and row["RelatedPostId"] in posts


def test_posts_are_from_the_years_of_the_collection():
    years = {row["CreationDate"][:4] for row in _rows("Posts.V1.3.xml")}
    assert years == {str(year) for year in range(2010, 2019)}


def test_the_three_families_have_the_same_rows_in_the_same_order():
    families = [_index(family) for family in ("latex", "slt", "opt")]
    columns = [
        [tuple(v for k, v in row.items() if k != "formula") for row in rows]
        for rows in families
    ]
    assert columns[0] == columns[1] == columns[2]
    ids = [int(row["id"]) for row in families[0]]
    assert ids == sorted(set(ids))


def test_every_marked_formula_is_in_the_index_and_the_other_way_round():
    marked: dict[str, str] = {}
    texts = [
        text
        for row in _rows("Posts.V1.3.xml")
        for text in (row.get("Title", ""), row["Body"])
    ]
    texts += [row["Text"] for row in _rows("Comments.V1.3.xml")]
    for formula_id, latex in (found for text in texts for found in SPAN.findall(text)):
        if formula_id:
            marked[formula_id] = latex
    indexed = {
        row["id"]: row["formula"] for row in _index("latex") if "d" not in row["issue"]
    }
    unescaped = {
        key: latex.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        for key, latex in marked.items()
    }
    assert unescaped == indexed


def test_ids_of_different_kinds_are_disjoint():
    index = _index("latex")
    kinds = [
        {row["Id"] for row in _rows("Posts.V1.3.xml")},
        {row["Id"] for row in _rows("Comments.V1.3.xml")},
        {row["id"] for row in index},
        {row["visual_id"] for row in index},
    ]
    bounds = [(min(map(int, ids)), max(map(int, ids))) for ids in kinds]
    for (_, highest), (lowest, _) in pairwise(bounds):
        assert highest < lowest


def test_nearly_every_formula_has_both_kinds_of_mathml():
    for family in ("slt", "opt"):
        rows = _index(family)
        cells = [row["formula"] for row in rows if row["formula"]]
        assert len(rows) - len(cells) <= 10
        for cell in set(cells):
            ElementTree.fromstring(cell)


def test_equal_presentation_means_equal_visual_id():
    looks = defaultdict(set)
    for row in _index("slt"):
        bare = re.sub(r'alttext="[^"]*"', "", row["formula"])
        if bare:
            looks[bare].add(row["visual_id"])
    assert all(len(ids) == 1 for ids in looks.values())


def test_every_judgment_refers_to_an_answer_or_a_visual_id():
    answers = {row["Id"] for row in _rows("Posts.V1.3.xml") if row["PostTypeId"] == "2"}
    visual = {row["visual_id"] for row in _index("latex") if "d" not in row["issue"]}
    assert {doc for _, _, doc, _ in _judgments(1)} <= answers
    assert {doc for _, _, doc, _ in _judgments(2)} <= visual


@pytest.mark.parametrize("task", [1, 2])
def test_every_topic_has_relevant_and_not_relevant_documents(task):
    grades = defaultdict(list)
    for topic, _, _, grade in _judgments(task):
        grades[topic].append(int(grade))
    assert len(grades) == 24
    for topic, values in grades.items():
        assert sum(grade >= 2 for grade in values) >= 2, topic
        assert values.count(0) >= 6, topic
    assert {grade for values in grades.values() for grade in values} == {0, 1, 2, 3}


def test_latex_is_sound_except_in_the_defects(contents, collection):
    wrong = {
        collection.question_ids[thread.key]
        for thread in contents.threads
        if thread.key.startswith("defects/")
    }
    broken = [row for row in _index("latex") if not is_balanced(row["formula"])]
    assert len(broken) >= 3
    assert {int(row["thread_id"]) for row in broken} <= wrong


def test_the_defects_are_there():
    bodies = [row["Body"] for row in _rows("Posts.V1.3.xml")]
    titles = [row.get("Title", "") for row in _rows("Posts.V1.3.xml")]
    spans = [found for body in bodies for found in SPAN.findall(body)]
    everything = "\n".join(bodies)
    assert "" in bodies
    assert sum(not formula_id for formula_id, _ in spans) >= 5
    assert max(len(SPAN.findall(title)) for title in titles) >= 4
    assert max(len(SPAN.sub(" ", body).split()) for body in bodies) >= 3000
    for mark in ("$$\\int", "\\(C\\)", "\\[\\frac", "\n\\begin{align}", "<pre><code>",
                 "</p>\n<blockquote>\n<p>", "<ul>\n<li>", "&nbsp;",
                 "&#8230;", "e\u0301", "<table>", "<a href="):  # fmt: skip
        assert mark in everything
    issues = Counter(row["issue"] for row in _index("latex"))
    assert issues["d"] >= 2 and issues["v"] >= 2 and issues["dv"] >= 1


def test_topic_information_names_each_topic():
    path = SAMPLE / "Topics/Task1/Topics_Task1_Sample_Information.csv"
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["Topic"] for row in rows] == [f"A.{1001 + n}" for n in range(24)]
    assert {row["Category"] for row in rows} == {"Proof", "Concept", "Computation"}
    assert {row["Difficulty"] for row in rows} == {"Low", "Medium", "High"}
    assert {row["Dependency"] for row in rows} == {"Text", "Formula", "Both"}


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_generator_makes_the_same_files_again_without_latexml(hash_seed):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tools.sample", "--check"],
        cwd=PROJECT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.latexml
def test_committed_mathml_is_what_latexml_makes():
    version = subprocess.run(
        ["latexmlc", "--VERSION"], capture_output=True, text=True, check=False
    )
    if "0.8.7" not in version.stdout + version.stderr:
        pytest.skip("the sample was made with LaTeXML 0.8.7")
    known = read_cells(SAMPLE)
    some = sorted(known)[::150]
    assert make_cells(some, {}) == {latex: known[latex] for latex in some}


def test_a_sample_that_is_not_current_is_refused(tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tools.sample",
         "--out", str(tmp_path), "--check"],
        cwd=PROJECT,
        env={**os.environ, "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert "Expected LaTeXML for" in run.stderr
