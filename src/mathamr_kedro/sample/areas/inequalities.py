"""Inequalities: Cauchy-Schwarz, AM-GM, Nesbitt, Bernoulli."""

from __future__ import annotations

import random
from fractions import Fraction

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_HAND_WRITTEN = (
    Thread(
        key="inequalities/nesbitt",
        title=r"Prove $\frac{a}{b+c}+\frac{b}{c+a}+\frac{c}{a+b}\ge\frac32$ (Nesbitt)",
        question=r"""Let $a,b,c>0$. I am trying to prove
$$\frac{a}{b+c}+\frac{b}{c+a}+\frac{c}{a+b}\ge\frac32.$$
Equality holds for $a=b=c$, so I expect that something like AM–GM or Cauchy–Schwarz is
behind it. Clearing denominators leads to
$2(a^3+b^3+c^3)\ge a^2b+ab^2+b^2c+bc^2+c^2a+ca^2$, which I can finish with
$(a+b)(a-b)^2\ge0$, but that is ugly.

Which other proofs are there? I collect them for a problem-solving seminar, so different
techniques are more welcome than one perfect solution.""",
        tags=("inequality", "contest-math", "symmetric-polynomials"),
        score=25,
        related=("inequalities/engel-form", "inequalities/squares-over-sums"),
        answers=(
            Answer(
                text=r"""Substitute the denominators: $x=b+c$, $y=c+a$, $z=a+b$. Then
$a=\frac{y+z-x}{2}$ and so on, and the sum becomes
$$\frac12\left(\frac yx+\frac zx+\frac zy+\frac xy+\frac xz+\frac yz\right)-\frac32.$$
By AM–GM each pair of reciprocals satisfies $\frac yx+\frac xy\ge2$, and there are three
such pairs, so the bracket is at least $6$ and the sum is at least
$\frac12\cdot6-\frac32=\frac32$. Equality requires $x=y=z$, that is $a=b=c$.""",
                accepted=True,
                score=28,
            ),
            Answer(
                text=r"""With Cauchy–Schwarz in Engel form. Make the numerators squares
by expanding each fraction:
$$\frac{a}{b+c}+\frac{b}{c+a}+\frac{c}{a+b}=\frac{a^2}{ab+ac}+\frac{b^2}{bc+ba}
+\frac{c^2}{ca+cb}\ge\frac{(a+b+c)^2}{2(ab+bc+ca)}.$$
It remains to use $(a+b+c)^2\ge3(ab+bc+ca)$, which is equivalent to
$(a-b)^2+(b-c)^2+(c-a)^2\ge0$, and then the right-hand side is at least $\frac32$. The
trick "multiply numerator and denominator by the numerator" works for many cyclic sums
of this type, for instance for $\frac{a}{b}+\frac{b}{c}+\frac{c}{a}\ge3$.""",
                score=19,
            ),
            Answer(
                text=r"""The inequality is homogeneous, so we may assume $a+b+c=1$. Then
each term depends on one variable only, $\frac{a}{b+c}=\frac{a}{1-a}$, and we can use
the tangent at $\frac13$. The function $\varphi(t)=\frac{t}{1-t}$ is convex on $(0,1)$,
since $\varphi''(t)=\frac{2}{(1-t)^3}>0$, so it lies above its tangent:
$$\frac{t}{1-t}\ge\frac12+\frac94\left(t-\frac13\right)=\frac{9t-1}{4}.$$
Adding the three inequalities for $t=a,b,c$ gives $\frac{9(a+b+c)-3}{4}=\frac32$. This
is of course Jensen's inequality,
$\varphi(a)+\varphi(b)+\varphi(c)\ge3\varphi(\tfrac13)$.""",
                score=15,
            ),
            Answer(
                text=r"""By rearrangement: assume $a\ge b\ge c$. Then also
$\frac{1}{b+c}\ge\frac{1}{c+a}\ge\frac{1}{a+b}$, so the two triples are sorted the same
way and the given sum $S$ is the largest among all pairings. In particular
$$S\ge\frac{b}{b+c}+\frac{c}{c+a}+\frac{a}{a+b}\quad\text{and}\quad
S\ge\frac{c}{b+c}+\frac{a}{c+a}+\frac{b}{a+b}.$$
Add both: the fractions with equal denominators combine to $1$ each, so $2S\ge3$. The
same idea proves Chebyshev's sum inequality, and it generalises to $n$ variables.""",
                score=12,
            ),
        ),
    ),
    Thread(
        key="inequalities/engel-form",
        title=r"Titu's lemma: $\sum\frac{x_i^2}{a_i}\ge\frac{(\sum x_i)^2}{\sum a_i}$",
        question=r"""In solutions to olympiad problems I often see "by Titu's lemma" or
"by Cauchy in Engel form", meaning
$$\frac{x_1^2}{a_1}+\frac{x_2^2}{a_2}+\dots+\frac{x_n^2}{a_n}
\ge\frac{(x_1+x_2+\dots+x_n)^2}{a_1+a_2+\dots+a_n}$$
for real $x_i$ and positive $a_i$. How does this follow from the usual inequality
$\left(\sum u_iv_i\right)^2\le\sum u_i^2\sum v_i^2$? And when does one think of using
it? A typical example would be great. So far I only know it as a line that appears in
the middle of somebody else's solution.""",
        tags=("inequality", "cauchy-schwarz-inequality"),
        score=13,
        answers=(
            Answer(
                text=r"""Choose $u_i=\frac{x_i}{\sqrt{a_i}}$ and $v_i=\sqrt{a_i}$. Then
$u_iv_i=x_i$, and Cauchy–Schwarz reads
$$\left(\sum x_i\right)^2\le\left(\sum\frac{x_i^2}{a_i}\right)\left(\sum a_i\right).$$
Divide by $\sum a_i>0$. Equality holds iff all quotients $\frac{x_i}{a_i}$ are equal.

Think of it when you have a sum of fractions and want a single one. If the numerators
are not squares, force them: for instance $\frac{a}{b+c}=\frac{a^2}{ab+ac}$ turns
Nesbitt's sum into a candidate, and the result is
$\frac{(a+b+c)^2}{2(ab+bc+ca)}\ge\frac32$.""",
                accepted=True,
                score=16,
            ),
            Answer(
                text=r"""It also follows by induction from the case $n=2$, which is a
one-line computation:
$$\frac{x^2}{a}+\frac{y^2}{b}-\frac{(x+y)^2}{a+b}=\frac{(bx-ay)^2}{ab(a+b)}\ge0.$$
Apply it to the first two terms, then to the result and the third term, and so on. So
the lemma is as elementary as $(bx-ay)^2\ge0$. One can even go back and derive
Cauchy–Schwarz from it. Physicists may recognise that $\sum\frac{p_i^2}{2m_i}$ is the
kinetic energy, and the inequality says that it is smallest when all bodies move with
the same velocity.""",
                score=11,
            ),
        ),
    ),
    Thread(
        key="inequalities/squares-over-sums",
        title=r"$\frac{a^2}{b+c}+\frac{b^2}{c+a}+\frac{c^2}{a+b}\ge\frac{a+b+c}{2}$",
        question=r"""For positive real numbers $a,b,c$ I should prove
$$\frac{a^2}{b+c}+\frac{b^2}{c+a}+\frac{c^2}{a+b}\ge\frac{a+b+c}{2}.$$
I was told that AM–GM is enough if one adds a suitable term to every fraction. For
example $\frac{a^2}{b+c}+(b+c)\ge2a$, but then adding the three inequalities gives
$\text{LHS}\ge2(a+b+c)-2(a+b+c)=0$, which is useless. What is the suitable term, and how
do I find it?""",
        tags=("inequality", "a.m.-g.m.-inequality"),
        score=9,
        answers=(
            Answer(
                text=r"""Look at the case of equality. For $a=b=c$ we have
$\frac{a^2}{b+c}=\frac a2$, while $b+c=2a$; in AM–GM both terms must be equal, so take a
quarter of $b+c$:
$$\frac{a^2}{b+c}+\frac{b+c}{4}\ge2\sqrt{\frac{a^2}{4}}=a.$$
Add the three cyclic versions. The extra terms sum up to $\frac{2(a+b+c)}{4}$, so
$$\text{LHS}\ge(a+b+c)-\frac{a+b+c}{2}=\frac{a+b+c}{2}.$$
The general advice: the weights in AM–GM are dictated by the equality case.""",
                accepted=True,
                score=12,
            ),
            Answer(
                text=r"""In one line with the Engel form of Cauchy–Schwarz,
$\sum\frac{x_i^2}{a_i}\ge\frac{(\sum x_i)^2}{\sum a_i}$: the numerators are squares
already, so
$$\frac{a^2}{b+c}+\frac{b^2}{c+a}+\frac{c^2}{a+b}\ge\frac{(a+b+c)^2}{2(a+b+c)}
=\frac{a+b+c}{2}.$$
Equality iff $\frac{a}{b+c}=\frac{b}{c+a}=\frac{c}{a+b}$, which forces $a=b=c$. The
statement with $n$ variables $\frac{a_i^2}{s-a_i}$, $s=\sum a_i$, is proved in the same
way and has the bound $\frac{s}{n-1}$. It is good style to mention that the denominators
are positive before using the lemma.""",
                score=10,
            ),
        ),
    ),
    Thread(
        key="inequalities/cauchy-schwarz-proofs",
        title=r"Intuition for the proof of $|\langle x,y\rangle|\le\|x\|\,\|y\|$",
        question=r"""The proof of the Cauchy–Schwarz inequality in our lecture considers
$p(t)=\|x+ty\|^2\ge0$ and looks at its discriminant. I can follow every line, but it
comes out of nowhere. How would one discover this proof? Are there proofs of
$$|\langle x,y\rangle|\le\|x\|\,\|y\|$$
that show *why* it is true, for instance by computing the difference of both sides? I
mostly care about $\mathbb{R}^n$ with $\langle x,y\rangle=\sum_ix_iy_i$.""",
        tags=("inequality", "inner-products", "cauchy-schwarz-inequality"),
        score=17,
        answers=(
            Answer(
                text=r"""The geometric idea: among all vectors $x+ty$ on a line look for
the shortest one. Its length is $\ge0$, and writing that down is the inequality.
Expanding,
$$p(t)=\|x\|^2+2t\langle x,y\rangle+t^2\|y\|^2,$$
a parabola with minimum at $t_0=-\frac{\langle x,y\rangle}{\|y\|^2}$ (for $y\ne0$),
which is exactly the foot of the perpendicular. The value there is
$$p(t_0)=\|x\|^2-\frac{\langle x,y\rangle^2}{\|y\|^2}\ge0.$$
So the difference of the two sides is the squared distance of $x$ from the line
$\mathbb{R}y$, times $\|y\|^2$. The discriminant is only a shortcut for this
computation.""",
                accepted=True,
                score=22,
            ),
            Answer(
                text=r"""In $\mathbb{R}^n$ the difference can be computed explicitly,
this is Lagrange's identity:
$$\left(\sum_ix_i^2\right)\left(\sum_iy_i^2\right)-\left(\sum_ix_iy_i\right)^2
=\sum_{i<j}(x_iy_j-x_jy_i)^2.$$
The right-hand side is a sum of squares, so the inequality is obvious, and you see the
case of equality: all $2\times2$ determinants vanish, which means that $x$ and $y$ are
proportional. For $n=3$ it says
$\|x\|^2\|y\|^2-\langle x,y\rangle^2=\|x\times y\|^2$. To prove the identity, expand
both sides and compare the mixed terms.""",
                score=14,
            ),
            Answer(
                text=r"""The shortest proof I know normalises first. If $\|x\|=\|y\|=1$,
then from $2uv\le u^2+v^2$
$$\sum_ix_iy_i\le\sum_i\frac{x_i^2+y_i^2}{2}=\frac{\|x\|^2+\|y\|^2}{2}=1.$$
For general nonzero vectors apply this to $\frac{x}{\|x\|}$ and $\frac{y}{\|y\|}$ and
multiply by $\|x\|\,\|y\|$; replacing $x$ by $-x$ gives the absolute value. The same
pattern, with Young's inequality in place of $2uv\le u^2+v^2$, proves Hölder's
inequality. Normalising first is a good habit for all inequalities in which both sides
scale in the same way.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="inequalities/bernoulli",
        title=r"Bernoulli's inequality $(1+x)^n\ge1+nx$: where is $x\ge-1$ needed?",
        question=r"""I proved Bernoulli's inequality
$$(1+x)^n\ge1+nx\qquad(x\ge-1,\ n\in\mathbb{N})$$
by induction, and in my proof I never noticed where the hypothesis $x\ge-1$ was used.
Multiplying $(1+x)^n\ge1+nx$ by $1+x$ gives $(1+x)^{n+1}\ge1+(n+1)x+nx^2$, and dropping
$nx^2\ge0$ finishes the step. For $x=-4$ and $n=3$ the inequality is false,
$-27<-11$, so something must go wrong. Also, is it true for real exponents?""",
        tags=("inequality", "induction"),
        score=10,
        answers=(
            Answer(
                text=r"""It is hidden in the word "multiplying": an inequality keeps its
direction only if you multiply by a number that is not negative, so you need
$1+x\ge0$. That is the hypothesis.

(For a fixed exponent the range can be larger, for example $n=2$ works for every real
$x$, because $(1+x)^2-(1+2x)=x^2$. In fact one can show by a two-step induction,
$n\to n+2$, that $x\ge-2$ is enough.)

A nice consequence is $a^n\to\infty$ for $a>1$: write $a=1+x$, then $a^n\ge1+nx$.""",
                accepted=True,
                score=13,
            ),
            Answer(
                text=r"""For real exponents $r\ge1$ and $x>-1$ the inequality
$(1+x)^r\ge1+rx$ remains true, while for $0\le r\le1$ it is reversed. Proof by calculus:
let $f(x)=(1+x)^r-1-rx$. Then $f(0)=0$ and
$$f'(x)=r\left((1+x)^{r-1}-1\right),$$
which for $r>1$ is negative on $(-1,0)$ and positive on $(0,\infty)$. So $f$ has its
minimum at $0$, where it vanishes. Geometrically, the convex graph of $(1+x)^r$ lies
above its tangent $1+rx$ at the point $x=0$.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="inequalities/am-gm-monotone",
        title=r"AM–GM proof that $\left(1+\frac1n\right)^n$ is increasing",
        question=r"""The inequality between the arithmetic and the geometric mean says
$$\sqrt[m]{x_1x_2\cdots x_m}\le\frac{x_1+x_2+\dots+x_m}{m}$$
for nonnegative numbers. In a list of applications I found: "the sequence
$\left(1+\frac1n\right)^n$ is strictly increasing". I know a proof with the binomial
theorem, but I fail to see which numbers one should plug into AM–GM. Taking $n$ times
the number $1+\frac1n$ only gives an equality.""",
        tags=("inequality", "a.m.-g.m.-inequality", "sequences-and-series"),
        score=12,
        answers=(
            Answer(
                text=r"""You need $n+1$ numbers, because you want to compare with the
exponent $n+1$. Take $n$ times $1+\frac1n$ and one more factor $1$. The geometric mean
of these numbers is the $(n+1)$-th root of $\left(1+\frac1n\right)^n\cdot1$, and AM–GM
gives
$$\sqrt[n+1]{\left(1+\frac1n\right)^n}<\frac{n\left(1+\frac1n\right)+1}{n+1}
=\frac{n+2}{n+1}=1+\frac{1}{n+1}.$$
Raise to the power $n+1$ to get
$\left(1+\frac1n\right)^n<\left(1+\frac{1}{n+1}\right)^{n+1}$.
The inequality is strict since the numbers are not all equal. The same proof with
$1+\frac xn$ shows that $\left(1+\frac xn\right)^n$ increases for every $x>0$.""",
                accepted=True,
                score=17,
            ),
            Answer(
                text=r"""And with a different choice you get the upper bounds: apply
AM–GM to $n+1$ times the number $\frac{n}{n+1}$ and one factor $1$. This yields
$$\left(\frac{n}{n+1}\right)^{n+1}<\left(\frac{n+1}{n+2}\right)^{n+2},$$
and taking reciprocals, $\left(1+\frac1n\right)^{n+1}$ is *decreasing*. Hence
$$\left(1+\frac1n\right)^n<\left(1+\frac1n\right)^{n+1}\le\left(1+\frac11\right)^2=4$$
for all $n$, the sequence is bounded, and so it has a limit, which is called $e$.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="inequalities/am-gm-exponential",
        title=r"A proof of AM–GM from $e^x\ge1+x$?",
        question=r"""I have read that George Pólya saw in a dream a proof of
$$\frac{a_1+\dots+a_n}{n}\ge\sqrt[n]{a_1\cdots a_n}\qquad(a_i>0)$$
that uses nothing but the inequality $e^x\ge1+x$. The only proofs I know are Cauchy's
forward-backward induction and Jensen's inequality for the logarithm. How can a single
tangent line be enough, where does one put in the numbers? I tried $x=a_i$, which gives
$e^{a_1+\dots+a_n}\ge\prod(1+a_i)$ and leads nowhere.""",
        tags=("inequality", "a.m.-g.m.-inequality", "exponential-function"),
        score=14,
        answers=(
            Answer(
                text=r"""Put $x=\frac{a_i}{A}-1$, where $A=\frac{a_1+\dots+a_n}{n}$ is
the arithmetic mean. Then $e^x\ge1+x$ becomes
$$e^{a_i/A-1}\ge\frac{a_i}{A}.$$
Multiply these $n$ inequalities between positive numbers. On the left the exponents add
up to $\frac{a_1+\dots+a_n}{A}-n=n-n=0$, so the product is $e^0=1$, and therefore
$$1\ge\frac{a_1a_2\cdots a_n}{A^n},$$
which is AM–GM. Equality requires $x=0$ in every factor, i.e. $a_i=A$ for all $i$.""",
                accepted=True,
                score=20,
            ),
            Answer(
                text=r"""For completeness, Cauchy's induction in short. For $n=2$ the
statement is $(\sqrt{a}-\sqrt{b})^2\ge0$. *Forward:* if it holds for $n$, then it holds
for $2n$, by applying the case $2$ to the means of the two halves. *Backward:* if it
holds for $n$, it holds for $n-1$: take $a_n=\frac{a_1+\dots+a_{n-1}}{n-1}=:A$, so that
$$A=\frac{(n-1)A+A}{n}\ge\sqrt[n]{a_1\cdots a_{n-1}A},$$
and cancel $A^{1/n}$. Powers of two and the backward step together reach every $n$.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="inequalities/reverse-triangle",
        title=r"How to prove $\big||x|-|y|\big|\le|x-y|$ without cases",
        question=r"""The reverse triangle inequality states
$$\big||x|-|y|\big|\le|x-y|$$
for all real (or complex) $x$ and $y$. In the real case I could go through all
combinations of signs, but for complex numbers, or vectors with a norm $\|\cdot\|$,
there are no signs. I suppose that it follows from the ordinary triangle inequality
$|a+b|\le|a|+|b|$ for a clever choice of $a$ and $b$, but subtracting inequalities is
forbidden. What is the right choice?""",
        tags=("inequality", "absolute-value", "normed-spaces"),
        score=7,
        answers=(
            Answer(
                text=r"""Write $x=(x-y)+y$ and apply the triangle inequality to this
sum:
$$|x|\le|x-y|+|y|,\qquad\text{so}\qquad|x|-|y|\le|x-y|.$$
Now exchange the roles of $x$ and $y$: $|y|-|x|\le|y-x|=|x-y|$. The two results together
say exactly $\pm(|x|-|y|)\le|x-y|$, which is the claim. Only the triangle inequality and
$|-a|=|a|$ were used, so the proof is valid in every normed space, and it shows that the
norm is a Lipschitz (hence continuous) function.""",
                accepted=True,
                score=11,
            ),
            Answer(
                text=r"""For an inner product space you can also square. Both sides are
nonnegative, so the claim is equivalent to
$$\|x\|^2-2\|x\|\,\|y\|+\|y\|^2
\le\|x\|^2-2\operatorname{Re}\langle x,y\rangle+\|y\|^2,$$
that is $\operatorname{Re}\langle x,y\rangle\le\|x\|\,\|y\|$, the Cauchy–Schwarz
inequality. This shows the case of equality: $y$ must be a nonnegative multiple of $x$
or the other way round. In a general norm there is no such description.""",
                score=4,
            ),
        ),
    ),
)

_MINIMUM_CASES = ((2, 8), (6, 3), (4, 54))
"""``(p, q)``: px + q/x^2, smallest at the cube root of 2q/p."""

_MINIMUM_WORDINGS = (
    (
        r"Minimum of $%(f)s$ for $x>0$ with AM–GM instead of derivatives",
        r"""Our teacher wants the minimum of $f(x)=%(f)s$ on $x>0$ *without* calculus. I
applied AM–GM to the two summands,
$$%(f)s\ge2\sqrt{%(px)s\cdot\frac{%(q)s}{x^2}}=2\sqrt{\frac{%(pq)s}{x}},$$
but the right-hand side still contains $x$, so it is not a lower bound. With the
derivative I know that the minimum is at $x=%(x)s$. What did I do wrong with AM–GM?""",
        (
            r"""Nothing is wrong, it is just not useful. The product of the terms has to
be constant, so split the linear term into two equal parts:
$$%(px)s+\frac{%(q)s}{x^2}=%(hx)s+%(hx)s+\frac{%(q)s}{x^2}
\ge3\sqrt[3]{%(hx)s\cdot %(hx)s\cdot\frac{%(q)s}{x^2}}=3\sqrt[3]{%(cube)s}=%(min)s.$$
Now the $x$ cancels. Equality holds iff all three terms are equal,
$%(hx)s=\frac{%(q)s}{x^2}$, which means $x^3=%(xcube)s$ and $x=%(x)s$. So the minimum is
$%(min)s$, in agreement with your derivative.""",
            r"""How to find the splitting: you need as many copies of $x$ as there are
factors $x$ in the denominator, here two copies against $x^2$. With weights, the general
statement is
$$px+\frac{q}{x^2}\ge3\sqrt[3]{\frac{p^2q}{4}},$$
and unequal parts such as $\frac p3x+\frac{2p}{3}x$ would also give a valid but worse
bound, since equality could never occur. So always check that equality is possible, or
you have only a lower bound and not the minimum.""",
        ),
    ),
    (
        r"Is $%(min)s$ really the smallest value of $%(f)s$?",
        r"""Claim: for all $x>0$ we have $%(f)s\ge%(min)s$. I can verify it numerically,
and for $x=%(x)s$ there is equality. I would like a proof by factoring, that is, by
writing the difference as something that is obviously nonnegative. Multiplying by $x^2$
leads to the cubic inequality $%(cubic)s\ge0$. How do I see that this polynomial is
nonnegative for positive $x$?""",
        (
            r"""Since there is equality at $x=%(x)s$ and the difference does not change
sign there, $x=%(x)s$ must be a *double* root of the cubic. So divide by $(x-%(x)s)^2$:
$$%(cubic)s=(x-%(x)s)^2(%(factor)s).$$
Both factors are nonnegative for $x>0$, and the first one vanishes only at $x=%(x)s$.
After dividing by $x^2$ you have your inequality. If you prefer means, the AM–GM
inequality for the three numbers $%(hx)s$, $%(hx)s$ and $\frac{%(q)s}{x^2}$, whose
product is the constant $%(cube)s$, gives the bound $3\sqrt[3]{%(cube)s}=%(min)s$ at
once.""",
        ),
    ),
    (
        r"Cheapest can: minimising a cost of the form $%(f)s$",
        r"""The cost of a container with square base of side $x$ (in decimetres) and
given volume turned out to be $C(x)=%(f)s$ in some currency. I want to explain to pupils
who do not know derivatives why the best choice is $x=%(x)s$. I know that the sum $u+v$
of two positive numbers with fixed product is smallest for $u=v$, but here the product
of $%(px)s$ and $\frac{%(q)s}{x^2}$ is not fixed. Is there a similar principle for three
numbers?""",
        (
            r"""Yes: three positive numbers with fixed product have the smallest sum
when they are all equal. (If two of them, $u\ne v$, are different, replace both by
$\sqrt{uv}$; the product stays the same and the sum gets smaller because
$u+v>2\sqrt{uv}$.) Apply it to
$$C(x)=%(hx)s+%(hx)s+\frac{%(q)s}{x^2},$$
where the product of the three terms is $%(cube)s$ for every $x$. They are equal when
$x^3=%(xcube)s$, that is $x=%(x)s$, and then each of them is $%(each)s$, so the minimal
cost is $%(min)s$.""",
        ),
    ),
)


def _times(factor: int, name: str) -> str:
    """An integer multiple of a letter."""
    return name if factor == 1 else f"{factor}{name}"


def _minimum_threads(rng: random.Random) -> list[Thread]:
    """The minimum of px + q/x^2 by the inequality of the means."""
    threads = []
    scores = rng.sample(range(1, 10), k=len(_MINIMUM_CASES))
    wordings = zip(_MINIMUM_CASES, _MINIMUM_WORDINGS, scores, strict=True)
    for (p, q), (title, question, answers), score in wordings:
        x = round((2 * q / p) ** (1 / 3))
        half = p // 2
        least = 3 * half * x
        values = {
            "f": rf"{_times(p, 'x')}+\frac{{{q}}}{{x^2}}",
            "px": _times(p, "x"),
            "hx": _times(half, "x"),
            "q": q,
            "pq": p * q,
            "x": x,
            "xcube": x**3,
            "cube": half * half * q,
            "each": half * x,
            "min": least,
            "cubic": f"{_times(p, 'x^3')}-{least}x^2+{q}",
            # The double root x0 leaves px + q/x0^2.
            "factor": f"{_times(p, 'x')}+{q // (x * x)}",
        }
        threads.append(
            Thread(
                key=f"inequalities/minimum-{p}-{q}",
                title=title % values,
                question=question % values,
                tags=("inequality", "optimization", "a.m.-g.m.-inequality"),
                score=score,
                answers=tuple(
                    Answer(text=text % values, accepted=i == 0, score=score + 2 - i)
                    for i, text in enumerate(answers)
                ),
            )
        )
    return threads


_PRODUCT_CASES = ((2, 1, 6), (2, 3, 10), (3, 1, 8))
"""``(m, n, s)``: x^m y^n with x + y = s."""

_PRODUCT_WORDINGS = (
    (
        r"Largest value of $%(product)s$ when $x+y=%(s)s$",
        r"""Let $x,y\ge0$ with $x+y=%(s)s$. What is the maximum of $%(product)s$? For
$xy$ the answer is $x=y$, by AM–GM. So I first thought that $x=y=%(mid)s$ is best here
too, but a few trials give larger values when $x\ne y$. How must AM–GM be modified when
the exponents are different? I would like to avoid derivatives if possible.""",
        (
            r"""Apply AM–GM to as many numbers as there are factors, but arranged so
that their *sum* is constant. Here take $\frac{x}{%(m)s}$ repeated $%(m)s$ times
together with $y$ once:
$$\frac{x^{%(m)s}}{%(mm)s}\cdot y\le\left(\frac{%(m)s\cdot\frac{x}{%(m)s}+y}{%(k)s}
\right)^{%(k)s}=\left(\frac{%(s)s}{%(k)s}\right)^{%(k)s}=%(mean)s.$$
Multiplying by $%(mm)s$ gives $%(product)s\le%(max)s$. Equality holds when
$\frac{x}{%(m)s}=y$, that is for $x=%(x)s$ and $y=%(y)s$. Taking plain copies of $x$
instead of $\frac{x}{%(m)s}$ would make the sum depend on $x$.""",
        ),
    ),
    (
        r"Splitting a sum so that $%(product)s$ becomes as large as possible",
        r"""A segment of length $%(s)s$ is divided into two parts $x$ and $y$. I look
for the division that maximises $P=%(product)s$. With calculus: insert $y=%(s)s-x$,
differentiate, and solve $P'(x)=0$; it works but the powers are messy. Is there a rule
of thumb such as "the parts are proportional to the exponents", and how would one
justify it?""",
        (
            r"""The rule of thumb is right. Take logarithms before you differentiate:
$$\ln P=%(m)s\ln x+%(n)s\ln y,\qquad\frac{d}{dx}\ln P=\frac{%(m)s}{x}-\frac{%(n)s}{y},$$
because $\frac{dy}{dx}=-1$. So the critical point satisfies
$\frac{x}{y}=\frac{%(m)s}{%(n)s}$, the parts are proportional to the exponents, and with
$x+y=%(s)s$ this means $x=%(x)s$, $y=%(y)s$. As $\ln P$ is concave, it is the maximum,
and $P_{\max}=%(x)s^{%(m)s}\cdot%(y)s^{%(n)s}=%(max)s$. With three or more parts the
computation is the same, one logarithm for each part.""",
            r"""Justification by weighted AM–GM: with $%(k)s$ numbers, $%(m)s$ of them
equal to $\frac{x}{%(m)s}$ and $%(n)s$ of them equal to $\frac{y}{%(n)s}$, the sum is
always $x+y=%(s)s$. Hence
$$\left(\frac{x}{%(m)s}\right)^{%(m)s}\left(\frac{y}{%(n)s}\right)^{%(n)s}\le
\left(\frac{%(s)s}{%(k)s}\right)^{%(k)s},$$
with equality exactly if $\frac{x}{%(m)s}=\frac{y}{%(n)s}$. No derivative needed, and
the argument works for any number of parts and any positive integer exponents. Rational
exponents follow by taking roots.""",
        ),
    ),
    (
        r"Weighted AM–GM in action: bound $%(product)s$ under $x+y=%(s)s$",
        r"""I understand weighted AM–GM as the statement
$$u^\alpha v^\beta\le\alpha u+\beta v\qquad(\alpha,\beta>0,\ \alpha+\beta=1,\ u,v>0).$$
Now I want to use it to bound the product $%(product)s$ for positive $x,y$ with sum
$%(s)s$, but whatever I choose for $u$ and $v$, the weights on the right do not produce
$x+y$. Can someone show me the correct choice? My computer says that the maximum is
$%(max)s$.""",
        (
            r"""Choose the weights according to the exponents,
$\alpha=\frac{%(m)s}{%(k)s}$ and $\beta=\frac{%(n)s}{%(k)s}$, and *divide* the variables
by them: $u=\frac{x}{\alpha}$, $v=\frac{y}{\beta}$. Then the right-hand side is
$\alpha u+\beta v=x+y=%(s)s$, and
$$\left(\frac{x}{\alpha}\right)^\alpha\left(\frac{y}{\beta}\right)^\beta\le%(s)s.$$
Raise to the power $%(k)s$ and insert the numbers to find $%(product)s\le%(max)s$.
Equality holds iff $u=v$, i.e. $\frac{x}{%(m)s}=\frac{y}{%(n)s}$, so $x=%(x)s$ and
$y=%(y)s$. Your computer is right.""",
        ),
    ),
)


def _power(name: str, exponent: int) -> str:
    """A power, without the exponent one."""
    return name if exponent == 1 else f"{name}^{exponent}"


def _product_threads(rng: random.Random) -> list[Thread]:
    """The maximum of x^m y^n for a given sum."""
    threads = []
    scores = rng.sample(range(1, 10), k=len(_PRODUCT_CASES))
    wordings = zip(_PRODUCT_CASES, _PRODUCT_WORDINGS, scores, strict=True)
    for (m, n, s), (title, question, answers), score in wordings:
        x, y = m * s // (m + n), n * s // (m + n)
        values = {
            "product": _power("x", m) + _power("y", n),
            "m": m,
            "n": n,
            "k": m + n,
            "s": s,
            "mid": Fraction(s, 2),
            "mm": m**m,
            "mean": Fraction(s, m + n) ** (m + n),
            "x": x,
            "y": y,
            "max": x**m * y**n,
        }
        threads.append(
            Thread(
                key=f"inequalities/product-{m}-{n}-{s}",
                title=title % values,
                question=question % values,
                tags=("inequality", "optimization", "a.m.-g.m.-inequality"),
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
    return [*_HAND_WRITTEN, *_minimum_threads(rng), *_product_threads(rng)]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="inequalities/topic-numbers-with-sum-one",
        title=r"Lower bound for three fractions of positive numbers with sum one",
        question=r"""Let $a,b,c$ be positive numbers with $a+b+c=1$. In a paper on
probabilities the author uses, without any comment, that
$$\frac{a}{1-a}+\frac{b}{1-b}+\frac{c}{1-c}\ge\frac32$$
For $a=b=c=\frac13$ there is equality, and when one of the numbers comes close to $1$
the left side explodes, so the claim is plausible. I tried Lagrange multipliers and
ended in a jungle of cases on the boundary. Is it a well-known inequality in disguise,
and what is a short proof?""",
        tags=("inequality", "means", "convexity"),
        grades={
            "inequalities/nesbitt#3": 3,
            "inequalities/nesbitt#1": 3,
            "inequalities/nesbitt#2": 3,
            "inequalities/nesbitt#4": 3,
            "inequalities/engel-form#1": 2,
            "inequalities/squares-over-sums#1": 1,
            "inequalities/squares-over-sums#2": 1,
            "inequalities/engel-form#2": 0,
            "inequalities/cauchy-schwarz-proofs#2": 0,
            "inequalities/bernoulli#2": 0,
            "inequalities/am-gm-exponential#1": 0,
            "inequalities/am-gm-monotone#1": 0,
            "inequalities/product-2-1-6#1": 0,
            "inequalities/product-3-1-8#1": 0,
            "inequalities/minimum-2-8#1": 0,
            "calculus/partial-fractions-2-1-1-m3#1": 0,
            "real_analysis/harmonic-unbounded#2": 0,
        },
        category="Proof",
        difficulty="High",
        dependency="Formula",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="inequalities/topic-numbers-with-sum-one",
        latex=r"\frac{a}{1-a}+\frac{b}{1-b}+\frac{c}{1-c}\ge\frac32",
        grades={
            r"\frac{a}{b+c}+\frac{b}{c+a}+\frac{c}{a+b}\ge\frac32": 3,
            r"\frac{a}{b+c}+\frac{b}{c+a}+\frac{c}{a+b}\ge\frac32.": 3,
            r"\frac{a}{b+c}=\frac{a}{1-a}": 2,
            r"\frac{t}{1-t}\ge\frac12+\frac94\left(t-\frac13\right)=\frac{9t-1}{4}.": 2,
            r"\varphi(a)+\varphi(b)+\varphi(c)\ge3\varphi(\tfrac13)": 2,
            r"\frac{a^2}{b+c}+\frac{b^2}{c+a}+\frac{c^2}{a+b}\ge\frac{a+b+c}{2}": 1,
            r"\frac{a}{b}+\frac{b}{c}+\frac{c}{a}\ge3": 1,
            r"\frac{x^2}{a}+\frac{y^2}{b}-\frac{(x+y)^2}{a+b}="
            r"\frac{(bx-ay)^2}{ab(a+b)}\ge0.": 0,
            r"\frac{a}{b+c}=\frac{b}{c+a}=\frac{c}{a+b}": 0,
            r"\frac{t}{1+t}\le\ln(1+t)\le t.": 0,
            r"(a-b)^2+(b-c)^2+(c-a)^2\ge0": 0,
            r"\frac{a_1+\dots+a_n}{n}\ge\sqrt[n]{a_1\cdots a_n}\qquad(a_i>0)": 0,
            r"1+\frac12+\frac13+\cdots=S": 0,
            r"\frac{nx}{n+x}\le n\ln\left(1+\frac{x}{n}\right)\le x.": 0,
        },
    ),
)
