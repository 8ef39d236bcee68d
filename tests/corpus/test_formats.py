"""Notebooks, Word, reStructuredText, PDF and Lean in a folder of one's own."""

import json
import sys

import pypandoc
import pytest

from mathamr_kedro.base.records import Failure
from mathamr_kedro.corpus.extraction import PostCleaner
from mathamr_kedro.corpus.own_files import OwnCollection

TALK = "# Sums\n\nWe know $\\sum_{k=1}^n k$ and\n\n$$\\frac{a}{b} = \\sqrt{2}$$\n"


def read(folder, unit="statement"):
    clean = PostCleaner()
    found = list(OwnCollection(folder, unit).posts())
    posts = [clean(x)[0] for x in found if not isinstance(x, Failure)]
    return posts, [x for x in found if isinstance(x, Failure)]


def write_pdf(path, *pages, title=""):
    """Write a PDF with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(pages):
        shown = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R /Contents {5 + 2 * n} 0 R "
            "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream",
        ]
    objects.append(f"<< /Title ({title}) >>")
    content, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(content))
        content += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    path.write_text(
        f"{content}xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Root 1 0 R /Size {len(places) + 1} "
        f"/Info {len(places)} 0 R >>\n"
        f"startxref\n{len(content)}\n%%EOF\n"
    )


def test_a_word_file_is_read_with_its_equations(tmp_path):
    pypandoc.convert_text(TALK, "docx", "markdown", outputfile=str(tmp_path / "a.docx"))
    (post,), failures = read(tmp_path)
    assert failures == []
    assert (post.post_id, post.title) == ("a.docx", "Sums")
    first, second = (mention.latex.replace(" ", "") for mention in post.formula_map)
    assert (first, second) == (r"\sum_{k=1}^{n}k", r"\frac{a}{b}=\sqrt{2}")


def test_a_notebook_gives_its_texts_and_no_code(tmp_path):
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Primes\n\nLet $p$ be."},
        {"cell_type": "code", "metadata": {}, "source": "print('secret')",
         "execution_count": 1, "outputs": [{"output_type": "stream", "name": "stdout",
                                            "text": "output"}]},
        {"cell_type": "markdown", "metadata": {}, "source": "## Twins\n\nAnd $p+2$."},
    ]  # fmt: skip
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    posts, failures = read(tmp_path)
    assert failures == []
    assert [(p.post_id, p.text, p.formula_map[0].latex) for p in posts] == [
        ("a.ipynb#1", "Primes\n\nLet FORMULA_0 be.", "p"),
        ("a.ipynb#2", "Twins\n\nAnd FORMULA_0.", "p+2"),
    ]


def test_restructured_text_is_read_and_includes_nothing(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "a.rst").write_text(
        "Sums\n====\n\nLet :math:`x^2` be.\n\n.. math::\n\n   a = b\n\n"
        ".. include:: secret.txt\n"
    )
    posts, _ = read(tmp_path)
    post = next(p for p in posts if p.post_id == "a.rst")
    assert (post.title, [m.latex for m in post.formula_map]) == (
        "Sums",
        ["x^2", "a = b"],
    )
    assert "secret" not in post.text


def test_pages_of_a_pdf_are_documents_said_to_be_lossy(tmp_path):
    write_pdf(tmp_path / "a.pdf", "Compact spaces", "", "Tychonoff")
    posts, (note,) = read(tmp_path)
    assert [(p.post_id, p.text) for p in posts] == [
        ("a.pdf#1", "Compact spaces"),
        ("a.pdf#3", "Tychonoff"),
    ]
    assert (note.reason, note.kept) == ("lossy_pdf", True)
    (whole,), _ = read(tmp_path, "file")
    assert whole.text == "Compact spaces\n\nTychonoff"


def test_a_pdf_has_the_title_of_its_author_and_no_name_of_a_file(tmp_path):
    for name, title in (("a", "Topology"), ("b", "Microsoft Word - x.docx")):
        write_pdf(tmp_path / f"{name}.pdf", "Compact spaces", title=title)
    posts, _ = read(tmp_path)
    assert [post.title for post in posts] == ["Topology", ""]


LEAN = """/-! # Numbers

