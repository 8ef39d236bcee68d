"""Diagrams: objects in a table, arrows with their labels."""

from __future__ import annotations

import sys

import pytest

from mathamr_kedro.formula.latex import trees_from_latex

SQUARE = r"\xymatrix{ A \ar[r]^f \ar[d]_g & B \ar[d]^{h_1} \\ C \ar[r] & D }"
SQUARE_OPT = (
    "[O!diagram,0[M!M-2x2,"
    "0[M!R!,0[O!arrows,0[V!𝐴],1[O!arrow-r,0[V!𝑓]],2[O!arrow-d,0[V!𝑔]]],"
    "1[O!arrows,0[V!𝐵],1[O!arrow-d,0[O!SUB,0[V!ℎ],1[N!1]]]]],"
    "1[M!R!,0[O!arrows,0[V!𝐶],1[O!arrow-r]],1[V!𝐷]]]]"
)
SQUARE_SLT = (
    "[M!2x2,w[V!A[→[↓,u[V!g]],o[V!f]],e[V!B[↓,o[V!h,b[N!1]]],e[V!C[→],e[V!D]]]]]"
)


def _opt(latex):
    return trees_from_latex(latex).opt.to_string()


@pytest.mark.parametrize(
    "latex",
    [
        SQUARE,
        r"\xymatrix@C=3pc@R-1pc{ A \ar[r]^f \ar[d]_g & B \ar[d]^{h_1} \\"
        r" C \ar[r] & D \\ }",
        r"\xymatrix@1{A\ar@<1ex>[r]^-f\ar@/_1pc/[d]_(.3){g}&B\ar'[d][d]^>>{h_1}"
        r"\\C\ar@(u,d)[r]&D}",
        r"\xymatrix{*+[F]{A} \ar[0,1]^f \ar@[red][d]_g & B \ar[1,0]^{h_1} \cr"
        r" {C} \ar[r]|\hole & D}",
        r'\begin{tikzcd}[column sep=small] A \arrow[r, "f"] \arrow[d, "g"\'] &'
        r' B \arrow[d, "h_1"] \\[2em] C \arrow[r] & D \end{tikzcd}',
        r'\begin{tikzcd} A \rar["f"] \dar[swap]{g} & B \arrow{d}{h_1} \\'
        r" C \ar[r, bend left] & D \end{tikzcd}",
        r"\begin{tikzcd}[ampersand replacement=\&] A \& B \\ C \& D"
        r' \arrow["f", from=1-1, to=1-2] \arrow["g"\', from=1-1, to=2-1]'
        r' \arrow["{h_1}", from=1-2, to=2-2] \arrow[from=2-1, to=2-2] \end{tikzcd}',
    ],
)
def test_diagram_has_one_tree_however_it_is_written(latex):
    trees = trees_from_latex(latex.replace(r"\'", "'"))
    assert trees.opt.to_string() == SQUARE_OPT
    assert trees.slt.to_string() == SQUARE_SLT
    assert trees.problems == {}


@pytest.mark.parametrize(
    ("arrow", "opt", "slt"),
    [
        (r"\ar@{^{(}->}[r]", "[O!arrow-r-hook]", "[↪]"),
        (r"\ar@{->>}[d]", "[O!arrow-d-two-heads]", "[↡]"),
        (r"\ar@{>->}[l]", "[O!arrow-l-tail]", "[↢]"),
        (r"\ar@{|->}[u]", "[O!arrow-u-mapsto]", "[↥]"),
        (r"\ar@{-->}[r]", "[O!arrow-r-dashed]", "[⇢]"),
        (r"\ar@{.>}[r]", "[O!arrow-r-dashed]", "[⇢]"),
        (r"\ar@{=>}[dr]", "[O!arrow-dr-double]", "[⇘]"),
        (r"\ar@{=}[r]", "[O!arrow-r-equal]", "[=]"),
        (r"\ar@{=}[d]", "[O!arrow-d-equal]", "[∥]"),
        (r"\ar@{~>}[r]", "[O!arrow-r-squiggly]", "[⇝]"),
        (r"\ar@{-}[r]", "[O!arrow-r-line]", "[→]"),
        (r"\ar@{<-}[r]", "[O!arrow-r-reversed]", "[→]"),
        (r"\ar@{<->}[r]", "[O!arrow-r-both]", "[→]"),
        (r"\ar@{}[dr]|{\square}", "[O!arrow-dr-phantom,0[V!□]]", "[↘,w[V!□]]"),
        (r"\ar[rr]|{x}", "[O!arrow-rr,0[V!𝑥]]", "[→rr,w[V!x]]"),
        (r"\ar[rdd]", "[O!arrow-ddr]", "[↘ddr]"),
        (r"\ar[ul]^a_b", "[O!arrow-ul,0[V!𝑎],1[V!𝑏]]", "[↖,o[V!a],u[V!b]]"),
        (r"\ar@(ur,ul)[]^a", "[O!arrow,0[V!𝑎]]", "[↻,o[V!a]]"),
        (r"\ar[r]|@{>}", "[O!arrow-r]", "[→]"),
    ],
)
def test_arrow_of_xypic_keeps_direction_style_and_labels(arrow, opt, slt):
    trees = trees_from_latex(rf"\xymatrix{{ {arrow} }}")
    assert trees.opt.to_string() == (
        f"[O!diagram,0[M!M-1x1,0[M!R!,0[O!arrows,0[W!],1{opt}]]]]"
    )
    assert trees.slt.to_string() == f"[M!1x1,w{slt}]"
    assert trees.problems == {}


