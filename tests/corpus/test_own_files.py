import gzip
import json
import os

import pytest

from mathamr_kedro.corpus.extraction import PostCleaner, clean_in_batches
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
        ('{"id": 1, "text": null}', "bad_record"),
        ('{"id": {}, "text": "x"}', "bad_record"),
        ('{"id": "' + "9" * 5000 + '", "text": "x"}', "bad_record"),
        ('{"id": ' + "9" * 5000 + ', "text": "x"}', "bad_json"),
    ],
)
def test_bad_jsonl_line_is_a_failure_with_its_place(tmp_path, line, reason):
    (tmp_path / "faq.jsonl").write_text('{"text": "fine"}\n' + line + "\n")
    posts, failures = posts_of(tmp_path)
    assert len(posts) == 1
    assert [(f.reason, f.place) for f in failures] == [(reason, "line 2")]


def test_null_is_nothing_and_not_the_word_none(tmp_path):
    record = {"id": None, "title": None, "text": None, "body": "x", "tags": [None, "a"]}
    (tmp_path / "faq.jsonl").write_text(json.dumps(record | {"format": None}))
    (post,), _ = posts_of(tmp_path)
    assert (post.post_id, post.text, post.tags) == ("faq.jsonl#1", "x", ("a",))


def test_damaged_gzip_file_gives_its_whole_lines_and_a_failure(tmp_path):
    lines = "".join(f'{{"text": "number {i * 7919 % 9973}"}}\n' for i in range(5000))
    packed = gzip.compress(lines.encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "fine.md").write_text("y")
    posts, failures = posts_of(tmp_path)
    assert 100 < len(posts) < 5000 and posts[-1].post_id == "fine.md"
    assert [(f.source, f.reason) for f in failures] == [
        ("cut.jsonl.gz", "damaged_gzip")
    ]
    assert failures[0].place == f"line {len(posts)}"


def test_text_that_is_no_unicode_is_a_failure_with_its_place(tmp_path):
    (tmp_path / "faq.jsonl").write_text(
        '{"id": "a", "text": "half \\ud800"}\n{"id": "\\udfff", "text": "x"}\n'
        '{"id": "t", "text": "x", "tags": ["\\ud800"]}\n{"id": "b", "text": "fine"}\n'
    )
    (tmp_path / os.fsdecode(b"name\xff.md")).write_text("z")
    collection = OwnCollection(tmp_path)
    (batch,) = clean_in_batches(collection.posts(), None, 100)
    assert [post.post_id for post in batch.records] == ["b"]
    assert [(f.reason, f.place) for f in batch.failures] == [
        ("bad_encoding", "line 1"),
        ("bad_encoding", "line 2"),
        ("bad_encoding", "line 3"),
        ("bad_encoding", "line 1"),
    ]
    assert "".join(map(str, batch.failures)).isascii()  # they can be written
    assert collection.fingerprint("posts")


def test_links_do_not_lead_out_of_the_folder(tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("x")
    (folder / "again.md").symlink_to("a.md")
    (folder / "lost.md").symlink_to("nowhere.md")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    posts, failures = posts_of(folder)
    assert [p.post_id for p in posts] == ["a.md", "again.md"]
    assert [(f.source, f.reason) for f in failures] == [
        ("lost.md", "unreadable_file"),
        ("out.md", "link_out_of_folder"),
    ]


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
