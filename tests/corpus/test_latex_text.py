"""LaTeX as a reader reads it; formulas are kept apart."""

import pytest

from mathamr_kedro.corpus.extraction import clean_text


def read(latex):
    return clean_text("", latex, "1", markup="latex")[0]


def words(latex):
    return read(latex).text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"rings\footnote{With a unit.} are", "rings (With a unit.) are"),
        (r"a word.\footnote{Say $x$.} Next", "a word. (Say FORMULA_0.) Next"),
        (r"by (\ref{eq:a}) and \eqref{b}", "by (equation) and (equation)"),
        (r"Lemma \ref{x}, so", "Lemma, so"),
        (r"(see Lemma~\ref{x})", "(see Lemma)"),
        (r"Lemmas \ref{lem:a} and \ref{lem:b}.", "Lemmas and Lemma."),
        (r"by \cref{thm:a} it", "by Theorem it"),
        (r"see \cite[Theorem 2]{Jech}", "see [Jech, Theorem 2]"),
        (r"see \citep{A,B}", "see [A, B]"),
        (r"{\it flat} and \emph{free}", "flat and free"),
        (r"Erd\H{o}s, \'Etale, \'{e}, \c c, \~n, \"{\i}", "Erdős, Étale, é, ç, ñ, ï"),
        (r"\ss{} and \O, \S 3", "ß and Ø, §3"),
        (r"``quoted'' a--b---c", "“quoted” a–b—c"),
        (r"5\% of 3\$ \& \_x\_ \{a\}", "5% of 3$ & _x_ {a}"),
        (r"\href{http://a}{here} \textcolor{red}{x}", "here x"),
        (r"\hyperref[l]{Sets} \vspace{1cm} end", "Sets end"),
        (r"one \\ two \\[2pt] three", "one\ntwo\nthree"),
        ("one\ntwo\n\nthree", "one two\n\nthree"),
        (r"\begin{tabular}{ll} a & b \\ c & d \end{tabular}", "a b\nc d"),
        (r"\noindent Let. \medskip\noindent So", "Let. So"),
        (r"in $\R$ and \ensuremath{x}", "in FORMULA_0 and FORMULA_1"),
    ],
)  # fmt: skip
def test_commands_leave_what_a_reader_reads(latex, text):
    assert words(latex) == text


def test_lists_are_numbered_as_they_are_printed():
    latex = r"""Then
\begin{enumerate}
\item one, and
\item \begin{enumerate} \item inner \item \label{x} other \end{enumerate}
\item[(x)] named
\item last
\end{enumerate}
So \begin{itemize} \item dash \end{itemize}"""
    assert words(latex).split("\n") == [
        "Then", "", "(1) one, and", "(2)", "", "(a) inner", "(b) other", "",
        "(x) named", "(3) last", "", "So", "", "- dash",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("option", "marks"),
    [
        (r"[label=(\roman*)]", ["(i)", "(ii)"]),
        ("[a.]", ["a.", "b."]),
        ("[(A)]", ["(A)", "(B)"]),
        (r"[label=\arabic*., leftmargin=2em]", ["1.", "2."]),
        ("[noitemsep]", ["(1)", "(2)"]),
    ],
)
def test_lists_may_say_how_they_are_numbered(option, marks):
    latex = rf"\begin{{enumerate}}{option} \item x \item y \end{{enumerate}}"
    assert [line.split()[0] for line in words(latex).split("\n")] == marks


def test_dollars_always_delimit_formulas():
    found = read(r"If $ a > 0$, then ($b$) and $c \text{ if $d$}$ cost \$5 \\$e$.")
    assert found.text == (
        "If FORMULA_0, then (FORMULA_1) and FORMULA_2 cost $5\nFORMULA_3."
    )
    assert [m.latex for m in found.formula_map] == [
        "a > 0", "b", r"c \text{ if $d$}", "e",
    ]  # fmt: skip


def test_a_dollar_too_many_costs_its_paragraph_alone():
    found = read("Let $a$ and $ b.\n\nThen $c$.")
    assert [m.latex for m in found.formula_map] == ["a", "c"]


@pytest.mark.parametrize(
    "diagram",
    [
        r"\xymatrix{A \ar[r]^f & B \\ C \ar[u] & D}",
        r"""\begin{tikzcd}[row sep=1em] A \arrow[r, "f"] & B \end{tikzcd}""",
        r"\begin{CD} A @>>> B \end{CD}",
    ],
)
@pytest.mark.parametrize("frame", ["{}", "$${}$$", r"\[ {} \]", "$ {} $"])
def test_diagrams_are_formulas_with_their_latex(diagram, frame):
    found = read("So " + frame.replace("{}", diagram) + " commutes.")
    assert found.text == "So FORMULA_0 commutes."
    assert [m.latex for m in found.formula_map] == [diagram]


def test_labels_are_no_part_of_formulas():
    found = read(r"\begin{equation}\label{e} a = b \end{equation} by $x_{(\ref{e})}$")
    assert [m.latex for m in found.formula_map] == ["a = b", "x_{(equation)}"]


def test_unknown_commands_leave_their_arguments():
    assert words(r"\foo{one} \bar[opt]{two}{three}") == "one twothree"


@pytest.mark.parametrize("name", ["figure", "figure*", "table", "table*"])
def test_figures_and_tables_have_no_argument_but_an_option(name):
    latex = rf"\begin{{{name}}}[ht]{{\small Kept.}} \end{{{name}}}"
    assert words(latex) == "Kept."
