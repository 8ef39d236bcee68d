"""Pairs of texts for adapters, from corpora that are not collections of questions.

::

    python -m tools.text_pairs mathlib mathlib.jsonl.gz mathlib_pairs.jsonl.gz
    python -m tools.text_pairs sections statements.jsonl.gz sections.jsonl.gz
    python -m tools.text_pairs titles arqmath_pool/ titles.jsonl.gz

======== ======================================== ==============================
kind     question                                 answer
======== ======================================== ==============================
mathlib  docstring of a declaration               words of its name, signature
sections title of a section of a book             each of its statements
titles   title of a question                      its text, each answer, and the
                                                  titles of linked questions
======== ======================================== ==============================

Sections that hold a statement with a name or a slogan are skipped: these are what
benchmarks ask for.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

_SHORTEST = 16
"""Characters of a docstring that says something."""
_HUMP = re.compile(r"([a-z])([A-Z])")
_FORMULA = re.compile(r'<span class="math-container"[^>]*>(.*?)</span>', re.DOTALL)
_POOL = "Posts.V1.3.xml", "PostLinks.V1.3.xml", "linked_question_titles.tsv"


def split_name(name: str) -> str:
    """Return the words of a declaration's name.

    >>> split_name("Nat.exists_infinite_primes"), split_name("AddConstMap")
    ('Nat exists infinite primes', 'Add Const Map')
    """
    return _HUMP.sub(r"\1 \2", re.sub(r"[._]+", " ", name))


def pair_mathlib(source: Path) -> Iterator[tuple[str, str]]:
    """Yield docstrings and what they describe."""
    for record in _read_lines(source):
        if len(record["doc"]) >= _SHORTEST:
            yield (
                record["doc"],
                f"{split_name(record['name'])}: {record['signature']}",
            )


def pair_sections(source: Path) -> Iterator[tuple[str, str]]:
    """Yield titles of sections and their statements."""
    statements = list(_read_lines(source))
    asked = {
        (record["chapter"], record["section"])
        for record in statements
        if record["name"] or record["slogan"]
    }
    names = {_fold(record["name"]) for record in statements if record["name"]}
    for record in statements:
        title = record["section"]
        if (
            title
            and (record["chapter"], title) not in asked
            and _fold(title) not in names | {"introduction"}
        ):
            yield title, record["text"]


def pair_titles(source: Path) -> Iterator[tuple[str, str]]:
    """Yield titles of questions and what belongs to them, from files of ARQMath."""
    posts, links, others = (source / name for name in _POOL)
    rows = {row["Id"]: row for row in _read_rows(posts)}
    titles = {key: read_markup(row.get("Title", "")) for key, row in rows.items()}
    with others.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            titles.setdefault(row["post_id"], read_markup(row["title"]))
    for key, row in rows.items():
        yield titles.get(row.get("ParentId", key), ""), read_markup(row["Body"])
    for link in _read_rows(links):
        yield titles.get(link["PostId"], ""), titles.get(link["RelatedPostId"], "")


def read_markup(markup: str) -> str:
    """Return the text of HTML, formulas between dollars.

    >>> read_markup('Is <span class="math-container" id="1">x &lt; y</span>?')
    'Is $x < y$?'
    """
    text = re.sub(r"<[^>]+>", " ", _FORMULA.sub(r"$\1$", markup))
    return re.sub(r"[ \t]+", " ", html.unescape(text)).strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pairs; print how many there are."""
    kinds = {"mathlib": pair_mathlib, "sections": pair_sections, "titles": pair_titles}
    parser = argparse.ArgumentParser(prog="python -m tools.text_pairs")
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("source", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument(
        "--without", type=Path, help="queries of benchmarks, one a line"
    )
    options = parser.parse_args(arguments)
    found = dict.fromkeys(kinds[options.kind](options.source))
    asked = options.without.read_text("utf-8").splitlines() if options.without else []
    skipped = {"", *map(_fold, asked)}
    kept = [(a, b) for a, b in found if b and a != b and _fold(a) not in skipped]
    with gzip.open(options.pairs, "wt", encoding="utf-8") as file:
        for question, answer in kept:
            file.write(json.dumps({"question": question, "answer": answer}) + "\n")
    print(f"{len(kept):,} pairs in {options.pairs}")
    return 0


def _fold(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _read_rows(path: Path) -> Iterator[dict[str, str]]:
    for _, element in ElementTree.iterparse(path):
        if element.tag == "row":
            yield dict(element.attrib)


if __name__ == "__main__":
    raise SystemExit(main())
