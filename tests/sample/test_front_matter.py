"""Front matter: each kind of field read, each wrong one named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.base.errors import MalformedInputError
from tools.sample.front_matter import FrontMatter

FIELDS = ("name", "score", "tags", "grades", "issues")
TEXT = r"""---
name: one
score: -3
tags: [a, b-c]
grades:
  area/one#1: 3
  area/one#2: 0
issues:
  \frac{2}{4}: d
---
body
"""


def _read(text: str) -> FrontMatter:
    return FrontMatter(Path("a.md"), text.split("\n"), FIELDS)


def test_every_kind_of_field_is_read():
    fields = _read(TEXT)
    assert fields.string("name") == fields.optional_string("name") == "one"
    assert fields.integer("score") == -3
    assert fields.strings("tags") == ("a", "b-c")
    assert fields.grades("grades") == {"area/one#1": 3, "area/one#2": 0}
    assert fields.optional_strings("issues") == {r"\frac{2}{4}": "d"}
    assert fields.end == 10


def test_fields_that_may_be_missing():
    fields = _read("---\nscore: 1\n---")
    assert fields.optional_string("name") is None
    assert fields.strings("tags") == ()
    assert fields.optional_strings("issues") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("score: 1", r"front matter between two lines '---' \(got 'score: 1'\) .*md:1"),
        ("---\nscore: 1\n", "front matter between two lines"),
        ("---\n- 1\n---", r"a mapping as front matter \(got \[1\]\) at a.md:1"),
        ("---\nscore: 1\ntags: [a\n---", "Expected YAML .* at a.md:3"),
        ("---\nname: a\nscroe: 1\n---", r"did you mean 'score'.* 'scroe'\) at a.md:3"),
    ],
)
def test_what_is_no_front_matter_is_named(text, message):
    with pytest.raises(MalformedInputError, match=message):
        _read(text)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("integer", "name", r"name: a whole number \(got 'one'\) at a.md:2"),
        ("string", "score", r"score: a string \(got -3\) at a.md:3"),
        ("strings", "grades", "grades: a list of strings .* at a.md:5"),
        ("grades", "tags", "tags: a mapping of strings to whole numbers .*md:4"),
        ("grades", "issues", "issues: a mapping of strings to whole numbers .*md:8"),
        ("optional_strings", "grades", "grades: a mapping of strings to strings"),
        ("integer", "missing", r"missing: a whole number \(got None\) at a.md:1"),
    ],
)
def test_a_field_of_another_kind_is_named(kind, name, message):
    with pytest.raises(MalformedInputError, match=message):
        getattr(_read(TEXT), kind)(name)
