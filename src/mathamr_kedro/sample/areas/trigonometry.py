"""Trigonometry: identities, exact values, equations, triangles."""

from __future__ import annotations

import random
from math import acos, asin, atan2, degrees, sqrt

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_SUMS_AND_PRODUCTS = (
    Thread(
        key="trigonometry/sum-of-sines",
        title=r"Closed form for $\sin x+\sin 2x+\dots+\sin nx$",
        question=r"""
        I am looking for a closed form of
        $$S_n=\sum_{k=1}^{n}\sin kx.$$
        With complex numbers one can sum the geometric series $\sum e^{ikx}$, but my
        course has not introduced complex numbers yet. Is there an elementary trick? I
        assume that $x$ is not a multiple of $2\pi$.
        """,
        tags=("trigonometry", "summation", "trigonometric-series"),
        score=13,
        answers=(
            Answer(
                r"""
                Multiply by $2\sin\frac x2$ and use
                $2\sin a\sin b=\cos(a-b)-\cos(a+b)$. Each term becomes a difference,
                $$2\sin\tfrac x2\sin kx=\cos\bigl(k-\tfrac12\bigr)x
                -\cos\bigl(k+\tfrac12\bigr)x,$$
                and the sum telescopes to $\cos\frac x2-\cos\bigl(n+\frac12\bigr)x$. So
                $$S_n=\frac{\cos\frac x2-\cos\bigl(n+\frac12\bigr)x}{2\sin\frac x2}
                =\frac{\sin\frac{nx}2\,\sin\frac{(n+1)x}2}{\sin\frac x2}.$$
                The same trick works for cosines and for any arithmetic progression of
                angles: multiply by twice the sine of half the step.
                """,
                accepted=True,
                score=24,
            ),
            Answer(
                r"""
                Once you know complex numbers: $S_n$ is the imaginary part of
                $$\sum_{k=1}^{n}e^{ikx}=e^{ix}\,\frac{e^{inx}-1}{e^{ix}-1}
                =e^{i(n+1)x/2}\,\frac{\sin\frac{nx}2}{\sin\frac x2},$$
                where I took $e^{inx/2}$ and $e^{ix/2}$ out of the numerator and the
                denominator. The real part gives the sum of the cosines for free.
                """,
                score=15,
                comments=(r"So $\sum\cos kx$ has $\cos\frac{(n+1)x}2$ in its place.",),
            ),
        ),
    ),
    Thread(
        key="trigonometry/sum-odd-cosines",
        title=r"Prove $\cos x+\cos 3x+\cos 5x=\frac{\sin 6x}{2\sin x}$",
        question=r"""
        A worksheet asks to prove
        $$\cos x+\cos 3x+\cos 5x=\frac{\sin 6x}{2\sin x}$$
        for $\sin x\ne 0$. I tried to write everything in powers of $\cos x$, but that
        becomes very long. Which identity should I use?
        """,
        tags=("trigonometry", "summation"),
        score=5,
        answers=(
            Answer(
                r"""
                Multiply by $2\sin x$ and use $2\sin x\cos kx=\sin(k+1)x-\sin(k-1)x$:
                $$2\sin x\,(\cos x+\cos 3x+\cos 5x)
                =(\sin 2x-0)+(\sin 4x-\sin 2x)+(\sin 6x-\sin 4x)=\sin 6x.$$
                With $n$ terms you get $\frac{\sin 2nx}{2\sin x}$ in the same way.
                """,
                accepted=True,
                score=11,
            ),
            Answer(
                r"""
                Alternatively add the outer terms: $\cos x+\cos 5x=2\cos 3x\cos 2x$, so
                the left side is $\cos 3x\,(2\cos 2x+1)$. On the right
                $\sin 6x=2\sin 3x\cos 3x$ and
                $\sin 3x=3\sin x-4\sin^3x=\sin x\,(2\cos 2x+1)$. Done.
                """,
                score=6,
            ),
        ),
    ),
    Thread(
        key="trigonometry/cos-20-40-80",
        title=r"Show that $\cos 20^\circ\cos 40^\circ\cos 80^\circ=\frac18$",
        question=r"""
        My calculator says that $\cos 20^\circ\cos 40^\circ\cos 80^\circ=0.125$. None of
        the three cosines has a nice value, so why is the product $\frac18$?

        I tried $\cos 40^\circ=2\cos^2 20^\circ-1$, which leads to a polynomial of
        degree seven in $\cos 20^\circ$.
        """,
        tags=("trigonometry", "products", "angle"),
        score=10,
        comments=(
            r"This is known as Morrie's law: $\prod_{k=0}^{n-1}\cos 2^kt="
            r"\frac{\sin 2^nt}{2^n\sin t}$.",
        ),
        answers=(
            Answer(
                r"""
                Multiply by $\sin 20^\circ$ and use $\sin t\cos t=\frac12\sin 2t$ three
                times:
                $$\sin 20^\circ\cos 20^\circ\cos 40^\circ\cos 80^\circ
                =\tfrac12\sin 40^\circ\cos 40^\circ\cos 80^\circ
                =\tfrac14\sin 80^\circ\cos 80^\circ=\tfrac18\sin 160^\circ.$$
                But $\sin 160^\circ=\sin 20^\circ$, so dividing by $\sin 20^\circ$ gives
                $\frac18$.
                """,
                accepted=True,
                score=20,
            ),
            Answer(
                r"""
                The numbers $\cos 20^\circ$, $-\cos 40^\circ$ and $-\cos 80^\circ$ are
                the roots of $8x^3-6x-1=0$, because $\cos 3t=4\cos^3t-3\cos t=\frac12$
                for $t=20^\circ,140^\circ,260^\circ$. By Vieta their product is
                $\frac18$, and the two minus signs cancel.
                """,
                score=9,
            ),
        ),
    ),
    Thread(
        key="trigonometry/cos-pi-seventh",
        title=r"$\cos\frac{\pi}{7}-\cos\frac{2\pi}{7}+\cos\frac{3\pi}{7}=\frac12$",
        question=r"""
        How does one prove
        $$\cos\frac{\pi}{7}-\cos\frac{2\pi}{7}+\cos\frac{3\pi}{7}=\frac12$$
        without finding the single values? I read that a heptagon cannot be constructed,
        so $\cos\frac\pi7$ itself must be ugly.
        """,
        tags=("trigonometry", "contest-math", "roots-of-unity"),
        score=9,
        related=("trigonometry/cos-20-40-80",),
        answers=(
            Answer(
                r"""
                Since $-\cos\frac{2\pi}7=\cos\frac{5\pi}7$, the left side is
                $C=\cos\frac\pi7+\cos\frac{3\pi}7+\cos\frac{5\pi}7$. Multiply by
                $2\sin\frac\pi7$ and turn products into differences:
                $$2C\sin\tfrac\pi7=\sin\tfrac{2\pi}7+\bigl(\sin\tfrac{4\pi}7
                -\sin\tfrac{2\pi}7\bigr)+\bigl(\sin\tfrac{6\pi}7-\sin\tfrac{4\pi}7\bigr)
                =\sin\tfrac{6\pi}7.$$
                And $\sin\frac{6\pi}7=\sin\frac\pi7$, so $C=\frac12$.
                """,
                accepted=True,
                score=17,
            ),
            Answer(
                r"""
                The seven numbers $e^{i\pi(2k+1)/7}$ are the roots of $z^7+1=0$, so
                their sum is zero. Take real parts: the root $-1$ contributes $-1$ and
                the others come in conjugate pairs,
                $$2\cos\frac\pi7+2\cos\frac{3\pi}7+2\cos\frac{5\pi}7-1=0.$$
                """,
                score=12,
            ),
        ),
    ),
)

