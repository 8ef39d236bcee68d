import gzip
import json
import os

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.corpus.extraction import PostCleaner, clean_in_batches
from mathamr_kedro.corpus.own_files import OwnCollection, read_examples

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
    assert post.title == "On FORMULA_0: Start"
    assert post.text == (
        "On FORMULA_0: Start\n\nLet FORMULA_1 be real [a]. Erdős said so.\n\n"
        "Theorem (Gauss). FORMULA_2.\n\n- one\n- two"
    )
    assert [m.latex for m in post.formula_map] == [r"\pi", "x", "a=b"]


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


def test_an_id_of_a_thousand_characters_is_one(tmp_path):
    lines = [json.dumps({"id": "i" * n, "text": "x"}) for n in (1000, 1001)]
    (tmp_path / "faq.jsonl").write_text("\n".join(lines))
    posts, failures = posts_of(tmp_path)
    assert [len(post.post_id) for post in posts] == [1000]
    assert [(f.reason, f.place) for f in failures] == [("bad_record", "line 2")]


def test_dollars_in_fenced_code_begin_no_formula(tmp_path):
    """The heading between two of them is one."""
    text = "# One\n\n```\n$$\n```\n\n# Two\n\n```\n$$\n```\n\n# Three\n\nend\n"
    (tmp_path / "a.md").write_text(text)
    posts, _ = posts_of(tmp_path)
    assert [post.title for post in posts] == ["One", "Two", "Three"]


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
        ("cut.jsonl.gz", "damaged_file")
    ]
    assert failures[0].place == f"after line {len(posts) - 1}"


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
    assert collection.checksum("posts")


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
    (tmp_path / "b.md").write_bytes(b"\0\xff")
    (tmp_path / "c.png").write_bytes(b"PNG")
    (tmp_path / ".hidden").write_text("")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "description.md").write_text("No text of ours.")
    posts, failures = posts_of(tmp_path)
    assert [p.post_id for p in posts] == ["a.md"]
    assert [(f.source, f.reason) for f in failures] == [
        ("b.md", "bad_encoding"),
        ("c.png", "unknown_file_type"),
    ]


def test_folder_without_texts_is_refused(tmp_path):
    with pytest.raises(MissingInputError, match="raw_root=FOLDER"):
        list(OwnCollection(tmp_path / "nothing").posts())


FRONT = """---
title: Twin primes
tags: [number theory, primes]
date: 2024-05-01
---
Are there infinitely many?

Pairs
-----

Is $p+2$ prime?

    # code: $x$
    for p in primes:

Triples of $q$
==============

$$
a
=
b
$$
"""


def test_front_matter_is_used_and_not_shown(tmp_path):
    (tmp_path / "a.md").write_text(FRONT)
    raw = list(OwnCollection(tmp_path).posts())
    assert [p.place for p in raw] == ["line 6", "line 8", "line 16"]
    posts, failures = posts_of(tmp_path)
    assert [p.title for p in posts] == ["Twin primes", "Pairs", "Triples of FORMULA_0"]
    assert posts[0].text == "Twin primes\n\nAre there infinitely many?"
    assert {p.tags for p in posts} == {("number theory", "primes")}
    assert {p.creation_date for p in posts} == {"2024-05-01"}
    (post,), _ = posts_of(tmp_path, unit="file")
    assert post.title == "Twin primes" and "date" not in post.text
    assert failures == []


def test_underlined_headings_and_indented_code(tmp_path):
    (tmp_path / "a.md").write_text(FRONT)
    posts, _ = posts_of(tmp_path)
    assert posts[1].text == (
        "Pairs\n\nIs FORMULA_0 prime?\n\n# code: $x$\nfor p in primes:"
    )
    assert [m.latex for m in posts[1].formula_map] == ["p+2"]
    # The line "=" of a formula underlines no heading.
    assert [m.latex for m in posts[2].formula_map] == ["q", "a\n=\nb"]


