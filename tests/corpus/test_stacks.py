r"""The Stacks project's own ``.tex`` files give the statements of its benchmark.

What is compared is what the pipelines see: the reference text is read as the Markdown
that it is, ours as LaTeX. Differences that are none:

- white space, and a blank before a punctuation mark;
- quotes: “x” for ``"x"``;
- in formulas, what the reference drops (``\nolimits``, ``\!``) and spells otherwise
  (``aligned`` for ``align*``, ``\text{étale}`` for ``\acute{e}tale``), and our braces
  around an index that a macro stands for (``D_{\mathit{QCoh}}``).
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from collections import Counter

import pytest

from mathamr_kedro.base.records import CleanText, StatementLink
from mathamr_kedro.corpus.extraction import PostCleaner, clean_text
from mathamr_kedro.corpus.own_files import OwnCollection
from mathamr_kedro.corpus.raw import RawPost

pytestmark = [pytest.mark.shared, pytest.mark.timeout(3600)]  # 28 MB of LaTeX


@pytest.fixture(scope="module")
def folder(shared, tmp_path_factory):
    source = shared / "statements"
    if not source.is_dir():
        pytest.skip("no statements among the real data")
    root = tmp_path_factory.mktemp("stacks")
    shutil.unpack_archive(source / "stacks_tex.tar.gz", root)
    return root


@pytest.fixture(scope="module")
def reference(shared):
    with gzip.open(shared / "statements" / "statements.jsonl.gz", "rt") as stream:
        return {record["id"]: record for record in map(json.loads, stream)}


@pytest.fixture(scope="module")
def collection(folder):
    return OwnCollection(folder, "statement")


def squeeze(text: str) -> str:
    text = " ".join(re.sub("[“”]", '"', text).split())
    return re.sub(r" (?=[,.;:?)])", "", text)


def squeeze_latex(latex: str) -> str:
    latex = re.sub(r"\\(?:nolimits|limits)(?![a-zA-Z])|\\!", "", latex)
    latex = re.sub(r"\\(begin|end)\{(?:align|eqnarray)\*?\}", r"\\\1{aligned}", latex)
    latex = latex.replace(r"{\text{pro-étale}}", r"{pro\text{-}\acute{e}tale}")
    latex = latex.replace(r"{\text{étale}}", r"{\acute{e}tale}")
    latex = re.sub(r"([_^])\{(\\math\w+\{\w+\})\}", r"\1\2", latex)
    return re.sub(r"\s+", "", latex)


def read_text(title: CleanText, clean: CleanText) -> tuple[str, list[str]]:
    """Return words and formulas below the title."""
    skipped = len(title.formula_map)
    text = clean.text[len(title.text) :]
    number = (lambda m: f"FORMULA_{int(m[1]) - skipped}") if skipped else r"FORMULA_\1"
    words = squeeze(re.sub(r"FORMULA_(\d+)", number, text))
    return words, [squeeze_latex(m.latex) for m in clean.formula_map[skipped:]]


def test_statements_are_those_of_the_reference(collection, reference, capsys):
    rows = {row.post_id: row for row in collection.statements()}
    clean, texts, titles = PostCleaner(), {}, {}
    for raw in collection.posts():
        if isinstance(raw, RawPost) and raw.post_id in reference:
            post, _ = clean(raw)
            titles[raw.post_id], _ = clean_text("", raw.title, "t", markup="latex")
            texts[raw.post_id] = CleanText(post.text, post.formula_map)
    same, classes = Counter(), Counter()
    examples = {}
    for key, record in reference.items():
        row = rows.get(key)
        if row is None:
            classes["missing"] += 1
            examples.setdefault("missing", key)
            continue
        expected, _ = clean_text("", record["text"], "t", markup="markdown")
        words, formulas = read_text(titles[key], texts[key])
        their_words, their_formulas = read_text(CleanText("", ()), expected)
        found = {
            "kind": row.kind == record["type"],
            "number": row.number == record["number"],
            "name": squeeze(row.name or "") == squeeze(record["name"] or ""),
            "section": squeeze(row.section) == squeeze(record["section"]),
            "chapter": squeeze(row.chapter) == squeeze(record["chapter_title"]),
            "proved": row.proved == record["proved"],
            "words": words == their_words,
            "formulas": formulas == their_formulas,
        }
        same.update(name for name, is_same in found.items() if is_same)
        same["all"] += all(found.values())
        wrong = "+".join(name for name, is_same in found.items() if not is_same)
        if wrong:
            classes[wrong] += 1
            examples.setdefault(wrong, key)
    total = len(reference)
    with capsys.disabled():  # the figures, and the differences by class
        say = sys.stdout.write
        for name, count in same.items():
            say(f"\n{name:10} {count:6,} of {total:,} = {count / total:.4f}")
        for name, count in classes.most_common():
            say(f"\ndiffers in {name}: {count:,}, e.g. {examples[name]}")
    statements = [row for row in rows.values() if row.kind != "text"]
    assert len(statements) == total
    assert same["all"] / total >= 0.98
    assert same["number"] == same["kind"] == same["section"] == total


def test_links_hold_all_of_the_reference(collection, reference, shared):
    links = {x for x in collection.statement_links() if isinstance(x, StatementLink)}
    expected = set()
    for part in ("train", "dev"):
        file = shared / "statements" / f"qrels_{part}.tsv"
        for line in file.read_text().splitlines():
            query, _, premise, _ = line.split("\t")
            expected.add(StatementLink(query, premise))
    assert len(expected) == 31_314
    assert len(expected - links) <= 0.002 * len(expected)
    # Ours are more: equations and items inside of statements count.
    assert len(links - expected) <= 0.02 * len(expected)