_IDENTITIES = (
    Thread(
        key="trigonometry/addition-formula",
        title=r"A geometric proof of $\sin(\alpha+\beta)$",
        question=r"""
        I can never remember
        $$\sin(\alpha+\beta)=\sin\alpha\cos\beta+\cos\alpha\sin\beta$$
        because I have not seen where it comes from. Is there a proof that uses only
        right triangles, say for acute angles with $\alpha+\beta<90^\circ$?
        """,
        tags=("trigonometry", "geometry", "proof-explanation"),
        score=12,
        answers=(
            Answer(
                r"""
                Use areas. Take a triangle with the angle $\alpha+\beta$ at the top, cut
                by its height $h$ into two right triangles with the angles $\alpha$ and
                $\beta$ there. Let $a$ and $b$ be the sides that enclose the top angle,
                so $h=a\cos\alpha=b\cos\beta$. The whole area is
                $\frac12ab\sin(\alpha+\beta)$, and the parts are
                $\frac12 ah\sin\alpha$ and $\frac12bh\sin\beta$. Put $h=b\cos\beta$ in
                the first and $h=a\cos\alpha$ in the second part and divide by
                $\frac12ab$:
                $$\sin(\alpha+\beta)=\sin\alpha\cos\beta+\cos\alpha\sin\beta.$$
                """,
                accepted=True,
                score=21,
            ),
            Answer(
                r"""
                With rotations there is nothing to remember. Turning by $\alpha+\beta$
                is the same as turning by $\beta$ and then by $\alpha$:
                $$\begin{pmatrix}\cos\alpha&-\sin\alpha\\
                \sin\alpha&\cos\alpha\end{pmatrix}
                \begin{pmatrix}\cos\beta\\ \sin\beta\end{pmatrix}
                =\begin{pmatrix}\cos\alpha\cos\beta-\sin\alpha\sin\beta\\
                \sin\alpha\cos\beta+\cos\alpha\sin\beta\end{pmatrix},$$
                and the result has to be $(\cos(\alpha+\beta),\sin(\alpha+\beta))$. This
                holds for all angles, not only for acute ones.
                """,
                score=13,
            ),
        ),
    ),
    Thread(
        key="trigonometry/tangents-of-triangle",
        title=r"$\tan A+\tan B+\tan C=\tan A\tan B\tan C$ in a triangle",
        question=r"""
        If $A$, $B$, $C$ are the angles of a triangle without a right angle, then
        $$\tan A+\tan B+\tan C=\tan A\tan B\tan C.$$
        For an equilateral triangle both sides are $3\sqrt3$. How does $A+B+C=\pi$ enter
        the proof?
        """,
        tags=("trigonometry", "triangles"),
        score=8,
        answers=(
            Answer(
                r"""
                From $C=\pi-(A+B)$ we get $\tan C=-\tan(A+B)$, and with the addition
                formula
                $$\tan C=-\frac{\tan A+\tan B}{1-\tan A\tan B}.$$
                Multiply by the denominator:
                $\tan C-\tan A\tan B\tan C=-\tan A-\tan B$. That is the claim. The
                denominator is not zero, because $A+B\ne\frac\pi2$.
                """,
                accepted=True,
                score=15,
            ),
            Answer(
                r"""
                More symmetrically: the imaginary part of
                $(1+i\tan A)(1+i\tan B)(1+i\tan C)$ is
                $\tan A+\tan B+\tan C-\tan A\tan B\tan C$, and the argument of this
                product is $A+B+C$ up to a multiple of $\pi$. So the identity holds
                exactly when $A+B+C$ is a multiple of $\pi$.
                """,
                score=10,
                comments=(
                    r"Corollary: $\arctan 1+\arctan 2+\arctan 3=\pi$, as "
                    r"$1+2+3=1\cdot 2\cdot 3$.",
                ),
            ),
        ),
    ),
    Thread(
        key="trigonometry/arctan-one-two-three",
        title=r"Why is $\arctan 1+\arctan 2+\arctan 3=\pi$?",
        question=r"""
        A calculator gives $\arctan 1+\arctan 2+\arctan 3=3.14159\dots$ It cannot be a
        coincidence. When I take the tangent of $\arctan 2+\arctan 3$ I get
        $\frac{2+3}{1-2\cdot 3}=-1$, and $\arctan(-1)=-\frac\pi4$. So my sum would be
        $\frac\pi4-\frac\pi4=0$. What is wrong?
        """,
        tags=("trigonometry", "inverse-function"),
        score=7,
        related=("trigonometry/tangents-of-triangle",),
        answers=(
            Answer(
                r"""
                The tangent does not determine the angle, only the angle modulo $\pi$.
                Both $\arctan 2$ and $\arctan 3$ lie between $\frac\pi4$ and
                $\frac\pi2$, so their sum lies between $\frac\pi2$ and $\pi$. In this
                interval the angle with tangent $-1$ is $\frac{3\pi}4$, not
                $-\frac\pi4$. Now $\frac\pi4+\frac{3\pi}4=\pi$.
                """,
                accepted=True,
                score=13,
            ),
            Answer(
                r"""
                A picture proof on squared paper: the three angles fit together at one
                grid point to a straight line. In numbers this is
                $(1+i)(1+2i)(1+3i)=-10$, a negative real number, whose argument is
                $\pi$. (The sum of the three arguments is less than $\frac{3\pi}2$, so
                it is $\pi$ and not $3\pi$.)
                """,
                score=9,
            ),
        ),
    ),
    Thread(
        key="trigonometry/cos-36-golden",
        title=r"How to show $\cos 36^\circ=\frac{1+\sqrt5}{4}$",
        question=r"""
        The exact value $\cos 36^\circ=\frac{1+\sqrt 5}{4}$ is half the golden ratio
        $\varphi$. How can I derive it? I know that $36^\circ=\frac{180^\circ}{5}$ has
        to do with the regular pentagon, and I know the formulas for $\sin 2x$ and
        $\sin 3x$.
        """,
        tags=("trigonometry", "golden-ratio", "angle"),
        score=8,
        answers=(
            Answer(
                r"""
                Let $t=36^\circ$. As $3t=180^\circ-2t$, we have $\sin 3t=\sin 2t$, that
                is $3\sin t-4\sin^3t=2\sin t\cos t$. Divide by $\sin t\ne 0$ and replace
                $\sin^2t=1-\cos^2t$:
                $$4c^2-2c-1=0,\qquad c=\cos t.$$
                The positive root is $c=\frac{2+\sqrt{4+16}}{8}=\frac{1+\sqrt5}4$.
                """,
                accepted=True,
                score=14,
            ),
            Answer(
                r"""
                With the triangle of angles $36^\circ,72^\circ,72^\circ$: let the legs
                be $\varphi$ and the base $1$. Bisecting a base angle cuts off a smaller
                triangle of the same shape, so $\frac{\varphi}{1}=\frac{1}{\varphi-1}$,
                i.e. $\varphi^2=\varphi+1$. The other part is isosceles with legs $1$,
                base $\varphi$ and base angles $36^\circ$; half of its base gives
                $\cos 36^\circ=\frac\varphi2$.
                """,
                score=11,
            ),
        ),
    ),
    Thread(
        key="trigonometry/arcsin-of-sine",
        title=r"Is $\arcsin(\sin x)=x$ or not?",
        question=r"""
        I thought that $\arcsin$ is the inverse of $\sin$, so $\arcsin(\sin x)=x$. But
        for $x=\frac{3\pi}4$ I get $\arcsin\frac{\sqrt2}2=\frac\pi4$. On the other hand
        $\sin(\arcsin y)=y$ seems to be always right. What is going on?
        """,
        tags=("trigonometry", "inverse-function", "functions"),
        score=6,
        answers=(
            Answer(
                r"""
                The sine is not injective, so it has no inverse on all of $\mathbb R$.
                By definition $\arcsin$ inverts only its restriction to
                $[-\frac\pi2,\frac\pi2]$. So $\arcsin(\sin x)$ is *the* angle in
                $[-\frac\pi2,\frac\pi2]$ with the same sine as $x$. For
                $\frac\pi2\le x\le\frac{3\pi}2$ this is $\pi-x$, and after that it goes
                on with period $2\pi$: the graph is a zigzag line.
                """,
                accepted=True,
                score=12,
            ),
            Answer(
                r"""
                Compare with $\sqrt{x^2}=|x|$, where the same thing happens: $\sqrt{\ }$
                inverts squaring only for $x\ge 0$, while $(\sqrt y)^2=y$ whenever
                it makes sense. A closed form for the sine is
                $\arcsin(\sin x)=\left|\,(x-\tfrac{\pi}{2})\bmod 2\pi-\pi\right|
                -\tfrac\pi2$.
                """,
                score=4,
            ),
        ),
    ),
    Thread(
        key="trigonometry/sin-over-x-geometric",
        title=r"Geometric reason for $\sin x<x<\tan x$",
        question=r"""
        In the proof of $\lim_{x\to 0}\frac{\sin x}{x}=1$ one uses that
        $$\sin x<x<\tan x\qquad\text{for }0<x<\frac\pi2.$$
        The first inequality is clear from the arc and its chord. Why is the arc $x$
        shorter than the tangent segment?
        """,
        tags=("trigonometry", "limits", "inequality"),
        score=9,
        related=("calculus/sinc-circular",),
        answers=(
            Answer(
                r"""
                Compare areas instead of lengths. In the unit circle, the triangle with
                the radii as sides has area $\frac12\sin x$, the sector has area
                $\frac12x$, and the right triangle with the tangent segment has area
                $\frac12\tan x$. Each contains the one before, so
                $$\tfrac12\sin x<\tfrac12x<\tfrac12\tan x.$$
                Divide by $\frac12\sin x$ and take reciprocals to get
                $\cos x<\frac{\sin x}x<1$.
                """,
                accepted=True,
                score=18,
            ),
            Answer(
                r"""
                If you already have derivatives, look at $f(x)=\tan x-x$. Then
                $f'(x)=\frac{1}{\cos^2x}-1=\tan^2x>0$ and $f(0)=0$, so $f$ is positive.
                But beware of a circle: that $\sin'=\cos$ is usually proved with the
                very limit you want to show.
                """,
                score=5,
            ),
        ),
    ),
)


