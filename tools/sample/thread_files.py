r"""Threads and topics in Markdown files, read into values.

A file has front matter, a title, a question, and sections that headings open::

    ---                                    ---
    tags: [primes, proof-writing]          tags: [primes]
    score: 14                              category: Proof
    related: [number_theory/euclid]        difficulty: Low
    ---                                    dependency: Both
                                           grades:
    # Primes of the form $4k+3$              number_theory/primes-3-mod-4#1: 3
                                           ---
    Is there a better choice of $N$?
                                           # Primes $p\equiv5\pmod 6$
    ## Comments
                                           How do I show ... $p\equiv5\pmod 6$?
    - What have you tried?
                                           ## Formula
    ## Answer (accepted, score 21)
                                           $p\equiv5\pmod 6$
    Take $N=4p_1\cdots p_n-1$ instead.
                                           - 3: $p\equiv 3\pmod 4$
    ### Comments                           - 0: $p\equiv 1$

    - Nice.

Nothing is escaped: what is below a heading is the text, without the blank lines
around it. The number in front of a file's name says its place in the folder, the rest
is its name: ``number_theory/04-prime-square-24.md`` is the thread
``number_theory/prime-square-24``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tools.sample.front_matter import FrontMatter, malformed
from tools.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_FILE_NAME = re.compile(r"(\d+)-([a-z0-9-]+)\.md")
_HEADING = re.compile(r"#{1,3} ")
_ANSWER = re.compile(r"## Answer \((?P<accepted>accepted, )?score (?P<score>-?\d+)\)")
_COMMENT = "- "
_FORMULA = re.compile(r"\$([^$]+)\$")
_GRADED_FORMULA = re.compile(r"- (\d): \$([^$]+)\$")
_THREAD_FIELDS = (
    "tags", "score", "related", "duplicate_of", "lost_formulas", "corrected_visual_ids",
)  # fmt: skip
_TOPIC_FIELDS = ("tags", "category", "difficulty", "dependency", "grades")


class _Section(NamedTuple):
    """A heading with the lines below it."""

    path: Path
    number: int
    """Number of the heading's line."""
    heading: str
    lines: Sequence[str]

    @property
    def text(self) -> str:
        """The lines without blank ones at both ends."""
        return "\n".join(self.lines).strip("\n")

    def written_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that are not blank, with their numbers in the file."""
        for number, line in enumerate(self.lines, start=self.number + 1):
            if line.strip():
                yield number, line


def read_threads(folder: Path) -> list[Thread]:
    """Read the threads of a folder in the order of their numbers, from 1.

    Raises:
        MalformedInputError: a file is not in the form above, or misnumbered.
    """
    return [read_thread(path) for path in _numbered_files(folder, first=1)]


def read_topics(
    folder: Path, first: int
) -> tuple[list[AnswerTopic], list[FormulaTopic]]:
    """Read the topics of a folder in the order of their numbers, from ``first``.

    Raises:
        MalformedInputError: a file is not in the form above, or misnumbered.
    """
    topics = [read_topic(path) for path in _numbered_files(folder, first)]
    formula_topics = [formula for _, formula in topics if formula is not None]
    return [topic for topic, _ in topics], formula_topics


def read_thread(path: Path) -> Thread:
    """Read a question with its answers and comments."""
    fields, sections = _read_file(path, _THREAD_FIELDS)
    question, *others = sections
    comments: tuple[str, ...] = ()
    answers: list[Answer] = []
    if others and others[0].heading == "## Comments":
        comments = _read_comments(others.pop(0))
    while others:
        answer = _read_answer(others.pop(0))
        if others and others[0].heading == "### Comments":
            answer = replace(answer, comments=_read_comments(others.pop(0)))
        answers.append(answer)
    return Thread(
        key=_key_of(path),
        title=question.heading.removeprefix("# "),
        question=question.text,
        tags=fields.strings("tags"),
        answers=tuple(answers),
        score=fields.integer("score"),
        comments=comments,
        related=fields.strings("related"),
        duplicate_of=fields.optional_string("duplicate_of"),
        lost_formulas=fields.optional_strings("lost_formulas"),
        corrected_visual_ids=fields.strings("corrected_visual_ids"),
    )


def read_topic(path: Path) -> tuple[AnswerTopic, FormulaTopic | None]:
    """Read a Task 1 topic, and the Task 2 topic if the file has a formula section."""
    fields, sections = _read_file(path, _TOPIC_FIELDS)
    question, *others = sections
    topic = AnswerTopic(
        key=_key_of(path),
        title=question.heading.removeprefix("# "),
        question=question.text,
        tags=fields.strings("tags"),
        grades=fields.grades("grades"),
        category=fields.string("category"),
        difficulty=fields.string("difficulty"),
        dependency=fields.string("dependency"),
    )
    if not others:
        return topic, None
    formula, *more = others
    if formula.heading != "## Formula":
        raise malformed(path, formula.number, "'## Formula'", formula.heading)
    if more:
        expected = "no section after '## Formula'"
        raise malformed(path, more[0].number, expected, more[0].heading)
    return topic, _read_formula_topic(topic.key, formula)


def _numbered_files(folder: Path, first: int) -> list[Path]:
    """Return the files of a folder, which are numbered without gaps."""
    numbers: dict[Path, int] = {}
    for path in folder.glob("[!.]*"):
        name = _FILE_NAME.fullmatch(path.name)
        if name is None:
            raise malformed(path, 1, "a file name like '07-short-name.md'", path.name)
        numbers[path] = int(name[1])
    paths = sorted(numbers, key=lambda path: (numbers[path], path.name))
    for expected, path in enumerate(paths, start=first):
        if numbers[path] != expected:
            raise malformed(path, 1, f"number {expected} in the name", numbers[path])
    return paths


def _key_of(path: Path) -> str:
    name = _FILE_NAME.fullmatch(path.name)
    return f"{path.parent.name}/{name[2] if name else path.stem}"


def _read_file(path: Path, fields: Sequence[str]) -> tuple[FrontMatter, list[_Section]]:
    """Return front matter and sections; the first one has the title as heading."""
    lines = path.read_text(encoding="utf-8").split("\n")
    front_matter = FrontMatter(path, lines, fields)
    head, *sections = _split_sections(path, lines, front_matter.end)
    for number, line in head.written_lines():
        raise malformed(path, number, "a title '# ...' after the front matter", line)
    if not sections:
        raise malformed(path, len(lines), "a title '# ...'", "")
    title, *others = sections
    if not title.heading.startswith("# "):
        raise malformed(path, title.number, "a title '# ...' first", title.heading)
    for section in others:
        if section.heading.startswith("# "):
            raise malformed(path, section.number, "one title", section.heading)
    return front_matter, sections


def _split_sections(path: Path, lines: Sequence[str], end: int) -> list[_Section]:
    """Cut at the headings; the first section is what follows line ``end``."""
    starts = [
        end,
        *(n for n in range(end + 1, len(lines) + 1) if _HEADING.match(lines[n - 1])),
    ]
    stops = [*(start - 1 for start in starts[1:]), len(lines)]
    return [
        _Section(path, start, lines[start - 1], lines[start:stop])
        for start, stop in zip(starts, stops, strict=True)
    ]


def _read_answer(section: _Section) -> Answer:
    heading = _ANSWER.fullmatch(section.heading)
    if heading is None:
        expected = (
            "'## Answer (score 3)', '## Answer (accepted, score 3)', or comments "
            "('## Comments' after the question, '### Comments' after an answer)"
        )
        raise malformed(section.path, section.number, expected, section.heading)
    accepted = heading["accepted"] is not None
    return Answer(section.text, accepted, int(heading["score"]))


def _read_comments(section: _Section) -> tuple[str, ...]:
    """Return the items of a list; an item may continue in indented lines."""
    comments: list[str] = []
    for number, line in section.written_lines():
        if line.startswith(_COMMENT):
            comments.append(line.removeprefix(_COMMENT))
        elif comments and line.startswith("  "):
            comments[-1] += " " + line.strip()
        else:
            expected = "a comment '- ...', its further lines indented by two blanks"
            raise malformed(section.path, number, expected, line)
    return tuple(comments)


def _read_formula_topic(key: str, section: _Section) -> FormulaTopic:
    lines = list(section.written_lines())
    number, line = lines[0] if lines else (section.number, "")
    query = _FORMULA.fullmatch(line)
    if query is None:
        raise malformed(section.path, number, "the formula between dollars", line)
    grades: dict[str, int] = {}
    for number, line in lines[1:]:
        graded = _GRADED_FORMULA.fullmatch(line)
        if graded is None:
            expected = "a grade and a formula '- 3: $...$'"
            raise malformed(section.path, number, expected, line)
        if graded[2] in grades:
            raise malformed(section.path, number, "each formula once", graded[2])
        grades[graded[2]] = int(graded[1])
    return FormulaTopic(key, query[1], grades)
