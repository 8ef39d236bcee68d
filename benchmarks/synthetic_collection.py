"""A collection of any size in ARQMath's formats, to measure and to break things with.

Posts are of real size (about 1.3 kB of HTML and 8 formulas); their words mean nothing.
"""

from __future__ import annotations

import random
from pathlib import Path
from xml.sax.saxutils import quoteattr

WORDS = (
    "let be the a of that we prove show continuous function integral group ring field "
    "limit sequence converges series bounded compact space point set such for every "
    "there exists if then because hence theorem matrix vector prime divides number "
    "polynomial root real complex derivative measure open closed map kernel image"
).split()
FORMULAS = (
    r"x^{%d}+y_{%d}",
    r"\frac{a_{%d}}{b+%d}",
    r"\sum_{n=%d}^{\infty}\frac{1}{n^{%d}}",
    r"\int_{%d}^{x} f(t)\,dt=%d",
    r"f_{%d}:X\to Y_{%d}",
    r"\{x\in\mathbb{R}\mid x>%d\}\cap A_{%d}",
    r"\begin{pmatrix}%d & 0\\ 0 & %d\end{pmatrix}",
    r"p_{%d}\mid n^{%d}-1",
)
COLUMNS = (
    "id post_id thread_id type comment_id old_visual_id visual_id issue formula".split()
)
_FAMILIES = ("latex", "slt", "opt")


def write_collection(folder: Path, posts: int, seed: int = 0) -> None:
    """Write posts, comments, links and the three formula families into a folder.

    Every third post is a question; the two after it answer it.
    """
    rng = random.Random(seed)
    tables = _Tables(folder, rows_per_file=max(1, posts * 8 // 100))
    with (
        (folder / "Posts.V1.3.xml").open("w", encoding="utf-8") as out,
        (folder / "Comments.V1.3.xml").open("w", encoding="utf-8") as comments,
    ):
        out.write('<?xml version="1.0" encoding="utf-8"?>\n<posts>\n')
        comments.write('<?xml version="1.0" encoding="utf-8"?>\n<comments>\n')
        for post_id in range(1, posts + 1):
            out.write(_row(post_id, posts, rng, tables))
            if post_id % 2 == 0:
                text = quoteattr(_words(rng, 12))
                comments.write(
                    f'  <row Id="{post_id}" PostId="{post_id}" Text={text}/>\n'
                )
        out.write("</posts>\n")
        comments.write("</comments>\n")
    (folder / "PostLinks.V1.3.xml").write_text(
        '<postlinks>\n  <row Id="1" PostId="1" RelatedPostId="4" LinkTypeId="1"/>\n'
        "</postlinks>\n"
    )
    tables.close()


def _row(post_id: int, posts: int, rng: random.Random, tables: _Tables) -> str:
    is_question = post_id % 3 == 1
    thread = post_id - (post_id - 1) % 3
    kind = "question" if is_question else "answer"
    body = "".join(
        f"<p>{_words(rng, 14)} {_span(post_id, thread, kind, rng, tables)}, "
        f"{_words(rng, 9)} {_span(post_id, thread, kind, rng, tables)}.</p>\n\n"
        for _ in range(4)
    )
    values = {"Id": post_id, "PostTypeId": 1 if is_question else 2, "Score": 3}
    values |= {"CreationDate": "2015-01-01T00:00:00.000"}
    if is_question:
        values |= {
            "Title": f"Why {_words(rng, 6)}?",
            "Tags": "<algebra><proof-writing>",
        }
        if post_id < posts:
            values["AcceptedAnswerId"] = post_id + 1
    else:
        values["ParentId"] = thread
    values["Body"] = body
    cells = " ".join(f"{k}={quoteattr(str(v))}" for k, v in values.items())
    return f"  <row {cells}/>\n"


def _span(
    post_id: int, thread: int, kind: str, rng: random.Random, tables: _Tables
) -> str:
    shape, a, b = rng.randrange(len(FORMULAS)), rng.randrange(40), rng.randrange(40)
    latex = FORMULAS[shape] % (a, b)
    visual_id = 1000 + (shape * 40 + a) * 40 + b
    formula_id = tables.add(post_id, thread, kind, visual_id, latex)
    escaped = latex.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<span class="math-container" id="{formula_id}">{escaped}</span>'


def _words(rng: random.Random, number: int) -> str:
    return " ".join(rng.choices(WORDS, k=number))


class _Tables:
    """The three families, written side by side."""

    def __init__(self, folder: Path, rows_per_file: int) -> None:
        self._folders = [
            folder / "Formulas" / f"{family}_representation_v3" for family in _FAMILIES
        ]
        for path in self._folders:
            path.mkdir(parents=True, exist_ok=True)
        self._rows_per_file = rows_per_file
        self._count = 0
        self._files = []

    def add(
        self, post_id: int, thread: int, kind: str, visual_id: int, latex: str
    ) -> int:
        if self._count % self._rows_per_file == 0:
            self._next_file()
        self._count += 1
        head = (
            f"{self._count}\t{post_id}\t{thread}\t{kind}\t\t{visual_id}\t{visual_id}\t"
        )
        text = latex.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        cells = (
            latex,
            f"<math><semantics><mrow><mi>{text}</mi><mo>+</mo></mrow></semantics></math>",
            f"<math><apply><plus/><ci>{text}</ci><cn>1</cn></apply></math>",
        )
        for file, cell in zip(self._files, cells, strict=True):
            file.write(f"{head}\t{cell}\n")
        return self._count

    def close(self) -> None:
        for file in self._files:
            file.close()

    def _next_file(self) -> None:
        self.close()
        name = f"{self._count // self._rows_per_file + 1}.tsv"
        self._files = [(f / name).open("w", encoding="utf-8") for f in self._folders]
        for file in self._files:
            file.write("\t".join(COLUMNS) + "\n")