About $n$. -/
namespace Nat

/-- Addition is **commutative**. -/
@[simp, to_additive /-- inner -/]
protected theorem add_comm (a b : ℕ) :
    a + b = b + a := by
  simp  -- theorem fake : False

private lemma hidden : True := trivial

section Inner
lemma plain {n : ℕ} : n ≤ n := le_rfl
end Inner
end Nat

/-- A group. -/
structure MyGroup where
  one : ℕ
"""


def test_declarations_of_lean_are_statements_with_their_docstrings(tmp_path):
    (tmp_path / "Basic.lean").write_text(LEAN)
    posts, failures = read(tmp_path)
    assert failures == []
    assert [(p.post_id.partition("#")[2], p.text) for p in posts] == [
        ("1", "Numbers\n\nAbout FORMULA_0."),
        (
            "Nat.add_comm",
            "Nat.add_comm\n\nAddition is commutative.\n\n"
            "theorem add_comm (a b : ℕ) : a + b = b + a",
        ),
        ("Nat.plain", "Nat.plain\n\nlemma plain {n : ℕ} : n ≤ n"),
        ("MyGroup", "MyGroup\n\nA group.\n\nstructure MyGroup"),
    ]
    rows = list(OwnCollection(tmp_path, "statement").statements())
    assert [(row.kind, row.name, row.place) for row in rows] == [
        ("text", None, "line 1"),
        ("theorem", "Nat.add_comm", "line 7"),
        ("lemma", "Nat.plain", "line 15"),
        ("structure", "MyGroup", "line 20"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "reason", "detail"),
    [
        ("a.docx", b"no zip", "unreadable_file", "expected a file in the form of docx"),
        ("a.ipynb", b"{", "unreadable_file", "expected a file in the form of ipynb"),
        ("a.pdf", b"%PDF-1.4", "unreadable_file", "expected a PDF that can be read"),
        ("a.bib", b"@book{k}", "bibliography", "no text to search"),
        ("a.md", b"\x89PNG\0\xff\xfe", "bad_encoding", "expected a text"),
    ],
)
def test_what_cannot_be_read_is_a_failure_with_its_reason(
    tmp_path, name, content, reason, detail
):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "fine.md").write_text("x")
    posts, (failure,) = read(tmp_path)
    assert [post.post_id for post in posts] == ["fine.md"]
    assert (failure.source, failure.reason) == (name, reason)
    assert detail in failure.detail


def test_a_pdf_of_pictures_names_what_recognises_their_text(tmp_path):
    write_pdf(tmp_path / "a.pdf", "", "")
    posts, (failure,) = read(tmp_path)
    assert posts == [] and "ocrmypdf" in failure.detail


@pytest.mark.parametrize(
    ("name", "library"), [("a.rst", "pypandoc"), ("a.pdf", "pypdf")]
)
def test_a_missing_library_names_the_extra(tmp_path, monkeypatch, name, library):
    (tmp_path / name).write_text("x")
    monkeypatch.setitem(sys.modules, library, None)
    _, (failure,) = read(tmp_path)
    assert failure.reason == "missing_extra"
    assert "pip install 'mathamr-kedro[formats]'" in failure.detail


@pytest.mark.parametrize(
    ("name", "text", "encoding", "said"),
    [
        (
            "a.tex",
            "\\usepackage[latin1]{inputenc}\\begin{document}Café",
            "latin-1",
            "latin1",
        ),
        ("a.tex", "\\usepackage[applemac]{inputenc} Café", "mac-roman", "applemac"),
        ("a.html", "<meta charset='cp1251'>Теорема", "cp1251", "cp1251"),
        ("a.md", "La démonstration du théorème est évidente.", "cp1252", "guessed"),
    ],
)
def test_other_encodings_are_declared_or_guessed_with_a_note(
    tmp_path, name, text, encoding, said
):
    (tmp_path / name).write_bytes(text.encode(encoding))
    (post,), (note,) = read(tmp_path)
    assert post.text == text.rpartition("}")[2].rpartition(">")[2].strip()
    assert (note.reason, note.kept) == ("other_encoding", True)
    assert said in note.detail
