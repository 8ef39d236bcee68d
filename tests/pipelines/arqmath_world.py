"""A tiny collection in the lab's layout: three editions, comments, both tasks."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HEADER = "id post_id thread_id type comment_id old_visual_id visual_id issue formula"
TOPIC_HEADER = "id topic_id thread_id type formula"
YEARS = {"1": (1, "2020"), "2": (201, "2021"), "3": (301, "2022")}


def write_posts() -> str:
    """Six questions 10, 20, ...; n + 1 is the accepted answer, n + 2 another one."""
    rows = []
    for q in range(10, 70, 10):
        span = f'&lt;span class="math-container" id="{q}"&gt;x^{q}&lt;/span&gt;'
        span = span.replace('"', "&quot;")
        head = f'PostTypeId="1" AcceptedAnswerId="{q + 1}" Title="Why {q}?"'
        rows.append(f'<row Id="{q}" {head} Body="&lt;p&gt;Is {span} even?&lt;/p&gt;"/>')
        for answer in (q + 1, q + 2):
            text = f"&lt;p&gt;Answer {answer}.&lt;/p&gt;"
            head = f'Id="{answer}" PostTypeId="2" ParentId="{q}"'
            rows.append(f'<row {head} Body="{text}"/>')
    return f"<posts>\n{chr(10).join(rows)}\n</posts>\n"


def write_topics(kind: str, first: int) -> str:
    query = "<Formula_Id>q_1</Formula_Id><Latex>x</Latex>" if kind == "B" else ""
    topics = "".join(
        f'<Topic number="{kind}.{n}">{query}<Title>T</Title><Question>Is it?'
        "</Question><Tags>a</Tags></Topic>"
        for n in (first, first + 1)
    )
    return f"<Topics>{topics}</Topics>"


def write_collection(folder: Path) -> None:
    files = {
        "Collection/Posts.V1.3.xml": write_posts(),
        "Collection/Comments.V1.3.xml": '<c><row Id="5" PostId="12" Text="so $y$"/>'
        '<row Id="6" PostId="32" Text="no"/></c>',
    }
    for family in ("latex", "slt", "opt"):
        cells = [
            [n, n, n, "question", "", n, f"7{n}", "", f"x^{n}"]
            for n in range(10, 70, 10)
        ]
        lines = [HEADER.split(), *cells]
        files[f"Formulas/{family}_representation_v3/1.tsv"] = join(lines)
    for edition, (first, year) in YEARS.items():
        for task, kind in (("Task1&3", "A"), ("Task2", "B")):
            folder_of_topics = f"Topics/{task} Topics/ARQMath-{edition}"
            name = f"{folder_of_topics}/Topics_{task[:5]}_{year}.xml"
            files[name] = write_topics(kind, first)
            for family in ("Latex", "SLT", "OPT"):
                name = f"{folder_of_topics}/Topics_Formulas_{family}_V0.1.tsv"
                cell = "x" if family == "Latex" else "<math><mi>x</mi></math>"
                rows = [
                    ["q_1", f"{kind}.{n}", n, "question", cell]
                    for n in (first, first + 1)
                ]
                files[name] = join([TOPIC_HEADER.split(), *rows])
    judged = {
        "1": [("A.1", 21, 3), ("A.2", 22, 0)],
        "2": [("A.201", 31, 3)],
        "3": [("A.301", 11, 3), ("A.301", 12, 0), ("A.302", 11, 1), ("A.302", 99, 0)],
    }
    for edition, (first, year) in YEARS.items():
        base = f"Evaluation/Scripts & Qrels/ARQMath-{edition}"
        rows = [
            [topic, 0, document, grade] for topic, document, grade in judged[edition]
        ]
        files[f"{base}/Task1/qrel_task1_{year}_official.tsv"] = join(rows)
        files[f"{base}/Task2/qrel_task2_{year}_official.tsv"] = join(
            [[f"B.{first}", 0, 750, 2]]
        )
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def join(rows: list[list[object]]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)