def test_toml_front_matter_and_lines_that_are_none(tmp_path):
    (tmp_path / "a.md").write_text('+++\ntitle = "T"\ntags = ["x"]\n+++\nText.')
    (tmp_path / "b.md").write_text("---\nA quotation.\n\n---\n\nText.")
    (tmp_path / "c.md").write_text("---\ntitle: never closed\n\nText.")
    (a, *_), _ = posts_of(tmp_path)
    assert (a.text, a.tags) == ("T\n\nText.", ("x",))
    posts, failures = posts_of(tmp_path, unit="file")
    assert "A quotation." in posts[1].text and "never closed" in posts[2].text
    assert failures == []


def test_broken_front_matter_is_reported_and_the_text_kept(tmp_path):
    (tmp_path / "a.md").write_text("---\ntitle: [a\ntags: }\n---\nText of $x$.")
    (post,), (failure,) = posts_of(tmp_path)
    assert post.text == "Text of FORMULA_0."
    assert (failure.reason, failure.place, failure.kept) == (
        "bad_front_matter", "line 1", True,
    )  # fmt: skip


LATEX = r"""\documentclass{article}
\begin{document}
\section{Code}
Type \verb|$x {a} % y| and \verb*+\[+, then 5\% of $a$. % \section{No} $
\begin{verbatim}
\section{Not a section} $z % \end{document}
\end{verbatim}
\begin{lstlisting}[language=C]
a = "$";
\end{lstlisting}
Next $b$.
\section{Pictures}
\begin{tikzpicture}[scale=2] \draw (0,0) -- node {$w$} (1,1); \end{tikzpicture}
\[ \begin{tikzcd} A \arrow[r, "f"] & B \end{tikzcd} \]
So $c$ \\% a comment
and $d$.
\end{document}
"""


def test_verbatim_text_and_drawings_of_latex_leave_the_rest_alone(tmp_path):
    (tmp_path / "a.tex").write_text(LATEX)
    posts, _ = posts_of(tmp_path)
    assert [p.title for p in posts] == ["Code", "Pictures"]
    assert posts[0].text == (
        "Code\n\nType $x {a} % y and \\[, then 5% of FORMULA_0.\n\nNext FORMULA_1."
    )
    assert [m.latex for m in posts[0].formula_map] == ["a", "b"]
    assert posts[1].text == "Pictures\n\nFORMULA_0 So FORMULA_1\nand FORMULA_2."
    diagram = r"""\begin{tikzcd} A \arrow[r, "f"] & B \end{tikzcd}"""
    assert [m.latex for m in posts[1].formula_map] == [diagram, "c", "d"]
    clean = PostCleaner()
    assert [clean(p)[1] for p in OwnCollection(tmp_path).posts()] == [[], []]


def test_formulas_of_documents_with_mathml_are_a_table(tmp_path):
    (tmp_path / "a.md").write_text("Of $x$.")
    assert list(OwnCollection(tmp_path).formulas()) == []
    page = "<h1>Sum</h1>of $a$, <math><msup><mi>y</mi><mn>2</mn></msup></math>"
    (tmp_path / "b.html").write_text(page)
    rows = list(OwnCollection(tmp_path).formulas())
    assert [(r.formula_id, r.post_id, r.latex) for r in rows] == [
        ("a.md:0", "a.md", "x"),
        ("b.html:0", "b.html", "a"),
        ("b.html:1", "b.html", "y^{2}"),
    ]
    assert [r.presentation for r in rows[:2]] == ["", ""]
    assert rows[2].presentation.startswith("<math><msup>")
    posts, _ = posts_of(tmp_path)
    mentions = [m for p in posts for m in p.formula_map]
    assert [m.visual_id for m in mentions] == [r.visual_id for r in rows]


