"""Markdown files to threads and topics, and what is said about malformed ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mathamr_kedro.base.errors import MalformedInputError
from tools.sample import thread_files
from tools.sample.thread_files import (
    read_thread,
    read_threads,
    read_topic,
    read_topics,
)
from tools.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

THREAD = r"""---
tags: [a-tag, b-tag]
score: -2
related: [area/two]
duplicate_of: area/three
lost_formulas:
  \frac{2}{4}: d
corrected_visual_ids:
  - a\,b
---

# Is "$x\#1$": 'small'?

One \$ and `#include <a>`.

#2 is no heading, nor is $#$.
    - kept as it stands

## Comments

- Try $w$
  or $\pi$.
- No.

## Answer (accepted, score 21)

<p>HTML, <m>x</m>.</p>
<pre># a comment</pre>

### Comments

- Fine.

## Answer (score -1)
"""
TOPIC = r"""---
tags: [a-tag]
category: Proof
difficulty: Low
dependency: Text
grades:
  area/one#1: 3
---

# What is $u$?

Is it $\frac12$?

## Formula

$\frac12$

- 3: $f'(x) = \{1, 2\}$
- 0: $x: y # z$
"""


def _write(folder: Path, text: str, name: str = "07-one.md") -> Path:
    path = folder / "area" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_a_thread_is_read_without_escaping(tmp_path):
    assert read_thread(_write(tmp_path, THREAD)) == Thread(
        key="area/one",
        title="Is \"$x\\#1$\": 'small'?",
        question=(
            "One \\$ and `#include <a>`.\n\n"
            "#2 is no heading, nor is $#$.\n    - kept as it stands"
        ),
        tags=("a-tag", "b-tag"),
        answers=(
            Answer(
                "<p>HTML, <m>x</m>.</p>\n<pre># a comment</pre>",
                accepted=True, score=21, comments=("Fine.",),
            ),
            Answer("", score=-1),
        ),
        score=-2,
        comments=(r"Try $w$ or $\pi$.", "No."),
        related=("area/two",),
        duplicate_of="area/three",
        lost_formulas={r"\frac{2}{4}": "d"},
        corrected_visual_ids=(r"a\,b",),
    )  # fmt: skip


def test_a_topic_is_read_with_its_formula(tmp_path):
    topic, formula = read_topic(_write(tmp_path, TOPIC))
    assert topic == AnswerTopic(
        key="area/one",
        title="What is $u$?",
        question=r"Is it $\frac12$?",
        tags=("a-tag",),
        grades={"area/one#1": 3},
        category="Proof",
        difficulty="Low",
        dependency="Text",
    )
    grades = {r"f'(x) = \{1, 2\}": 3, "x: y # z": 0}
    assert formula == FormulaTopic("area/one", r"\frac12", grades)


def test_a_topic_may_have_no_formula(tmp_path):
    text = TOPIC[: TOPIC.index("## Formula")]
    assert read_topic(_write(tmp_path, text))[1] is None


def test_the_examples_of_the_readme_are_read(tmp_path):
    readme = (Path(thread_files.__file__).parent / "README.md").read_text()
    thread, topic = re.findall(r"```markdown\n(.*?)```", readme, re.DOTALL)
    assert len(read_thread(_write(tmp_path, thread)).answers) == 2
    assert read_topic(_write(tmp_path, topic))[1] is not None


def test_files_come_in_the_order_of_their_numbers(tmp_path):
    for number in (1, 10, *range(2, 10)):
        _write(tmp_path, THREAD, f"{number:02d}-{'abcdefghij'[-number]}.md")
    keys = [thread.key for thread in read_threads(tmp_path / "area")]
    assert keys == [f"area/{letter}" for letter in "jihgfedcba"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("05-one.md", r"number 7 in the name \(got 5\) at .*05-one.md"),
        ("08-one.md", r"number 7 in the name \(got 8\)"),
        ("one.md", "a file name like '07-short-name.md' .*got 'one.md'"),
        ("07-One.md", "a file name like"),
        ("07-one.txt", "a file name like"),
    ],
)
def test_misnumbered_files_are_refused(tmp_path, name, message):
    path = _write(tmp_path, TOPIC, name)
    with pytest.raises(MalformedInputError, match=message):
        read_topics(path.parent, first=7)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# Is", "Is", r"a title '# ...' after the front matter .*07-one.md:12"),
        ("# Is", "## Is", r"a title '# ...' first \(got '## Is.*:12"),
        ("## Comments", "# Comments", "one title .*:19"),
        ("(score -1)", "", r"'## Answer \(score 3\)'.*got '## Answer '\) .*:34"),
        ("(accepted, score 21)", "(21)", r"'## Answer \(accepted, score 3\)'.*:25"),
        ("### Comments", "## Comments", "'### Comments' after an answer.*:30"),
        ("- Fine.", "Fine.", r"a comment '- ...'.*got 'Fine.'\) .*:32"),
        ("\n  or", "\nor", "further lines indented by two blanks .*:22"),
        ("score: -2", "score: many", "score: a whole number .*:3"),
    ],
)
def test_a_malformed_thread_is_named_with_its_line(tmp_path, old, new, message):
    assert old in THREAD
    with pytest.raises(MalformedInputError, match=message):
        read_thread(_write(tmp_path, THREAD.replace(old, new, 1)))


def test_a_file_without_a_title_is_refused(tmp_path):
    with pytest.raises(MalformedInputError, match=r"a title '# ...' \(got ''\)"):
        read_thread(_write(tmp_path, "---\ntags: [a]\nscore: 1\n---\n"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("## Formula", "## Formulas", r"'## Formula' \(got '## Formulas'\) .*:14"),
        ("\n$\\frac12$\n", "\n", r"the formula between dollars .*- 3: .*:17"),
        ("- 0: $x", "- $x", "a grade and a formula .*:19"),
        ("x: y # z", r"f'(x) = \{1, 2\}", "each formula once .*:19"),
        ("- 3:", "## More\n\n- 3:", "no section after '## Formula' .*:18"),
    ],
)
def test_a_malformed_topic_is_named_with_its_line(tmp_path, old, new, message):
    assert old in TOPIC
    with pytest.raises(MalformedInputError, match=message):
        read_topic(_write(tmp_path, TOPIC.replace(old, new, 1)))
