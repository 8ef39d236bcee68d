"""Real analysis: sequences, series, continuity, completeness."""

from __future__ import annotations

import random
from fractions import Fraction

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_HAND_WRITTEN = (
    Thread(
        key="real_analysis/square-not-uniform",
        title=r"Proving that $f(x)=x^2$ is not uniformly continuous on $\mathbb{R}$",
        question=r"""I understand why $f(x)=x^2$ is continuous: given $\varepsilon>0$
and a point $x_0$, I can take $\delta=\min\left(1,\frac{\varepsilon}{2|x_0|+1}\right)$.
The next exercise says: show that $f$ is *not* uniformly continuous on $\mathbb{R}$.

Clearly my $\delta$ gets smaller when $|x_0|$ grows, but that only shows that *this*
choice does not work for all points at once. How do I prove that no choice of $\delta$
whatsoever can work? I have trouble with negating
$$\forall\varepsilon>0\ \exists\delta>0\ \forall x,y:\ |x-y|<\delta\implies
|f(x)-f(y)|<\varepsilon.$$
Any hint on how to structure the proof is appreciated.""",
        tags=("real-analysis", "continuity", "uniform-continuity"),
        score=19,
        related=("real_analysis/root-uniform",),
        answers=(
            Answer(
                text=r"""The negation reads: there is an $\varepsilon>0$ such that for
every $\delta>0$ there are $x,y$ with
$$|x-y|<\delta\quad\text{but}\quad|x^2-y^2|\ge\varepsilon.$$
So *you* choose $\varepsilon$ once, your opponent gives you $\delta$, and you have to
find two points. Take $\varepsilon=1$. Given $\delta>0$ put
$$x=\frac1\delta,\qquad y=\frac1\delta+\frac\delta2.$$
Then $|x-y|=\frac\delta2<\delta$ and
$$|x^2-y^2|=|x-y|\,|x+y|=\frac\delta2\left(\frac2\delta+\frac\delta2\right)
=1+\frac{\delta^2}{4}\ge1.$$
Since $\delta$ was arbitrary, no $\delta$ works for $\varepsilon=1$, and $f$ is not
uniformly continuous.""",
                accepted=True,
                score=24,
                comments=(r"The game with the opponent finally made it click.",),
            ),
            Answer(
                text=r"""A version with sequences, which I find easier to remember. A
function is uniformly continuous on $D$ if and only if $|x_n-y_n|\to0$ always implies
$|f(x_n)-f(y_n)|\to0$. So it is enough to exhibit one bad pair of sequences. Try
$$x_n=n,\qquad y_n=n+\frac1n.$$
Then $|x_n-y_n|=\frac1n\to0$, but
$$y_n^2-x_n^2=2+\frac{1}{n^2}\ge2$$
for every $n$. Done. The same criterion handles $e^x$ (take $x_n=n$ and
$y_n=n+\frac1n$ again) and, with another pair of sequences, $\sin(x^2)$.""",
                score=15,
            ),
            Answer(
                text=r"""Just to put the result into perspective: the *domain* matters,
not only the formula. On a bounded interval $[-M,M]$ the square function is uniformly
continuous, because
$$|x^2-y^2|=|x+y|\,|x-y|\le2M|x-y|,$$
so $\delta=\frac{\varepsilon}{2M}$ does it for all points together. This is an instance
of the Heine–Cantor theorem: continuous functions on compact sets are uniformly
continuous. The trouble on $\mathbb{R}$ is that the Lipschitz constant $2M$ blows up
as $M\to\infty$.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="real_analysis/root-uniform",
        title=r"Is $\sqrt{x}$ uniformly continuous on $[0,\infty)$?",
        question=r"""I have to decide whether $g(x)=\sqrt{x}$ is uniformly continuous on
$[0,\infty)$. Two facts confuse me. On the one hand the derivative
$g'(x)=\frac{1}{2\sqrt{x}}$ is unbounded near $0$, which suggests "no". On the other
hand, for large $x$ the graph is very flat, which suggests "yes".

With the usual trick,
$$|\sqrt{x}-\sqrt{y}|=\frac{|x-y|}{\sqrt{x}+\sqrt{y}},$$
I get a nice estimate away from $0$, but the denominator is a problem when both points
are near $0$. How do I get a single $\delta$ for all pairs $x,y\ge0$?""",
        tags=("real-analysis", "uniform-continuity"),
        score=11,
        answers=(
            Answer(
                text=r"""It is, and there is an inequality that does everything at once:
$$|\sqrt{x}-\sqrt{y}|\le\sqrt{|x-y|}\qquad\text{for all }x,y\ge0.$$
To see it, assume $x\ge y$. Then
$$(\sqrt{x}-\sqrt{y})^2=x+y-2\sqrt{xy}\le x+y-2y=x-y.$$
So for given $\varepsilon>0$ take $\delta=\varepsilon^2$; if $|x-y|<\delta$, then
$|\sqrt{x}-\sqrt{y}|<\varepsilon$. The number $\delta$ does not depend on the points,
which is what "uniformly" means. No derivative enters, so the vertical tangent at $0$
does no harm.""",
                accepted=True,
                score=16,
            ),
            Answer(
                text=r"""You can also glue two regions. On $[0,2]$ the function is
continuous on a compact set, so Heine–Cantor gives a $\delta_1$. On $[1,\infty)$ your
formula gives
$$|\sqrt{x}-\sqrt{y}|\le\frac{|x-y|}{2},$$
so $\delta_2=2\varepsilon$ works there. Let $\delta=\min(\delta_1,\delta_2,1)$. Two
points at distance less than $1$ lie both in $[0,2]$ or both in $[1,\infty)$, because
the regions overlap in an interval of length $1$. The lesson: an unbounded derivative
does not exclude uniform continuity, a bounded one implies it.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="real_analysis/bounded-derivative",
        title=r"Does a bounded derivative imply uniform continuity, and conversely?",
        question=r"""Let $f:I\to\mathbb{R}$ be differentiable on an interval $I$.

1. If $|f'(x)|\le L$ for all $x\in I$, is $f$ uniformly continuous?
2. If $f$ is uniformly continuous, must $f'$ be bounded?

For the first one I think of the mean value theorem, $f(x)-f(y)=f'(\xi)(x-y)$, but I am
not sure whether the dependence of $\xi$ on $x$ and $y$ hurts. For the second one I have
no idea; all examples I know with unbounded derivative, such as $x^2$ or $e^x$ on
$\mathbb{R}$, fail to be uniformly continuous, so I conjecture that the answer is
yes.""",
        tags=("real-analysis", "derivatives", "uniform-continuity"),
        score=9,
        answers=(
            Answer(
                text=r"""For the first question the answer is yes, and the dependence of
$\xi$ on the points is harmless, because the bound $L$ does not depend on anything:
$$|f(x)-f(y)|=|f'(\xi)|\,|x-y|\le L|x-y|.$$
Functions with this property are called Lipschitz, and $\delta=\frac{\varepsilon}{L+1}$
works.

For the second question the answer is no. Take $f(x)=\sqrt{x}$ on $(0,1)$: it extends
continuously to the compact interval $[0,1]$, hence is uniformly continuous, but
$f'(x)=\frac{1}{2\sqrt{x}}\to\infty$ as $x\to0^+$.""",
                accepted=True,
                score=12,
            ),
            Answer(
                text=r"""Even on the whole line, with $f$ smooth, the converse fails.
Consider
$$f(x)=\frac{\sin(x^4)}{1+x^2}.$$
It is continuous and tends to $0$ at $\pm\infty$, and every such function is uniformly
continuous on $\mathbb{R}$. However
$$f'(x)=\frac{4x^3\cos(x^4)}{1+x^2}-\frac{2x\sin(x^4)}{(1+x^2)^2},$$
and at the points $x_k=(2\pi k)^{1/4}$ the cosine is $1$ and the sine is $0$, so
$f'(x_k)=\frac{4x_k^3}{1+x_k^2}\to\infty$. A small, quickly wiggling function is the
thing to think of.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="real_analysis/euler-sequence-bounded",
        title=r"Why is $\left(1+\frac1n\right)^n$ bounded above by $3$?",
        question=r"""To show that the number $e$ exists we want to apply the monotone
convergence theorem to
$$a_n=\left(1+\frac1n\right)^n.$$
I could do the monotonicity with Bernoulli's inequality, but I do not see why the
sequence is bounded. From the table $a_1=2$, $a_2=2.25$, $a_{10}\approx2.594$ and
$a_{100}\approx2.705$ it seems to stay below $3$. My attempt was to estimate each of the
$n$ factors, but $1+\frac1n\le2$ only gives $a_n\le2^n$.

Logarithms and derivatives are not available at this point of the lecture, only
sequences, the binomial theorem and the geometric series.""",
        tags=("real-analysis", "sequences-and-series", "eulers-number-e"),
        score=13,
        related=("calculus/exponential-limit", "inequalities/am-gm-monotone"),
        answers=(
            Answer(
                text=r"""Expand with the binomial theorem and look at each term:
$$\binom nk\frac{1}{n^k}=\frac{1}{k!}\cdot\frac{n(n-1)\cdots(n-k+1)}{n^k}
\le\frac{1}{k!}.$$
Moreover $k!\ge2^{k-1}$ for $k\ge1$, so with the geometric series
$$a_n\le1+\sum_{k=1}^n\frac{1}{k!}\le1+\sum_{k=1}^{n}\frac{1}{2^{k-1}}<1+2=3.$$
By the way, the first display also shows the monotonicity: the factor
$\frac{n(n-1)\cdots(n-k+1)}{n^k}=\prod_{j<k}\left(1-\frac jn\right)$ grows with $n$, and
there is one more positive term for $n+1$. So the sequence converges, and its limit
satisfies $2<e\le3$.""",
                accepted=True,
                score=17,
            ),
            Answer(
                text=r"""Another classical way: look at the companion sequence
$$b_n=\left(1+\frac1n\right)^{n+1}.$$
It is decreasing (Bernoulli again: $\frac{b_{n-1}}{b_n}
=\left(1+\frac{1}{n^2-1}\right)^{n}\cdot\frac{n}{n+1}\ge1$), and obviously
$a_n<b_n$. Hence $a_n<b_n\le b_5=\left(\frac65\right)^6<3$ for $n\ge5$, while the first
four terms are below $3$ by inspection. The pair $a_n<e<b_n$ also tells you how slow
the convergence is, since $b_n-a_n=\frac{a_n}{n}<\frac3n$. So for two correct digits you
already need several hundred terms, which fits your table.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="real_analysis/harmonic-unbounded",
        title=r"Different proofs that $\sum_{n=1}^\infty\frac1n$ diverges",
        question=r"""The harmonic series
$$\sum_{n=1}^\infty\frac1n$$
grows incredibly slowly: the partial sum $H_n=1+\frac12+\dots+\frac1n$ needs more than
$12000$ terms to pass $10$. Nevertheless it is unbounded, and every textbook seems to
have its own argument.

I am collecting proofs for a talk in front of pupils, so I would be happy about short
arguments that need no integrals. Which proof do you find the most convincing, and
which one gives the best feeling for how fast $H_n$ grows?""",
        tags=("real-analysis", "sequences-and-series", "harmonic-numbers"),
        score=27,
        answers=(
            Answer(
                text=r"""The medieval one, due to Nicole Oresme, is hard to beat. Group
the terms in blocks that end at powers of two:
$$1+\frac12+\left(\frac13+\frac14\right)+\left(\frac15+\frac16+\frac17+\frac18\right)
+\cdots$$
The block from $\frac{1}{2^{k}+1}$ to $\frac{1}{2^{k+1}}$ has $2^k$ terms, each at least
$\frac{1}{2^{k+1}}$, so it contributes at least $\frac12$. Therefore
$$H_{2^k}\ge1+\frac k2,$$
which is unbounded. The estimate also shows the speed: doubling the number of terms adds
a roughly constant amount, so $H_n$ grows like a logarithm.""",
                accepted=True,
                score=30,
            ),
            Answer(
                text=r"""A proof by contradiction in three lines. Suppose the series
converges with sum $S$. Then
$$S=\left(1+\frac12\right)+\left(\frac13+\frac14\right)+\left(\frac15+\frac16\right)
+\cdots>\left(\frac12+\frac12\right)+\left(\frac14+\frac14\right)
+\left(\frac16+\frac16\right)+\cdots$$
and the right-hand side is $1+\frac12+\frac13+\cdots=S$ again. So $S>S$, which is
absurd. Pupils like it, but note that the strict inequality needs a word: the very first
pair alone already exceeds by $\frac12$. Regrouping is allowed because all terms are
positive.""",
                score=18,
            ),
            Answer(
                text=r"""If your audience knows $e^x\ge1+x$, then a product telescopes:
$$e^{H_n}=\prod_{k=1}^ne^{1/k}\ge\prod_{k=1}^n\left(1+\frac1k\right)
=\prod_{k=1}^n\frac{k+1}{k}=n+1.$$
Hence $H_n\ge\ln(n+1)$, which tends to infinity. This is my favourite because the lower
bound is almost sharp: comparing with $\int_1^n\frac{dx}{x}$ from the other side gives
$H_n\le1+\ln n$, so the difference $H_n-\ln n$ stays between $0$ and $1$. It even
converges, and its limit is known as the Euler–Mascheroni constant.""",
                score=14,
            ),
        ),
    ),
    Thread(
        key="real_analysis/small-steps-cauchy",
        title=r"If $|a_{n+1}-a_n|\to0$, is $(a_n)$ a Cauchy sequence?",
        question=r"""In the definition of a Cauchy sequence, $|a_m-a_n|<\varepsilon$ for
all $m,n\ge N$, we compare all pairs of late terms. Wouldn't it be enough to compare
neighbours? I mean: if
$$\lim_{n\to\infty}|a_{n+1}-a_n|=0,$$
then the steps become arbitrarily small, and by the triangle inequality
$|a_m-a_n|\le\sum_{k=n}^{m-1}|a_{k+1}-a_k|$ the distance should become small too.

My teaching assistant said that this is wrong but did not have time to explain. Where
is the error, and is there a simple counterexample?""",
        tags=("real-analysis", "cauchy-sequences", "convergence"),
        score=10,
        answers=(
            Answer(
                text=r"""Many small steps can still lead far away. The standard
counterexample is the sequence of harmonic sums
$$a_n=1+\frac12+\frac13+\dots+\frac1n.$$
Its steps are $a_{n+1}-a_n=\frac{1}{n+1}\to0$, but
$$a_{2n}-a_n=\frac{1}{n+1}+\dots+\frac{1}{2n}\ge n\cdot\frac{1}{2n}=\frac12,$$
so it is not Cauchy and in fact tends to infinity. The error in your argument: the
number of summands in $\sum_{k=n}^{m-1}|a_{k+1}-a_k|$ is $m-n$, which is not bounded.
Each summand is small, the sum need not be.""",
                accepted=True,
                score=13,
            ),
            Answer(
                text=r"""Another example that needs no series: $a_n=\sqrt{n}$, where
$$\sqrt{n+1}-\sqrt{n}=\frac{1}{\sqrt{n+1}+\sqrt{n}}\to0$$
and yet $a_n\to\infty$. If you want a bounded one, $a_n=\sin(\sqrt{n})$ has steps going
to zero and keeps oscillating between $-1$ and $1$.

What *is* sufficient is that the steps are summable, $\sum_k|a_{k+1}-a_k|<\infty$, for
instance $|a_{k+1}-a_k|\le Cq^k$ with $0<q<1$. That is exactly what one uses in the
proof of the Banach fixed point theorem.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="real_analysis/condensation",
        title=r"Convergence of $\sum\frac{1}{n\ln n}$ and $\sum\frac{1}{n(\ln n)^2}$",
        question=r"""The ratio test gives $1$ for both series
$$\sum_{n=2}^\infty\frac{1}{n\ln n}\qquad\text{and}\qquad
\sum_{n=2}^\infty\frac{1}{n(\ln n)^2},$$
and so does the root test. Comparison with $\sum\frac1n$ or $\sum\frac{1}{n^{1+s}}$ with
$s>0$ also fails: the logarithm is smaller than every power, so both series sit exactly
between the convergent and the divergent ones I know.

Which test decides these borderline cases? I have heard about "condensation" but the
statement in my notes is unreadable.""",
        tags=("real-analysis", "sequences-and-series", "convergence-tests"),
        score=7,
        answers=(
            Answer(
                text=r"""Cauchy's condensation test: if $a_1\ge a_2\ge\dots\ge0$, then
$$\sum_{n=1}^\infty a_n\quad\text{and}\quad\sum_{k=0}^\infty2^ka_{2^k}$$
either both converge or both diverge. (Proof: in the block $2^k\le n<2^{k+1}$ there are
$2^k$ terms, all between $a_{2^{k+1}}$ and $a_{2^k}$.)

Here $2^ka_{2^k}=\frac{1}{k\ln2}$ in the first case, a multiple of the harmonic series,
so it diverges. In the second case $2^ka_{2^k}=\frac{1}{k^2(\ln2)^2}$, which converges.
The test applied to $\frac1n$ itself gives $\sum1=\infty$, so it contains the usual
proof for the harmonic series as well.""",
                accepted=True,
                score=10,
            ),
            Answer(
                text=r"""The integral test does it too. For a positive decreasing
function the series and the integral converge or diverge together, and with $u=\ln x$
$$\int_2^\infty\frac{dx}{x\ln x}=\int_{\ln2}^\infty\frac{du}{u}=\infty,\qquad
\int_2^\infty\frac{dx}{x(\ln x)^2}=\int_{\ln2}^\infty\frac{du}{u^2}=\frac{1}{\ln2}.$$
So the first one diverges, at the ridiculous speed of $\ln\ln n$, and the second one
converges. You can continue the game with $\frac{1}{n\ln n\,\ln\ln n}$ and so on; there
is no slowest diverging series.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="real_analysis/powers-not-uniform",
        title=r"Pointwise but not uniform convergence of $f_n(x)=x^n$",
        question=r"""On $[0,1]$ let $f_n(x)=x^n$. I see that the pointwise limit is
$$f(x)=\begin{cases}0,&0\le x<1,\\1,&x=1.\end{cases}$$
The book says that the convergence is not uniform "because the limit is
discontinuous". I would like to see a direct proof from the definition, that is, with
$\sup_{x}|f_n(x)-f(x)|$.

A second question: is the convergence uniform on $[0,1)$, where the limit $0$ is
perfectly continuous? And what about $[0,a]$ with $a<1$?""",
        tags=("real-analysis", "uniform-convergence"),
        score=8,
        answers=(
            Answer(
                text=r"""Uniform convergence means $\sup_{x}|f_n(x)-f(x)|\to0$. For
every $n$ the point $x_n=2^{-1/n}$ lies in $[0,1)$ and
$$|f_n(x_n)-f(x_n)|=\left(2^{-1/n}\right)^n=\frac12.$$
So the supremum is at least $\frac12$ for every $n$ (in fact it equals $1$), and the
convergence is not uniform, neither on $[0,1]$ nor on $[0,1)$. Continuity of the limit
is necessary for uniform convergence of continuous functions, but not sufficient.

On $[0,a]$ with $0\le a<1$ we have $\sup_{0\le x\le a}x^n=a^n\to0$, so there it is
uniform.""",
                accepted=True,
                score=11,
            ),
            Answer(
                text=r"""The sentence in the book can be made into a proof, too. If
$f_n\to f$ uniformly and all $f_n$ are continuous, then for a sequence $x_k\to1$
$$\lim_{k\to\infty}f(x_k)=\lim_{k\to\infty}\lim_{n\to\infty}f_n(x_k)
=\lim_{n\to\infty}\lim_{k\to\infty}f_n(x_k)=f(1),$$
because uniform convergence allows the exchange of the two limits. In the example the
left side is $0$ for $x_k=1-\frac1k$, but $f(1)=1$. So the two orders of limits give
different results, and the convergence cannot be uniform on $[0,1]$.""",
                score=4,
            ),
        ),
    ),
    Thread(
        key="real_analysis/monotone-completeness",
        title=r"Where is completeness used in the monotone convergence theorem?",
        question=r"""The theorem says: if $(a_n)$ is increasing and $a_n\le M$ for all
$n$, then $(a_n)$ converges. To me it feels obvious, since the sequence has to pile up
somewhere below $M$. But apparently it is false in $\mathbb{Q}$; for instance the
decimal approximations $1,\ 1.4,\ 1.41,\ 1.414,\dots$ of $\sqrt2$ have no limit in
$\mathbb{Q}$.

Can somebody write down the proof in such a way that one sees exactly where the
property of $\mathbb{R}$ enters? And is the theorem perhaps equivalent to
$\sup$-completeness?""",
        tags=("real-analysis", "real-numbers", "supremum-and-infimum"),
        score=9,
        answers=(
            Answer(
                text=r"""Let $s=\sup\{a_n:n\in\mathbb{N}\}$. **Here** completeness is
used: a nonempty set that is bounded above has a least upper bound in $\mathbb{R}$. The
rest is bookkeeping. Given $\varepsilon>0$, the number $s-\varepsilon$ is not an upper
bound, so there is $N$ with $a_N>s-\varepsilon$. As the sequence increases, for all
$n\ge N$
$$s-\varepsilon<a_N\le a_n\le s,$$
hence $|a_n-s|<\varepsilon$. In $\mathbb{Q}$ the first line breaks down for your decimal
sequence: the set $\{q\in\mathbb{Q}:q^2<2\}$ has upper bounds but no least one.""",
                accepted=True,
                score=14,
            ),
            Answer(
                text=r"""Yes, it is equivalent, in the sense that an ordered field in
which every bounded increasing sequence converges has the least upper bound property.
Sketch: the field is Archimedean, since otherwise $1,2,3,\dots$ would be bounded and
converge to some $s$; then $s-1<n$ for some $n$, so $s<n+1$, although an increasing
sequence never exceeds its limit. Now take a nonempty set $A$ with an upper bound $b_0$
and some $a_0\in A$, and bisect: if the midpoint is an upper bound it becomes the new
$b$, otherwise it becomes the new $a$. The $a_n$ increase, the $b_n$ are upper bounds,
and
$$b_n-a_n\le\frac{b_0-a_0}{2^n}\to0.$$
The common limit is $\sup A$.""",
                score=5,
            ),
        ),
    ),
)

_LIMIT_CASES = ((3, 2, 2, 5), (4, -1, 1, 3), (1, 7, 5, -2))
"""``(a, b, c, d)``: the sequence (an+b)/(cn+d)."""

_LIMIT_WORDINGS = (
    (
        r"$\varepsilon$-$N$ proof for $\lim_{n\to\infty}\frac{%(num)s}{%(den)s}$",
        r"""I have to prove, directly from the definition, that
$$\lim_{n\to\infty}\frac{%(num)s}{%(den)s}=%(limit)s.$$
I know the trick of dividing numerator and denominator by $n$, but that uses the limit
theorems, which are forbidden here. So I need for every $\varepsilon>0$ a number $N$
such that the distance to the limit is less than $\varepsilon$ for all $n\ge N$. Solving
$\left|\frac{%(num)s}{%(den)s}-%(limit)s\right|<\varepsilon$ exactly for $n$ gives an
ugly expression. Do I need the best possible $N$?""",
        r"""You do not need the best $N$, any $N$ will do, so be generous. First
simplify the difference:
$$\left|\frac{%(num)s}{%(den)s}-%(limit)s\right|=\frac{%(gap)s}{%(wide)s}.$$
The denominator is at least $%(low)s$ for all $n\ge%(start)s$, hence the whole thing is
at most $\frac{%(gap)s}{%(low)s}$. So, given $\varepsilon>0$, choose any integer
$$N>\frac{%(gap)s}{%(lowc)s\,\varepsilon}\quad\text{with }N\ge%(start)s.$$
For $n\ge N$ the distance is then smaller than $\varepsilon$. In a written solution you
start with this choice of $N$; the search for it stays on scratch paper.""",
    ),
    (
        r"How large must $n$ be so that $x_n=\frac{%(num)s}{%(den)s}$ is within "
        r"$10^{-3}$ of its limit?",
        r"""For the sequence $x_n=\frac{%(num)s}{%(den)s}$ the limit is $%(limit)s$,
that part is clear. The exercise continues: "Find an index $N$ such that
$|x_n-%(limit)s|<10^{-3}$ for all $n\ge N$, and explain why it works for all later
indices." By trial with a computer I found the first index for which the inequality
holds, but how can I be sure that it does not fail again further out? I am looking for
an argument with inequalities rather than a table of numbers.""",
        r"""Compute the difference exactly, then everything is visible:
$$x_n-%(limit)s=\frac{%(num)s}{%(den)s}-%(limit)s=%(signed)s.$$
The absolute value is $\frac{%(gap)s}{%(wide)s}$, and since the denominator grows with
$n$, this quantity *decreases*. So once it is below $10^{-3}$ it stays there. The
condition is
$$\frac{%(gap)s}{%(wide)s}<\frac{1}{1000}\iff %(wide)s>%(thousand)s,$$
which is true exactly for $n\ge%(index)s$. In general, with $\varepsilon$ in place of
$10^{-3}$, you need $%(wide)s>\frac{%(gap)s}{\varepsilon}$.""",
    ),
    (
        r"Negating the limit definition: why is $1$ not the limit of "
        r"$\frac{%(num)s}{%(den)s}$?",
        r"""Define $y_n=\frac{%(num)s}{%(den)s}$ for $n\ge1$. I can prove
$y_n\to%(limit)s$, and by uniqueness of limits the number $1$ cannot be a limit. But our
professor wants us to show "by hand" that $y_n\not\to1$, to practise the negation of
$$\forall\varepsilon>0\ \exists N\ \forall n\ge N:\ |y_n-1|<\varepsilon.$$
Which $\varepsilon$ should I pick, and what exactly has to be shown afterwards? I am
always confused about who is allowed to choose which letter.""",
        r"""You must exhibit one $\varepsilon>0$ such that for every $N$ there is some
$n\ge N$ with $|y_n-1|\ge\varepsilon$. Since $y_n$ comes close to $%(limit)s$, any
$\varepsilon$ smaller than $\left|1-%(limit)s\right|=%(apart)s$ has a chance; take half
of it, $\varepsilon=%(half)s$. From
$$\left|y_n-%(limit)s\right|=\frac{%(gap)s}{%(wide)s}$$
we see that $\left|y_n-%(limit)s\right|<%(half)s$ as soon as $n\ge%(late)s$, and then
the reverse triangle inequality gives
$$|y_n-1|\ge\left|1-%(limit)s\right|-\left|y_n-%(limit)s\right|
>%(apart)s-%(half)s=%(half)s.$$
So given $N$, the index $n=\max(N,%(late)s)$ does the job.""",
    ),
)


def _latex(value: Fraction) -> str:
    """An exact number in LaTeX."""
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _key(*numbers: int) -> str:
    """Numbers as a part of a key, ``m`` for minus."""
    return "-".join(str(number).replace("-", "m") for number in numbers)


def _linear(p: int, q: int) -> str:
    """``pn+q`` as people write it."""
    return ("n" if p == 1 else f"{p}n") + (f"{q:+d}" if q else "")


def _limit_threads(rng: random.Random) -> list[Thread]:
    """Limits of (an+b)/(cn+d) from the definition."""
    threads = []
    scores = rng.sample(range(1, 10), k=len(_LIMIT_CASES))
    wordings = zip(_LIMIT_CASES, _LIMIT_WORDINGS, scores, strict=True)
    for (a, b, c, d), (title, question, answer), score in wordings:
        limit = Fraction(a, c)
        defect = b * c - a * d  # x_n - a/c = defect / (c(cn+d))
        gap = abs(defect)
        wide = _linear(c * c, c * d)
        apart = abs(1 - limit)
        start = 1 if d >= 0 else -d
        low = c * c if d >= 0 else c * (c - 1)
        values = {
            "num": _linear(a, b),
            "den": _linear(c, d),
            "limit": _latex(limit),
            "gap": gap,
            "wide": wide,
            "signed": rf"{'-' if defect < 0 else ''}\frac{{{gap}}}{{{wide}}}",
            "start": start,
            "low": "n" if low == 1 else f"{low}n",
            "lowc": low,
            "thousand": 1000 * gap,
            "index": _first_index(c * c, c * d, Fraction(1000 * gap)),
            "apart": _latex(apart),
            "half": _latex(apart / 2),
            "late": _first_index(c * c, c * d, gap / (apart / 2)) if apart else 1,
        }
        threads.append(
            Thread(
                key="real_analysis/limit-" + _key(a, b, c, d),
                title=title % values,
                question=question % values,
                tags=("real-analysis", "limits", "epsilon-delta"),
                score=score,
                answers=(Answer(text=answer % values, accepted=True, score=score),),
            )
        )
    return threads


def _first_index(slope: int, offset: int, bound: Fraction) -> int:
    """The first n >= 1 with slope * n + offset > bound."""
    return max(1, (bound - offset) // slope + 1)


_ROOT_CASES = (2, 3, 4)
"""The limit k of the nested root with a = k(k-1)."""

_ROOT_WORDINGS = (
    (
        r"Limit of the nested radical $\sqrt{%(a)s+\sqrt{%(a)s+\sqrt{%(a)s+\cdots}}}$",
        r"""Let $x_1=\sqrt{%(a)s}$ and $x_{n+1}=\sqrt{%(a)s+x_n}$. If the limit $x$
exists, then $x=\sqrt{%(a)s+x}$, hence $x^2-x-%(a)s=0$ and $x=%(k)s$ (the other root
$-%(m)s$ is negative). My teacher says that this is only half of the proof. What else
has to be shown? If I can compute the limit, then it surely exists, doesn't it? I do not
see how one could get a wrong value out of a correct equation.""",
        (
            r"""It does not follow. For $y_1=1$, $y_{n+1}=2y_n+1$ the same computation
gives the "limit" $y=-1$, although the sequence tends to infinity. You must show
convergence first, and here the monotone convergence theorem helps.

*Bounded:* if $x_n\le%(k)s$ then $x_{n+1}=\sqrt{%(a)s+x_n}\le\sqrt{%(a)s+%(k)s}=%(k)s$,
and $x_1=\sqrt{%(a)s}\le%(k)s$, so all terms are at most $%(k)s$ by induction.

*Increasing:* $x_{n+1}^2-x_n^2=%(a)s+x_n-x_n^2=(%(k)s-x_n)(x_n+%(m)s)\ge0$.

So the limit exists, and now your equation identifies it as $%(k)s$.""",
            r"""One can also avoid monotonicity and estimate the distance to $%(k)s$:
$$|x_{n+1}-%(k)s|=\frac{|x_n-%(k)s|}{\sqrt{%(a)s+x_n}+%(k)s}
\le\frac{1}{%(k)s}|x_n-%(k)s|.$$
Hence $|x_{n}-%(k)s|\le%(k)s^{-(n-1)}|x_1-%(k)s|\to0$. This gives convergence for
*every* start $x_1\ge0$ together with the speed: each step gains at least a factor
$%(k)s$ in accuracy. Since the estimate itself proves that the sequence converges, no
separate existence proof is needed.""",
        ),
    ),
    (
        r"Recursive sequence $x_{n+1}=\sqrt{x_n+%(a)s}$ started above its fixed point",
        r"""Consider $x_{n+1}=\sqrt{x_n+%(a)s}$ with $x_1=%(high)s$. In class we only
treated the start $x_1=0$, where the sequence increases. Here the first values are
$$x_1=%(high)s,\quad x_2=\sqrt{%(high_sum)s}\approx%(x2).3f,\quad x_3\approx%(x3).3f,$$
so now it seems to decrease. Is there a general principle that tells me in advance
whether such a sequence increases or decreases? And how do I prove that the limit is
$%(k)s$?""",
        (
            r"""The principle: $\varphi(x)=\sqrt{x+%(a)s}$ is an increasing function, so
the sequence is monotone, and its direction is decided by the first step. If
$x_2\le x_1$, then applying $\varphi$ to both sides gives $x_3\le x_2$, and so on by
induction. Here $x_2<x_1$, so it decreases; it is bounded below by $0$, hence
convergent. The limit $x\ge0$ satisfies
$$x^2=x+%(a)s,\qquad\text{i.e.}\qquad(x-%(k)s)(x+%(m)s)=0,$$
so $x=%(k)s$. For starting values below $%(k)s$ the first step goes up and the same
argument gives an increasing sequence with the same limit.""",
        ),
    ),
    (
        r"Cobweb diagram for $\varphi(t)=\sqrt{%(a)s+t}$: attracting fixed point?",
        r"""I drew the cobweb diagram of the iteration $t_{n+1}=\varphi(t_n)$ with
$\varphi(t)=\sqrt{%(a)s+t}$, $t\ge0$, and it spirals quickly, well, climbs quickly, to
the point $(%(k)s,%(k)s)$. Can the picture be turned into a proof? I know the
contraction theorem, but I am not sure about its hypothesis: it wants a constant $q<1$
with $|\varphi(s)-\varphi(t)|\le q|s-t|$ for all $s,t$, and the derivative of the square
root is infinite at $0$.""",
        (
            r"""The shift by $%(a)s$ rescues you: the singularity of the root is at
$t=-%(a)s$, far away from your domain. On $[0,\infty)$ we have
$$0<\varphi'(t)=\frac{1}{2\sqrt{%(a)s+t}}\le\frac{1}{2\sqrt{%(a)s}}<1,$$
so by the mean value theorem $\varphi$ is a contraction with
$q=\frac{1}{2\sqrt{%(a)s}}$, and it maps the complete space $[0,\infty)$ into itself.
Banach's theorem gives exactly one fixed point and convergence from every start; solving
$t^2-t-%(a)s=0$ shows that it is $%(k)s$. Asymptotically the error shrinks by the factor
$\varphi'(%(k)s)=\frac{1}{%(twice)s}$ per step.""",
        ),
    ),
)


def _root_threads(rng: random.Random) -> list[Thread]:
    """Nested square roots with an integer limit."""
    threads = []
    scores = rng.sample(range(2, 14), k=len(_ROOT_CASES))
    wordings = zip(_ROOT_CASES, _ROOT_WORDINGS, scores, strict=True)
    for k, (title, question, answers), score in wordings:
        a, high = k * (k - 1), 20
        second = (high + a) ** 0.5
        values = {
            "a": a,
            "k": k,
            "m": k - 1,
            "twice": 2 * k,
            "high": high,
            "high_sum": high + a,
            "x2": second,
            "x3": (second + a) ** 0.5,
        }
        threads.append(
            Thread(
                key=f"real_analysis/nested-root-{a}",
                title=title % values,
                question=question % values,
                tags=("real-analysis", "recurrence-relations", "convergence"),
                score=score,
                answers=tuple(
                    Answer(text=text % values, accepted=i == 0, score=score + 1 - i)
                    for i, text in enumerate(answers)
                ),
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """The threads of this area."""
    return [*_HAND_WRITTEN, *_limit_threads(rng), *_root_threads(rng)]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="real_analysis/topic-one-delta",
        title=r"One $\delta$ for the whole parabola?",
        question=r"""At a fixed point $a\ge0$ I can find a $\delta$, depending on
$\varepsilon$ and on $a$, such that $|x-a|<\delta$ implies $|x^2-a^2|<\varepsilon$. The
larger $a$ is, the smaller my $\delta$ becomes. Now I wonder whether a more careful
estimate could produce one single $\delta$ that is good for the entire half line, i.e.
such that
$$|x^2-y^2|<\varepsilon$$
holds for *all* $x,y\in[0,\infty)$ with $|x-y|<\delta$. I believe that it is impossible
because the parabola gets steeper and steeper, but how can "no $\delta$ exists" be
turned into a rigorous argument?""",
        tags=("real-analysis", "epsilon-delta", "continuity"),
        grades={
            "real_analysis/square-not-uniform#1": 3,
            "real_analysis/square-not-uniform#2": 3,
            "real_analysis/square-not-uniform#3": 2,
            "real_analysis/bounded-derivative#1": 1,
            "real_analysis/root-uniform#1": 1,
            "real_analysis/bounded-derivative#2": 0,
            "real_analysis/root-uniform#2": 0,
            "real_analysis/powers-not-uniform#1": 0,
            "real_analysis/powers-not-uniform#2": 0,
            "real_analysis/limit-3-2-2-5#1": 0,
            "real_analysis/limit-1-7-5-m2#1": 0,
            "real_analysis/small-steps-cauchy#2": 0,
            "differential_equations/lipschitz-uniqueness#1": 0,
            "differential_equations/finite-blow-up#1": 0,
            "inequalities/reverse-triangle#1": 0,
            "inequalities/cauchy-schwarz-proofs#1": 0,
        },
        category="Proof",
        difficulty="Low",
        dependency="Both",
    ),
    AnswerTopic(
        key="real_analysis/topic-small-terms",
        title=r"Terms go to zero, yet the sum is supposed to be infinite",
        question=r"""I believed that an infinite sum is finite as soon as the terms
become arbitrarily small. So
$$1+\frac12+\frac13+\frac14+\cdots$$
should be finite because $\frac1n\to0$. A short program confirms this, at least in my
opinion: after $10^6$ terms it has reached $14.39$ and it hardly moves any more. Now our
lecturer wrote on the board that the sum is $+\infty$.

What is wrong with my reasoning, and how can one prove that the partial sums pass every
bound although a computer will never show it?""",
        tags=("sequences-and-series", "convergence-divergence"),
        grades={
            "real_analysis/harmonic-unbounded#1": 3,
            "real_analysis/harmonic-unbounded#2": 3,
            "real_analysis/harmonic-unbounded#3": 3,
            "real_analysis/small-steps-cauchy#1": 3,
            "real_analysis/condensation#1": 2,
            "real_analysis/condensation#2": 1,
            "real_analysis/small-steps-cauchy#2": 1,
            "real_analysis/euler-sequence-bounded#1": 0,
            "real_analysis/monotone-completeness#1": 0,
            "real_analysis/powers-not-uniform#1": 0,
            "real_analysis/limit-4-m1-1-3#1": 0,
            "real_analysis/nested-root-2#1": 0,
            "calculus/exponential-limit#3": 0,
            "calculus/sinc-circular#2": 0,
            "complex_analysis/essential-singularity#1": 0,
            "complex_analysis/cosine-period-13-5#1": 0,
            "inequalities/bernoulli#1": 0,
        },
        category="Concept",
        difficulty="Low",
        dependency="Text",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="real_analysis/topic-one-delta",
        latex=r"|x^2-y^2|<\varepsilon",
        grades={
            r"|x-y|<\delta\quad\text{but}\quad|x^2-y^2|\ge\varepsilon.": 3,
            r"|x^2-y^2|=|x+y|\,|x-y|\le2M|x-y|,": 2,
            r"y_n^2-x_n^2=2+\frac{1}{n^2}\ge2": 2,
            r"\forall\varepsilon>0\ \exists\delta>0\ \forall x,y:\ "
            r"|x-y|<\delta\implies |f(x)-f(y)|<\varepsilon.": 2,
            r"|\sqrt{x}-\sqrt{y}|\le\sqrt{|x-y|}\qquad\text{for all }x,y\ge0.": 1,
            r"|f(x)-f(y)|=|f'(\xi)|\,|x-y|\le L|x-y|.": 1,
            r"|a_m-a_n|<\varepsilon": 0,
            r"|f(t,x)-f(t,y)|\le L|x-y|,": 0,
            r"\big||x|-|y|\big|\le|x-y|": 0,
            r"s-\varepsilon<a_N\le a_n\le s,": 0,
            r"\|x\|^2\|y\|^2-\langle x,y\rangle^2=\|x\times y\|^2": 0,
            r"r=\sqrt{x^2+y^2}": 0,
            r"|w-w_0|<r": 0,
            r"\forall\varepsilon>0\ \exists N\ \forall n\ge N:\ "
            r"|y_n-1|<\varepsilon.": 0,
        },
    ),
    FormulaTopic(
        topic="real_analysis/topic-small-terms",
        latex=r"1+\frac12+\frac13+\frac14+\cdots",
        grades={
            r"\sum_{n=1}^\infty\frac1n": 3,
            r"H_n=1+\frac12+\dots+\frac1n": 3,
            r"1+\frac12+\frac13+\cdots=S": 3,
            r"1+\frac12+\left(\frac13+\frac14\right)"
            r"+\left(\frac15+\frac16+\frac17+\frac18\right) +\cdots": 3,
            r"\sum\frac1n": 3,
            r"a_n=1+\frac12+\frac13+\dots+\frac1n.": 3,
            r"H_{2^k}\ge1+\frac k2,": 2,
            r"\sum\frac{1}{n\ln n}": 1,
            r"\sum_{n=1}^\infty a_n\quad\text{and}\quad\sum_{k=0}^\infty2^ka_{2^k}": 1,
            r"\frac{\sin x}{x}=1-\frac{x^2}{6}+\frac{x^4}{120}-\cdots\to1": 0,
            r"\cos x=1-\frac{x^2}{2}+\cdots": 0,
            r"\sum_{k=0}^\infty\frac{x^k}{k!}=e^x": 0,
            r"e=\sum\frac{1}{k!}": 0,
            r"(I+xv^T)^{-1}=I-xv^T+xv^Txv^T-\cdots": 0,
            r"\sum_{k=n}^{m-1}|a_{k+1}-a_k|": 0,
            r"f(z)=\sum_{n\ge0}a_nz^n": 0,
        },
    ),
)
