r"""Both trees of formulas, construct by construct.

Each row is LaTeX beside its Symbol Layout Tree and its Operator Tree. The trees are
those of LaTeXML 0.8.7 and the published converters.
"""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex

SCRIPTS = [
    ("x^{2}+y", "[V!x[+[V!y]],a[N!2]]", "[U!plus,0[O!SUP,0[V!𝑥],1[N!2]],1[V!𝑦]]"),
    ("a_i^2", "[V!a,a[N!2],b[V!i]]", "[O!SUP,0[O!SUB,0[V!𝑎],1[V!𝑖]],1[N!2]]"),
    ("x'", "[V!x,a[′]]", "[O!SUP,0[V!𝑥],1[V!′]]"),
    (
        "f''(x)",
        "[V!f[M!()1x1,w[V!x]],a[′′]]",
        "[U!times,0[O!SUP,0[V!𝑓],1[V!′′]],1[V!𝑥]]",
    ),
    ("y'^2", "[V!y,a[′[N!2]]]", "[O!SUP,0[V!𝑦],1[M!L-2,0[V!′],1[N!2]]]"),
    ("{x^2}^3", "[V!x,a[N!2[N!3]],b[W!]]", "[O!SUP,0[O!SUP,0[V!𝑥],1[N!2]],1[N!3]]"),
    ("{}^{14}_{6}C", "[V!C,c[N!14],d[N!6]]", "[O!SUP,0[O!SUB,0[V!𝐶],1[N!6]],1[N!14]]"),
]
FRACTIONS_AND_ROOTS = [
    (r"\frac{a}{b}", "[O!divide,o[V!a],u[V!b]]", "[O!divide,0[V!𝑎],1[V!𝑏]]"),
    (r"\frac12", "[O!divide,o[N!1],u[N!2]]", "[O!divide,0[N!1],1[N!2]]"),
    (
        r"\dfrac{a+b}2",
        "[O!divide,o[V!a[+[V!b]]],u[N!2]]",
        "[O!divide,0[U!plus,0[V!𝑎],1[V!𝑏]],1[N!2]]",
    ),
    (
        r"\cfrac{1}{1+x}",
        "[O!divide,o[N!1],u[N!1[+[V!x]]]]",
        "[O!continued-fraction,0[N!1],1[U!plus,0[N!1],1[V!𝑥]]]",
    ),
    (r"{a \over b}", "[O!divide,o[V!a],u[V!b]]", "[O!divide,0[V!𝑎],1[V!𝑏]]"),
    (
        r"{n \choose k}",
        "[M!()1x1,w[O!divide,o[V!n],u[V!k]]]",
        "[O!binomial,0[V!𝑛],1[V!𝑘]]",
    ),
    (
        r"\binom{n}{k}",
        "[M!()1x1,w[O!divide,o[V!n],u[V!k]]]",
        "[O!binomial,0[V!𝑛],1[V!𝑘]]",
    ),
    (r"\sqrt{x}", "[O!root,w[V!x]]", "[O!root,0[V!𝑥],1[N!2]]"),
    (r"\sqrt[3]{x}", "[O!root,c[N!3],w[V!x]]", "[O!root,0[V!𝑥],1[N!3]]"),
]
NUMBERS = [
    (
        r"2\frac{1}{3}",
        "[N!2[O!divide,o[N!1],u[N!3]]]",
        "[U!plus,0[N!2],1[O!divide,0[N!1],1[N!3]]]",
    ),
    ("12.5", "[N!12.5]", "[N!12.5]"),
    (r"1\,000", "[N!1 000]", "[N!1000]"),
    ("1,000", "[N!1[&comma;[N!000]]]", "[M!L-2,0[N!1],1[N!000]]"),
    ("n!", "[V!n[!]]", "[O!factorial,0[V!𝑛]]"),
    ("n!!", "[V!n[!!]]", "[O!double-factorial,0[V!𝑛]]"),
    (r"50\%", "[N!50[%]]", "[O!percent,0[N!50]]"),
]
SUMS_AND_PRODUCTS = [
    ("-a", "[-[V!a]]", "[O!minus,0[V!𝑎]]"),
    (
        "a-b+c+d",
        "[V!a[-[V!b[+[V!c[+[V!d]]]]]]]",
        "[U!plus,0[O!minus,0[V!𝑎],1[V!𝑏]],1[V!𝑐],2[V!𝑑]]",
    ),
    ("a b c", "[V!a[V!b[V!c]]]", "[U!times,0[V!𝑎],1[V!𝑏],2[V!𝑐]]"),
    (r"2x\cdot y", "[N!2[V!x[⋅[V!y]]]]", "[F!⋅,0[U!times,0[N!2],1[V!𝑥]],1[V!𝑦]]"),
    (r"a\times b", "[V!a[×[V!b]]]", "[U!times,0[V!𝑎],1[V!𝑏]]"),
    ("a/b", "[V!a[/[V!b]]]", "[O!divide,0[V!𝑎],1[V!𝑏]]"),
]
LETTERS_AND_FONTS = [
    (r"\alpha\beta", "[V!α[V!β]]", "[U!times,0[V!𝛼],1[V!𝛽]]"),
    (r"\Gamma(z)", "[V!Γ[M!()1x1,w[V!z]]]", "[U!times,0[V!Γ],1[V!𝑧]]"),
    (r"\phi", "[V!ϕ]", "[V!italic-ϕ]"),
    (r"\mathbf{x}", "[V!𝐱]", "[V!𝐱]"),
    (r"\mathbb{R}^n", "[V!ℝ,a[V!n]]", "[O!SUP,0[V!ℝ],1[V!𝑛]]"),
    (r"\mathcal{L}", "[V!ℒ]", "[V!ℒ]"),
    (r"\mathrm{lcm}", "[V!lcm]", "[V!lcm]"),
    (r"\boldsymbol{\alpha}", "[V!𝜶]", "[V!𝜶]"),
    (r"{\bf v}", "[V!𝐯]", "[V!𝐯]"),
]
TEXT = [
    (r"\text{if } x", "[T!if[V!x]]", "[U!times,0[W!],1[V!𝑥]]"),
    (r"\text{for $x>0$}", "[T!for[V!x[>[N!0]]]]", "[W!]"),
    (r"\textbf{no}", "[T!𝐧𝐨]", "[W!]"),
]
RELATIONS = [
    ("a=b", "[V!a[=[V!b]]]", "[U!eq,0[V!𝑎],1[V!𝑏]]"),
    ("a<b<c", "[V!a[<[V!b[<[V!c]]]]]", "[U!and,0[O!lt,0[V!𝑎],1[V!𝑏]],1[O!lt,0[V!𝑐]]]"),
    (
        r"a\leq b, c\geq d",
        "[V!a[≤[V!b[&comma;[V!c[≥[V!d]]]]]]]",
        "[O!form-seq,0[O!leq,0[V!𝑎],1[V!𝑏]],1[O!geq,0[V!𝑐],1[V!𝑑]]]",
    ),
    ("a=b, c", "[V!a[=[V!b[&comma;[V!c]]]]]", "[U!eq,0[V!𝑎],1[M!L-2,0[V!𝑏],1[V!𝑐]]]"),
    ("x, y", "[V!x[&comma;[V!y]]]", "[M!L-2,0[V!𝑥],1[V!𝑦]]"),
    (r"x\in A", "[V!x[∈[V!A]]]", "[O!in,0[V!𝑥],1[V!𝐴]]"),
    (
        r"a\equiv b\pmod n",
        "[V!a[≡[V!b[M!()1x1,w[mod[V!n]]]]]]",
        "[U!equivalent,0[V!𝑎],1[O!annotated,0[V!𝑏],1[F!pmod,0[V!𝑛]]]]",
    ),
    (r"a\bmod b", "[V!a[mod[V!b]]]", "[O!rem,0[V!𝑎],1[V!𝑏]]"),
    (r"A\ni x", "[V!A[∋[V!x]]]", "[O!in,0[V!𝑥],1[V!𝐴]]"),
    (r"p\iff q", "[V!p[⇔[V!q]]]", "[U!iff,0[V!𝑝],1[V!𝑞]]"),
    (r"f\colon A\to B", "[V!f[:[V!A[→[V!B]]]]]", "[F!:,0[V!𝑓],1[F!→,0[V!𝐴],1[V!𝐵]]]"),
    (r"\neg p", "[V!¬[V!p]]", "[U!times,0[O!not],1[V!𝑝]]"),
    (r"\forall x", "[∀[V!x]]", "[O!forall,0[V!𝑥]]"),
]
FENCES = [
    (
        "(a+b)c",
        "[M!()1x1[V!c],w[V!a[+[V!b]]]]",
        "[U!times,0[U!plus,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]",
    ),
    ("(a,b)", "[M!()1x2,w[V!a[&comma;],e[V!b]]]", "[O!interval(O-O),0[V!𝑎],1[V!𝑏]]"),
    (
        "(a,b,c)",
        "[M!()1x3,w[V!a[&comma;],e[V!b[&comma;],e[V!c]]]]",
        "[M!V-3,0[V!𝑎],1[V!𝑏],2[V!𝑐]]",
    ),
    (
        "[0,1]",
        "[M!&lsqb;&rsqb;1x2,w[N!0[&comma;],e[N!1]]]",
        "[O!interval(C-C),0[N!0],1[N!1]]",
    ),
    (
        "[0,1)",
        "[M!&lsqb;)1x2,w[N!0[&comma;],e[N!1]]]",
        "[O!interval(C-O),0[N!0],1[N!1]]",
    ),
    (r"\{a,b\}", "[M!{}1x2,w[V!a[&comma;],e[V!b]]]", "[M!S-2,0[V!𝑎],1[V!𝑏]]"),
    (
        r"\{x|x>0\}",
        "[M!{}1x1,w[V!x[|[V!x[>[N!0]]]]]]",
        "[O!conditional-set,0[V!𝑥],1[O!gt,0[V!𝑥],1[N!0]]]",
    ),
    (
        r"\{x:x>0\}",
        "[M!{}1x1,w[V!x[:[V!x[>[N!0]]]]]]",
        "[O!conditional-set,0[V!𝑥],1[O!gt,0[V!𝑥],1[N!0]]]",
    ),
    ("|x|", "[M!||1x1,w[V!x]]", "[F!abs,0[V!𝑥]]"),
    (r"\|x\|", "[M!∥∥1x1,w[V!x]]", "[O!norm,0[V!𝑥]]"),
    ("||x||", "[M!∥∥1x1,w[V!x]]", "[O!norm,0[V!𝑥]]"),
    (r"\lfloor x\rfloor", "[⌊[V!x[⌋]]]", "[F!floor,0[V!𝑥]]"),
    (r"\langle a,b\rangle", "[⟨[V!a[&comma;[V!b[⟩]]]]]", "[M!L-2,0[V!𝑎],1[V!𝑏]]"),
    (
        r"\left(\frac ab\right)^2",
        "[M!()1x1,a[N!2],w[O!divide,o[V!a],u[V!b]]]",
        "[O!SUP,0[O!divide,0[V!𝑎],1[V!𝑏]],1[N!2]]",
    ),
    (
        r"\left.f\right|_{x=0}",
        "[M!1x1,b[V!x[=[N!0]]],w[V!f[|]]]",
        "[O!evaluated-at,0[V!𝑓],1[U!eq,0[V!𝑥],1[N!0]]]",
    ),
    (
        "P(A|B)",
        "[V!P[M!()1x1,w[V!A[|[V!B]]]]]",
        "[U!times,0[V!𝑃],1[O!conditional,0[V!𝐴],1[V!𝐵]]]",
    ),
    ("()", "[([)]]", "[M!L-0]"),
]
FUNCTIONS = [
    (r"\sin x", "[V!sin[V!x]]", "[F!sin,0[V!𝑥]]"),
    (r"\sin(x)", "[V!sin[M!()1x1,w[V!x]]]", "[F!sin,0[V!𝑥]]"),
    (r"\sin^2 x", "[V!sin[V!x],a[N!2]]", "[+!F!sin,0[O!SUP,0[F!sin],1[N!2]],1[V!𝑥]]"),
    (
        r"\sin x\cos y",
        "[V!sin[V!x[V!cos[V!y]]]]",
        "[U!times,0[F!sin,0[V!𝑥]],1[F!cos,0[V!𝑦]]]",
    ),
    (r"\log_2 n", "[V!log[V!n],b[N!2]]", "[+!F!log,0[O!SUB,0[F!log],1[N!2]],1[V!𝑛]]"),
    (r"\max_x f", "[V!max[V!f],u[V!x]]", "[+!F!max,0[O!SUB,0[F!max],1[V!𝑥]],1[V!𝑓]]"),
    (r"\operatorname{rank}(A)", "[V!rank[M!()1x1,w[V!A]]]", "[F!rank,0[V!𝐴]]"),
    (
        r"\operatorname*{argmax}_x f",
        "[argmax[V!f],u[V!x]]",
        "[+!V!argmax,0[O!SUB,0[V!argmax],1[V!𝑥]],1[V!𝑓]]",
    ),
]
BIG_OPERATORS = [
    (
        r"\sum_{i=1}^n a_i",
        "[∑[V!a,b[V!i]],o[V!n],u[V!i[=[N!1]]]]",
        "[+!O!SUB,0[O!SUP,0[O!SUB,0[O!sum],1[U!eq,0[V!𝑖],1[N!1]]],1[V!𝑛]],1[O!SUB,0[V!𝑎],1[V!𝑖]]]",
    ),
    (
        r"\sum\nolimits_i x",
        "[∑[V!x],u[V!i]]",
        "[+!O!sum,0[O!SUB,0[O!sum],1[V!𝑖]],1[V!𝑥]]",
    ),
    (
        r"\int_0^1 f(x)\,dx",
        "[∫[V!f[M!()1x1[𝑑[V!x]],w[V!x]]],o[N!1],u[N!0]]",
        "[+!O!SUB,0[O!SUP,0[O!SUB,0[O!int],1[N!0]],1[N!1]],1[U!times,0[V!𝑓],1[V!𝑥],2[O!differential-d,0[V!𝑥]]]]",
    ),
    (r"\int x", "[∫[V!x]]", "[O!int,0[V!𝑥],1[W!],2[W!]]"),
    (
        r"\lim_{x\to0}f",
        "[lim[V!f],u[V!x[→[N!0]]]]",
        "[+!O!limit,0[O!SUB,0[O!limit],1[F!→,0[V!𝑥],1[N!0]]],1[V!𝑓]]",
    ),
    (
        r"\prod_i x_i",
        "[∏[V!x,b[V!i]],u[V!i]]",
        "[+!O!product,0[O!SUB,0[O!product],1[V!𝑖]],1[O!SUB,0[V!𝑥],1[V!𝑖]]]",
    ),
    (
        r"\bigcup_i A_i",
        "[⋃[V!A,b[V!i]],u[V!i]]",
        "[+!U!union,0[O!SUB,0[U!union],1[V!𝑖]],1[O!SUB,0[V!𝐴],1[V!𝑖]]]",
    ),
    (
        r"\partial_x f",
        "[∂[V!f],u[V!x]]",
        "[+!O!partialdiff,0[O!SUB,0[O!partialdiff],1[V!𝑥]],1[V!𝑓]]",
    ),
    (r"\nabla f", "[∇[V!f]]", "[F!∇,0[V!𝑓]]"),
    (
        r"\frac{\partial f}{\partial x}",
        "[O!divide,o[∂[V!f]],u[∂[V!x]]]",
        "[O!divide,0[O!partialdiff,0[V!𝑓]],1[O!partialdiff,0[V!𝑥]]]",
    ),
    (r"\hat x", "[V!x,o[^]]", "[F!^,0[V!𝑥]]"),
]
ACCENTS_AND_STACKS = [
    (r"\overline{ab}", "[M!1x1,o[¯],w[V!a[V!b]]]", "[F!¯,0[U!times,0[V!𝑎],1[V!𝑏]]]"),
    (r"\vec v", "[V!v,o[→]]", "[F!→,0[V!𝑣]]"),
    (
        r"\underbrace{a+b}_{n}",
        "[M!1x1,u[V!n],w[M!1x1,u[⏟],w[V!a[+[V!b]]]]]",
        "[O!SUB,0[F!⏟,0[U!plus,0[V!𝑎],1[V!𝑏]]],1[V!𝑛]]",
    ),
    (r"\overset{d}{=}", "[=,o[𝑑]]", "[F!𝑑,0[U!eq]]"),
    (
        r"a\stackrel{?}{=}b",
        "[V!a[=[V!b],o[V!&quest;]]]",
        "[+!U!eq,0[O!SUP,0[U!eq],1[V!&quest;]],1[V!𝑎],2[V!𝑏]]",
    ),
    (r"A\xrightarrow{f}B", "[V!A[→[V!B],o[𝑓]]]", "[+!,0[F!𝑓,0[V!→]],1[V!𝐴],2[V!𝐵]]"),
    (
        r"\mathop{lim}_x",
        "[M!1x1,u[V!x],w[V!l[V!i[V!m]]]]",
        "[O!SUB,0[U!times,0[V!𝑙],1[V!𝑖],2[V!𝑚]],1[V!𝑥]]",
    ),
    (r"a\not=b", "[V!a[≠[V!b]]]", "[U!neq,0[V!𝑎],1[V!𝑏]]"),
    (r"x\notin A", "[V!x[∉[V!A]]]", "[O!notin,0[V!𝑥],1[V!𝐴]]"),
    (r"\boxed{x}", "[box,w[V!x]]", "[V!𝑥]"),
]
TABLES = [
    (
        r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
        "[M!()2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]",
        "[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[V!𝑑]]]",
    ),
    (
        r"\begin{vmatrix}a&b\\c&d\end{vmatrix}",
        "[M!||2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]",
        "[F!det,0[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[V!𝑑]]]]",
    ),
    (
        r"\left(\begin{array}{cc}a&b\\c&d\end{array}\right)",
        "[M!()2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]",
        "[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[V!𝑑]]]",
    ),
    (
        r"\begin{cases}a&x>0\\b&\text{otherwise}\end{cases}",
        "[{[M!2x2,w[V!a,e[V!x[>[N!0]],e[V!b,e[T!otherwise]]]]]]",
        "[O!cases,0[V!𝑎],1[O!gt,0[V!𝑥],1[N!0]],2[V!𝑏],3[W!]]",
    ),
    (
        r"\begin{aligned}a&=b\\&=c\end{aligned}",
        "[M!2x2,w[V!a,e[=[V!b],e[W!,e[=[V!c]]]]]]",
        "[M!M-2x2,0[M!R!,0[V!𝑎],1[U!eq,0[W!],1[V!𝑏]]],1[M!R!,0[E!,0[W!]],1[U!eq,0[W!],1[V!𝑐]]]]",
    ),
    (
        r"\begin{gathered}a=b\\c\end{gathered}",
        "[M!2x1,w[V!a[=[V!b]],e[V!c]]]",
        "[U!eq,0[V!𝑎],1[U!times,0[V!𝑏],1[V!𝑐]]]",
    ),
    (
        r"\sum_{\substack{i\\j}}x",
        "[∑[V!x],u[M!2x1,w[V!i,e[V!j]]]]",
        "[+!O!sum,0[O!SUB,0[O!sum],1[M!L-1,0[M!M-2x1,0[M!R!,0[V!𝑖]],1[M!R!,0[V!𝑗]]]]],1[V!𝑥]]",
    ),
]
SPACES_AND_DOTS = [
    (r"a\quad b", "[V!a[V!b]]", "[M!L-2,0[V!𝑎],1[V!𝑏]]"),
    (r"a+\dots+b", "[V!a[+[V!⋯[+[V!b]]]]]", "[U!plus,0[V!𝑎],1[V!⋯],2[V!𝑏]]"),
    (
        r"a,\ldots,b",
        "[V!a[&comma;[V!…[&comma;[V!b]]]]]",
        "[M!L-3,0[V!𝑎],1[V!…],2[V!𝑏]]",
    ),
    (
        r"x_1,\dots,x_n",
        "[V!x[&comma;[V!…[&comma;[V!x,b[V!n]]]]],b[N!1]]",
        "[M!L-3,0[O!SUB,0[V!𝑥],1[N!1]],1[V!…],2[O!SUB,0[V!𝑥],1[V!𝑛]]]",
    ),
]
ODDITIES = [
    (r"\lt", "[E!]", "[W!]"),
    (r"\foo x", "[E![V!x]]", "[U!times,0[W!],1[V!𝑥]]"),
    ("a+", "[V!a[+]]", "[O!limit-from,0[V!𝑎],1[U!plus]]"),
    ("+", "[+]", "[U!plus]"),
    ("x=", "[V!x[=]]", "[U!eq,0[V!𝑥],1[W!]]"),
    (r"a\\b", "[V!a[V!b]]", "[U!times,0[V!𝑎],1[V!𝑏]]"),
    ("x.", "[V!x[.]]", "[V!𝑥]"),
    (
        r"\color{red}x",
        "[E![V!r[V!e[V!d[V!x]]]]]",
        "[U!times,0[W!],1[V!𝑟],2[V!𝑒],3[V!𝑑],4[V!𝑥]]",
    ),
]