@pytest.mark.parametrize("unit", ["statement", "section", "file"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", ""),
        ("a.md", "\n"),
        ("a.md", "---\ntitle: Primes\n---\n"),
        ("a.md", "# Primes\n\n## Twins\n"),
        ("a.html", "<!doctype html>\n<html><head><title>T</title></head></html>"),
        ("a.tex", r"\documentclass{article}\usepackage{amsmath}\newcommand{\R}{R}"),
        ("a.tex", r"\begin{thebibliography}{9}\bibitem{k} Knuth.\end{thebibliography}"),
    ],
)
def test_a_file_without_text_is_no_post_but_a_failure(tmp_path, name, text, unit):
    (tmp_path / name).write_text(text)
    posts, failures = posts_of(tmp_path, unit=unit)
    assert posts == []
    assert [(f.source, f.reason, f.kept) for f in failures] == [
        (name, "empty_text", False)
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "# A\n\n## B\n\ntext\n\n## C\n\n# D\n\nmore\n\n## References\n\n- K"),
        (
            "a.html",
            "<!DOCTYPE html>\n<h1>A</h1><h2>B</h2>text<h2>C</h2><h1>D</h1>more"
            "<h2>References</h2><p>K</p>",
        ),
        (
            "a.tex",
            r"\section{A}\subsection{B} text \subsection{C} \section{D} more "
            r"\section*{References} K",
        ),
    ],
)
def test_headings_without_text_go_to_what_they_head(tmp_path, name, text):
    """Neither they nor declarations and bibliographies are posts."""
    (tmp_path / name).write_text(text)
    posts, _ = posts_of(tmp_path)
    assert [(p.post_id, p.text) for p in posts] == [
        (f"{name}#1", "A: B\n\ntext"),
        (f"{name}#2", "D\n\nmore"),
    ]


def test_formulas_beside_a_text_that_is_no_unicode_are_a_table(tmp_path):
    texts = ["$\\ud800$ <math><mi>x</mi></math>", "<math><mi>y</mi></math>"]
    lines = (f'{{"id": "{i}", "text": "{text}"}}\n' for i, text in enumerate(texts))
    (tmp_path / "a.jsonl").write_text("".join(lines))
    assert [row.post_id for row in OwnCollection(tmp_path).formulas()] == ["1"]


def test_quotation_marks_and_ampersands_of_markdown_leave_formulas_alone(tmp_path):
    (tmp_path / "a.md").write_text(
        'The "ring" $R$ & its *field* $K$, &#xE001;0&#xE002;.'
    )
    (post,), _ = posts_of(tmp_path)
    assert post.text == 'The "ring" FORMULA_0 & its field FORMULA_1, 0.'


def test_text_of_a_page_before_its_first_heading_is_kept(tmp_path):
    page = "<html><head><title>T</title></head><body><p>First $a$.</p><h1>H</h1>b"
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "b.html").write_text("<html><head><title>T</title></head><h1>H</h1>b")
    posts, _ = posts_of(tmp_path)
    assert [p.text for p in posts] == ["T\n\nFirst FORMULA_0.", "H\n\nb", "H\n\nb"]


def test_an_unknown_unit_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="got 'lemma'"):
        OwnCollection(tmp_path, "lemma")


@pytest.mark.parametrize("titles", [True, False])
def test_examples_have_their_titles_where_these_are_wanted(tmp_path, titles):
    file = tmp_path / "more.jsonl"
    file.write_text('{"id": 1, "title": "T", "question": "Q", "answer": "A"}\n[]\n')
    question, answer, bad = read_examples(file, "more", "html", titles)
    assert (question.title, question.body) == ("T" if titles else "", "Q")
    assert (answer.title, answer.body) == ("", "A")
    assert {question.post_type, answer.post_type} == {"example"}
    assert {question.markup, answer.markup} == {"html"}
    assert (bad.source, bad.place, bad.reason) == ("more", "line 2", "bad_record")


