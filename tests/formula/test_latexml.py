"""LaTeXML: the programs where they are installed, their failures by stand-ins."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula import (
    opt_from_mathml,
    require_latexml,
    slt_from_mathml,
    trees_from_latexml,
)

PAGE = (
    '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
    '<document xmlns="http://dlmf.nist.gov/LaTeXML" '
    'xmlns:m="http://www.w3.org/1998/Math/MathML">{}</document>'
)


@pytest.fixture
def pretend(monkeypatch):
    """Programs that write one ``mi`` per formula, or misbehave; how many they got."""
    calls = []
    monkeypatch.setattr("shutil.which", lambda name: name)

    def run(command, cwd, timeout, **options):
        text = (cwd / "in.tex").read_text()
        if command[0] == "latexml":
            calls.append(text.count("displaystyle"))
            if "HANG" in text:
                raise subprocess.TimeoutExpired(command, timeout)
            return
        if "CRASH" in text:
            return
        target = next(part for part in command if part.startswith("--dest"))[7:]
        paragraphs = "".join(
            f"<p>{line.split('$')[0]}<m:math><m:share/>"
            f"<m:mi>{line.split()[-1].strip('$')}</m:mi></m:math></p>"
            for line in text.splitlines()
            if line.startswith("F") and "LOST" not in line
        )
        (cwd / target).write_text(PAGE.format(paragraphs))

    monkeypatch.setattr("subprocess.run", run)
    return calls


def read(formulas):
    """Return the layout tree of each formula, or why it has none."""
    found = trees_from_latexml(formulas)
    return [t.slt.to_string() if t.slt else next(iter(t.problems)) for t in found]


def test_results_come_back_in_order(pretend):
    assert read(["a", "b", "c"]) == ["[V!a]", "[V!b]", "[V!c]"]
    assert pretend == [3]


def test_many_formulas_are_read_in_batches(pretend):
    assert read(["a"] * 150 + ["b"])[-1] == "[V!b]"
    assert pretend == [100, 51]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("HANG", "latexml_timeout"),
        ("CRASH", "latexml_failed"),
        ("LOST", "latexml_failed"),
    ],
)
def test_guilty_formula_is_found_by_halving(pretend, bad, reason):
    formulas = list("stuvwxyz")
    formulas[5] = bad
    results = read(formulas)
    assert results[5] == reason
    assert results[:5] + results[6:] == [f"[V!{x}]" for x in "stuvwyz"]
    assert len(pretend) <= 7  # 8, 4+4, 2+2, 1+1 at most


def test_formulas_that_could_harm_others_go_alone(pretend):
    read(["a", "{b", "c"])
    assert pretend == [2, 1]


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("", "empty"),
        ("$$", "empty"),
        ("\\input{x}", "forbidden"),
        ("x" * 30_000, "too_large"),
    ],
)
def test_formulas_that_are_not_even_tried(pretend, formula, reason):
    assert trees_from_latexml([formula]) == [(None, None, {reason: 1})]
    assert pretend == []


def test_entities_of_an_answer_are_not_resolved(pretend):
    (found,) = read(["&amp;e;"])
    assert Path("/etc/hostname").read_text().strip() not in found


def test_missing_programs_are_named(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ConfigurationError, match="Debian package latexml"):
        require_latexml()


@pytest.mark.latexml
def test_latexml_makes_both_trees():
    formulas = [r"\frac{a}{b}", r"a<b<c", r"x-\|y\|", r"\frac{a}{", r"\sin"]
    slts, opts, _ = zip(*trees_from_latexml(formulas), strict=True)
    assert slts[0].to_string() == "[O!divide,o[V!a],u[V!b]]"
    assert opts[0].to_string() == "[O!divide,0[V!𝑎],1[V!𝑏]]"
    # shares dropped, minus and norm as ARQMath has them
    assert opts[1].to_string() == "[U!and,0[O!lt,0[V!𝑎],1[V!𝑏]],1[O!lt,0[V!𝑐]]]"
    assert slts[2].to_string() == "[V!x[-[M!∥∥1x1,w[V!y]]]]"
    assert slts[4].to_string() == "[V!sin]"


@pytest.mark.latexml
@pytest.mark.shared
def test_latexml_agrees_with_the_parity_file(shared):
    with gzip.open(shared / "formula" / "parity_public.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in islice(lines, 20)]
    results = trees_from_latexml([row["latex"] for row in rows])
    for row, (slt, opt, _) in zip(rows, results, strict=True):
        count = Counter()
        assert slt == slt_from_mathml(row["pmml"], counter=count), row["latex"]
        assert opt == opt_from_mathml(row["cmml"], counter=count), row["latex"]
