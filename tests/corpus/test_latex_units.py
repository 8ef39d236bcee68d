"""Statements and sections of LaTeX, through the reader of files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.records import Failure, StatementLink
from mathamr_kedro.corpus.extraction import PostCleaner
from mathamr_kedro.corpus.own_files import OwnCollection
from tests.conftest import LONG, ends

PAPER = r"""\documentclass{amsart}
\newtheorem{thm}{Theorem}[section]
\newtheorem{lem}[thm]{Lemma}
\newtheorem*{claim}{Claim}
\theoremstyle{definition}
\newtheorem{defn}[thm]{Definition}
\newcommand{\Z}{\mathbb{Z}}
\title{On $\Z$}
\begin{document}
\maketitle
\begin{abstract} All about $\Z$. \end{abstract}
Before all sections.
% \section{Old}
\section[Short]{Long {and \emph{nested}} title}\label{sec:one}
An opening.
\begin{defn}[Units]\label{d} A \emph{unit} of $\Z$.\end{defn}
\begin{lem} Without a label. \end{lem}
Between them.
\begin{thm}[Main result]\label{t}
If $a \in \Z$, then
\begin{equation}\label{eq} a = a. \end{equation}
\end{thm}
\section{Proofs}
\begin{lem}\label{l} Another one. \end{lem}
\begin{proof} By Definition \ref{d}. \end{proof}
\begin{proof}[Proof of Theorem \ref{t}]
By Lemma~\ref{l}, \cref{d,l} and equation (\ref{eq}) and Section \ref{sec:one}.
\begin{claim} A claim in a proof. \end{claim}
\end{proof}
\begin{claim}\label{c} No number. \end{claim}
\begin{proof} By \eqref{eq}, and \ref{nobody}. \end{proof}
\end{document}
"""


@pytest.fixture
def read(tmp_path):
    def read(unit="statement", **files):
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.tex"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return OwnCollection(tmp_path, unit)

    return read


def test_sentences_that_cite_a_statement_are_its_contexts(read):
    """ "By Chow's lemma" elsewhere names a lemma that has no name in its own file."""
    collection = read(
        one=r"""\newtheorem{lem}{Lemma}
\begin{document}
\begin{lem}\label{a} There is a $X'$. \end{lem}
\begin{lem}\label{b} Nobody cites it. \end{lem}
We say $x = 1$. By Chow's lemma (Lemma \ref{a}) this is \emph{proper}. So it ends.
\end{document}""",
        two=r"""\externaldocument[one-]{one}
