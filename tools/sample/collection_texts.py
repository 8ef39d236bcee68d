"""README and LICENSE of the sample folder."""

from __future__ import annotations

from collections import Counter

from tools.sample.rows import Collection

LICENSE_TEXT = """\
The embedded sample of mathamr-kedro

Everything in this folder was written for this project. Its authors give it to the
public domain: to the extent possible under law, they waive all copyright and related
or neighbouring rights to it, worldwide, under CC0 1.0 Universal (CC0-1.0).

The legal text is at https://creativecommons.org/publicdomain/zero/1.0/legalcode

You may copy, change, share and use the sample for any purpose, also a commercial one,
without asking. It comes without any warranty.
"""

_README = """\
# The embedded sample

A small collection of questions and answers about mathematics, in the file formats of
ARQMath: what reads the official download reads this folder, too. All texts were
written for this project (CC0, see `LICENSE`); no post is from Math Stack Exchange.

| what | how many |
|---|---|
{counts}

Threads by area:

| area | threads | answers |
|---|---|---|
{areas}

Judgments:

| task | topics | grade 3 | grade 2 | grade 1 | grade 0 |
|---|---|---|---|---|---|
{grades}

## How it is made

`python -m tools.sample` writes every file here from the Markdown files in
`tools/sample`: a file for each thread and each topic, see `tools/sample/README.md`
for how to add one. The same texts give the same files; `--check` says whether they are
current. MathML is made by LaTeXML 0.8.7 for formulas that are new, all other cells are
taken from the files themselves.

* Ids grow with time. Posts are numbered from 1,000, comments from 500,000, formulas
  from 1,000 times the number of their post, visual ids from 1,000,000,000: no id is of
  two kinds.
* Formulas that look the same have the same visual id, however they were typed.
* Topics are questions that no thread asks in the same words. Grades follow ARQMath:
  3 answers the question alone, 2 is a useful step, 1 may help to understand, 0 was
  judged and does not help. Many of grade 0 are hard: the same notation in another
  area, or another question of the same area.

## Wrong on purpose

The threads of `tools/sample/defects` hold what real posts hold: spans without id, LaTeX
that does not compile (empty MathML cells), an empty body, several formulas in a title,
formulas between dollars or in bare environments that nobody marked, code, quotes,
nested lists, entities, combining characters, a post of more than 3,000 words, and index
rows with the issues `d` (formula not in the posts), `v` (visual id corrected) and `dv`.
"""


def readme_text(collection: Collection, visual_ids: int) -> str:
    """Return the README with the counts of this collection."""
    comments = len(collection.comments)
    accepted = sum("AcceptedAnswerId" in row for row in collection.posts)
    retrievable = sum("d" not in row.issue for row in collection.formulas)
    counts = {
        "threads (questions)": len(collection.question_ids),
        "answers": len(collection.answer_ids),
        "accepted answers": accepted,
        "comments": comments,
        "formulas in the index": len(collection.formulas),
        "of these retrievable (no issue `d`)": retrievable,
        "visual ids": visual_ids,
        "links between threads": len(collection.links),
        "tags": len(collection.tags),
        "Task 1 topics": len(collection.topics),
        "Task 2 topics": sum(topic.latex is not None for topic in collection.topics),
        "formulas in the topics": len(collection.topic_formulas),
    }
    threads = Counter(key.split("/")[0] for key in collection.question_ids)
    answers = Counter(key.split("/")[0] for key in collection.answer_ids)
    return _README.format(
        counts="\n".join(f"| {name} | {n:,} |" for name, n in counts.items()),
        areas="\n".join(
            f"| {area} | {threads[area]} | {answers[area]} |"
            for area in sorted(threads)
        ),
        grades="\n".join(_grade_rows(collection)),
    )


def _grade_rows(collection: Collection) -> list[str]:
    task1 = Counter(
        grade for topic in collection.topics for grade in topic.source.grades.values()
    )
    task2 = Counter(
        grade for topic in collection.topics for _, grade in topic.formula_grades
    )
    with_formula = sum(topic.latex is not None for topic in collection.topics)
    return [
        f"| {name} | {topics} | {n[3]} | {n[2]} | {n[1]} | {n[0]} |"
        for name, topics, n in (
            ("1, answers", len(collection.topics), task1),
            ("2, formulas", with_formula, task2),
        )
    ]