def _exact_value_thread(number: int, angle: int, a: int, b: int, sign: int) -> Thread:
    """The sine and cosine of ``a`` plus or minus ``b`` degrees."""
    sin = {45: r"\frac{\sqrt2}2", 30: r"\frac12", 60: r"\frac{\sqrt3}2"}
    cos = {45: r"\frac{\sqrt2}2", 30: r"\frac{\sqrt3}2", 60: r"\frac12"}
    op, other = ("+", "-") if sign > 0 else ("-", "+")
    value = {
        75: r"\frac{\sqrt6+\sqrt2}4", 15: r"\frac{\sqrt6-\sqrt2}4",
        105: r"\frac{\sqrt6+\sqrt2}4",
    }[angle]  # fmt: skip
    cosine = {
        75: r"\frac{\sqrt6-\sqrt2}4", 15: r"\frac{\sqrt6+\sqrt2}4",
        105: r"\frac{\sqrt2-\sqrt6}4",
    }[angle]  # fmt: skip
    double, root = {
        75: (150, r"\sqrt{2+\sqrt3}"), 15: (30, r"\sqrt{2-\sqrt3}"),
        105: (210, r"\sqrt{2+\sqrt3}"),
    }[angle]  # fmt: skip
    cos_double = r"\frac{\sqrt3}2" if double == 30 else r"-\frac{\sqrt3}2"
    return Thread(
        key=f"trigonometry/exact-value-{number}",
        title=rf"Exact value of $\sin {angle}^\circ$",
        question=rf"""
        I have to give $\sin {angle}^\circ$ exactly, as an expression with roots. I know
        the values for $30^\circ$, $45^\circ$ and $60^\circ$, and
        ${angle}^\circ={a}^\circ{op}{b}^\circ$.

        But $\sin {a}^\circ{op}\sin {b}^\circ$ is obviously not the right thing, as the
        sine is not additive. What do I have to do, and what is $\cos {angle}^\circ$?
        """,
        tags=("trigonometry", "angle", "radicals"),
        score=number + 1,
        answers=(
            Answer(
                rf"""
                Use the addition formula
                $\sin(a{op}b)=\sin a\cos b{op}\cos a\sin b$ with $a={a}^\circ$ and
                $b={b}^\circ$:
                $$\sin {angle}^\circ={sin[a]}\cdot{cos[b]}{op}{cos[a]}\cdot{sin[b]}
                ={value}.$$
                In the same way
                $\cos(a{op}b)=\cos a\cos b{other}\sin a\sin b$ gives
                $\cos {angle}^\circ={cosine}$.
                """,
                accepted=True,
                score=7 + number,
            ),
            Answer(
                rf"""
                The half-angle formula leads to another form. Since
                $\cos {double}^\circ={cos_double}$ and
                $\sin^2t=\frac{{1-\cos 2t}}2$, we get
                $$\sin {angle}^\circ=\frac{{{root}}}2.$$
                It looks different from ${value}$, but square both: you find
                $\frac{{2{"-" if double == 30 else "+"}\sqrt3}}4$ each time.
                """,
                score=4,
            ),
        ),
    )


