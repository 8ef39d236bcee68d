"""A small ARQMath download: the published folders, file names and columns.

::

    Collection/Posts.V1.3.xml ...                  some 110 posts of the embedded sample
    Formulas/{latex,slt,opt}_representation_v3/    their rows of the formula index
    Topics/Task1&3 Topics/ARQMath-3/...            three topics of each edition
    Evaluation/Scripts & Qrels/ARQMath-3/...       their judgments
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.conftest import PROJECT

SAMPLE = PROJECT / "data/01_raw/sample"
FAMILIES = ("latex", "slt", "opt")
KEPT = {"1": 2, "2": 1}
"""Judged documents of each grade that a topic of each task keeps."""

csv.field_size_limit(10_000_000)


class Edition(NamedTuple):
    """What the files of one year are called, and what is odd about them."""

    number: int
    topics: Mapping[str, int]
    """Topic of the sample to its new number."""
    task1: str
    task2: str
    formulas: Mapping[str, str]
    qrels: tuple[str, str]
    columns: Mapping[str, str]
    """Name of the last column, by family."""
    body: str
    """Type of a formula in the question."""
    grade: str
    """How Task 2 writes a grade."""


EDITIONS = (
    Edition(
        1,
        {"1001": 1, "1002": 3, "1003": 4},
        "Topics_Task1_2020_V2.0.xml",
        "Topics_Task2_2020_V1.1.xml",
        {f: f"Formula_topics_{f}_V2.0.tsv" for f in FAMILIES},
        ("qrel_task1_2020_official.tsv", "qrel_task2_2020_official_visual_v3.tsv"),
        {"latex": "formula", "slt": "slt", "opt": "opt"},
        "question",
        "{}.0",
    ),
    Edition(
        2,
        {"1004": 201, "1005": 202, "1006": 203},
        "Topics_Task1_2021_V1.1.xml",
        "Topics_Task2_2021_V1.1.xml",
        {
            "latex": "Topics_2021_Formulas_Latex_V1.1.tsv",
            "slt": "Topics_2021_Formulas_SLT_V1.1.tsv",
            "opt": "Topics_2021_Formulas_OPT_V1.1.tsv",
        },
        ("qrel_task1_2021_official.tsv", "qrel_task2_2021_official_visual_v3.tsv"),
        dict.fromkeys(FAMILIES, "formula"),
        "question",
        "{}",
    ),
    Edition(
        3,
        {"1007": 301, "1008": 302, "1009": 346},  # those of the thesis' appendices
        "Topics_Task1_2022_V0.1.xml",
        "Topics_Task2_2022_V0.1.xml",
        {
            "latex": "Topics_Formulas_Latex.V0.1.tsv",
            "slt": "Topics_Formulas_SLT.V0.1.tsv",
            "opt": "Topics_Formulas_OPT.V0.1.tsv",
        },
        ("qrel_task1_2022_official.tsv", "qrel_task2_2022_official.tsv"),
        dict.fromkeys(FAMILIES, "formula"),
        "body",
        "{}",
    ),
)


def write_collection(root: Path) -> None:
    """Write the download below a folder."""
    judged = _choose_judgments()
    posts = _choose_posts(judged)
    for name, attribute in (("Posts", "Id"), ("Comments", "PostId")):
        _write_rows(root / "Collection", f"{name}.V1.3.xml", attribute, posts)
    for family in FAMILIES:
        _write_formulas(root, family, posts)
    for edition in EDITIONS:
        _write_edition(root, edition, judged)
    notes = ["Topic,Assessor Id,Dependency,Difficulty,Category"]
    notes += [f"A.{number},2,Both,Low,Proof" for number in EDITIONS[1].topics.values()]
    folder = root / "Topics/Task1&3 Topics/ARQMath-2"
    _write(folder / "Task1_ARQMath2_Topic_Information.csv", notes)


def _choose_judgments() -> dict[str, dict[str, dict[str, int]]]:
    """By task and topic of the sample: some documents of each grade."""
    wanted = {number for edition in EDITIONS for number in edition.topics}
    found: dict[str, dict[str, dict[str, int]]] = {}
    for task, letter in (("1", "A"), ("2", "B")):
        counts: dict[tuple[str, str], int] = {}
        for line in _lines(SAMPLE / f"Qrels/qrel_task{task}_sample.tsv"):
            topic, _, document, grade = line.split("\t")
            key = (topic, grade)
            counts[key] = counts.get(key, 0) + 1
            if topic[2:] in wanted and counts[key] <= KEPT[task]:
                grades = found.setdefault(letter, {}).setdefault(topic[2:], {})
                grades[document] = int(grade)
    return found


def _choose_posts(judged: Mapping[str, Mapping[str, Mapping[str, int]]]) -> set[str]:
    """Judged answers and posts of judged formulas, with their questions."""
    chosen = {post for grades in judged["A"].values() for post in grades}
    visual = {v for grades in judged["B"].values() for v in grades}
    for row in _read_index("latex"):
        if row["visual_id"] in visual and row["type"] != "comment":
            visual.remove(row["visual_id"])  # one post of each will do
            chosen.add(row["post_id"])
    rows = [
        dict(re.findall(r'\b(Id|ParentId|AcceptedAnswerId)="(\d+)"', line))
        for line in _lines(SAMPLE / "Posts.V1.3.xml")
        if "<row" in line
    ]
    parents = {r["Id"]: r["ParentId"] for r in rows if "ParentId" in r}
    accepted = {r["Id"]: r["AcceptedAnswerId"] for r in rows if "AcceptedAnswerId" in r}
    chosen |= {parents[post] for post in chosen if post in parents}
    return chosen | {accepted[post] for post in chosen if post in accepted}


def _write_rows(
    folder: Path, name: str, attribute: str | None, posts: set[str]
) -> None:
    def is_kept(line: str) -> bool:
        if attribute is None or "<row" not in line:
            return True
        found = re.search(rf'\b{attribute}="(\d+)"', line)
        return found is not None and found[1] in posts

    _write(folder / name, filter(is_kept, _lines(SAMPLE / name)))


def _read_index(family: str) -> Iterator[dict[str, str]]:
    for file in sorted((SAMPLE / f"Formulas/{family}_representation_v3").iterdir()):
        opened = gzip.open(file, "rt") if file.suffix == ".gz" else file.open()
        with opened as lines:
            yield from csv.DictReader(lines, delimiter="\t")


def _write_formulas(root: Path, family: str, posts: set[str]) -> None:
    rows = [row for row in _read_index(family) if row["post_id"] in posts]
    file = root / f"Formulas/{family}_representation_v3/1.tsv"
    _write_table(file, list(rows[0]), (list(row.values()) for row in rows))


def _write_edition(
    root: Path, edition: Edition, judged: Mapping[str, Mapping[str, Mapping[str, int]]]
) -> None:
    """Write topics, their formulas and judgments; formulas count from q_1."""
    name = f"ARQMath-{edition.number}"
    topics = root / "Topics"
    rows = [
        row
        for row in _read_topic_formulas("latex")
        if row["topic_id"][2:] in edition.topics
    ]
    numbers = {row["id"]: f"q_{n}" for n, row in enumerate(rows, start=1)}
    renumber = _make_renumbering(edition, numbers)
    for task, letter, folder, file in (
        (1, "A", "Task1&3 Topics", edition.task1),
        (2, "B", "Task2 Topics", edition.task2),
    ):
        text = (SAMPLE / f"Topics/Task{task}/Topics_Task{task}_Sample.xml").read_text()
        found = re.findall(r"   <Topic number=.*?</Topic>\n", text, re.DOTALL)
        kept = [t for t in found if t.split('"')[1][2:] in edition.topics]
        page = "<Topics>\n" + "".join(map(renumber, kept)) + "</Topics>"
        _write(topics / folder / name / file, ['<?xml version="1.0" ?>', page])
        lines = [
            f"{letter}.{new}\t0\t{document}\t"
            + (edition.grade.format(grade) if task == 2 else str(grade))
            for old, new in edition.topics.items()
            for document, grade in judged[letter][old].items()
        ]
        qrels = root / "Evaluation/Scripts & Qrels" / name / f"Task{task}"
        _write(qrels / edition.qrels[task - 1], lines)
    for family, file in edition.formulas.items():
        cells = [
            [
                numbers[row["id"]],
                f"A.{edition.topics[row['topic_id'][2:]]}",
                row["thread_id"],
                edition.body if row["type"] == "question" else row["type"],
                row["formula"],
            ]
            for row in _read_topic_formulas(family)
            if row["id"] in numbers
        ]
        head = ["id", "topic_id", "thread_id", "type", edition.columns[family]]
        _write_table(topics / "Task1&3 Topics" / name / file, head, cells)


def _make_renumbering(
    edition: Edition, numbers: Mapping[str, str]
) -> Callable[[str], str]:
    def renumber(text: str) -> str:
        text = re.sub(r"\bq_\d+\b", lambda m: numbers[m[0]], text)
        return re.sub(
            r'number="([AB])\.(\d+)"',
            lambda m: f'number="{m[1]}.{edition.topics[m[2]]}"',
            text,
        )

    return renumber


def _read_topic_formulas(family: str) -> Iterator[dict[str, str]]:
    name = {"latex": "Latex", "slt": "SLT", "opt": "OPT"}[family]
    with (SAMPLE / f"Topics/Formulas/Topics_Sample_Formulas_{name}.tsv").open() as file:
        yield from csv.DictReader(file, delimiter="\t")


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def _write_table(file: Path, head: list[str], rows: Iterable[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows([head, *rows])
    _write(file, text.getvalue().splitlines())


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
