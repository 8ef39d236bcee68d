r"""Threads with what real posts have and clean ones have not.

Bodies that start with ``<`` are HTML as it stands: ``<m>`` marks a formula that gets an
id, ``<m bare>`` one that does not. What is wrong is the form, never the mathematics.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from mathamr_kedro.sample.survey import portray_numbers
from mathamr_kedro.sample.threads import Answer, Thread

_MARKUP = (
    Thread(
        key="defects/spans-without-id",
        title="Is the sum of two irrational numbers always irrational?",
        question=(
            "<p>If <m bare>x</m> and <m bare>y</m> are irrational, must "
            "<m>x+y</m> be irrational, too? I know that <m>\\sqrt2</m> is irrational "
            "and that <m bare>1+\\sqrt2</m> is, because otherwise <m bare>\\sqrt2</m> "
            "would be a difference of two rational numbers.</p>"
        ),
        tags=("irrational-numbers", "real-numbers"),
        score=3,
        answers=(
            Answer(
                "<p>No: <m bare>x=\\sqrt2</m> and <m bare>y=-\\sqrt2</m> have the sum "
                "<m>0</m>. What you can say is that <m>x+y</m> and <m>x-y</m> are not "
                "both rational, since <m bare>2x=(x+y)+(x-y)</m>.</p>",
                accepted=True,
                score=6,
            ),
            Answer(
                "<p>The same happens for products, <m bare>\\sqrt2\\cdot\\sqrt2=2</m>, "
                "and with <m bare>0 < x < 1</m> you find such pairs as close to zero "
                "as "
                'you like, e.g. <span class="math-container">x = \\sqrt2/n</span> and '
                '<span class="math-container">0 < y = (2 - \\sqrt2)/n < 1</span> for '
                "<m>n\\ge 2</m>.</p>",
                score=2,
            ),
        ),
    ),
    Thread(
        key="defects/unmarked-formulas",
        title="Integrating $x e^x$ step by step",
        question=(
            "<p>Please check my work, I am new here and do not know how to write "
            "formulas. With $u = x$ and $v' = e^x$ I get</p>\n"
            "<p>$$\\int x e^x\\,dx = x e^x - \\int e^x\\,dx = (x-1)e^x + C.$$</p>\n"
            "<p>Is the constant \\(C\\) needed? It costs nothing, not even 5$, to "
            "write it.</p>"
        ),
        tags=("calculus", "integration"),
        score=1,
        answers=(
            Answer(
                "<p>Your result is right: differentiate and you get \\[\\frac{d}{dx}"
                "\\bigl((x-1)e^x\\bigr) = e^x + (x-1)e^x = x e^x.\\] The constant is "
                "needed because an antiderivative is unique only up to a "
                "constant.</p>\n"
                "<p>For powers the same method gives a recursion.</p>\n"
                "\\begin{align}\nI_n &= \\int x^n e^x\\,dx \\\\\n"
                "&= x^n e^x - n I_{n-1}\n\\end{align}\n"
                "<p>with <m>I_0=e^x+C</m>.</p>",
                accepted=True,
                score=4,
            ),
            Answer(
                "<p>It is fine. A check by numbers: from $0$ to $1$ the integral is "
                "$\\left[(x-1)e^x\\right]_0^1 = 0 - (-1) = 1$, and the trapezoidal "
                "rule with two steps gives $\\frac14(0 + 2\\cdot\\frac12 e^{1/2} + e) "
                "\\approx 1.09$.</p>",
                score=1,
            ),
        ),
    ),
    Thread(
        key="defects/code-quotes-lists",
        title="How fast is Newton's method for $\\sqrt a$? A program and two questions",
        question=(
            "<p>The book says:</p>\n<blockquote>\n<p>Near the root the number of "
            "correct digits doubles in each step.</p>\n<blockquote>\n<p>(Heron knew "
            "this for square roots.)</p>\n</blockquote>\n</blockquote>\n"
            "<p>I tried <m>x_{n+1}=\\frac12\\left(x_n+\\frac a{x_n}\\right)</m>:</p>\n"
            "<pre><code>x = 1.0\nfor n in range(5):\n    x = (x + a / x) / 2  "
            "# costs $2 &amp; a coffee\n    print(n, x &gt; 0)\n</code></pre>\n"
            "<ul>\n<li>What does &ldquo;doubles&rdquo; mean, exactly?</li>\n<li>Does "
            "it depend on the start?\n<ol>\n<li>with <code>x = "
            "1</code>;</li>\n<li>with "
            "<m>x_0</m> very large, say <m>x_0=10^6 a</m>;\n<ul><li>or even negative"
            "?</li></ul></li>\n</ol></li>\n</ul>\n<hr>\n<p>I read "
            '<a href="https://example.org/newton?a=2&amp;b=3" rel="nofollow">these '
            "notes</a> &mdash; but they are about <em>general</em> functions&nbsp;"
            "<strong><m>f</m></strong>.<br>Thanks&#8230; &#x1F600;</p>"
        ),
        tags=("numerical-methods", "newton-raphson", "algorithms"),
        score=8,
        answers=(
            Answer(
                "<h2>What it means</h2>\n<p>Let <m>e_n=x_n-\\sqrt a</m>. Then "
                "<m>e_{n+1}=\\frac{e_n^2}{2x_n}</m>, so an error below <m>10^{-k}</m> "
                "becomes one of about <m>10^{-2k}</m> (if <m>2\\sqrt a\\ge "
                "1</m>).</p>\n"
                "<h2>The start</h2>\n<table>\n<tr><th>start</th><th>what happens</th>"
                "</tr>\n<tr><td><m>x_0>0</m></td><td>converges to <m>\\sqrt a</m></td>"
                "</tr>\n<tr><td><m>x_0<0</m></td><td>converges to <m>-\\sqrt a</m></td>"
                "</tr>\n</table>\n<p>While <m>x_n</m> is far too large, a step only "
                "halves it; the doubling of digits begins near the root.</p>",
                accepted=True,
                score=11,
                comments=(
                    "Use `x = a` as a start and nothing can go wrong for $a>0$.",
                ),
            ),
        ),
    ),
    Thread(
        key="defects/unicode-text",
        title="Erdős–Szekeres: monotone subsequences of length √n",
        question=(
            "<p>Paul Erdős and György Szekeres proved in 1935 — naïvely put — that "
            "every sequence of <m>n^2+1</m> distinct reals has a monotone subsequence "
            "of length "
            "<m>n+1</m>. Poincare\u0301 and Gödel have nothing to do with it ☺.</p>\n"
            "<p>My notes say: ∀ε > 0 … no, wrong page. They say “for each i ∈ {1, …, "
            "n²+1} let a_i be the length of the longest increasing subsequence that "
            "ends at i”. How does it go on? (Το ίδιο λήμμα, 同じ補題, та же лемма.)</p>"
        ),
        tags=("combinatorics", "extremal-combinatorics", "pigeonhole-principle"),
        score=5,
        answers=(
            Answer(
                "<p>If some <m>a_i\\ge n+1</m> we are done. Otherwise the <m>n^2+1</m> "
                "numbers <m>a_i</m> take at most <m>n</m> values, so by the pigeonhole "
                "principle (Schubfach, принцип Дирихле) some value is taken by at "
                "least "
                "<m>n+1</m> indices <m>i_1<i_2<\\dots<i_{n+1}</m>.</p>\n<p>Along these "
                "indices the sequence decreases: if <m>x_{i_1}<x_{i_2}</m>, an "
                "increasing subsequence that ends at <m>i_1</m> could go on to "
                "<m>i_2</m>, and then a\u1d62\u2082 ≥ a\u1d62\u2081 + 1. ∎</p>",
                accepted=True,
                score=9,
            ),
            Answer(
                "<p>For n\u00a0=\u00a02 you can see that 4 = 2² numbers are too few: "
                "2,\u20091,\u20094,\u20093 has no monotone subsequence of length "
                "<m>3</m>. In general <m>n,\\dots,2,1,\\;2n,\\dots,n+1,\\;\\dots</m> "
                "(n blocks) shows that <m>n^2</m> is not enough.</p>",
                score=3,
            ),
        ),
    ),
)

_LATEX = (
    Thread(
        key="defects/broken-latex",
        title=r"Why does $\sum \frac{1}{n(n+1)$ telescope?",
        question=(
            "<p>I do not see why <m>\\sum_{n=1}^\\infty \\frac{1}{n(n+1)</m> is "
            "<m>1</m>. With <m>\\frac{1}{n(n+1)}=\\frac1n-\\frac{1}{n+1</m> there are "
            "two divergent series, <m>\\sum\\frac1n}</m> each. Sorry for the typing, "
            "the preview does not work on my phone.</p>"
        ),
        tags=("sequences-and-series", "telescopic-series"),
        score=2,
        answers=(
            Answer(
                "<p>Do not split the series, split the <em>partial sums</em>: "
                "<m>\\sum_{n=1}^{N}\\left(\\frac1n-\\frac1{n+1}\\right)=1-\\frac1{N+1}</m>"
                ", because everything between cancels, and <m>1-\\frac1{N+1}\\to "
                "1</m>. "
                "<m>\\left( \\frac1n-\\frac1{n+1}</m> is what the preview ate.</p>",
                accepted=True,
                score=7,
            ),
            Answer(
                "<p>In my macros: <m>\\dsum_{n\\geq 1}\\fr{1}{n(n+1)}=1</m>, and more "
                "generally <m>\\dsum_{n\\geq 1}\\bigl(a_n-a_{n+1}\\bigr)=a_1-\\limn a_n"
                "</m> whenever the limit exists and <m>\\abs{a_n}\\lt\\infty</m>. The "
                "environment <m>\\begin{array}{l}a_1-a_2\\\\+a_2-a_3</m> shows it.</p>",
                score=0,
            ),
        ),
    ),
    Thread(
        key="defects/punctuation-inside",
        title=r"Solve $x^2-5x+6=0.$",
        question=r"""
        I factored $x^2-5x+6=(x-2)(x-3),$ so the solutions should be $x=2$ and $x=3.$
        But the quadratic formula gives $x=\frac{5\pm\sqrt{25-24}}{2};$ is that the
        same? And what if the right side is not $0?$
        """,
        tags=("algebra-precalculus", "quadratics"),
        score=1,
        answers=(
            Answer(
                r"""
                Yes, since $\sqrt{1}=1,$ you get $\frac{5+1}{2}=3,$ and
                $\frac{5-1}{2}=2.$ If the right side is $c,$ bring it to the left:
                $$x^2-5x+(6-c)=0,$$ and then
                $$x=\frac{5\pm\sqrt{1+4c}}{2}.$$ There are real solutions iff
                $c\ge-\frac14.$
                """,
                accepted=True,
                score=3,
            ),
        ),
    ),
    Thread(
        key="defects/formulas-in-title",
        title=(
            r"If $a\mid b$ and $b\mid c$, is $a\mid c$, and does $a\mid b+c$ follow "
            r"from $\gcd(a,b)=a$?"
        ),
        question=r"""
        The title says it all. I believe that $a\mid b$ means $b=ka$ for some integer
        $k$.
        """,
        tags=("elementary-number-theory", "divisibility"),
        score=0,
        answers=(
            Answer(
                r"""
                Yes to both. If $b=ka$ and $c=lb$, then $c=lka$, so $a\mid c$. And
                $\gcd(a,b)=a$ says $a\mid b$ (for $a>0$); together with $b\mid c$ we get
                $a\mid c$, hence $b+c=ka+lka=k(1+l)a$ is a multiple of $a$.
                """,
                accepted=True,
                score=2,
            ),
        ),
    ),
)

_ROWS = (
    Thread(
        key="defects/empty-body",
        title=r"Find the limit of $\frac{n!}{n^n}$",
        question="",
        tags=("limits", "factorial"),
        score=-3,
        comments=(
            "Please add what you have tried; an empty question will be closed.",
            r"Hint: all factors of $\frac{n!}{n^n}=\frac1n\cdot\frac2n\cdots\frac nn$ "
            r"are at most $1$.",
        ),
        answers=(
            Answer(
                r"""
                For $n\ge 2$ we have
                $0<\frac{n!}{n^n}=\frac1n\cdot\frac2n\cdots\frac nn\le\frac1n$, since
                each factor after the first is at most $1$. So the limit is $0$.
                """,
                score=2,
            ),
            Answer("", score=-1, comments=("Did you press the wrong key?",)),
        ),
    ),
    Thread(
        key="defects/unanswered",
        title=r"Name for numbers with $\sigma(n)=2n+2$?",
        question=r"""
        Perfect numbers satisfy $\sigma(n)=2n$. I look at $\sigma(n)=2n+2$ instead;
        $n=20$ is an example, as $1+2+4+5+10+20=42$. Do these numbers have a name?
        """,
        tags=("elementary-number-theory", "perfect-numbers", "terminology"),
        score=0,
        answers=(),
    ),
    Thread(
        key="defects/corrected-visual-ids",
        title=r"Are $\dfrac{1}{2}$ and $\frac 12$ the same in LaTeX?",
        question=r"""
        They look alike: $\dfrac{1}{2}$, $\frac{1}{2}$, $\frac 12$. So do $a\,b$ and
        $ab$, but $a\;b$ has more space. When does the size of $\tfrac{1}{2}$ differ?
        """,
        tags=("notation", "fractions"),
        score=1,
        answers=(
            Answer(
                r"""
                All of them mean the number $0.5$. The command `\dfrac` always takes the
                large size and `\tfrac` the small one; `\frac` takes the large size in
                displayed formulas such as $$\frac{1}{2}+\frac{1}{3}=\frac{5}{6}$$ and
                the small one inside a line or in an exponent, as in $x^{\frac12}$.
                """,
                accepted=True,
                score=4,
            ),
        ),
    ),
)

LOST_FORMULAS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "defects/corrected-visual-ids": (
        (r"\frac{2}{4}", "d"),
        (r"\dfrac{2}{4}", "dv"),
        (r"0.5=\frac{1}{2}", "d"),
    ),
    "defects/unanswered": ((r"\sigma(n)=2n+12", "d"),),
}
"""Index rows without a place in the posts: thread to LaTeX and issue (d, dv)."""
CORRECTED_VISUAL_IDS: Mapping[str, tuple[str, ...]] = {
    "defects/corrected-visual-ids": (r"\dfrac{1}{2}", r"\frac 12", r"a\,b"),
}
"""Index rows whose visual id was corrected: thread to LaTeX."""


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads with defects."""
    long_thread = Thread(
        key="defects/number-portraits",
        title="One fact worth knowing about each small number",
        question=r"""
        For a school project I collect facts about the numbers from $2$ to $42$, one
        number for each pupil: its factors, the values $\varphi(n)$ and $\sigma(n)$,
        whether it is a sum $a^2+b^2$, and the period of $\frac{1}{n}$. Does anybody
        have a complete list, long as it may be?
        """,
        tags=("elementary-number-theory", "big-list", "education"),
        score=6,
        answers=(
            Answer(portray_numbers(rng), accepted=True, score=12),
            Answer(
                r"""
                Not a list, but a hint for the pupils: all these values follow from the
                factorisation. If $n=\prod p^{k}$, then
                $$\varphi(n)=\prod p^{k-1}(p-1),\qquad
                \sigma(n)=\prod\frac{p^{k+1}-1}{p-1}.$$
                """,
                score=5,
            ),
        ),
    )
    return [*_MARKUP, *_LATEX, *_ROWS, long_thread]