def test_questions_and_answers_keep_their_formulas_in_one_thread(tmp_path):
    meaning = '<annotation-xml encoding="MathML-Content"><ci>x</ci></annotation-xml>'
    content = f"<math><semantics><mi>x</mi>{meaning}</semantics></math>"
    record = {"id": "q", "question": f"{content} or $z$?", "answer": "$w$"}
    document = {"id": "d", "text": "<math><mi>v</mi></math>", "format": "html"}
    lines = [json.dumps(record | {"format": "html"}), json.dumps(document)]
    (tmp_path / "faq.jsonl").write_text("\n".join(lines))
    rows = list(OwnCollection(tmp_path).formulas())
    assert [(r.post_id, r.place) for r in rows] == [
        ("q", "question"),
        ("q", "question"),
        ("q/answer", "answer"),
        ("d", "body"),
    ]
    assert rows[0].content == rows[0].presentation != ""
    assert [r.content for r in rows[1:]] == ["", "", ""]


def test_files_without_statements_are_texts_among_the_statements(tmp_path):
    (tmp_path / "a.md").write_text("# One\n\nx\n\n# Two\n\ny\n")
    question = '{"id": "q", "question": "x"}\n[]\n'
    (tmp_path / "b.jsonl").write_text(
        question + '{"id": "d", "title": "T", "text": "y"}'
    )
    found = list(OwnCollection(tmp_path, unit="statement").statements())
    assert [(s.kind, s.section, s.source, s.place) for s in found] == [
        ("text", "One", "a.md", "line 1"),
        ("text", "Two", "a.md", "line 5"),
        ("text", "T", "b.jsonl", "line 3"),
    ]
    assert not any(statement.proved for statement in found)
    assert list(OwnCollection(tmp_path).statements()) == []
    assert list(OwnCollection(tmp_path).statement_links()) == []


def test_names_contents_and_unit_make_another_collection(tmp_path):
    (tmp_path / "a.md").write_text("x")
    marks = [OwnCollection(tmp_path).checksum("posts")]
    assert OwnCollection(tmp_path).checksum("posts") == marks[0]
    marks.append(OwnCollection(tmp_path, unit="file").checksum("posts"))
    (tmp_path / "a.md").write_text("y")
    marks.append(OwnCollection(tmp_path).checksum("posts"))
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    marks.append(OwnCollection(tmp_path).checksum("posts"))
    assert len({*marks}) == 4


