import gzip
import json

import pytest

from mathamr_kedro.corpus.extraction import PostCleaner
from mathamr_kedro.corpus.own_files import OwnCollection
from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.records import Failure

MARKDOWN = """Some words first.

# Primes

There are infinitely many primes $p_1 < p_2$, see *Euclid*.

```
# not a heading $x$
```

## Twins

Is $p+2$ prime?
"""


def posts_of(folder, **options):
    clean = PostCleaner()
    found = list(OwnCollection(folder, **options).posts())
    failures = [x for x in found if isinstance(x, Failure)]
    return [clean(x)[0] for x in found if not isinstance(x, Failure)], failures


def test_markdown_becomes_one_document_per_section(tmp_path):
    (tmp_path / "primes.md").write_text(MARKDOWN)
    posts, _ = posts_of(tmp_path)
    assert [(p.post_id, p.title) for p in posts] == [
        ("primes.md#1", ""),
        ("primes.md#2", "Primes"),
        ("primes.md#3", "Twins"),
    ]
    assert posts[1].text == (
        "Primes\n\nThere are infinitely many primes FORMULA_0, see Euclid.\n\n"
        "# not a heading $x$"
    )
    assert [m.latex for m in posts[1].formula_map] == ["p_1 < p_2"]
    assert {p.post_type for p in posts} == {"document"}


def test_unit_file_keeps_a_file_whole(tmp_path):
    (tmp_path / "primes.md").write_text(MARKDOWN)
    posts, _ = posts_of(tmp_path, unit="file")
    assert [p.post_id for p in posts] == ["primes.md"]
    assert len(posts[0].formula_map) == 2


def test_latex_document_is_read(tmp_path):
    (tmp_path / "paper.tex").write_text(
        r"""\documentclass{article} % comment
\title{On $\pi$}
\begin{document}
\section{Start}\label{s}
Let $x$ be \emph{real}~\cite{a}. Erd\H{o}s said so.
\begin{theorem}[Gauss] \begin{equation} a=b. \end{equation} \end{theorem}
\begin{itemize}\item one \item two\end{itemize}
\end{document}"""
    )
    (post,), _ = posts_of(tmp_path)
    assert post.title == "Start"
    assert post.text == (
        "Start\n\nLet FORMULA_0 be real . Erdős said so.\n\n"
        "Theorem (Gauss). FORMULA_1.\n\n- one\n- two"
    )
    assert [m.latex for m in post.formula_map] == [
        "x",
        r"\begin{equation} a=b\end{equation}",
    ]


def test_html_page_is_read(tmp_path):
    (tmp_path / "page.html").write_text("<h1>Sum</h1><p>Of $a$ &amp; $b$</p>")
    (post,), _ = posts_of(tmp_path)
    assert post.text == "Sum\n\nOf FORMULA_0 & FORMULA_1"


def test_jsonl_records_become_documents_and_threads(tmp_path):
    records = [
        {"id": "d1", "title": "T", "text": "body $x$", "tags": ["a", "b"]},
        {"id": "q1", "question": "why $y$?", "answer": "because", "format": "html"},
    ]
    lines = "\n".join(json.dumps(r) for r in records)
    (tmp_path / "faq.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    posts, failures = posts_of(tmp_path)
    assert failures == []
    assert [(p.post_id, p.post_type, p.parent_id) for p in posts] == [
        ("d1", "document", None),
        ("q1", "question", None),
        ("q1/answer", "answer", "q1"),
    ]
    assert posts[0].tags == ("a", "b")
    assert posts[1].accepted_answer_id == "q1/answer"
    assert posts[0].text == "T\n\nbody FORMULA_0"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{not json", "bad_json"),
        ("[1, 2]", "bad_record"),
        ('{"id": "1"}', "bad_record"),
        ('{"text": "x", "format": "word"}', "bad_record"),
        ('{"text": "x", "tags": "a"}', "bad_record"),
    ],
)
def test_bad_jsonl_line_is_a_failure_with_its_place(tmp_path, line, reason):
    (tmp_path / "faq.jsonl").write_text('{"text": "fine"}\n' + line + "\n")
    posts, failures = posts_of(tmp_path)
    assert len(posts) == 1
    assert [(f.reason, f.place) for f in failures] == [(reason, "line 2")]


def test_unknown_files_and_wrong_encodings_are_failures(tmp_path):
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "b.md").write_bytes("é".encode("latin-1"))
    (tmp_path / "c.pdf").write_bytes(b"%PDF")
    (tmp_path / ".hidden").write_text("")
    posts, failures = posts_of(tmp_path)
    assert [p.post_id for p in posts] == ["a.md"]
    assert [(f.source, f.reason) for f in failures] == [
        ("b.md", "bad_encoding"),
        ("c.pdf", "unknown_file_type"),
    ]


def test_folder_without_texts_is_refused(tmp_path):
    with pytest.raises(MissingInputError, match="raw_root=FOLDER"):
        list(OwnCollection(tmp_path / "nothing").posts())
