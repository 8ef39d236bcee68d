"""Pairs of texts that are made for adapters."""

from __future__ import annotations

import gzip
import json

import pytest

from tools.text_pairs import main

FORMULA = "&lt;span class=&quot;math-container&quot; id=&quot;1&quot;&gt;x&lt;/span&gt;"


def make(kind, source, folder, *options) -> list[tuple[str, str]]:
    out = folder / "pairs.jsonl.gz"
    assert main([kind, str(source), str(out), *map(str, options)]) == 0
    with gzip.open(out, "rt") as lines:
        return [(r["question"], r["answer"]) for r in map(json.loads, lines)]


@pytest.fixture
def pool(tmp_path):
    (tmp_path / "Posts.V1.3.xml").write_text(
        f'<posts><row Id="1" PostTypeId="1" Title="On {FORMULA}" Body="Why {FORMULA}"/>'
        '<row Id="2" PostTypeId="2" ParentId="1" Body="&lt;p&gt;So&lt;/p&gt;"/>'
        '<row Id="3" PostTypeId="2" Body="alone"/></posts>'
    )
    (tmp_path / "PostLinks.V1.3.xml").write_text(
        '<links><row PostId="1" RelatedPostId="9"/></links>'
    )
    others = 'post_id\ttitle\n9\t"An ""odd"" one"\n'
    (tmp_path / "linked_question_titles.tsv").write_text(others)
    return tmp_path


def test_titles_belong_to_texts_answers_and_linked_titles(pool):
    pairs = make("titles", pool, pool)
    assert pairs == [
        ("On $x$", "Why $x$"),
        ("On $x$", "So"),
        ("On $x$", 'An "odd" one'),
    ]


def test_what_a_benchmark_asks_is_no_question(pool):
    asked = pool / "asked.txt"
    asked.write_text("on $X$!\n")
    assert make("titles", pool, pool, "--without", asked) == []


def test_sections_of_named_statements_are_skipped(tmp_path):
    source = tmp_path / "statements.jsonl.gz"
    names = [
        ("Chow", "Chow's lemma"),
        ("Chow", None),
        ("Flat", None),
        ("Chow's Lemma", None),
    ]
    with gzip.open(source, "wt") as file:
        for number, (section, name) in enumerate(names):
            record = {"chapter": "a", "section": section, "name": name, "slogan": None}
            file.write(json.dumps(record | {"text": f"text {number}"}) + "\n")
    assert make("sections", source, tmp_path) == [("Flat", "text 2")]