\newtheorem{lem}{Lemma}
\begin{document}
\begin{lem}\label{c} Text. \end{lem}
\begin{proof} Poincar\'e knew \ref{one-a}. \end{proof}
\end{document}""",
    )
    contexts = {s.label: s.contexts for s in collection.statements()}
    assert contexts["a"].split() == (
        "By Chow's lemma (Lemma ) this is proper. Poincaré knew .".split()
    )
    assert contexts["b"] == contexts["c"] == ""


def posts_of(collection):
    clean = PostCleaner()
    found = list(collection.posts())
    posts = [clean(x)[0] for x in found if not isinstance(x, Failure)]
    return posts, [x for x in found if isinstance(x, Failure)]


@pytest.mark.parametrize("command", [r"\include", r"\subfile", r"\input{"])
def test_a_command_without_a_file_is_text(read, command):
    posts, failures = posts_of(read(paper=rf"Before. {command} $x$ after."))
    assert "after." in posts[0].text
    assert failures == []


def test_statements_have_kind_number_name_label_and_section(read):
    rows = [row for row in read(paper=PAPER).statements() if row.kind != "text"]
    long = "Long and nested title"
    assert [(r.post_id, r.kind, r.number, r.name, r.section) for r in rows] == [
        ("paper-d", "definition", "1.1", "Units", long),
        ("paper.tex#4", "lemma", "1.2", None, long),
        ("paper-t", "theorem", "1.3", "Main result", long),
        ("paper-l", "lemma", "2.1", None, "Proofs"),
        ("paper.tex#7", "claim", None, None, "Proofs"),
        ("paper-c", "claim", None, None, "Proofs"),
    ]
    assert {r.chapter for r in rows} == {r"On $\mathbb{Z}$"}
    assert [r.proved for r in rows] == [False, False, True, True, False, True]
    assert rows[0].place == "line 16"
    assert rows[3].proof == "By Definition."


def test_proofs_cite_statements_and_what_they_hold(read):
    links = list(read(paper=PAPER).statement_links())
    assert [x for x in links if isinstance(x, StatementLink)] == [
        ("paper-t", "paper-l"),
        ("paper-t", "paper-d"),
        ("paper-l", "paper-d"),
        ("paper-c", "paper-t"),
    ]
    (unknown,) = [x for x in links if isinstance(x, Failure)]
    assert unknown.reason == "unknown_label" and "'nobody'" in unknown.detail
    assert unknown.kept


def test_texts_of_statements_hold_neither_proofs_nor_labels(read):
    posts, failures = posts_of(read(paper=PAPER))
    texts = {post.post_id: post.text for post in posts}
    assert failures == []
    assert texts["paper-t"] == ("Main result\n\nIf FORMULA_0, then FORMULA_1.")
    assert texts["paper-l"] == "Another one."


def test_title_abstract_and_prose_between_statements_are_kept(read):
    posts, _ = posts_of(read(paper=PAPER))
    texts = [post.text for post in posts]
    assert texts[0] == "On FORMULA_0\n\nAll about FORMULA_1.\n\nBefore all sections."
    assert texts[1] == "Long and nested title\n\nAn opening.\n\nBetween them."
    assert "Proofs" not in texts  # a heading without a text


def test_sections_hold_their_statements_with_their_names(read):
    posts, _ = posts_of(read("section", paper=PAPER))
    assert [post.title for post in posts] == [
        "On FORMULA_0", "Long and nested title", "Proofs",
    ]  # fmt: skip
    assert "Definition (Units). A unit of FORMULA_0." in posts[1].text
    assert "Theorem (Main result). If" in posts[1].text
    assert "Proof (Proof of Theorem). By Lemma, and equation (equ" in posts[2].text


def test_whole_files(read):
    source = "One.\n\n\\begin{lemma} Two\n\nthree. \\end{lemma}\n\nFour $x$."
    posts, _ = posts_of(read("file", a=source))
    assert [post.post_id for post in posts] == ["a.tex"]


MAIN = r"""\documentclass{book}
\input{macros}
\begin{document}
\chapter{First} \include{one}
\chapter{Second} \input{parts/two}
\appendix \chapter{Extra}
\begin{theorem} Last. \end{theorem}
\end{document}
"""


def test_a_book_is_read_through_its_files(read):
    book = read(
        main=MAIN,
        macros=r"\newcommand{\R}{\mathbb{R}} \newtheorem{theorem}{Theorem}[chapter]",
        one=r"\section{S} \begin{theorem}\label{a} In $\R$. \end{theorem}",
        parts__two=r"\begin{theorem}\label{b} Two. \end{theorem}"
        r"\begin{proof} By \ref{a}. \end{proof}",
    )
    rows = [row for row in book.statements() if row.kind == "theorem"]
    assert [(r.post_id, r.number, r.chapter, r.source) for r in rows] == [
        ("one-a", "1.1", "First", "one.tex"),
        ("parts/two-b", "2.1", "Second", "parts/two.tex"),
        ("main.tex#1", "A.1", "Extra", "main.tex"),
    ]
    assert list(book.statement_links()) == [("parts/two-b", "one-a")]
    posts, failures = posts_of(book)
    assert failures == []
    assert {p.post_id: p.formula_map[0].latex for p in posts if p.formula_map} == {
        "one-a": r"\mathbb{R}"
    }


def test_chapters_that_know_each_other_are_numbered_in_their_order(read):
    preamble = (
        r"\externaldocument[one-]{one}\externaldocument[two-]{two}"
        r"\newtheorem{lemma}[subsection]{Lemma}"
    )
    chapter = r"\input{preamble}\begin{document}\title{%s}\section{S}%s\end{document}"
    one = r"\begin{lemma}\label{lemma-a} A. \end{lemma}"
    two = (
        r"\begin{lemma}\label{lemma-b} B. \end{lemma}"
        r"\begin{proof} By One, Lemma \ref{one-lemma-a}. \end{proof}"
    )
    book = read(
        preamble=preamble, one=chapter % ("One", one), two=chapter % ("Two", two)
    )
    rows = [row for row in book.statements() if row.kind == "lemma"]
    assert [(r.post_id, r.number, r.chapter) for r in rows] == [
        ("one-lemma-a", "1.1.1", "One"),
        ("two-lemma-b", "2.1.1", "Two"),
    ]
    assert list(book.statement_links()) == [("two-lemma-b", "one-lemma-a")]


def test_a_list_of_chapters_says_their_order(read):
    names = r"\externaldocument[one-]{one}\externaldocument[one-more-]{one-more}"
    chapter = r"\begin{document}\section{S}\begin{lemma}X.\end{lemma}\input{list}"
    listed = r"\begin{enumerate}\item \hyperref[one-more-x]{B}\item \hyperref[one-x]{A}"
    files = {"one": names + chapter, "one-more": names + chapter}
    book = read(list=listed + r"\end{enumerate}", **files)
    rows = [row for row in book.statements() if row.kind == "lemma"]
    assert [(r.source, r.number) for r in rows] == [
        ("one-more.tex", "1"),
        ("one.tex", "1"),
    ]
    files = {k: r"\newtheorem{lemma}[subsection]{L}" + v for k, v in files.items()}
    rows = [row for row in read(**files).statements() if row.kind == "l"]
    assert {r.source: r.number for r in rows} == {
        "one-more.tex": "1.1.1", "one.tex": "2.1.1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "kind", "number", "name"),
    [
        (r"\declaretheorem[name=Satz,numberwithin=section]{s} \section{A}"
         r"\begin{s} X. \end{s}", "satz", "1.1", None),
        (r"\newtheorem{theorem}{Theorem}"
         r"\begin{restatable}[Main]{theorem}{mainthm} X. \end{restatable}",
         "theorem", "1", "Main"),
        (r"\begin{theorem*} X. \end{theorem*}", "theorem", None, None),
        (r"\begin{lemma}[A, {\cite[p. 2]{B}}] X. \end{lemma}", "lemma", "1",
         "A, [B, p. 2]"),
        (r"\newtheorem{t}{Theorem} \numberwithin{t}{section} \setcounter{section}{4}"
         r"\section{A} \begin{t} X. \end{t}", "theorem", "5.1", None),
        (r"\newcommand{\bthm}{\begin{theorem}}\newcommand{\ethm}{\end{theorem}}"
         r"\bthm X. \ethm", "theorem", "1", None),
    ],
)  # fmt: skip
def test_declarations_of_all_kinds_are_read(read, source, kind, number, name):
    (row,) = [row for row in read(a=source).statements() if row.kind != "text"]
    assert (row.kind, row.number, row.name) == (kind, number, name)


def test_nested_statements_are_documents_too(read):
    source = (
        r"\begin{theorem} Outer. \begin{remark} Inner. \end{remark} Rest. \end{theorem}"
    )
    posts, _ = posts_of(read(a=source))
    assert [p.text for p in posts] == ["Outer.\n\nRemark. Inner.\n\nRest.", "Inner."]


def test_statement_without_an_end_goes_up_to_the_next_heading(read):
    source = "\\begin{lemma} Open.\n\\section{Next} Text."
    posts, failures = posts_of(read(a=source))
    assert [p.text for p in posts] == ["Open.", "Next\n\nText."]
    assert [(f.reason, f.place, f.kept) for f in failures] == [
        ("open_environment", "line 1", True)
    ]


def test_the_first_label_of_a_section_is_its_own(read):
    source = (
        r"\section{A}\label{a} Text \label{b}."
        r"\section{B} \begin{center}\label{c} Text. \end{center}"
    )
    rows = list(read(a=source).statements())
    assert [(r.post_id, r.label) for r in rows] == [("a-a", "a"), ("a.tex#2", None)]


def test_repeated_label_is_reported_and_nothing_lost(read):
    source = (
        r"\begin{lemma}\label{x} A. \end{lemma}\begin{lemma}\label{x} B. \end{lemma}"
    )
    posts, failures = posts_of(read(a=source))
    assert [(p.post_id, p.text) for p in posts] == [("a-x", "A."), ("a.tex#2", "B.")]
    assert [f.reason for f in failures] == ["repeated_label"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a % \\section{No} $\nb", "a b"),
        ("a 5\\% b%\nc", "a 5% bc"),
        ("a % c\n\nb", "a\n\nb"),
        ("a \\iffalse hidden \\ifx x \\fi \\else shown \\fi b", "a shown b"),
        ("a \\begin{comment} \\begin{lemma} \\end{comment} b", "a b"),
        ("\\excludecomment{ note }a \\begin{note} x \\end{note} b", "a b"),
        ("\\newenvironment{note}{\\comment}{\\endcomment}a \\begin{note}x\\end{note} b",
         "a b"),
        ("\\newenvironment{q}[1]{\\begin{quote}#1: }{\\end{quote}}"
         "\\begin{q}{He} x\\end{q}", "He: x"),
        ("a \\verb|%x \\begin{lemma}| b", "a %x \\begin{lemma} b"),
        ("see \\url{http://a/%20b} b", "see http://a/%20b b"),
        ("a\\endinput b", "a"),
    ],
)  # fmt: skip
def test_what_latex_does_not_read(read, source, text):
    posts, failures = posts_of(read(a=source))
    assert [post.text for post in posts] == [text]
    assert failures == []


def test_an_at_sign_ends_the_name_of_a_macro(read):
    posts, _ = posts_of(read(a=r"\newcommand{\me}{abel} Write to \me@oslo."))
    assert [post.text for post in posts] == ["Write to abel@oslo."]


def test_environments_that_are_read_in_their_own_way_stay_what_they_are(read):
    """Though a document defines how they look."""
    posts, failures = posts_of(read(a=(
        r"\newtheorem{thm}{Theorem}"
        r"\newenvironment{proof}{Wrong }{}\newenvironment{thm}{Wrong }{}"
        r"\begin{thm}\label{t} A. \end{thm}\begin{proof} B. \end{proof}"
        r"\section{S}\begin{enumerate}\item C.\end{enumerate}"
    )))  # fmt: skip
    assert failures == []
    assert not any("Wrong" in post.text for post in posts)
    assert posts[0].post_id == "a-t"


@pytest.mark.parametrize(
    ("files", "reason", "part"),
    [
        ({"a": r"Text. \input{b}", "b": r"\input{a} More."}, "unread_input", "itself"),
        ({"a": r"Text. \input{nowhere}"}, "unread_input", "no such file"),
        ({"a": r"Text. \input{../../etc/passwd}"}, "unread_input", "no such file"),
        ({"a": "\\def\\a{\\a}\nText \\a and \\a."}, "endless_macro", r"\a"),
        ({"a": r"\def\a(#1){x} Text."}, "unread_macro", "parameters"),
        ({"a": r"\begin{comment} Text."}, "open_comment", "no end"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_reported_with_its_place(read, files, reason, part):
    posts, failures = posts_of(read(**files))
    assert "Text" in posts[0].text
    (failure,) = failures
    assert (failure.reason, failure.kept) == (reason, True)
    assert part in failure.detail and failure.place.startswith("line ")


def test_text_of_a_file_that_two_documents_include_is_read_once(read):
    book = read(
        a="A. \\input{empty}\\input{part}\n% \\input{b}",
        b=r"B. \input{part}",
        empty="",
        part=r"\section{Both} Shared.",
    )
    posts, _ = posts_of(book)
    assert [p.text for p in posts] == ["A.", "Both\n\nShared.", "B."]


PIECES = st.sampled_from(
    [
        "word ", "$x$ ", "$ ", "$$", "\\(", "\\]", "\\begin{lemma}", "\\end{lemma}",
        "\\begin{proof}", "\\end{proof}[", "\\section{T}", "\\section{", "\\label{a}",
        "\\ref{a}", "{", "}", "[", "]", "\n\n", "% c\n", "\\item ",
        "\\begin{enumerate}",
        "\\end{enumerate}", "\\footnote{f} ", "\\newcommand{\\m}[1]{#1}", "\\m{y} ",
        "\\def\\r{\\r}", "\\r ", "\\iffalse ", "\\fi ", "\\verb|x| ",
        "\\begin{comment}",
        "\\end{comment}", "\\'e", "\\\\", "\\input{b}", "\\begin{tikzcd}",
        "\\appendix ",
        "\\xymatrix{", "\\ensuremath{z}", "\\begin{", "\\newtheorem{lemma}", "\\let\\a",
        "\\begin{document}", "\\end{document}", "\\cite[", "~", "&", "\\title{t}",
    ]
)  # fmt: skip


@given(
    st.lists(PIECES, max_size=40),
    st.sampled_from(["statement", "section", "file"]),
)
def test_any_source_is_read(tmp_path_factory, pieces, unit):
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.tex").write_text("".join(pieces))
    (folder / "b.tex").write_text("B. \\input{a}")
    collection = OwnCollection(folder, unit)
    posts_of(collection)
    list(collection.statements())
    list(collection.statement_links())


WORDS = st.text("abcdefghij", min_size=3, max_size=8)


@given(
    st.lists(
        st.tuples(st.sampled_from(["text", "lemma", "proof", "section"]), WORDS),
        max_size=12,
    )
)
def test_no_prose_is_lost(tmp_path_factory, parts):
    frames = {
        "text": "%s.\n\n",
        "lemma": "\\begin{lemma} %s. \\end{lemma}\n",
        "proof": "\\begin{proof} %s. \\end{proof}\n",
        "section": "\\section{%s}\n",
    }
    folder = tmp_path_factory.mktemp("prose")
    words = [f"{word}{number}" for number, (_, word) in enumerate(parts)]
    source = "".join(
        frames[kind] % word for (kind, _), word in zip(parts, words, strict=True)
    )
    (folder / "a.tex").write_text(source)
    collection = OwnCollection(folder, "statement")
    posts, failures = posts_of(collection)
    proofs = [row.proof for row in collection.statements()]
    read = " ".join([*(post.text for post in posts), *proofs])
    assert bool(failures) == all(kind == "section" for kind, _ in parts)
    told = [
        word for (kind, _), word in zip(parts, words, strict=True) if kind != "section"
    ]
    assert [word for word in told if word not in read] == []


PROSE = "Let $x \\in \\R$ be \\emph{real}.\n\n"
LEMMA = "\\begin{lemma}\\label{a} X. \\end{lemma}\\begin{proof} \\ref{a} \\end{proof}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        20 * PROSE + LEMMA,
        "\\begin{lemma} ", "\\end{proof} ", "\\section{A} ", "\\section{", "${", "$ a ",
        "\\footnote{", "\\iffalse ", "\\begin{comment} ", "\\R{", "\\[", "\\item[",
        "\\newcommand{\\R}{x}", " ", "\\ref{", " \\ref{a}",
    ],
)  # fmt: skip
@ends
def test_cost_of_reading_grows_with_the_length(read, piece):
    text = "\\newcommand{\\R}{\\mathbb{R}}\n" + piece * (LONG // len(piece))
    posts_of(read(a=text))


def test_units_keep_their_place(read):
    source = "\n\n\\section{A}\nx\n\\section{B}\ny"
    assert [p.place for p in read(a=source).posts()] == ["line 3", "line 5"]