def test_a_file_that_may_not_be_read_is_a_failure(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.jsonl").write_text("{}")
    monkeypatch.setattr("mathamr_kedro.corpus.json_records.open_binary", refuse)
    _, (failure,) = posts_of(tmp_path)
    assert (failure.reason, failure.place) == ("unreadable_file", "line 1")
    assert "(Permission denied); check its rights" in failure.detail


def test_bytes_of_texts_count_as_progress(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr("mathamr_kedro.corpus.own_files.count_bytes", read.append)
    (tmp_path / "a.md").write_text("four")
    (tmp_path / "b.png").write_text("none of ours")
    (tmp_path / "c.txt").write_text("seven..")
    (tmp_path / "d.md").symlink_to(tmp_path / "nowhere")
    posts, failures = posts_of(tmp_path)
    assert (len(posts), len(failures), read) == (2, 2, [4, 7])


def test_a_question_without_an_answer_has_none(tmp_path):
    lines = ['{"question": "x", "tags": [1]}', '{"answer": "y", "id": 0}']
    (tmp_path / "faq.jsonl").write_text("\n\n".join(lines))
    (question, alone), _ = posts_of(tmp_path)
    assert (question.post_type, question.accepted_answer_id) == ("question", None)
    assert (question.post_id, question.tags) == ("faq.jsonl#1", ("1",))
    assert (alone.post_id, alone.post_type, alone.text) == ("0", "document", "y")


def test_only_a_lack_of_all_texts_makes_a_folder_empty(tmp_path):
    (tmp_path / "a.png").write_text("")
    with pytest.raises(MissingInputError, match="Markdown, HTML"):
        OwnCollection(tmp_path).check_layout()
    (tmp_path / "B.JSONL.GZ").write_bytes(gzip.compress(b'{"text": "x"}'))
    names = [file.name for file in OwnCollection(tmp_path).check_layout()]
    assert names == ["B.JSONL.GZ", "a.png"]


def test_a_part_of_a_latex_document_is_no_document_of_its_own(tmp_path):
    start = r"\documentclass{article}\begin{document}"
    (tmp_path / "main.tex").write_text(start + r"\input{part}\end{document}")
    (tmp_path / "part.tex").write_text("Seen once.")
    (tmp_path / "notes.md").write_text("Seen too.")
    posts, failures = posts_of(tmp_path)
    assert sorted(post.text for post in posts) == ["Seen once.", "Seen too."]
    assert failures == []


def test_links_in_a_circle_and_out_of_the_folder_are_never_opened(tmp_path):
    """Not for the checksum either: a file of the system may have no end."""
    (tmp_path / "a.md").symlink_to("b.md")
    (tmp_path / "b.md").symlink_to("a.md")
    (tmp_path / "c.tex").symlink_to("c.tex")
    (tmp_path / "environ.txt").symlink_to("/proc/self/environ")
    (tmp_path / "whole.md").write_text("x")
    collection = OwnCollection(tmp_path)
    assert [f.name for f in collection.list_files("posts")] == ["whole.md"]
    before = collection.checksum("posts")
    posts, failures = posts_of(tmp_path)
    assert [p.post_id for p in posts] == ["whole.md"]
    assert {f.source: f.reason for f in failures} == {
        "a.md": "unreadable_file",
        "b.md": "unreadable_file",
        "c.tex": "unreadable_file",
        "environ.txt": "link_out_of_folder",
    }
    (tmp_path / "c.tex").unlink()
    assert collection.checksum("posts") != before  # and the next run reports the rest


def test_a_post_is_cut_at_a_number_of_formulas_and_characters(tmp_path):
    (tmp_path / "formulas.md").write_text("$a$ " * 20_000)
    (tmp_path / "dollars.md").write_text("$" * 50_000)
    (tmp_path / "letters.txt").write_text("abcd " * 120_000)
    (tmp_path / "short.md").write_text("$a$ " * 2000)
    posts = OwnCollection(tmp_path).posts()
    (batch,) = clean_in_batches(posts, PostCleaner(), 10)
    counts = {p.post_id: (len(p.formula_map), len(p.text)) for p in batch.records}
    assert counts["formulas.md"][0] == 2000
    assert counts["short.md"][0] == 2000
    assert counts["letters.txt"] == (0, 499_999)
    cut = [f for f in batch.failures if f.reason == "text_cut"]
    assert [f.source for f in cut] == ["dollars.md", "formulas.md", "letters.txt"]
    assert all(f.kept and "500,000 characters and 2,000 formulas" in f.detail
               for f in cut)  # fmt: skip


def test_what_is_too_large_is_skipped_without_being_read(tmp_path, monkeypatch):
    for module in ("json_records", "formats"):
        monkeypatch.setattr(f"mathamr_kedro.corpus.{module}.MAX_FILE", 1000)
    (tmp_path / "large.md").write_text("a " * 501)
    (tmp_path / "large.tex").write_text("a " * 501)
    rows = ['{"text": "one"}', '{"text": "' + "a" * 5000 + '"}', '{"text": "three"}']
    with gzip.open(tmp_path / "rows.jsonl.gz", "wt") as file:
        file.write("\n".join(rows))
    posts, failures = posts_of(tmp_path)
    assert [p.post_id for p in posts] == ["rows.jsonl.gz#1", "rows.jsonl.gz#3"]
    assert [(f.source, f.place, f.reason) for f in failures] == [
        ("large.md", "", "too_large"),
        ("large.tex", "", "too_large"),
        ("rows.jsonl.gz", "line 2", "too_large"),
    ]