TABLES_OF_CASES = [
    SCRIPTS,
    FRACTIONS_AND_ROOTS,
    NUMBERS,
    SUMS_AND_PRODUCTS,
    LETTERS_AND_FONTS,
    TEXT,
    RELATIONS,
    FENCES,
    FUNCTIONS,
    BIG_OPERATORS,
    ACCENTS_AND_STACKS,
    TABLES,
    SPACES_AND_DOTS,
    ODDITIES,
]


@pytest.mark.parametrize(
    ("latex", "slt", "opt"), [case for table in TABLES_OF_CASES for case in table]
)
def test_formula_has_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt


NAMES = [
    (
        r"\text{Supp}(s)",
        "[T!Supp[M!()1x1,w[V!s]]]",
        "[U!times,0[T!Supp],1[V!𝑠]]",
    ),
    (
        r"\textit{Coh}(X)",
        "[T!𝐶𝑜ℎ[M!()1x1,w[V!X]]]",
        "[U!times,0[T!𝐶𝑜ℎ],1[V!𝑋]]",
    ),
    (r"\textrm{Sch}/S", "[T!Sch[/[V!S]]]", "[O!divide,0[T!Sch],1[V!𝑆]]"),
    (r"X^{\text{an}}", "[V!X,a[T!an]]", "[O!SUP,0[V!𝑋],1[T!an]]"),
    (r"\mathit{Coh}", "[V!𝐶𝑜ℎ]", "[V!𝐶𝑜ℎ]"),
    (r"\mathrm{Spec}(R)", "[V!Spec[M!()1x1,w[V!R]]]", "[U!times,0[V!Spec],1[V!𝑅]]"),
    (r"\operatorname{Hom}(R)", "[V!Hom[M!()1x1,w[V!R]]]", "[F!Hom,0[V!𝑅]]"),
    (r"\Spec(R)", "[E!Spec[M!()1x1,w[V!R]]]", "[U!times,0[E!Spec],1[V!𝑅]]"),
    (r"\Hom(R)", "[E!Hom[M!()1x1,w[V!R]]]", "[U!times,0[E!Hom],1[V!𝑅]]"),
    (r"\text{for $x>0$}", "[T!for[V!x[>[N!0]]]]", "[T!for,0[O!gt,0[V!𝑥],1[N!0]]]"),
    (r"\text{$x$$y$}", "[V!x[V!y]]", "[O!form-seq,0[V!𝑥],1[V!𝑦]]"),
    (r"\text{$x$}", "[V!x]", "[V!𝑥]"),
    (r"a\text{ }b", "[V!a[V!b]]", "[U!times,0[V!𝑎],1[W!],2[V!𝑏]]"),
    (
        r"\begin{cases}a\end{cases}",
        "[{[M!1x2,w[V!a,e[W!]]]]",
        "[O!cases,0[V!𝑎],1[T!otherwise]]",
    ),
    (
        r"x\overset{\text{def}}{=}y",
        "[V!x[=[V!y],o[T!def]]]",
        "[U!times,0[V!𝑥],1[T!def,0[U!eq]],2[V!𝑦]]",
    ),
]


