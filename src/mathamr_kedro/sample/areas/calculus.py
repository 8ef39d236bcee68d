"""Calculus: limits, derivatives, integrals, optimisation."""

from __future__ import annotations

import random
from fractions import Fraction
from math import isqrt, log

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_HAND_WRITTEN = (
    Thread(
        key="calculus/gaussian-integral",
        title=r"Why does $\int_{-\infty}^{\infty} e^{-x^2}\,dx$ equal $\sqrt{\pi}$?",
        question=r"""Hello! In my statistics course the density of the normal
distribution carries a mysterious constant, and the lecturer only said that it comes
from
$$\int_{-\infty}^{\infty} e^{-x^2}\,dx=\sqrt{\pi}$$
without any proof. I understand that $e^{-x^2}$ has no elementary antiderivative, so
I cannot just plug in the limits.

What I tried: by symmetry it is enough to treat $x\ge 0$, and with $u=x^2$ I get
$$\int_0^\infty \frac{e^{-u}}{2\sqrt{u}}\,du,$$
which does not look any better. Integration by parts makes it worse.

How can a number like $\pi$ show up when there is no circle in sight? I know double
integrals, so a proof with two variables is fine.""",
        tags=("calculus", "definite-integrals", "gaussian-integral"),
        score=31,
        comments=(
            r"The circle is hidden in the level sets of $x^2+y^2$.",
            r"There are at least ten proofs of this; pick your favourite.",
        ),
        related=("calculus/gaussian-moment",),
        answers=(
            Answer(
                text=r"""The circle appears as soon as you square. Write
$$I=\int_{-\infty}^{\infty} e^{-x^2}\,dx$$
and use a second letter for the second factor:
$$I^2=\int_{-\infty}^{\infty}\int_{-\infty}^{\infty} e^{-(x^2+y^2)}\,dx\,dy.$$
The integrand depends only on the distance $r=\sqrt{x^2+y^2}$ from the origin, so polar
coordinates are the natural choice. The area element is $r\,dr\,d\theta$, and that
extra factor $r$ is exactly what was missing before:
$$I^2=\int_0^{2\pi}\int_0^\infty e^{-r^2}\,r\,dr\,d\theta
=2\pi\left[-\frac{1}{2}e^{-r^2}\right]_0^\infty=\pi.$$
Since $I>0$, we get $I=\sqrt{\pi}$. Everything in sight is nonnegative, so Tonelli's
theorem takes care of the interchange of integrals.""",
                accepted=True,
                score=42,
                comments=(r"Nice. So $\pi$ comes from the angle $2\pi$ after all!",),
            ),
            Answer(
                text=r"""Here is a way that avoids polar coordinates altogether. Put
$$J=\int_{0}^{\infty} e^{-x^2}\,dx$$
and in the second copy of the integral substitute $y=xt$ with $x>0$ fixed, so
$dy=x\,dt$. Then
$$J^2=\int_0^\infty\int_0^\infty e^{-x^2(1+t^2)}\,x\,dt\,dx
=\int_0^\infty\left(\int_0^\infty x e^{-x^2(1+t^2)}\,dx\right)dt.$$
The inner integral is elementary: its value is $\frac{1}{2(1+t^2)}$. Hence
$$J^2=\frac12\int_0^\infty\frac{dt}{1+t^2}=\frac12\cdot\frac{\pi}{2}=\frac{\pi}{4},$$
and therefore $\int_{0}^{\infty} e^{-x^2}\,dx=\frac{\sqrt{\pi}}{2}$. Doubling gives the
claim. I like that only single-variable substitutions are used.""",
                score=23,
            ),
            Answer(
                text=r"""Your substitution is not a dead end: it is the Gamma
function in disguise. By definition
$$\Gamma(s)=\int_0^\infty u^{s-1}e^{-u}\,du,$$
so what you found says that the integral over the whole line is
$\Gamma\left(\tfrac12\right)$. Now the reflection formula
$$\Gamma(s)\Gamma(1-s)=\frac{\pi}{\sin(\pi s)}$$
at $s=\tfrac12$ reads $\Gamma\left(\tfrac12\right)^2=\pi$, and because the integrand is
positive, $\Gamma\left(\tfrac12\right)=\sqrt{\pi}$.

Of course this only moves the work into the reflection formula, so take it as a cross
check rather than as a first proof.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="calculus/gaussian-moment",
        title=r"Variance of the normal law: $\int x^2 e^{-x^2}\,dx$ over $\mathbb{R}$",
        question=r"""I am allowed to use the Gaussian integral
$\int_{-\infty}^{\infty} e^{-x^2}\,dx=\sqrt{\pi}$ without proof. With that I have to
find
$$M=\int_{-\infty}^{\infty} x^2e^{-x^2}\,dx.$$
My first idea was integration by parts with $u=e^{-x^2}$ and $dv=x^2\,dx$, but then the
power of $x$ goes up: I end with $\frac23\int x^4e^{-x^2}\,dx$, which is the wrong
direction. Choosing $u=x^2$ needs an antiderivative of $e^{-x^2}$, which I do not have.

Is there a smart splitting, or is another method needed? Eventually I also want
$\int x^4e^{-x^2}\,dx$, so something that generalises would be welcome.
Thanks a lot.""",
        tags=("calculus", "integration", "gaussian-integral"),
        score=8,
        answers=(
            Answer(
                text=r"""Split off only one factor $x$: take $u=x$ and
$dv=xe^{-x^2}\,dx$, because the latter does have an elementary antiderivative, namely
$v=-\frac12e^{-x^2}$. Then
$$M=\left[-\frac{x}{2}e^{-x^2}\right]_{-\infty}^{\infty}
+\frac12\int_{-\infty}^{\infty}e^{-x^2}\,dx=\frac{\sqrt{\pi}}{2}.$$
The boundary term vanishes since $xe^{-x^2}\to0$ at both ends.

The same splitting for $x^{2k}=x^{2k-1}\cdot x$ gives the recursion
$$M_{2k}=\frac{2k-1}{2}\,M_{2k-2},$$
so for instance $M_4=\frac32\cdot\frac{\sqrt{\pi}}{2}=\frac{3\sqrt{\pi}}{4}$. All odd
moments vanish by symmetry, so with this recursion you know all of them.""",
                accepted=True,
                score=11,
            ),
            Answer(
                text=r"""Put in a parameter and differentiate. Rescaling $x\mapsto
x/\sqrt{a}$ in the integral you know gives
$$\int_{-\infty}^{\infty} e^{-ax^2}\,dx=\sqrt{\frac{\pi}{a}}$$
for $a>0$. Differentiate both sides with respect to $a$ (dominated convergence allows
it on every interval $[\delta,\infty)$ with $\delta>0$):
$$-\int_{-\infty}^{\infty}x^2e^{-ax^2}\,dx=-\frac{\sqrt{\pi}}{2}\,a^{-3/2}.$$
Set $a=1$ and you have $\frac{\sqrt{\pi}}{2}$. A second derivative gives the fourth
moment $\frac34\sqrt{\pi}$, and so on; no boundary terms to worry about.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="calculus/exponential-limit",
        title=r"Showing that $\lim_{n\to\infty}\left(1+\frac{x}{n}\right)^n=e^x$",
        question=r"""We defined $e^x$ as the inverse function of
$\ln x=\int_1^x\frac{dt}{t}$. Now an exercise asks for
$$\lim_{n\to\infty}\left(1+\frac{x}{n}\right)^n=e^x$$
for every real $x$. My thought was that $1+\frac{x}{n}\to1$, and $1^n=1$, so the limit
should be $1$. Numerically this is clearly wrong: for $x=1$ and $n=1000$ my calculator
gives $2.7169$.

So first, why is the naive argument not allowed, and second, what is a clean proof with
this definition? I would prefer not to use $e=\sum\frac{1}{k!}$, because that comes
later in the course.""",
        tags=("calculus", "limits", "exponential-function"),
        score=17,
        answers=(
            Answer(
                text=r"""The naive argument freezes one $n$ and lets the other one run;
the two have to move together. In $1^\infty$ forms take the logarithm first. For $n$ so
large that $1+\frac{x}{n}>0$,
$$n\ln\left(1+\frac{x}{n}\right)=x\cdot\frac{\ln\left(1+\frac{x}{n}\right)-\ln
1}{\frac{x}{n}}\qquad(x\ne0).$$
The fraction is a difference quotient of $\ln$ at $1$ with step $h=\frac{x}{n}\to0$, so
it tends to $\ln'(1)=1$. Hence the logarithm tends to $x$, and since $\exp$ is
continuous,
$$\left(1+\frac{x}{n}\right)^n=\exp\left(n\ln\left(1+\frac{x}{n}\right)\right)\to e^x.$$
For $x=0$ there is nothing to prove.""",
                accepted=True,
                score=21,
            ),
            Answer(
                text=r"""With your definition you can squeeze directly. For $t>0$ the
function $1/s$ lies between $\frac{1}{1+t}$ and $1$ on $[1,1+t]$, so
$$\frac{t}{1+t}\le\ln(1+t)\le t.$$
Put $t=\frac{x}{n}$ with $x>0$ and multiply by $n$:
$$\frac{nx}{n+x}\le n\ln\left(1+\frac{x}{n}\right)\le x.$$
Both ends go to $x$. Applying the exponential function, which is continuous and
increasing, gives the claim, together with an error estimate:
$$e^{x-x^2/(n+x)}\le\left(1+\frac xn\right)^n\le e^x.$$
For negative $x$ the same inequality holds for $-1<t<0$, and the proof goes through
once $n>-x$.""",
                score=12,
            ),
            Answer(
                text=r"""For completeness, the proof by the binomial theorem, for
readers who do define $e^x$ by the series. We have
$$\left(1+\frac{x}{n}\right)^n=\sum_{k=0}^{n}\binom{n}{k}\frac{x^k}{n^k}
=\sum_{k=0}^{n}\frac{x^k}{k!}\prod_{j=0}^{k-1}\left(1-\frac{j}{n}\right).$$
For fixed $k$ the product tends to $1$, and it always lies in $[0,1]$, so the $k$-th
term is dominated by $\frac{|x|^k}{k!}$, which is summable. By dominated convergence
for series (Tannery's theorem) the limit may be taken term by term, which gives
$\sum_{k=0}^\infty\frac{x^k}{k!}=e^x$.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="calculus/cos-power-limit",
        title=r"Evaluate $\lim_{x\to0}(\cos x)^{1/x^2}$",
        question=r"""I am stuck with the limit
$$\lim_{x\to0}(\cos x)^{1/x^2}.$$
The base tends to $1$ and the exponent to $+\infty$. My friend says "one to any power is
one", but a table of values suggests about $0.6065$.

I took logarithms and wrote $\frac{\ln(\cos x)}{x^2}$, which is of the form
$\frac{0}{0}$. Then l'Hôpital gives $\frac{-\tan x}{2x}$, and here I am not sure
whether I may apply the rule a second time. Is there a cleaner way, perhaps with
$\cos x=1-\frac{x^2}{2}+\cdots$? How many terms of the expansion do I need to keep?""",
        tags=("calculus", "limits", "taylor-expansion"),
        score=6,
        answers=(
            Answer(
                text=r"""You are nearly there, and no second application is needed:
$$\frac{-\tan x}{2x}=-\frac12\cdot\frac{\sin x}{x}\cdot\frac{1}{\cos x}\to-\frac12.$$
So $\ln$ of your expression tends to $-\frac12$ and the limit is
$$e^{-1/2}=\frac{1}{\sqrt{e}}\approx0.6065.$$
Using the rule twice would also be fine, since $-\frac{\tan x}{2x}$ is again of the form
$\frac00$ and the derivatives are $-\sec^2x$ and $2$. Each time you only have to check
the hypotheses again, there is no limit on how often the rule may be used.""",
                accepted=True,
                score=7,
            ),
            Answer(
                text=r"""With expansions: keep terms up to the order of the denominator,
here $x^2$. From $\cos x=1-\frac{x^2}{2}+O(x^4)$ and $\ln(1+t)=t+O(t^2)$ with
$t=-\frac{x^2}{2}+O(x^4)$ we get
$$\frac{\ln\cos x}{x^2}=\frac{-\frac{x^2}{2}+O(x^4)}{x^2}=-\frac12+O(x^2).$$
Exponentiate to obtain $e^{-1/2}$. Compare with
$\left(1-\frac{1}{2n}\right)^{n}\to e^{-1/2}$, which is the same phenomenon with
$n=1/x^2$: base and exponent race each other, and the product of (base minus one) and
(exponent) decides.""",
                score=5,
            ),
        ),
    ),
    Thread(
        key="calculus/sinc-circular",
        title=r"Is l'Hôpital for $\frac{\sin x}{x}$ circular reasoning?",
        question=r"""In an exam I computed
$$\lim_{x\to0}\frac{\sin x}{x}=\lim_{x\to0}\frac{\cos x}{1}=1$$
and lost all points with the remark "circular". I do not see what is circular: the rule
of l'Hôpital applies because it is a $\frac00$ form, and $(\sin x)'=\cos x$ is in every
table.

Could somebody explain precisely where the circle closes, and give a proof of
$\frac{\sin x}{x}\to1$ that avoids it? Also, would it be acceptable if sine had been
defined by its power series $\sin x=\sum_{k\ge0}\frac{(-1)^kx^{2k+1}}{(2k+1)!}$?""",
        tags=("calculus", "limits", "trigonometry"),
        score=14,
        answers=(
            Answer(
                text=r"""To differentiate sine from the definition you need
$$\lim_{h\to0}\frac{\sin(x+h)-\sin x}{h}
=\sin x\cdot\lim_{h\to0}\frac{\cos h-1}{h}+\cos x\cdot\lim_{h\to0}\frac{\sin h}{h},$$
and the last limit is the one you want to compute. That is the circle.

The geometric proof compares areas on the unit circle for $0<x<\frac{\pi}{2}$: the
small triangle, the sector and the large triangle satisfy
$$\frac{\sin x\cos x}{2}\le\frac{x}{2}\le\frac{\tan x}{2}.$$
Dividing by $\frac{\sin x}{2}$ and taking reciprocals,
$$\cos x\le\frac{\sin x}{x}\le\frac{1}{\cos x}.$$
Both bounds tend to $1$ and the function is even, so the squeeze theorem finishes.""",
                accepted=True,
                score=19,
            ),
            Answer(
                text=r"""It depends on the definition of sine in your course. If
$\sin x$ *is* the power series, then termwise differentiation gives $(\sin x)'=\cos x$
without any geometric limit, and your computation is logically fine, only a bit heavy:
dividing the series by $x$ shows
$$\frac{\sin x}{x}=1-\frac{x^2}{6}+\frac{x^4}{120}-\cdots\to1$$
directly. If sine was defined by the unit circle, then the derivative was proved with
this limit and the argument is circular. Note that the limit is nothing but
$\sin'(0)$, so quoting the rule means quoting the answer.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="calculus/log-denominator",
        title=r"How to attack $\int_0^1\frac{x^a-1}{\ln x}\,dx$?",
        question=r"""I found this in a collection of integrals and have no idea how to
start:
$$\int_0^1\frac{x^a-1}{\ln x}\,dx,\qquad a>-1.$$
The logarithm in the denominator kills every substitution I know. With $x=e^{-t}$ it
becomes $\int_0^\infty\frac{e^{-t}-e^{-(a+1)t}}{t}\,dt$, which looks symmetric but is
still not elementary.

For $a=0$ the value is clearly $0$, and numerically I get $0.6931$ for $a=1$, so I
suspect $\ln(1+a)$. Somebody mentioned "Feynman's trick". What is that, and why is it
allowed?""",
        tags=("calculus", "integration", "parametric-integrals"),
        score=15,
        answers=(
            Answer(
                text=r"""Feynman's trick means: regard the parameter as a variable and
differentiate under the integral sign. Let
$$F(a)=\int_0^1\frac{x^a-1}{\ln x}\,dx.$$
Since $\frac{\partial}{\partial a}x^a=x^a\ln x$, the annoying logarithm cancels:
$$F'(a)=\int_0^1x^a\,dx=\frac{1}{a+1}.$$
With $F(0)=0$ this gives $F(a)=\ln(1+a)$, as you guessed.

Why it is allowed: for $a$ in a compact interval $[\alpha,\beta]\subset(-1,\infty)$ the
derivative $x^a$ is dominated by $x^{\alpha}$ on $(0,1)$, which is integrable. That is
the hypothesis of the theorem on parameter integrals.""",
                accepted=True,
                score=18,
            ),
            Answer(
                text=r"""The same thing can be seen as a double integral, without any
derivative. Observe that for fixed $x\in(0,1)$
$$\frac{x^a-1}{\ln x}=\int_0^a x^{s}\,ds.$$
Now swap the order of integration, which is fine because $x^s>0$ (Tonelli):
$$\int_0^1\int_0^ax^s\,ds\,dx=\int_0^a\int_0^1x^s\,dx\,ds=\int_0^a\frac{ds}{s+1}
=\ln(1+a).$$
Your form after $x=e^{-t}$ is a Frullani integral,
$\int_0^\infty\frac{f(pt)-f(qt)}{t}\,dt=(f(0)-f(\infty))\ln\frac{q}{p}$ with
$f(t)=e^{-t}$, $p=1$ and $q=a+1$. It gives the same value, and the proof of Frullani's
formula is the same interchange again.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="calculus/quartic-without-residues",
        title=r"Elementary evaluation of $\int_0^\infty\frac{dx}{1+x^4}$",
        question=r"""Good evening. I want to evaluate
$$\int_0^\infty\frac{dx}{1+x^4}$$
with first-year methods only, that is, no contour integrals. Since
$\int_0^\infty\frac{dx}{1+x^2}=\frac{\pi}{2}$ is so easy I hoped that $x^2=u$ would
help, but I got $\int_0^\infty\frac{du}{2\sqrt{u}\,(1+u^2)}$ and stopped there.

I also see that $x^4+1$ has no real roots, so partial fractions with linear factors are
impossible. Is there some neat symmetry? The book gives $\frac{\pi}{2\sqrt{2}}$.""",
        tags=("calculus", "definite-integrals", "improper-integrals"),
        score=12,
        related=("complex_analysis/quartic-residues",),
        answers=(
            Answer(
                text=r"""There is. Call the integral $I$. The substitution $x\mapsto
\frac1x$ turns it into
$$I=\int_0^\infty\frac{x^2}{1+x^4}\,dx,$$
so both integrals are equal, and adding them gives
$$2I=\int_0^\infty\frac{1+x^2}{1+x^4}\,dx
=\int_0^\infty\frac{1+\frac{1}{x^2}}{x^2+\frac{1}{x^2}}\,dx.$$
Now $u=x-\frac1x$ has $du=\left(1+\frac{1}{x^2}\right)dx$ and
$x^2+\frac{1}{x^2}=u^2+2$, and $u$ runs over the whole real line. Hence
$$2I=\int_{-\infty}^{\infty}\frac{du}{u^2+2}=\frac{\pi}{\sqrt2},$$
that is $I=\frac{\pi}{2\sqrt2}$. The moral: whenever the integrand contains only $x^2$
or $x^4$, it is worth looking at what $x\mapsto\frac1x$ does to it.""",
                accepted=True,
                score=22,
                comments=(
                    r"Beautiful, this also gives the integral with $x^2$ on top.",
                ),
            ),
            Answer(
                text=r"""Partial fractions do work, only with quadratic factors:
$$x^4+1=(x^2+\sqrt2\,x+1)(x^2-\sqrt2\,x+1).$$
One finds
$$\frac{1}{1+x^4}=\frac{1}{2\sqrt2}\left(\frac{x+\sqrt2}{x^2+\sqrt2\,x+1}
-\frac{x-\sqrt2}{x^2-\sqrt2\,x+1}\right).$$
The logarithmic parts combine to $\frac{1}{4\sqrt2}\ln\frac{x^2+\sqrt2\,x+1}{x^2-\sqrt2
\,x+1}$, which vanishes at $0$ and at $\infty$. What remains are two arctangents,
$$\frac{1}{2\sqrt2}\left[\arctan(\sqrt2\,x+1)+\arctan(\sqrt2\,x-1)\right]_0^\infty
=\frac{1}{2\sqrt2}\cdot\pi,$$
because the values at $0$ cancel. Longer than the symmetry trick, but it also gives the
antiderivative. The factorisation itself comes from completing the square,
$x^4+1=(x^2+1)^2-2x^2$.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="calculus/x-to-the-x",
        title=r"Derivative of $x^x$: power rule or exponential rule?",
        question=r"""What is the derivative of $f(x)=x^x$ for $x>0$?

If I use the power rule, $\frac{d}{dx}x^n=nx^{n-1}$, I get $x\cdot x^{x-1}=x^x$. If I
use the rule for exponentials, $\frac{d}{dx}a^x=a^x\ln a$, I get $x^x\ln x$. My textbook
says
$$f'(x)=x^x(1+\ln x),$$
which funnily is the *sum* of my two wrong answers. Is that a coincidence? And why is
neither of the two rules applicable here?""",
        tags=("calculus", "derivatives"),
        score=10,
        answers=(
            Answer(
                text=r"""The power rule assumes that the exponent is constant, the
exponential rule assumes that the base is constant; here both move. The standard way is
to write
$$x^x=e^{x\ln x}$$
and use the chain rule:
$$\frac{d}{dx}e^{x\ln x}=e^{x\ln x}\cdot\left(\ln x+x\cdot\frac1x\right)
=x^x(\ln x+1).$$
Equivalently, take logarithms, $\ln f=x\ln x$, and differentiate to get
$\frac{f'}{f}=\ln x+1$. As a by-product the minimum is at $x=\frac1e$.""",
                accepted=True,
                score=12,
            ),
            Answer(
                text=r"""The sum is not a coincidence. Consider the function of two
variables $g(u,v)=u^v$ and the path $u=x$, $v=x$. The chain rule in two variables says
$$\frac{d}{dx}g(x,x)=\frac{\partial g}{\partial u}(x,x)
+\frac{\partial g}{\partial v}(x,x).$$
The first partial derivative treats the exponent as constant, so it is the power rule
$vu^{v-1}$; the second treats the base as constant, so it is $u^v\ln u$. At $u=v=x$ they
become your two "wrong" answers, $x^x$ and $x^x\ln x$, and the total derivative is
their sum. The product rule $(fg)'=f'g+fg'$ can be seen the same way with
$g(u,v)=uv$.""",
                score=10,
            ),
        ),
    ),
)

_FRACTION_CASES = ((2, 1, 1, -3, 2), (3, 8, -1, -4, 3), (5, -7, 2, -1, 4))
"""``(p, q, a, b, c)``: the integrand (px+q)/((x-a)(x-b)), and a limit c."""

_FRACTION_WORDINGS = (
    (
        r"Integrating $\frac{%(num)s}{(%(fa)s)(%(fb)s)}$ without solving a system",
        r"""Our tutor does partial fractions by comparing coefficients, and I always
make sign errors. The current exercise is
$$\int\frac{%(num)s}{(%(fa)s)(%(fb)s)}\,dx.$$
I set $\frac{%(num)s}{(%(fa)s)(%(fb)s)}=\frac{A}{%(fa)s}+\frac{B}{%(fb)s}$, multiplied
out, and arrived at two equations in $A$ and $B$ whose solution does not check when I
insert $x=0$.

Is there a faster and safer way to find the two constants? And do I need absolute
values inside the logarithms at the end?""",
        r"""Use the cover-up method. To find $A$, cover the factor $%(fa)s$ and insert
its root $x=%(a)s$ into the rest:
$$A=\frac{%(at_a)s}{%(diff_a)s}=%(A)s,$$
and likewise, with the other factor covered and $x=%(b)s$,
$$B=\frac{%(at_b)s}{%(diff_b)s}=%(B)s.$$
It works because multiplying the ansatz by the covered factor and then letting $x$ tend
to the root kills the other term. The integral is
$$%(primitive)s+C.$$
Keep the absolute values: they make the formula valid on each of the three intervals
that the poles cut out. A quick check for the constants: $A+B$ must be the leading
coefficient $%(p)s$ of the numerator.""",
    ),
    (
        r"Exact value of $\int_{%(lo)s}^{%(hi)s}\frac{%(num)s}{%(den)s}\,dx$",
        r"""Wolfram tells me a decimal, but the assignment wants an exact expression for
$$\int_{%(lo)s}^{%(hi)s}\frac{%(num)s}{%(den)s}\,dx.$$
I noticed that the denominator factors as $%(den)s=(%(fa)s)(%(fb)s)$, hence the
integrand is continuous on the interval $[%(lo)s,%(hi)s]$ and nothing improper happens.
After that I tried $u=%(den)s$, but $du$ is not a multiple of the numerator.

How do I continue from the factorisation?""",
        r"""Decompose into partial fractions. There are constants with
$$\frac{%(num)s}{%(den)s}=\frac{A}{%(fa)s}+\frac{B}{%(fb)s},$$
and clearing denominators gives $%(num)s=A(%(fb)s)+B(%(fa)s)$. Insert the two roots one
after the other: $x=%(a)s$ yields $A=%(A)s$, and $x=%(b)s$ yields $B=%(B)s$. An
antiderivative is therefore
$$F(x)=%(primitive)s,$$
and the value of the integral is $F(%(hi)s)-F(%(lo)s)$, which simplifies to
$$%(value)s\approx%(decimal)s.$$
Your substitution can only work when the numerator is a multiple of the derivative of
the denominator.""",
    ),
    (
        r"Rational function with two simple poles: which logarithms appear?",
        r"""Consider $f(x)=\frac{%(num)s}{(%(fa)s)(%(fb)s)}$ for $x>%(right)s$. I read
that the antiderivative of such a function is always a combination of logarithms, one
for each zero of the denominator. So I expect
$$\int f(x)\,dx=A\ln(%(fa)s)+B\ln(%(fb)s)+C,$$
but how do the numbers $A$ and $B$ come out of $f$? A friend said they are "limits of
$(x-r)f(x)$", which I do not understand. Could somebody show it with this example?""",
        r"""Your friend is right. Suppose the formula holds and differentiate it:
$$f(x)=\frac{A}{%(fa)s}+\frac{B}{%(fb)s}.$$
Multiply by $%(fa)s$ and let $x\to%(a)s$. The second term disappears and what survives
is
$$A=\lim_{x\to%(a)s}(%(fa)s)f(x)=\frac{%(at_a)s}{%(diff_a)s}=%(A)s.$$
In the same manner $B=\lim_{x\to%(b)s}(%(fb)s)f(x)=%(B)s$. So for $x>%(right)s$ we have
$\int f(x)\,dx=%(primitive_plain)s+C$. People in complex analysis call these two
numbers the residues of $f$ at its poles.""",
    ),
)


def _linear(p: int, q: int) -> str:
    """``px+q`` as people write it."""
    head = {1: "x", -1: "-x"}.get(p, f"{p}x")
    return head if q == 0 else f"{head}{q:+d}"


def _key(*numbers: int) -> str:
    """Numbers as a part of a key, ``m`` for minus."""
    return "-".join(str(number).replace("-", "m") for number in numbers)


def _inserted(p: int, q: int, x: int) -> str:
    """``px+q`` with a number in place of x."""
    return rf"{p}\cdot{f'({x})' if x < 0 else x}{q:+d}"


def _difference(a: int, b: int) -> str:
    """``a-b``, not yet worked out."""
    return f"{a}-({b})" if b < 0 else f"{a}-{b}"


def _quadratic(b: int, c: int) -> str:
    """``x^2+bx+c`` as people write it."""
    middle = "" if b == 0 else {1: "+x", -1: "-x"}.get(b, f"{b:+d}x")
    return f"x^2{middle}" + ("" if c == 0 else f"{c:+d}")


def _logarithms(terms: tuple[tuple[Fraction, str], ...]) -> str:
    """A sum of multiples of logarithms, each argument with its own brackets."""
    out = ""
    for factor, argument in terms:
        size = abs(factor)
        number = (
            str(size)
            if size.denominator == 1
            else rf"\frac{{{size.numerator}}}{{{size.denominator}}}"
        )
        sign = "-" if factor < 0 else "+" if out else ""
        out += sign + ("" if size == 1 else number) + rf"\ln{argument}"
    return out


def _fraction_threads(rng: random.Random) -> list[Thread]:
    """Integrals of rational functions with two simple poles."""
    threads = []
    scores = rng.sample(range(2, 12), k=len(_FRACTION_CASES))
    wordings = zip(_FRACTION_CASES, _FRACTION_WORDINGS, scores, strict=True)
    for (p, q, a, b, c), (title, question, answer), score in wordings:
        residue_a = Fraction(p * a + q, a - b)
        residue_b = Fraction(p * b + q, b - a)
        lo, hi = max(a, b) + 1, max(a, b) + 1 + c
        fa, fb = _linear(1, -a), _linear(1, -b)
        absolute = ((residue_a, rf"|{fa}|"), (residue_b, rf"|{fb}|"))
        plain = ((residue_a, f"({fa})"), (residue_b, f"({fb})"))
        value = (
            (residue_a, " " + _latex(Fraction(hi - a, lo - a))),
            (residue_b, " " + _latex(Fraction(hi - b, lo - b))),
        )
        decimal = residue_a * log((hi - a) / (lo - a))
        decimal += residue_b * log((hi - b) / (lo - b))
        values = {
            "p": p,
            "num": _linear(p, q),
            "den": _quadratic(-a - b, a * b),
            "a": a,
            "b": b,
            "fa": fa,
            "fb": fb,
            "A": _latex(residue_a),
            "B": _latex(residue_b),
            "at_a": _inserted(p, q, a),
            "at_b": _inserted(p, q, b),
            "diff_a": _difference(a, b),
            "diff_b": _difference(b, a),
            "right": max(a, b),
            "lo": lo,
            "hi": hi,
            "primitive": _logarithms(absolute),
            "primitive_plain": _logarithms(plain),
            "value": _logarithms(value),
            "decimal": f"{decimal:.4f}",
        }
        threads.append(
            Thread(
                key="calculus/partial-fractions-" + _key(p, q, a, b),
                title=title % values,
                question=question % values,
                tags=("calculus", "integration", "partial-fractions"),
                score=score,
                answers=(Answer(text=answer % values, accepted=True, score=score),),
            )
        )
    return threads


def _latex(value: Fraction) -> str:
    """An exact number in LaTeX."""
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


_BOX_SHEETS = ((8, 5), (24, 15), (21, 16))

_BOX_WORDINGS = (
    (
        r"Open box from a sheet of cardboard, %(l)s by %(w)s inches",
        r"""Classic problem, but I get two answers and do not know which one to trust.
From a rectangular sheet, %(l)s inches by %(w)s inches, equal squares of side $x$ are
cut from the corners and the flaps are folded up. Which $x$ gives the largest volume?

I have $V(x)=x(%(l)s-2x)(%(w)s-2x)=%(cubic)s$ and $V'(x)=%(slope)s$. Setting $V'(x)=0$
leads to $x=%(good)s$ or $x=%(bad)s$. Do I have to test both with the second
derivative?""",
        (
            r"""No test is needed if you look at the domain first. The side $x$ must
leave something of the short edge, so $0<x<\frac{%(w)s}{2}$. The root $x=%(bad)s$ lies
outside, since it would make $%(w)s-2x$ negative. On the closed interval
$\left[0,\frac{%(w)s}{2}\right]$ the continuous function $V$ attains its maximum, it is
$0$ at both ends and positive in between, so the only critical point inside must be the
maximum:
$$V(%(good)s)=%(volume)s$$
cubic inches. (If you insist: $V''(x)=%(curve)s$ and $V''(%(good)s)<0$.)""",
        ),
    ),
    (
        r"Maximise $V(x)=x(%(l)s-2x)(%(w)s-2x)$ — where is the calculus?",
        r"""I was given a metal plate with sides $%(l)s$ and $%(w)s$ and should bend it
into a tray without lid after removing four congruent corner squares. The sample
solution starts with
$$V(x)=x(%(l)s-2x)(%(w)s-2x),\qquad 0\le x\le\frac{%(w)s}{2},$$
and then just states the optimal $x$ and the volume. Please show me the steps in
between; how does one solve the quadratic without a mess, and why is it a maximum and
not a minimum?""",
        (
            r"""Expand first: $V(x)=%(cubic)s$. Then
$$V'(x)=%(slope)s=12(x-%(good)s)(x-%(bad)s),$$
which you can find with the quadratic formula; the discriminant of the quadratic is a
perfect square here, so the textbook author was kind. The factor form shows the signs
without a second derivative: $V'>0$ for $x<%(good)s$ and $V'<0$ between $%(good)s$ and
$%(bad)s$. So the volume increases up to $x=%(good)s$ and decreases afterwards, as far
as $x=\frac{%(w)s}{2}$. The best tray holds $V(%(good)s)=%(volume)s$ cubic units.""",
            r"""A small remark on "why a maximum": at $x=0$ and at $x=\frac{%(w)s}{2}$
the tray has volume zero, and in between $V>0$. A continuous function on a closed
interval has a largest value, it cannot be at the ends, and an interior extremum needs
$V'(x)=0$. Only one of the two zeros, $x=%(good)s$, lies in the interval. For a general
$L\times W$ plate the same reasoning gives
$$x=\frac{L+W-\sqrt{L^2-LW+W^2}}{6}.$$""",
        ),
    ),
    (
        r"Is the optimal cut of a %(l)s × %(w)s rectangle rational by accident?",
        r"""While preparing a worksheet I looked for rectangles $L\times W$ for which
the famous box problem (cut squares of side $x$ from the corners, fold, maximise the
volume) has a rational solution. For $L=%(l)s$ and $W=%(w)s$ I found $x=%(good)s$. In
general
$$V'(x)=12x^2-4(L+W)x+LW$$
so I need $L^2-LW+W^2$ to be a perfect square. Could you confirm the value of the
maximum for this example and tell me how to produce more such pairs?""",
        (
            r"""Confirmed: here $L^2-LW+W^2=%(radicand)s=%(root)s^2$, and the formula
$$x=\frac{L+W-\sqrt{L^2-LW+W^2}}{6}=\frac{%(sum)s-%(root)s}{6}=%(good)s$$
gives the maximal volume $V=%(volume)s$.

For more examples, $L^2-LW+W^2=c^2$ says that $L$, $W$, $c$ are the sides of a triangle
with an angle of $60^\circ$ between $L$ and $W$, by the law of cosines. All such integer
triangles are known: take integers $m>n>0$ and put $L=m^2+2mn$, $W=m^2-n^2$; then
$c=m^2+mn+n^2$. Multiples of a solution work as well.""",
        ),
    ),
)


def _box_threads(rng: random.Random) -> list[Thread]:
    """The open box of largest volume, for sheets with a rational answer."""
    threads = []
    scores = rng.sample(range(1, 9), k=len(_BOX_SHEETS))
    wordings = zip(_BOX_SHEETS, _BOX_WORDINGS, scores, strict=True)
    for (length, width), (title, question, answers), score in wordings:
        radicand = length * length - length * width + width * width
        root = isqrt(radicand)
        good = Fraction(length + width - root, 6)
        bad = Fraction(length + width + root, 6)
        total, area = length + width, length * width
        values = {
            "l": length,
            "w": width,
            "cubic": f"4x^3-{2 * total}x^2+{area}x",
            "slope": f"12x^2-{4 * total}x+{area}",
            "curve": f"24x-{4 * total}",
            "good": _latex(good),
            "bad": _latex(bad),
            "volume": _latex(good * (length - 2 * good) * (width - 2 * good)),
            "radicand": radicand,
            "root": root,
            "sum": total,
        }
        threads.append(
            Thread(
                key=f"calculus/open-box-{length}-{width}",
                title=title % values,
                question=question % values,
                tags=("calculus", "optimization", "derivatives"),
                score=score,
                answers=tuple(
                    Answer(text=text % values, accepted=i == 0, score=score + 2 - i)
                    for i, text in enumerate(answers)
                ),
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """The threads of this area."""
    return [*_HAND_WRITTEN, *_fraction_threads(rng), *_box_threads(rng)]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="calculus/topic-bell-curve-area",
        title=r"Exact area under half of a bell curve",
        question=r"""Simpson's rule tells me that the area under the bell curve to the
right of the axis,
$$\int_0^\infty e^{-x^2}\,dx$$
is about $0.8862$, and squaring this number gives $0.7854$, which is suspiciously close
to $\frac{\pi}{4}$. I looked for an antiderivative of $e^{-x^2}$ for an hour before a
friend told me that there is none in terms of elementary functions.

How can one find the exact value of the area, then? I have not seen polar coordinates
yet and would prefer to avoid them, but I will take any complete derivation.""",
        tags=("calculus", "definite-integrals", "improper-integrals"),
        grades={
            "calculus/gaussian-integral#2": 3,
            "calculus/gaussian-integral#1": 3,
            "calculus/gaussian-integral#3": 2,
            "calculus/gaussian-moment#2": 1,
            "calculus/gaussian-moment#1": 1,
            "calculus/log-denominator#1": 0,
            "calculus/log-denominator#2": 0,
            "calculus/quartic-without-residues#1": 0,
            "calculus/sinc-circular#1": 0,
            "calculus/partial-fractions-3-8-m1-m4#1": 0,
            "complex_analysis/dirichlet-integral#1": 0,
            "complex_analysis/dirichlet-integral#2": 0,
            "complex_analysis/wedge-contour#1": 0,
            "differential_equations/integrating-factor#1": 0,
            "calculus/x-to-the-x#1": 0,
        },
        category="Computation",
        difficulty="Medium",
        dependency="Formula",
    ),
    AnswerTopic(
        key="calculus/topic-continuous-compounding",
        title=r"Interest added every second: why does the money not become infinite?",
        question=r"""If a bank pays the yearly rate $r$ and adds the interest $n$ times
a year, one coin grows to
$$\left(1+\frac{r}{n}\right)^n$$
after one year. Adding the interest more often seems to give more money: for $r=1$ I get
$2$, $2.25$, $2.441$ for $n=1,2,4$. My two questions: does the amount always increase
with $n$, and why does it stay finite when $n\to\infty$? People say that the limit is
$e^r$ and call it continuous compounding. I know limits and logarithms, but I would like
to see an actual proof and not only a table.""",
        tags=("calculus", "limits", "exponential-function", "finance"),
        grades={
            "calculus/exponential-limit#1": 3,
            "calculus/exponential-limit#2": 3,
            "calculus/exponential-limit#3": 3,
            "inequalities/am-gm-monotone#1": 2,
            "inequalities/am-gm-monotone#2": 2,
            "real_analysis/euler-sequence-bounded#1": 2,
            "real_analysis/euler-sequence-bounded#2": 2,
            "calculus/cos-power-limit#1": 1,
            "calculus/cos-power-limit#2": 1,
            "inequalities/bernoulli#1": 0,
            "inequalities/bernoulli#2": 0,
            "inequalities/am-gm-exponential#1": 0,
            "real_analysis/powers-not-uniform#1": 0,
            "real_analysis/nested-root-2#1": 0,
            "real_analysis/monotone-completeness#1": 0,
            "real_analysis/harmonic-unbounded#1": 0,
            "differential_equations/tank-100-5-2#1": 0,
            "calculus/x-to-the-x#1": 0,
            "linear_algebra/power-of-matrix#1": 0,
        },
        category="Proof",
        difficulty="Low",
        dependency="Both",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="calculus/topic-bell-curve-area",
        latex=r"\int_0^\infty e^{-x^2}\,dx",
        grades={
            r"\int_{0}^{\infty} e^{-x^2}\,dx=\frac{\sqrt{\pi}}{2}": 3,
            r"J=\int_{0}^{\infty} e^{-x^2}\,dx": 3,
            r"\int_{-\infty}^{\infty} e^{-x^2}\,dx": 3,
            r"I=\int_{-\infty}^{\infty} e^{-x^2}\,dx": 3,
            r"\int_{-\infty}^{\infty} e^{-x^2}\,dx=\sqrt{\pi}": 3,
            r"\int_{-\infty}^{\infty} e^{-ax^2}\,dx=\sqrt{\frac{\pi}{a}}": 2,
            r"\int_0^\infty \frac{e^{-u}}{2\sqrt{u}}\,du,": 2,
            r"M=\int_{-\infty}^{\infty} x^2e^{-x^2}\,dx.": 1,
            r"\Gamma(s)=\int_0^\infty u^{s-1}e^{-u}\,du,": 1,
            r"F(s)=\int_0^\infty e^{-sx}\,\frac{\sin x}{x}\,dx.": 0,
            r"\int_0^\infty\frac{e^{-t}-e^{-(a+1)t}}{t}\,dt": 0,
            r"\int_0^\infty\frac{dx}{1+x^4}": 0,
            r"\int_0^\infty\frac{dx}{1+x^2}=\frac{\pi}{2}": 0,
            r"\int_0^\infty\frac{\sin x}{x}\,dx": 0,
            r"y=\frac12+Ce^{-x^2}.": 0,
            r"e^{x^2}": 0,
            r"\mu(x)=e^{\int p(x)\,dx}": 0,
        },
    ),
    FormulaTopic(
        topic="calculus/topic-continuous-compounding",
        latex=r"\left(1+\frac{r}{n}\right)^n",
        grades={
            r"\lim_{n\to\infty}\left(1+\frac{x}{n}\right)^n=e^x": 3,
            r"\left(1+\frac xn\right)^n": 3,
            r"\left(1+\frac1n\right)^n": 2,
            r"a_n=\left(1+\frac1n\right)^n.": 2,
            r"\left(1-\frac{1}{2n}\right)^{n}\to e^{-1/2}": 2,
            r"b_n=\left(1+\frac1n\right)^{n+1}.": 1,
            r"1+\frac{x}{n}\to1": 1,
            r"\lim_{x\to0}(\cos x)^{1/x^2}": 1,
            r"(1+x)^n\ge1+nx\qquad(x\ge-1,\ n\in\mathbb{N})": 0,
            r"(1+x)^r\ge1+rx": 0,
            r"a^n\ge1+nx": 0,
            r"\left(1-e^{2\pi i/n}\right)I=-\frac{2\pi i}{n}e^{i\pi/n}.": 0,
            r"y_n=n+\frac1n": 0,
            r"\sum\frac{1}{n(\ln n)^2}": 0,
            r"e^{H_n}=\prod_{k=1}^ne^{1/k}\ge\prod_{k=1}^n\left(1+\frac1k\right) "
            r"=\prod_{k=1}^n\frac{k+1}{k}=n+1.": 0,
        },
    ),
)
