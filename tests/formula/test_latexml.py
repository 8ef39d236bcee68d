"""LaTeXML: the programs where they are installed, their failures by stand-ins."""

from __future__ import annotations

import gzip
import json
import subprocess
from itertools import islice

import pytest
from lxml import etree

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula import latexml
from mathamr_kedro.formula.latexml import (
    LatexmlConfig,
    LatexmlConverter,
    _MathmlPair,
    _read_pair,
    _write_document,
)

PAGE = (
    '<document xmlns="http://dlmf.nist.gov/LaTeXML" '
    'xmlns:m="http://www.w3.org/1998/Math/MathML">{}</document>'
)


@pytest.fixture
def pretend(monkeypatch):
    """A converter whose programs write one ``mi`` per formula, or misbehave."""
    calls = []
    monkeypatch.setattr(latexml, "_find_latexml", lambda: "latexml")

    def call(command, place, seconds):
        text = (place / "in.tex").read_text()
        if command[0] == "latexml":
            calls.append(text.count("displaystyle"))
            if "HANG" in text:
                raise subprocess.TimeoutExpired(command, seconds)
            return
        if "CRASH" in text:
            return
        target = next(part for part in command if part.startswith("--dest"))[7:]
        paragraphs = "".join(
            f"<p>{line.split('$')[0]}<m:math><m:mi>{line.split()[-1].strip('$')}</m:mi>"
            "</m:math></p>"
            for line in text.splitlines()
            if line.startswith("F") and "LOST" not in line
        )
        (place / target).write_text(PAGE.format(paragraphs))

    monkeypatch.setattr(latexml, "_call", call)
    return calls


def values(results):
    return [
        pair.presentation.partition("<mi>")[2].partition("<")[0] or pair.reason
        for pair in results
    ]


def test_results_come_back_in_order(pretend):
    converter = LatexmlConverter(LatexmlConfig(batch_size=2))
    assert values(converter.convert(["a", "b", "c"])) == ["a", "b", "c"]
    assert pretend == [2, 1]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("HANG", "latexml_timeout"),
        ("CRASH", "latexml_failed"),
        ("LOST", "latexml_failed"),
    ],
)
def test_guilty_formula_is_found_by_halving(pretend, bad, reason):
    formulas = [f"x{i}" for i in range(8)]
    formulas[5] = bad
    results = values(LatexmlConverter().convert(formulas))
    assert results[5] == reason
    assert results[:5] + results[6:] == [f"x{i}" for i in range(8) if i != 5]
    assert len(pretend) <= 7  # 8, 4+4, 2+2, 1+1 at most


def test_formulas_that_could_harm_others_go_alone(pretend):
    LatexmlConverter().convert(["a", "{b", "c"])
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
    assert LatexmlConverter().convert([formula]) == [_MathmlPair("", "", reason)]
    assert pretend == []


def test_each_formula_stands_in_a_numbered_paragraph():
    lines = _write_document([(3, "x"), (8, "y")]).splitlines()
    assert lines[-5:] == [
        r"F3: $\displaystyle x$",
        "",
        r"F8: $\displaystyle y$",
        "",
        r"\end{document}",
    ]


def test_missing_programs_are_named(monkeypatch):
    monkeypatch.setattr(latexml, "_find_latexml", lambda: None)
    with pytest.raises(ConfigurationError, match="Debian package latexml"):
        LatexmlConverter()


@pytest.mark.parametrize(
    "options", [{"batch_size": 0}, {"alone_seconds": 0}, {"compat": "other"}]
)
def test_impossible_configuration_is_refused(options):
    with pytest.raises(ConfigurationError):
        LatexmlConfig(**options)


def test_failure_is_a_deviation():
    trees = _read_pair(_MathmlPair("", "", "latexml_timeout"))
    assert trees == (None, None, {"latexml_timeout": 1})


@pytest.mark.parametrize(("is_dropped", "kept"), [(True, 0), (False, 1)])
def test_shares_are_dropped_where_the_published_files_have_none(
    pretend, is_dropped, kept
):
    text = f'<math xmlns="{latexml._MATHML}"><lt/><ci>a</ci><share href="#b"/></math>'
    converter = LatexmlConverter(LatexmlConfig(drop_shares=is_dropped))
    cleaned = converter._clean(etree.fromstring(text))
    assert cleaned.count("<share") == kept
    assert "<ci>a</ci>" in cleaned


@pytest.mark.latexml
def test_latexml_makes_both_trees():
    formulas = [r"\frac{a}{b}", r"a<b<c", r"x-\|y\|", r"\frac{a}{", r"\sin"]
    slts, opts, _ = zip(*LatexmlConverter().build_trees(formulas), strict=True)
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
    results = LatexmlConverter().convert([row["latex"] for row in rows])
    for row, result in zip(rows, results, strict=True):
        wanted = _read_pair(_MathmlPair(row["pmml"], row["cmml"]))
        assert _read_pair(result)[:2] == wanted[:2], row["latex"]


def test_entities_of_an_answer_are_not_resolved():
    text = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>'
    assert etree.fromstring(text, latexml._XML).text is None