def _wave_thread(
    rng: random.Random, number: int, triple: tuple[int, int, int]
) -> Thread:
    """The equation ``a sin x + b cos x = c`` by one shifted sine."""
    a, b, r = triple
    c = rng.choice([c for c in range(2, r - 1) if c != b])
    shift, inner = degrees(atan2(b, a)), degrees(asin(c / r))
    first, second = inner - shift, 180 - inner - shift
    ask, end = (("How do I solve", "?"), ("I want all solutions of", "."))[number % 2]
    return Thread(
        key=f"trigonometry/harmonic-{number}",
        title=rf"Solve ${a}\sin x+{b}\cos x={c}$",
        question=rf"""
        {ask}
        $${a}\sin x+{b}\cos x={c}$$
        with $0^\circ\le x<360^\circ${end}
        If I replace $\cos x$ by $\sqrt{{1-\sin^2x}}$ and square, I get a quadratic
        equation for $\sin x$, but some of the results do not fit. Also I wonder what
        the maximum of ${a}\sin x+{b}\cos x$ is.
        """,
        tags=("trigonometry", "algebra-precalculus"),
        comments=(
            "If you square, test each result in the first equation; or use "
            r"$\sin(x+y)$.",
        ),
        score=rng.randrange(1, 6),
        answers=(
            Answer(
                rf"""
                Write the left side as one sine. As ${a}^2+{b}^2={r}^2$, there is an
                angle $\varphi$ with $\cos\varphi=\frac{{{a}}}{{{r}}}$ and
                $\sin\varphi=\frac{{{b}}}{{{r}}}$, namely
                $\varphi\approx {shift:.2f}^\circ$. Then
                $${a}\sin x+{b}\cos x={r}\sin(x+\varphi),$$
                so the maximum is ${r}$ and we need
                $\sin(x+\varphi)=\frac{{{c}}}{{{r}}}$. This means
                $x+\varphi\approx {inner:.2f}^\circ$ or
                $x+\varphi\approx {180 - inner:.2f}^\circ$, up to full turns, so
                $x\approx {first % 360:.2f}^\circ$ or $x\approx {
                    second % 360:.2f}^\circ$.
                """,
                accepted=True,
                score=rng.randrange(4, 12),
            ),
            Answer(
                rf"""
                Squaring adds solutions of ${a}\sin x-{b}\cos x={c}$; that is why some
                of yours do not fit. If you do not like phases, substitute
                $t=\tan\frac x2$ with $\sin x=\frac{{2t}}{{1+t^2}}$ and
                $\cos x=\frac{{1-t^2}}{{1+t^2}}$. You get the quadratic equation
                $${b + c}t^2-{2 * a}t+{c - b}=0,$$
                and no squaring is needed.
                """.replace("+-", "-"),
                score=rng.randrange(1, 6),
            ),
        ),
    )


