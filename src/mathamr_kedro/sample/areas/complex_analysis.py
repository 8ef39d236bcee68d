"""Complex analysis: residues, entire functions, branches."""

from __future__ import annotations

import random
from fractions import Fraction
from math import isqrt

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_HAND_WRITTEN = (
    Thread(
        key="complex_analysis/quartic-residues",
        title=r"Contour integration of $\int_{-\infty}^{\infty}\frac{dx}{x^4+1}$",
        question=r"""I am practising the residue theorem with
$$\int_{-\infty}^{\infty}\frac{dx}{x^4+1}.$$
My contour is the segment $[-R,R]$ together with the upper half circle
$\Gamma_R=\{Re^{i\varphi}:0\le\varphi\le\pi\}$. The zeros of $z^4+1$ are the four
numbers $e^{i\pi/4},e^{3i\pi/4},e^{5i\pi/4},e^{7i\pi/4}$, and only the first two lie
inside.

Computing the residues by expanding $(z-z_0)\frac{1}{z^4+1}$ is a nightmare. Is there a
trick for simple poles? And how do I argue that the integral over $\Gamma_R$ tends to
zero?""",
        tags=("complex-analysis", "residue-calculus", "improper-integrals"),
        score=16,
        related=("calculus/quartic-without-residues",),
        answers=(
            Answer(
                text=r"""For a simple zero $z_0$ of $q$ the residue of $\frac{1}{q}$ is
$\frac{1}{q'(z_0)}$. Here $q'(z)=4z^3$, and since $z_0^4=-1$ we may write
$$\operatorname{Res}_{z=z_0}\frac{1}{z^4+1}=\frac{1}{4z_0^3}=-\frac{z_0}{4}.$$
The sum of the two relevant residues is
$$-\frac14\left(e^{i\pi/4}+e^{3i\pi/4}\right)=-\frac{i\sqrt2}{4},$$
so the residue theorem gives
$$\int_{-\infty}^{\infty}\frac{dx}{x^4+1}=2\pi i\cdot\left(-\frac{i\sqrt2}{4}\right)
=\frac{\pi}{\sqrt2}.$$
On the arc $|z^4+1|\ge R^4-1$, so its contribution is at most
$\frac{\pi R}{R^4-1}\to0$. By the way, by symmetry the integral over the positive half
axis is half of this value.""",
                accepted=True,
                score=21,
            ),
            Answer(
                text=r"""About the arc, a rule that you can use every time: if $p$ and
$q$ are polynomials with $\deg q\ge\deg p+2$, then on $|z|=R$ we have
$\left|\frac{p(z)}{q(z)}\right|\le\frac{C}{R^2}$ for large $R$, and therefore
$$\left|\int_{\Gamma_R}\frac{p(z)}{q(z)}\,dz\right|\le\pi R\cdot\frac{C}{R^2}
=\frac{C\pi}{R}\to0.$$
So for real rational functions without real poles and with this degree condition
$$\int_{-\infty}^\infty\frac{p(x)}{q(x)}\,dx=2\pi i\sum_{\operatorname{Im}z_k>0}
\operatorname{Res}_{z=z_k}\frac{p}{q}.$$
With $p=1$ and $q=z^4+1$ there are $4\ge2$ degrees to spare.""",
                score=9,
            ),
            Answer(
                text=r"""You can get away with a single residue by using a quarter
circle. Integrate along $[0,R]$, the arc from $R$ to $iR$, and back along the imaginary
axis. Since $(iy)^4=y^4$, the last part equals $-i\int_0^R\frac{dy}{1+y^4}$. With
$I=\int_0^\infty\frac{dx}{1+x^4}$ and the only pole $e^{i\pi/4}$ inside,
$$(1-i)I=2\pi i\cdot\left(-\frac{e^{i\pi/4}}{4}\right),$$
which gives $I=\frac{\pi}{2\sqrt2}$, half of the integral over the line.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="complex_analysis/wedge-contour",
        title=r"Which contour for $\int_0^\infty\frac{dx}{1+x^n}$ when $n$ is odd?",
        question=r"""For even $n$ I can compute $\int_0^\infty\frac{dx}{1+x^n}$ by
symmetry and the upper half circle. For odd $n$, say $n=3$, the integrand is not even
and it has a pole at $x=-1$ on the negative axis, so that approach breaks down.

The answer in the book is
$$\int_0^\infty\frac{dx}{1+x^n}=\frac{\pi/n}{\sin(\pi/n)}\qquad(n\ge2),$$
uniformly for all $n$. What contour is used? Summing $\frac n2$ residues does not look
attractive even in the even case.""",
        tags=("complex-analysis", "contour-integration"),
        score=13,
        answers=(
            Answer(
                text=r"""Use a wedge (a slice of pizza) with angle $\frac{2\pi}{n}$. On
the ray $z=e^{2\pi i/n}x$ we have $z^n=x^n$, so the integrand takes the same values as
on the real axis, and only the factor $dz=e^{2\pi i/n}\,dx$ is different. Exactly one
pole lies inside, $z_0=e^{i\pi/n}$, with residue $\frac{1}{nz_0^{n-1}}=-\frac{z_0}{n}$.
The arc contributes nothing in the limit, hence
$$\left(1-e^{2\pi i/n}\right)I=-\frac{2\pi i}{n}e^{i\pi/n}.$$
Divide by $-e^{i\pi/n}$: the left factor becomes
$e^{i\pi/n}-e^{-i\pi/n}=2i\sin\frac\pi n$, and so
$$I=\frac{\pi/n}{\sin(\pi/n)}.$$""",
                accepted=True,
                score=19,
            ),
            Answer(
                text=r"""With the Beta function you even get a power in the numerator.
For $0<m<n$ substitute $u=\frac{1}{1+x^n}$:
$$\int_0^\infty\frac{x^{m-1}}{1+x^n}\,dx=\frac1nB\left(\frac mn,1-\frac mn\right)
=\frac1n\Gamma\left(\frac mn\right)\Gamma\left(1-\frac mn\right)
=\frac{\pi/n}{\sin(m\pi/n)}.$$
The last step is Euler's reflection formula. Your integral is the case $m=1$; for
example $n=4$ with $m=1$ and $m=3$ give the same value $\frac{\pi}{2\sqrt2}$, because
$\sin\frac{\pi}{4}=\sin\frac{3\pi}{4}$. The formula is valid for real $m$ and $n$ as
well, so the parity of $n$ plays no role at all.""",
                score=11,
            ),
        ),
    ),
    Thread(
        key="complex_analysis/dirichlet-integral",
        title=r"Contour for $\int_0^\infty\frac{\sin x}{x}\,dx$: a pole on the path",
        question=r"""I would like to compute
$$\int_0^\infty\frac{\sin x}{x}\,dx$$
by contour integration. My first idea, to integrate $\frac{\sin z}{z}$ over a half
circle, does not work because $\sin z$ is huge on the imaginary axis. So I replaced
$\sin x$ by the imaginary part of $e^{ix}$. But now $\frac{e^{iz}}{z}$ has a pole at
$z=0$, right on my path!

How is one supposed to walk around the pole, and does it count as inside or outside? I
also wonder whether the integral converges absolutely.""",
        tags=("complex-analysis", "contour-integration", "improper-integrals"),
        score=15,
        answers=(
            Answer(
                text=r"""Walk around the origin on a small half circle
$\gamma_\varepsilon$ above it, so the pole is outside and the closed contour integral is
zero. The pieces: the two segments give
$$\int_\varepsilon^R\frac{e^{ix}-e^{-ix}}{x}\,dx
=2i\int_\varepsilon^R\frac{\sin x}{x}\,dx,$$
the big arc tends to $0$ by Jordan's lemma, and the small half circle, traversed
clockwise, gives $-\pi i\operatorname{Res}_{z=0}\frac{e^{iz}}{z}=-\pi i$ in the limit,
"half a residue". Altogether $2i\int_0^\infty\frac{\sin x}{x}\,dx-\pi i=0$, which is the
claim. The convergence is only conditional, since
$\int_0^\infty\left|\frac{\sin x}{x}\right|dx=\infty$.""",
                accepted=True,
                score=17,
            ),
            Answer(
                text=r"""A real method for comparison. For $s>0$ put
$$F(s)=\int_0^\infty e^{-sx}\,\frac{\sin x}{x}\,dx.$$
Differentiating under the integral sign cancels the $x$:
$$F'(s)=-\int_0^\infty e^{-sx}\sin x\,dx=-\frac{1}{1+s^2}.$$
So $F(s)=C-\arctan s$, and $F(s)\to0$ for $s\to\infty$ shows $C=\frac\pi2$. Finally let
$s\to0^+$ (this needs an argument, e.g. integration by parts to get uniform convergence)
to obtain $F(0)=\frac\pi2$. The factor $e^{-sx}$ is what makes everything converge
absolutely in the meantime.""",
                score=12,
            ),
        ),
    ),
    Thread(
        key="complex_analysis/bounded-real-part",
        title=r"Entire function with $\operatorname{Re}f(z)\le M$ must be constant",
        question=r"""Liouville's theorem says that a bounded entire function is
constant. In an exercise only the real part is bounded from above: $f$ is entire and
$$\operatorname{Re}f(z)\le M\qquad\text{for all }z\in\mathbb{C}.$$
Show that $f$ is constant.

I cannot apply Liouville directly because $|f|$ might be unbounded in the direction of
the imaginary axis. I thought about writing $f=u+iv$ and using that $u$ is harmonic, but
we have not proved anything about bounded harmonic functions yet. A hint would be
enough.""",
        tags=("complex-analysis", "entire-functions"),
        score=11,
        answers=(
            Answer(
                text=r"""Hint: find an entire function of $f$ whose modulus depends only
on $\operatorname{Re}f$. The exponential does exactly this. Let $g(z)=e^{f(z)}$; then
$g$ is entire and
$$|g(z)|=e^{\operatorname{Re}f(z)}\le e^M.$$
By Liouville $g$ is constant, so $0=g'=f'e^f$, and since $e^f$ has no zeros, $f'=0$.
Hence $f$ is constant. For a bound on the imaginary part consider $e^{-if}$ instead.""",
                accepted=True,
                score=18,
            ),
            Answer(
                text=r"""Geometrically: $f$ misses a whole half plane, and half planes
can be moved to discs. Consider
$$h(z)=\frac{1}{M+1-f(z)}.$$
The denominator has real part at least $1$, so it has no zeros and
$|h(z)|\le1$. Liouville says that $h$ is constant, and so is $f=M+1-\frac1h$. The same
argument works as soon as the values of $f$ stay away from some small disc
$|w-w_0|<r$: take $\frac{1}{f-w_0}$. So the image of a non-constant entire function is
dense in $\mathbb{C}$.""",
                score=10,
            ),
        ),
    ),
    Thread(
        key="complex_analysis/polynomial-growth",
        title=r"$|f(z)|\le C(1+|z|^k)$ implies that $f$ is a polynomial",
        question=r"""Suppose that $f$ is entire and that there are constants $C>0$ and
$k\in\mathbb{N}$ with
$$|f(z)|\le C(1+|z|^k)\qquad(z\in\mathbb{C}).$$
I want to prove that $f$ is a polynomial of degree at most $k$. For $k=0$ this is
Liouville's theorem. In the power series $f(z)=\sum_{n\ge0}a_nz^n$ I have to show
$a_n=0$ for $n>k$. Does one estimate the coefficients, and with which formula? I am also
curious whether it is enough to have the bound only for $|z|=R_j$ with a sequence
$R_j\to\infty$.""",
        tags=("complex-analysis", "entire-functions", "cauchy-integral-formula"),
        score=10,
        answers=(
            Answer(
                text=r"""Cauchy's formula for the coefficients is
$$a_n=\frac{1}{2\pi i}\oint_{|z|=R}\frac{f(z)}{z^{n+1}}\,dz,$$
and the standard estimate (length of the circle times maximum) gives
$$|a_n|\le\frac{1}{2\pi}\cdot2\pi R\cdot\frac{C(1+R^k)}{R^{n+1}}=\frac{C(1+R^k)}{R^n}.$$
For $n>k$ the right-hand side tends to $0$ as $R\to\infty$, while the left side does not
depend on $R$. So $a_n=0$. You see that only the circles $|z|=R$ matter, hence a
sequence of radii $R_j\to\infty$ is enough.""",
                accepted=True,
                score=14,
            ),
            Answer(
                text=r"""Alternatively by induction on $k$, using Liouville as the base.
The function
$$g(z)=\frac{f(z)-f(0)}{z}$$
has a removable singularity at $0$, so it is entire, and for $|z|\ge1$ it satisfies
$|g(z)|\le C'(1+|z|^{k-1})$. By the induction hypothesis $g$ is a polynomial of degree
at most $k-1$, therefore $f(z)=f(0)+zg(z)$ is one of degree at most $k$. No coefficients
needed.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="complex_analysis/essential-singularity",
        title=r"Computing $\oint_{|z|=1}z^2e^{1/z}\,dz$ with an essential singularity",
        question=r"""All the rules for residues in my notes are for poles: multiply by
$(z-z_0)^m$, differentiate $m-1$ times, and so on. Now I have
$$\oint_{|z|=1}z^2e^{1/z}\,dz,$$
and $z=0$ is an essential singularity of $e^{1/z}$, so there is no $m$ that works. Is
the residue theorem still valid? How do I find the residue? The integral should be
$2\pi i\operatorname{Res}_{z=0}$ of something, but of what...""",
        tags=("complex-analysis", "residue-calculus", "laurent-series"),
        score=8,
        answers=(
            Answer(
                text=r"""The theorem is valid for all isolated singularities. The
residue is *defined* as the coefficient of $z^{-1}$ in the Laurent series, and here the
series is easy to write down:
$$z^2e^{1/z}=z^2\sum_{n=0}^\infty\frac{1}{n!\,z^n}
=z^2+z+\frac12+\frac{1}{6z}+\frac{1}{24z^2}+\cdots$$
So the residue at $0$ is $\frac{1}{3!}=\frac16$, and the integral equals
$2\pi i\cdot\frac16=\frac{\pi i}{3}$. The rules for poles are only shortcuts to find the
same coefficient.""",
                accepted=True,
                score=11,
            ),
            Answer(
                text=r"""You can also get rid of the essential singularity by the
substitution $w=\frac1z$. Then $dz=-\frac{dw}{w^2}$, and the unit circle is mapped to
itself with the opposite orientation, so the two minus signs cancel:
$$\oint_{|z|=1}z^2e^{1/z}\,dz=\oint_{|w|=1}\frac{e^w}{w^4}\,dw.$$
Now there is a pole of order $4$ and your rule applies, the third derivative of $e^w$ at
$0$ divided by $3!$. The result is $\frac{2\pi i}{6}$ again.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="complex_analysis/conjugate",
        title=r"Why is $f(z)=\bar z$ not complex differentiable anywhere?",
        question=r"""As a map of the plane, $f(z)=\bar z$ is just the reflection
$(x,y)\mapsto(x,-y)$. It is linear, so as a map $\mathbb{R}^2\to\mathbb{R}^2$ it is
infinitely often differentiable. Nevertheless the lecture says that it is *nowhere*
complex differentiable.

How can a function be so smooth and not differentiable at the same time? I do see that
the limit
$$\lim_{h\to0}\frac{\overline{z+h}-\bar z}{h}$$
must exist, but I have no feeling for what goes wrong.""",
        tags=("complex-analysis", "cauchy-riemann-equations"),
        score=9,
        answers=(
            Answer(
                text=r"""The difference quotient is $\frac{\bar h}{h}$, independent of
$z$. If $h$ is real, it equals $1$; if $h=it$ is purely imaginary, it equals
$$\frac{\overline{it}}{it}=\frac{-it}{it}=-1.$$
So the limit for $h\to0$ depends on the direction and does not exist. In polar form
$h=re^{i\varphi}$ the quotient is $e^{-2i\varphi}$, so every point of the unit circle
occurs. Complex differentiability asks that the *same* complex number works as slope in
all directions, which is much more than real differentiability.""",
                accepted=True,
                score=13,
            ),
            Answer(
                text=r"""Think about the derivative as a linear map. Real
differentiability asks for some real $2\times2$ matrix, complex differentiability asks
that this matrix is multiplication by a complex number $a+ib$, that is, of the form
$$\begin{pmatrix}a&-b\\b&a\end{pmatrix},$$
a rotation combined with a scaling. The entries are the Cauchy–Riemann equations
$u_x=v_y$ and $u_y=-v_x$. For the reflection the matrix is
$\begin{pmatrix}1&0\\0&-1\end{pmatrix}$, which has determinant $-1$ and reverses
orientation; no rotation does that. In short,
$\frac{\partial f}{\partial\bar z}=1\ne0$.""",
                score=10,
            ),
        ),
    ),
    Thread(
        key="complex_analysis/log-product",
        title=r"When is $\mathrm{Log}(zw)=\mathrm{Log}\,z+\mathrm{Log}\,w$?",
        question=r"""For positive numbers $\ln(xy)=\ln x+\ln y$. For the principal
branch $\mathrm{Log}\,z=\ln|z|+i\operatorname{Arg}z$ with
$-\pi<\operatorname{Arg}z\le\pi$ I proved the same rule as follows: both sides have the
same exponential, $e^{\mathrm{Log}(zw)}=zw=e^{\mathrm{Log}\,z+\mathrm{Log}\,w}$,
so they are equal.

But with $z=w=-1$ I get $\mathrm{Log}\,1=0$ on the left and $2\pi i$ on the right.
Which step of my proof is wrong, and for which $z,w$ does the rule hold?""",
        tags=("complex-analysis", "logarithms", "branch-cuts"),
        score=8,
        answers=(
            Answer(
                text=r"""The last step: $e^a=e^b$ does not imply $a=b$ for complex
numbers, only
$$a-b\in2\pi i\mathbb{Z},$$
because the exponential is periodic. So what you proved is
$\mathrm{Log}(zw)=\mathrm{Log}\,z+\mathrm{Log}\,w+2\pi ik$ with some
$k\in\{-1,0,1\}$. The right choice is the one that brings the imaginary part into
$(-\pi,\pi]$, hence $k=0$ if and only if
$$-\pi<\operatorname{Arg}z+\operatorname{Arg}w\le\pi.$$
For example it always holds when both numbers have positive real part.""",
                accepted=True,
                score=12,
            ),
            Answer(
                text=r"""It may help to think of the logarithm as a *set* of numbers,
$$\log z=\{\ln|z|+i(\arg z+2\pi k):k\in\mathbb{Z}\}.$$
For these sets the rule $\log(zw)=\log z+\log w$ is always true, where the sum means all
sums of an element of the first and an element of the second set. The trouble starts
when we select one element with $-\pi<\operatorname{Arg}z\le\pi$, that is, by cutting
the plane along the negative axis: multiplying two numbers adds their angles, and the
sum may jump over the cut. That is why $\sqrt{zw}=\sqrt z\sqrt w$ fails for the
principal branch as well.""",
                score=5,
            ),
        ),
    ),
)


def _latex(value: Fraction) -> str:
    """An exact number in LaTeX."""
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _times_pi(value: Fraction) -> str:
    """A positive rational multiple of pi in LaTeX."""
    top = r"\pi" if value.numerator == 1 else rf"{value.numerator}\pi"
    return top if value.denominator == 1 else rf"\frac{{{top}}}{{{value.denominator}}}"


_POLES_CASES = ((1, 2), (1, 3), (2, 3))

_POLES_WORDINGS = (
    (
        r"Residues of $\frac{1}{(z^2+%(aa)s)(z^2+%(bb)s)}$ in the upper half plane",
        r"""For homework I need the value of
$$\int_{-\infty}^\infty\frac{dx}{(x^2+%(aa)s)(x^2+%(bb)s)}$$
by means of residues. The poles in the upper half plane are $%(ia)s$ and $%(ib)s$. I am
able to compute the residue at $%(ia)s$ by factoring $z^2+%(aa)s=(z-%(ia)s)(z+%(ia)s)$,
but the result is imaginary although the integral is real. Should the imaginary parts
cancel when I add the second residue?""",
        (
            r"""They should *not* cancel: the residue theorem has the factor $2\pi i$ in
front, so purely imaginary residues are exactly what you want. Let
$f(z)=\frac{1}{(z^2+%(aa)s)(z^2+%(bb)s)}$. Then
$$\operatorname{Res}_{z=%(ia)s}f=\frac{1}{%(two_ia)s(%(bb)s-%(aa)s)}=\frac{1}{%(ra)si},
\qquad\operatorname{Res}_{z=%(ib)s}f=\frac{1}{%(two_ib)s\cdot(%(aa)s-%(bb)s)}
=-\frac{1}{%(rb)si}.$$
Hence the integral equals
$$2\pi i\left(\frac{1}{%(ra)si}-\frac{1}{%(rb)si}\right)=%(value)s.$$
The half circle contributes nothing because the integrand decays like $R^{-4}$ there. In
general, a real result must come out for a real integrand, so a nonzero imaginary part
at the end is a sign that a residue is wrong.""",
        ),
    ),
    (
        r"Closing the contour below instead of above: sign of the result?",
        r"""Take $g(z)=\frac{1}{(z^2+%(aa)s)(z^2+%(bb)s)}$. Closing the contour in the
upper half plane I found $\int_{-\infty}^\infty g(x)\,dx=%(value)s$. To check, I closed
it in the lower half plane with the poles $-%(ia)s$ and $-%(ib)s$, and got $-%(value)s$.
The integrand is positive, so the second result is certainly wrong, but what is the
rule? Is one only allowed to use the upper half plane?""",
        (
            r"""You may use either half plane, but the orientation changes. The segment
from $-R$ to $R$ followed by the *lower* half circle runs clockwise, so the residue
theorem gets a minus sign:
$$\int_{-\infty}^\infty g(x)\,dx=-2\pi i\sum_{\operatorname{Im}z_k<0}
\operatorname{Res}_{z=z_k}g.$$
Since $g$ is even, its residues at $-%(ia)s$ and $-%(ib)s$ are the negatives of those at
$%(ia)s$ and $%(ib)s$, so both ways give $%(value)s$. For integrands with
$e^{i\omega x}$ you do not have the choice any more: the sign of $\omega$ decides where
the exponential is small.""",
            r"""A sanity check that needs no contour at all is partial fractions,
$$\frac{1}{(x^2+%(aa)s)(x^2+%(bb)s)}=\frac{1}{%(gap)s}\left(\frac{1}{x^2+%(aa)s}
-\frac{1}{x^2+%(bb)s}\right),$$
together with $\int_{-\infty}^\infty\frac{dx}{x^2+c^2}=\frac{\pi}{c}$ for $c>0$, which
everybody knows from the arctangent. This gives
$\frac{1}{%(gap)s}\left(%(pi_a)s-%(pi_b)s\right)=%(value)s$, so your first result is the
right one. In the second one you forgot that the lower contour is negatively
oriented.""",
        ),
    ),
    (
        r"Pattern behind $\int_{-\infty}^\infty\frac{dx}{(x^2+%(aa)s)(x^2+%(bb)s)}$",
        r"""Experimenting with a computer algebra system I noticed that
$$J(a,b)=\int_{-\infty}^\infty\frac{dx}{(x^2+a^2)(x^2+b^2)}$$
is always a rational multiple of $\pi$ for positive integers, for example
$J(%(a)s,%(b)s)=%(value)s$. It looks as if $J(a,b)=\frac{\pi}{ab(a+b)}$. Is that true
for all $a,b>0$? In particular for $a=b$ there is a double pole, and my calculation with
two simple poles divides by $b^2-a^2$, which is zero then.""",
        (
            r"""It is true. For $a\ne b$ the residues at $ia$ and $ib$ are
$\frac{1}{2ia(b^2-a^2)}$ and $\frac{1}{2ib(a^2-b^2)}$, so
$$J(a,b)=\frac{\pi}{b^2-a^2}\left(\frac1a-\frac1b\right)
=\frac{\pi}{b^2-a^2}\cdot\frac{b-a}{ab}=\frac{\pi}{ab(a+b)},$$
and the dangerous factor $b-a$ cancels. With $a=%(a)s$, $b=%(b)s$ you get your
$%(value)s$. For $a=b$ let $b\to a$; the integral depends continuously on $b$ (dominated
convergence), so $J(a,a)=\frac{\pi}{2a^3}$. The residue at the double pole $ia$ gives
the same.""",
        ),
    ),
)


def _pole_threads(rng: random.Random) -> list[Thread]:
    """Integrals of 1/((x^2+a^2)(x^2+b^2)) over the line."""
    threads = []
    scores = rng.sample(range(1, 10), k=len(_POLES_CASES))
    wordings = zip(_POLES_CASES, _POLES_WORDINGS, scores, strict=True)
    for (a, b), (title, question, answers), score in wordings:
        gap = b * b - a * a
        values = {
            "a": a,
            "b": b,
            "aa": a * a,
            "bb": b * b,
            "ia": "i" if a == 1 else f"{a}i",
            "ib": f"{b}i",
            "two_ia": f"{2 * a}i",
            "two_ib": f"{2 * b}i",
            "ra": 2 * a * gap,
            "rb": 2 * b * gap,
            "gap": gap,
            "pi_a": _times_pi(Fraction(1, a)),
            "pi_b": _times_pi(Fraction(1, b)),
            "value": _times_pi(Fraction(1, a * b * (a + b))),
        }
        threads.append(
            Thread(
                key=f"complex_analysis/two-quadratics-{a}-{b}",
                title=title % values,
                question=question % values,
                tags=("complex-analysis", "residue-calculus"),
                score=score,
                answers=tuple(
                    Answer(text=text % values, accepted=i == 0, score=score + 2 - i)
                    for i, text in enumerate(answers)
                ),
            )
        )
    return threads


_COSINE_CASES = ((5, 4), (5, 3), (13, 5))

_COSINE_WORDINGS = (
    (
        r"Evaluating $\int_0^{2\pi}\frac{d\theta}{%(a)s+%(b)s\cos\theta}$ "
        r"by the substitution $z=e^{i\theta}$",
        r"""We learned that integrals of rational functions of $\cos\theta$ and
$\sin\theta$ over a full period become contour integrals over the unit circle. I try
$$\int_0^{2\pi}\frac{d\theta}{%(a)s+%(b)s\cos\theta}.$$
With $z=e^{i\theta}$, $\cos\theta=\frac12\left(z+\frac1z\right)$ and
$d\theta=\frac{dz}{iz}$ I arrive at $\frac2i\oint\frac{dz}{%(b)sz^2+%(aa)sz+%(b)s}$.
Both roots of the denominator are real; which of them count? And is there a quick way to
see that none of them lies on the circle itself?""",
        (
            r"""Only the root inside the unit circle. The roots of
$%(b)sz^2+%(aa)sz+%(b)s$ are
$$z_\pm=\frac{-%(a)s\pm\sqrt{%(a)s^2-%(b)s^2}}{%(b)s}=\frac{-%(a)s\pm%(s)s}{%(b)s},$$
that is $z_+=%(zp)s$ and $z_-=%(zm)s$. Their product is $1$, so exactly one of them,
$z_+$, lies inside. The residue there is $\frac{1}{%(b)s(z_+-z_-)}=\frac{1}{%(ss)s}$,
and the integral is
$$\frac2i\cdot2\pi i\cdot\frac{1}{%(ss)s}=%(value)s.$$
Since $%(a)s+%(b)s\cos\theta>0$ everywhere, a positive result is plausible. The
condition $a>|b|$ also guarantees that no root lies on the circle.""",
        ),
    ),
    (
        r"Zero for a positive integrand? The substitution $t=\tan\frac\theta2$ in "
        r"$\int_0^{2\pi}\frac{d\theta}{%(a)s+%(b)s\cos\theta}$",
        r"""I used the Weierstrass substitution $t=\tan\frac\theta2$ with
$\cos\theta=\frac{1-t^2}{1+t^2}$ and $d\theta=\frac{2\,dt}{1+t^2}$ and found the
antiderivative $%(two_s)s\arctan\left(%(ratio)st\right)$. Inserting the limits
$\theta=0$ and $\theta=2\pi$, both times $t=0$, so the integral would be $0$. This is
absurd because the integrand is positive. What went wrong, and would complex methods
avoid the problem?""",
        (
            r"""The substitution jumps at $\theta=\pi$, where $\tan\frac\theta2$ runs to
$+\infty$ and comes back from $-\infty$. Integrate over $(-\pi,\pi)$ instead, which is
also a full period; then $t$ runs once through the whole real line and
$$\int_{-\pi}^{\pi}\frac{d\theta}{%(a)s+%(b)s\cos\theta}=%(two_s)s\left[
\arctan\left(%(ratio)st\right)\right]_{-\infty}^{\infty}=%(two_s)s\cdot\pi=%(value)s.$$
No complex numbers needed, only care with the domain. In other words, your
antiderivative is correct on $(-\pi,\pi)$ but it is not continuous on $[0,2\pi]$, so the
fundamental theorem of calculus does not apply there.""",
            r"""The complex method does avoid it, because $z=e^{i\theta}$ is smooth on
the whole circle. One gets
$$\frac2i\oint_{|z|=1}\frac{dz}{%(b)sz^2+%(aa)sz+%(b)s},$$
with one simple pole $z_+=%(zp)s$ inside. The general result for $a>|b|$ is
$$\int_0^{2\pi}\frac{d\theta}{a+b\cos\theta}=\frac{2\pi}{\sqrt{a^2-b^2}},$$
here $\frac{2\pi}{%(s)s}=%(value)s$. As a bonus the formula shows that the sign of $b$
does not matter, which is also clear from the shift $\theta\mapsto\theta+\pi$.""",
        ),
    ),
    (
        r"Mean value of $\frac{1}{%(a)s+%(b)s\cos\theta}$ from a geometric series",
        r"""The mean value of $h(\theta)=\frac{1}{%(a)s+%(b)s\cos\theta}$ over a period
is $\frac{1}{2\pi}\int_0^{2\pi}h(\theta)\,d\theta$, and according to my table of
integrals it equals $\frac{1}{%(s)s}$. I wonder if there is an explanation without
residues, for example by expanding $h$ into a Fourier series whose constant term is the
mean value. I started with
$\frac{1}{%(a)s}\sum_n\left(-\frac{%(b)s}{%(a)s}\cos\theta\right)^n$ but then I have to
average powers of the cosine.""",
        (
            r"""Choose a better geometric series. With $r=%(r)s$ one has
$%(a)s+%(b)s\cos\theta=%(half)s\,(1+re^{i\theta})(1+re^{-i\theta})$, as you check by
multiplying out, and the well-known Poisson kernel gives
$$\frac{1-r^2}{(1+re^{i\theta})(1+re^{-i\theta})}
=1+2\sum_{n=1}^\infty(-r)^n\cos n\theta.$$
Therefore $h(\theta)=\frac{1}{%(s)s}\left(1+2\sum_{n\ge1}(-r)^n\cos n\theta\right)$, and
all terms except the constant one average to zero. So the mean is $\frac{1}{%(s)s}$ and
the integral over a period is $%(value)s$. You get all Fourier coefficients for
free.""",
        ),
    ),
)


def _cosine_threads(rng: random.Random) -> list[Thread]:
    """Integrals of 1/(a+b cos) over a period, with an integer root."""
    threads = []
    scores = rng.sample(range(2, 12), k=len(_COSINE_CASES))
    wordings = zip(_COSINE_CASES, _COSINE_WORDINGS, scores, strict=True)
    for (a, b), (title, question, answers), score in wordings:
        s = isqrt(a * a - b * b)
        r = Fraction(a - s, b)
        ratio = Fraction(s, a + b)
        values = {
            "a": a,
            "b": b,
            "aa": 2 * a,
            "s": s,
            "ss": 2 * s,
            "two_s": _latex(Fraction(2, s)),
            "zp": _latex(-r),
            "zm": _latex(-1 / r),
            "r": _latex(r),
            "ratio": _latex(ratio),
            "half": _latex(Fraction(b) / (2 * r)),
            "value": _times_pi(Fraction(2, s)),
        }
        threads.append(
            Thread(
                key=f"complex_analysis/cosine-period-{a}-{b}",
                title=title % values,
                question=question % values,
                tags=("complex-analysis", "definite-integrals"),
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
    return [*_HAND_WRITTEN, *_pole_threads(rng), *_cosine_threads(rng)]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="complex_analysis/topic-square-over-quartic",
        title=r"A rational integrand with $x^2$ upstairs and a quartic downstairs",
        question=r"""For a problem in signal processing I need the exact value of
$$\int_{-\infty}^{\infty}\frac{x^2}{1+x^4}\,dx$$
Numerically it is about $2.2214$, which seems to be $\frac{\pi}{\sqrt2}$. The integrand
decays only like $\frac{1}{x^2}$, so I am not sure whether the usual half circle
argument is allowed, and with four complex poles the computation looks long. Which way
would you go: residues, or some real substitution that exploits a symmetry? I would be
glad to see the main steps.""",
        tags=("complex-analysis", "improper-integrals", "residue-calculus"),
        grades={
            "calculus/quartic-without-residues#1": 3,
            "complex_analysis/wedge-contour#2": 3,
            "complex_analysis/quartic-residues#1": 2,
            "complex_analysis/quartic-residues#2": 2,
            "complex_analysis/quartic-residues#3": 2,
            "calculus/quartic-without-residues#2": 1,
            "complex_analysis/wedge-contour#1": 1,
            "complex_analysis/two-quadratics-1-2#1": 1,
            "complex_analysis/dirichlet-integral#1": 0,
            "complex_analysis/dirichlet-integral#2": 0,
            "complex_analysis/cosine-period-5-4#1": 0,
            "complex_analysis/essential-singularity#1": 0,
            "complex_analysis/polynomial-growth#1": 0,
            "calculus/gaussian-moment#1": 0,
            "calculus/log-denominator#1": 0,
            "calculus/partial-fractions-2-1-1-m3#1": 0,
        },
        category="Computation",
        difficulty="Medium",
        dependency="Formula",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="complex_analysis/topic-square-over-quartic",
        latex=r"\int_{-\infty}^{\infty}\frac{x^2}{1+x^4}\,dx",
        grades={
            r"I=\int_0^\infty\frac{x^2}{1+x^4}\,dx,": 3,
            r"2I=\int_0^\infty\frac{1+x^2}{1+x^4}\,dx =\int_0^\infty"
            r"\frac{1+\frac{1}{x^2}}{x^2+\frac{1}{x^2}}\,dx.": 2,
            r"\int_{-\infty}^{\infty}\frac{dx}{x^4+1}": 2,
            r"\int_0^\infty\frac{dx}{1+x^4}": 2,
            r"\int_0^\infty\frac{x^{m-1}}{1+x^n}\,dx=\frac1nB\left(\frac mn,1-\frac "
            r"mn\right) =\frac1n\Gamma\left(\frac mn\right)\Gamma\left(1-\frac "
            r"mn\right) =\frac{\pi/n}{\sin(m\pi/n)}.": 2,
            r"\int_0^\infty\frac{dx}{1+x^n}": 1,
            r"\int_0^\infty\frac{du}{2\sqrt{u}\,(1+u^2)}": 1,
            r"\int_{-\infty}^{\infty} e^{-x^2}\,dx": 0,
            r"M=\int_{-\infty}^{\infty} x^2e^{-x^2}\,dx.": 0,
            r"\int_0^\infty\frac{\sin x}{x}\,dx": 0,
            r"\int_0^1\frac{x^a-1}{\ln x}\,dx": 0,
            r"f(x)=\frac{\sin(x^4)}{1+x^2}.": 0,
            r"\oint_{|z|=1}z^2e^{1/z}\,dz": 0,
            r"\int_0^{2\pi}\frac{d\theta}{a+b\cos\theta}="
            r"\frac{2\pi}{\sqrt{a^2-b^2}},": 0,
        },
    ),
)