@pytest.mark.parametrize(
    ("arrow", "opt", "slt"),
    [
        (r"\arrow[r, hook, two heads]", "[O!arrow-r-hook-two-heads]", "[↪]"),
        (r"\arrow[d, mapsto]", "[O!arrow-d-mapsto]", "[↧]"),
        (r"\arrow[rr, equal]", "[O!arrow-rr-equal]", "[=rr]"),
        (r"\arrow[r, Rightarrow]", "[O!arrow-r-double]", "[⇒]"),
        (r'\arrow[r, "f" description]', "[O!arrow-r,0[V!𝑓]]", "[→,w[V!f]]"),
        (r'\arrow[r, "f"{description}]', "[O!arrow-r,0[V!𝑓]]", "[→,w[V!f]]"),
        (r'\arrow[r, "f", swap]', "[O!arrow-r,0[V!𝑓]]", "[→,u[V!f]]"),
        (
            r'\arrow[dr, "{(a,b)}", "c"' + "'" + "]",
            "[O!arrow-dr,0[O!interval(O-O),0[V!𝑎],1[V!𝑏]],1[V!𝑐]]",
            "[↘,o[M!()1x2,w[V!a[&comma;],e[V!b]]],u[V!c]]",
        ),
        (
            r"""\arrow[r, "f'"]""",
            "[O!arrow-r,0[O!SUP,0[V!𝑓],1[V!′]]]",
            "[→,o[V!f,a[′]]]",
        ),
        (r'\arrow[r, "", hook]', "[O!arrow-r-hook]", "[↪]"),
        (r"\drar[dashed]", "[O!arrow-dr-dashed]", "[↘]"),
    ],
)
def test_arrow_of_tikz_keeps_direction_style_and_labels(arrow, opt, slt):
    trees = trees_from_latex(rf"\begin{{tikzcd}} {arrow} \end{{tikzcd}}")
    assert trees.opt.to_string() == (
        f"[O!diagram,0[M!M-1x1,0[M!R!,0[O!arrows,0[W!],1{opt}]]]]"
    )
    assert trees.slt.to_string() == f"[M!1x1,w{slt}]"
    assert trees.problems == {}


def test_empty_cells_keep_their_place():
    assert _opt(r"\xymatrix{ & X \\ Y & }") == (
        "[O!diagram,0[M!M-2x2,0[M!R!,0[E!,0[W!]],1[V!𝑋]],1[M!R!,0[V!𝑌],1[E!,0[W!]]]]]"
    )


def test_objects_may_be_any_formula_and_the_diagram_a_part_of_one():
    assert _opt(r"D = \xymatrix{ \{a\} \ar[r] & \begin{matrix}b&c\end{matrix} }") == (
        "[U!eq,0[V!𝐷],1[O!diagram,0[M!M-1x2,0[M!R!,0[O!arrows,0[M!S-1,0[V!𝑎]],"
        "1[O!arrow-r]],1[M!M-1x2,0[M!R!,0[V!𝑏],1[V!𝑐]]]]]]]"
    )


def test_text_keeps_its_blanks_and_does_not_hide_arrows():
    latex = r"\begin{tikzcd} \text{a set} \arrow[r, two heads] & B \end{tikzcd}"
    trees = trees_from_latex(latex, mode="total")
    assert "0[T!a set],1[O!arrow-r-two-heads]" in trees.opt.to_string()


@pytest.mark.parametrize(
    ("latex", "problem"),
    [
        (r"\xymatrix", "missing_argument"),
        (r"\xymatrix@C=2pc", "missing_argument"),
        (r"\xymatrix{A \ar[r] & B", "missing_brace"),
        (r"\xymatrix{A \ar[r", "bad_arrow"),
        (r"\xymatrix{A \ar & B}", "bad_arrow"),
        (r"\xymatrix{A \ar[nowhere] & B}", "bad_arrow"),
        (r"\xymatrix{A \ar[r]^ & B}", "bad_arrow"),
        (r"\xymatrix{A \ar@<1ex[r] & B}", "bad_arrow"),
        (r"\begin{tikzcd} A \arrow[r] & B", "missing_end"),
        (r"\begin{tikzcd} A \arrow[r, & B \end{tikzcd}", "bad_arrow"),
        (r"\begin{tikzcd} A \arrow[from=7-7, to=1-1] \end{tikzcd}", "bad_arrow"),
        (r"{\begin{tikzcd} A \arrow[r] & B } x", "missing_end"),
    ],
)
def test_damaged_diagram_is_read_as_far_as_it_goes(latex, problem):
    trees = trees_from_latex(latex)
    assert problem in trees.problems
    assert "internal_error" not in trees.problems
    assert trees.opt is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        r"A\ar[r]^f&",
        r"\\A\ar[d]",
        r"\ar@{->}",
        r"\ar[r",
        r"\ar@<",
        r"*+",
        r"A^{",
        r"\xymatrix{",
        r'\arrow[r,"f"]',
    ],
)
@pytest.mark.parametrize("name", ["xymatrix", "tikzcd"])
def test_work_grows_with_the_length_alone(name, piece):
    def count_lines(count):
        body = (piece * count)[: 5 * count]
        ends = {
            "xymatrix": rf"\xymatrix{{{body}}}",
            "tikzcd": rf"\begin{{tikzcd}}{body}\end{{tikzcd}}",
        }
        lines = 0

        def trace(frame, event, argument):
            nonlocal lines
            lines += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            trees = trees_from_latex(ends[name])
        finally:
            sys.settrace(before)
        assert trees.problems.keys().isdisjoint({"internal_error", "too_long"})
        return lines

    count_lines(50)  # what is made once
    # Eight times the length: quadratic code would run through 64 times as many.
    assert count_lines(1600) < 10 * count_lines(200)