def _triangle_thread(
    rng: random.Random, number: int, sides: tuple[int, int, int]
) -> Thread:
    """A triangle with three integer sides, one of whose angles is 60 or 120 degrees."""
    a, b, c = sides
    factor = rng.choice((1, 2, 3))
    a, b, c = factor * a, factor * b, factor * c
    cosine = (a * a + b * b - c * c) / (2 * a * b)
    gamma = round(degrees(acos(cosine)))
    half = r"\frac12" if cosine > 0 else r"-\frac12"
    area = a * b
    quarter = r"\frac{\sqrt3}4"
    s2 = a + b + c
    height = a * b * sqrt(3) / 2 / c
    thing = rng.choice(("a triangular field", "a triangular garden", "a roof truss"))
    return Thread(
        key=f"trigonometry/three-sides-{number}",
        title=f"Angle and area of a triangle with sides ${a}$, ${b}$, ${c}$",
        question=rf"""
        The sides of {thing} are $a={a}$, $b={b}$ and $c={c}$ metres long. How large is
        the angle $\gamma$ opposite to $c$, and what is the area?

        The law of sines $\frac{{a}}{{\sin\alpha}}=\frac{{c}}{{\sin\gamma}}$ does not
        help, because I know no angle at all.
        """,
        tags=("trigonometry", "triangles", "area"),
        score=rng.randrange(0, 5),
        related=("geometry/law-of-cosines",),
        comments=(r"Do you know the law of cosines, $c^2=a^2+b^2-2ab\cos\gamma$?",),
        answers=(
            Answer(
                rf"""
                With three sides use the law of cosines
                $c^2=a^2+b^2-2ab\cos\gamma$:
                $$\cos\gamma=\frac{{{a}^2+{b}^2-{c}^2}}{{2\cdot {a}\cdot {b}}}
                =\frac{{{a * a + b * b - c * c}}}{{{2 * a * b}}}={half}.$$
                So $\gamma={gamma}^\circ$ exactly, and the area is
                $\frac12ab\sin\gamma={quarter}\cdot {area}
                \approx {area * sqrt(3) / 4:.2f}$ square metres.
                """,
                accepted=True,
                score=rng.randrange(3, 10),
            ),
            Answer(
                rf"""
                For the area alone Heron's formula is enough. With
                $s=\frac{{{a}+{b}+{c}}}2=\frac{{{s2}}}2$,
                $$A=\sqrt{{s(s-a)(s-b)(s-c)}}\approx {area * sqrt(3) / 4:.2f}.$$
                The height over $c$ is then
                $h=\frac{{2A}}{{c}}\approx {height:.2f}$.
                """,
                score=rng.randrange(1, 6),
            ),
        ),
    )


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of this area; numbers of the families come from ``rng``."""
    triples = rng.sample(((3, 4, 5), (5, 12, 13), (8, 15, 17), (4, 3, 5)), 2)
    sides = rng.sample(((5, 8, 7), (3, 8, 7), (3, 5, 7), (7, 8, 13)), 2)
    return [
        *_SUMS_AND_PRODUCTS,
        *_IDENTITIES,
        _exact_value_thread(1, 75, 45, 30, 1),
        _exact_value_thread(2, 15, 45, 30, -1),
        _exact_value_thread(3, 105, 60, 45, 1),
        *(_wave_thread(rng, n, triple) for n, triple in enumerate(triples, start=1)),
        *(_triangle_thread(rng, n, three) for n, three in enumerate(sides, start=1)),
    ]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="trigonometry/topic-odd-multiples",
        title=r"Simplify a sum of cosines of $x,3x,5x,\dots$",
        question=r"""
        While computing a Fourier kernel I met the sum
        $$\cos x+\cos 3x+\cos 5x+\dots+\cos(2n-1)x.$$
        Plots suggest that it is a quotient of two sines: for $n=2$ the graph looks like
        that of $\frac{\sin 4x}{2\sin x}$. Is there a short closed form for all $n$, and
        how would one find it without guessing?
        """,
        tags=("trigonometry", "summation", "fourier-series"),
        grades={
            "trigonometry/sum-odd-cosines#1": 3,
            "trigonometry/sum-of-sines#1": 3,
            "trigonometry/sum-of-sines#2": 2,
            "trigonometry/sum-odd-cosines#2": 1,
            "trigonometry/cos-pi-seventh#1": 2,
            "trigonometry/cos-pi-seventh#2": 1,
            "trigonometry/cos-20-40-80#1": 0,
            "trigonometry/cos-20-40-80#2": 0,
            "trigonometry/addition-formula#1": 0,
            "trigonometry/addition-formula#2": 0,
            "trigonometry/tangents-of-triangle#1": 0,
            "trigonometry/harmonic-1#1": 0,
            "trigonometry/exact-value-1#1": 0,
            "trigonometry/sin-over-x-geometric#1": 0,
            "combinatorics/hockey-stick#1": 0,
            "calculus/sinc-circular#1": 0,
            "complex_analysis/cosine-period-13-5#1": 0,
            "geometry/law-of-cosines#1": 0,
        },
        category="Computation",
        difficulty="Medium",
        dependency="Formula",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="trigonometry/topic-odd-multiples",
        latex=r"\cos x+\cos 3x+\cos 5x+\dots+\cos(2n-1)x.",
        grades={
            r"\cos x+\cos 3x+\cos 5x=\frac{\sin 6x}{2\sin x}": 3,
            r"2\sin x\,(\cos x+\cos 3x+\cos 5x) =(\sin 2x-0)+(\sin 4x-\sin 2x)"
            r"+(\sin 6x-\sin 4x)=\sin 6x.": 2,
            r"\sin x+\sin 2x+\dots+\sin nx": 2,
            r"S_n=\sum_{k=1}^{n}\sin kx.": 2,
            r"\sum\cos kx": 2,
            r"C=\cos\frac\pi7+\cos\frac{3\pi}7+\cos\frac{5\pi}7": 2,
            r"\cos\frac{\pi}{7}-\cos\frac{2\pi}{7}+\cos\frac{3\pi}{7}=\frac12": 1,
            r"\cos x+\cos 5x=2\cos 3x\cos 2x": 1,
            r"\cos 20^\circ\cos 40^\circ\cos 80^\circ=\frac18": 0,
            r"\cos 3t=4\cos^3t-3\cos t=\frac12": 0,
            r"\cos(a+b)=\cos a\cos b-\sin a\sin b": 0,
            r"\tan A+\tan B+\tan C=\tan A\tan B\tan C": 0,
            r"\arctan 1+\arctan 2+\arctan 3=\pi": 0,
            r"x_1+x_2+\dots+x_k=n": 0,
            r"1+2+\dots+n=\frac{n(n+1)}2": 0,
            r"c^2 = (b\cos\gamma - a)^2 + (b\sin\gamma)^2 = b^2(\cos^2\gamma + "
            r"\sin^2\gamma) - 2ab\cos\gamma + a^2,": 0,
        },
    ),
)