@pytest.mark.parametrize(("latex", "slt", "opt"), NAMES)
def test_names_stay_in_total_mode(latex, slt, opt):
    trees = trees_from_latex(latex, mode="total")

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt


@pytest.mark.parametrize(
    "written",
    [
        "a &lt; b",
        "$a<b$",
        "$$ a < b $$",
        r"\[a<b\]",
        r"\(a<b\)",
        "a<b % less",
        "a\n<\tb",
        r"a<b\tag{1}",
        r"a<b\label{eq:1}\nonumber",
        r"\begin{equation*}a<b\end{equation*}",
        r"\small a<b",
        r"{a}<{b}",
    ],
)
def test_wrapping_does_not_change_the_trees(written):
    assert trees_from_latex(written)[:2] == trees_from_latex("a<b")[:2]


@pytest.mark.parametrize(
    ("written", "same"),
    [
        (r"\begin{align}a&=b\\c&=d\end{align}", "aligned"),
        (r"\begin{align*}a&=b\\c&=d\\\end{align*}", "aligned"),
        (r"\begin{split}a&=b\\c&=d\end{split}", "aligned"),
        (r"\begin{alignat}{2}a&=b\\c&=d\end{alignat}", "aligned"),
        (r"\eqalign{a&=b\cr c&=d}", "aligned"),
        (r"\begin{gather}a&=b\\c&=d\end{gather}", "gathered"),
        (r"\begin{multline*}a&=b\\c&=d\end{multline*}", "gathered"),
    ],
)
def test_environments_of_one_kind_have_the_same_trees(written, same):
    plain = rf"\begin{{{same}}}a&=b\\c&=d\end{{{same}}}"

    assert trees_from_latex(written)[:2] == trees_from_latex(plain)[:2]


@pytest.mark.parametrize("latex", ["", "   ", "$$", "% nothing", "$ $"])
def test_empty_formula_has_no_trees(latex):
    assert trees_from_latex(latex) == (None, None, {"empty": 1})


def test_text_alone_is_a_blank_in_the_operator_tree():
    trees = trees_from_latex(r"\text{Poisson}(\lambda)")

    assert trees.slt.to_string() == "[T!Poisson[M!()1x1,w[V!λ]]]"
    assert trees.opt.to_string() == "[U!times,0[W!],1[V!𝜆]]"


def test_same_formula_gives_equal_trees_each_time():
    latex = r"\sum_{i=1}^n \frac{x_i}{\|x\|} \leq \sqrt{n}"

    assert trees_from_latex(latex) == trees_from_latex(latex)
