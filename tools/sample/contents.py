"""All that was written for the sample, gathered from its files and checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mathamr_kedro.base.errors import MalformedInputError, suggest
from tools.sample.markdown_html import render_body, render_line
from tools.sample.thread_files import read_threads, read_topics
from tools.sample.threads import AnswerTopic, FormulaTopic, Thread

FIRST_TOPIC = 1001
"""Number of the first topic, ``A.1001``."""
CATEGORIES = ("Proof", "Concept", "Computation")
DIFFICULTIES = ("Low", "Medium", "High")
DEPENDENCIES = ("Text", "Formula", "Both")
MIN_RELEVANT = 2
"""ARQMath dropped topics with fewer relevant answers."""
MIN_NOT_RELEVANT = 6
RELEVANT = 2
_KEY = re.compile(r"[a-z_]+/[a-z0-9-]+")


_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Contents:
    """The threads of all areas, in the order of the areas' names, and the topics."""

    threads: tuple[Thread, ...]
    answer_topics: tuple[AnswerTopic, ...]
    formula_topics: tuple[FormulaTopic, ...]


def gather_contents() -> Contents:
    """Read every file of the sample, and check all references.

    Raises:
        MalformedInputError: a file is not in the expected form; or keys, grades or
            LaTeX that lead nowhere, all of them in one message.
    """
    folders = [*(_HERE / "areas" / area for area in area_names()), _HERE / "defects"]
    threads = [thread for folder in folders for thread in read_threads(folder)]
    answer_topics, formula_topics = read_topics(_HERE / "topics", FIRST_TOPIC)
    contents = Contents(tuple(threads), tuple(answer_topics), tuple(formula_topics))
    check_contents(contents)
    return contents


def area_names() -> list[str]:
    """Return the names of the areas' folders, sorted."""
    return sorted(folder.name for folder in (_HERE / "areas").glob("[!.]*"))


def formulas_of(thread: Thread) -> Iterator[str]:
    """Yield the LaTeX of each formula of a thread, comments included."""
    yield from latex_of_line(thread.title)
    yield from latex_of_body(thread.question)
    for comment in thread.comments:
        yield from latex_of_line(comment)
    for answer in thread.answers:
        yield from latex_of_body(answer.text)
        for comment in answer.comments:
            yield from latex_of_line(comment)


def latex_of_body(text: str) -> list[str]:
    """Return the LaTeX of the formulas of a question or an answer, in order."""
    found: list[str] = []
    render_body(text, lambda latex, _: found.append(latex) or "")  # type: ignore[func-returns-value]
    return found


def latex_of_line(text: str) -> list[str]:
    """Return the LaTeX of the formulas of a title or a comment, in order."""
    found: list[str] = []
    render_line(text, lambda latex, _: found.append(latex) or "")  # type: ignore[func-returns-value]
    return found


def collapse_blanks(latex: str) -> str:
    """Return LaTeX with each run of white space made one blank, as in the posts."""
    return " ".join(latex.split())


def check_contents(contents: Contents) -> None:
    """Check keys, references and grades.

    Raises:
        MalformedInputError: with one line for each problem found.
    """
    problems = [
        *_thread_problems(contents.threads),
        *_answer_topic_problems(contents),
        *_formula_topic_problems(contents),
    ]
    if problems:
        lines = "\n  ".join(problems)
        raise MalformedInputError(
            f"Found {len(problems)} wrong references in the written sample; correct "
            f"them in tools/sample:\n  {lines}"
        )


def _thread_problems(threads: Iterable[Thread]) -> Iterator[str]:
    counts = Counter(thread.key for thread in threads)
    yield from (f"thread key {k!r} occurs twice" for k, n in counts.items() if n > 1)
    for thread in threads:
        if not _KEY.fullmatch(thread.key):
            yield f"thread key {thread.key!r} is not of the form 'area/short-name'"
        if sum(answer.accepted for answer in thread.answers) > 1:
            yield f"thread {thread.key!r} has more than one accepted answer"
        if not thread.tags:
            yield f"thread {thread.key!r} has no tags"
        links = [*thread.related, *filter(None, [thread.duplicate_of])]
        for key in links:
            if key not in counts:
                yield (
                    f"thread {thread.key!r} links to unknown {key!r}"
                    f"{suggest(key, counts)}"
                )


def _answer_topic_problems(contents: Contents) -> Iterator[str]:
    answers = {
        f"{thread.key}#{number}"
        for thread in contents.threads
        for number, _ in enumerate(thread.answers, start=1)
    }
    counts = Counter(topic.key for topic in contents.answer_topics)
    yield from (f"topic key {k!r} occurs twice" for k, n in counts.items() if n > 1)
    for topic in contents.answer_topics:
        where = f"topic {topic.key!r}"
        yield from _grade_problems(topic.grades, where)
        for key in topic.grades:
            if key not in answers:
                yield f"{where} judges unknown answer {key!r}{suggest(key, answers)}"
        for value, choices in (
            (topic.category, CATEGORIES),
            (topic.difficulty, DIFFICULTIES),
            (topic.dependency, DEPENDENCIES),
        ):
            if value not in choices:
                yield f"{where} has {value!r}, expected one of {list(choices)}"


def _formula_topic_problems(contents: Contents) -> Iterator[str]:
    written = {latex for thread in contents.threads for latex in formulas_of(thread)}
    questions = {
        topic.key: {*latex_of_line(topic.title), *latex_of_body(topic.question)}
        for topic in contents.answer_topics
    }
    counts = Counter(topic.topic for topic in contents.formula_topics)
    yield from (
        f"topic {k!r} has {n} formula topics, at most one is possible (B.x is of A.x)"
        for k, n in counts.items()
        if n > 1
    )
    for topic in contents.formula_topics:
        where = f"formula topic {topic.topic!r}"
        if topic.topic not in questions:
            yield f"{where} has no answer topic{suggest(topic.topic, questions)}"
        elif collapse_blanks(topic.latex) not in questions[topic.topic]:
            near = suggest(collapse_blanks(topic.latex), questions[topic.topic])
            yield f"{where}: {topic.latex!r} is not in its question{near}"
        yield from _grade_problems(topic.grades, where)
        for latex in topic.grades:
            if collapse_blanks(latex) not in written:
                near = suggest(collapse_blanks(latex), written)
                yield f"{where} judges {latex!r}, which no thread holds{near}"


def _grade_problems(grades: Mapping[str, int], where: str) -> Iterator[str]:
    for key, grade in grades.items():
        if grade not in (0, 1, 2, 3):
            yield f"{where} gives {key!r} the grade {grade!r}, expected 0 to 3"
    relevant = sum(grade >= RELEVANT for grade in grades.values())
    if relevant < MIN_RELEVANT:
        yield f"{where} has {relevant} relevant items, expected {MIN_RELEVANT} or more"
    nothing = sum(grade == 0 for grade in grades.values())
    if nothing < MIN_NOT_RELEVANT:
        yield (
            f"{where} has {nothing} items of grade 0, expected {MIN_NOT_RELEVANT} "
            "or more"
        )
