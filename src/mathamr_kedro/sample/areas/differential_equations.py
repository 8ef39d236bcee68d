"""Differential equations: linear equations, existence, uniqueness, models."""

from __future__ import annotations

import random
from fractions import Fraction

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_HAND_WRITTEN = (
    Thread(
        key="differential_equations/resonance",
        title=r"Why does the guess $A\cos2t+B\sin2t$ fail for $y''+4y=\cos2t$?",
        question=r"""I want to solve
$$y''+4y=\cos2t.$$
The homogeneous solution is $y_h=c_1\cos2t+c_2\sin2t$. For the particular solution our
table says "if the right side is $\cos\omega t$, try $A\cos\omega t+B\sin\omega t$". So
I inserted $y_p=A\cos2t+B\sin2t$ and obtained $0=\cos2t$, for all choices of $A$ and
$B$.

I know the recipe "then multiply by $t$", but nobody could tell me why this should
work. Is there a reason, or is it just trial and error?""",
        tags=("ordinary-differential-equations", "resonance"),
        score=18,
        related=("differential_equations/double-root-forcing",),
        answers=(
            Answer(
                text=r"""The guess fails because it solves the homogeneous equation: the
operator $L=\frac{d^2}{dt^2}+4$ maps it to zero, and it can never produce $\cos2t$. Let
us see what the factor $t$ does. For $y=tu$ we have $y''=tu''+2u'$, so
$$L(tu)=t(u''+4u)+2u'=t\,L(u)+2u'.$$
If $u$ solves the homogeneous equation, the first term drops out and $2u'$ remains,
which is again a combination of $\cos2t$ and $\sin2t$. So we only need
$2u'=\cos2t$, i.e. $u=\frac14\sin2t$, and
$$y_p=\frac t4\sin2t.$$
The amplitude grows linearly: this is resonance, the system is driven with its own
frequency.""",
                accepted=True,
                score=23,
            ),
            Answer(
                text=r"""Complexify: solve $z''+4z=e^{2it}$ and take the real part. With
the ansatz $z=w(t)e^{2it}$ the equation becomes
$$w''+4iw'=1.$$
The exponential has cancelled, and you see at once that a constant $w$ is not enough but
$w=\frac{t}{4i}$ is. Hence $z=\frac{t}{4i}e^{2it}=\frac t4(\sin2t-i\cos2t)$ and
$$y_p=\operatorname{Re}z=\frac t4\sin2t.$$
In general the power of $t$ equals the multiplicity of the exponent as a root of the
characteristic polynomial, here $2i$ is a simple root of $r^2+4$.""",
                score=12,
            ),
            Answer(
                text=r"""You can also see it as a limit, which explains the physics. Off
resonance, for $\omega\ne2$, the solution of $y''+4y=\cos\omega t$ with
$y(0)=y'(0)=0$ is
$$y(t)=\frac{\cos\omega t-\cos2t}{4-\omega^2}.$$
For $\omega\to2$ this is a $\frac00$ expression, and l'Hôpital with respect to $\omega$
gives
$$\lim_{\omega\to2}\frac{-t\sin\omega t}{-2\omega}=\frac{t\sin2t}{4}.$$
So the $t$ appears as a derivative with respect to the frequency; the beats get longer
and longer until they never come back.""",
                score=14,
            ),
        ),
    ),
    Thread(
        key="differential_equations/double-root-forcing",
        title=r"Particular solution of $y''-2y'+y=e^t$ needs $t^2e^t$?",
        question=r"""For
$$y''-2y'+y=e^t$$
the characteristic equation $(r-1)^2=0$ has the double root $r=1$, so
$y_h=(c_1+c_2t)e^t$. The method of undetermined coefficients suggests $y_p=Ae^t$, which
gives $0=e^t$. Then I took $y_p=Ate^t$ and it failed again. According to the solutions
one needs $y_p=At^2e^t$, and then $A=\frac12$.

How can I know in advance how many factors of $t$ are needed? And is there a method that
does not require guessing?""",
        tags=("ordinary-differential-equations", "undetermined-coefficients"),
        score=9,
        answers=(
            Answer(
                text=r"""Rule: if the right side is $e^{\alpha t}$ (times a polynomial)
and $\alpha$ is a root of the characteristic polynomial of multiplicity $k$, multiply
the usual guess by $t^k$. Here $\alpha=1$ and $k=2$.

The reason is the exponential shift: for any function $u$
$$\left(\frac{d}{dt}-1\right)^2\left(u\,e^t\right)=u''e^t.$$
So with $y=ue^t$ your equation is simply $u''=1$, and of course $u=A$ and $u=At$ cannot
work, while $u=\frac12t^2$ does. The constants of integration in
$u=\frac12t^2+c_2t+c_1$ give the homogeneous part for free.""",
                accepted=True,
                score=12,
            ),
            Answer(
                text=r"""Variation of constants requires no guessing. With $y_1=e^t$,
$y_2=te^t$ and Wronskian $W=y_1y_2'-y_1'y_2=e^{2t}$, a particular solution of
$y''+py'+qy=f$ is
$$y_p=-y_1\int\frac{y_2f}{W}\,dt+y_2\int\frac{y_1f}{W}\,dt.$$
For $f=e^t$ both integrands are harmless, $\frac{y_2f}{W}=t$ and $\frac{y_1f}{W}=1$, so
$$y_p=-\frac{t^2}{2}e^t+t\cdot te^t=\frac{t^2}{2}e^t.$$
The method works for every continuous $f$, also when the table of guesses has no entry,
for example $f(t)=\frac{e^t}{1+t^2}$. The price is that one has to know both homogeneous
solutions and to do two integrals.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="differential_equations/square-root-branching",
        title=r"$y'=\sqrt{|y|}$, $y(0)=0$: more than one solution?",
        question=r"""Consider the initial value problem
$$y'=\sqrt{|y|},\qquad y(0)=0.$$
Separation of variables gives $2\sqrt{y}=t+C$, and with the initial condition
$y(t)=\frac{t^2}{4}$ for $t\ge0$. But $y(t)=0$ is obviously a solution too. I was taught
that an initial value determines the solution, so one of them must be wrong, but both
satisfy the equation when I check.

Where is the mistake? Does separation of variables produce a fake solution here?""",
        tags=("ordinary-differential-equations", "initial-value-problems"),
        score=20,
        answers=(
            Answer(
                text=r"""There is no mistake, both are solutions, and there are many
more. For any $c\ge0$ the function
$$y_c(t)=\begin{cases}0,&t\le c,\\\frac{(t-c)^2}{4},&t>c,\end{cases}$$
is differentiable everywhere (check the point $t=c$: both one-sided derivatives are $0$)
and satisfies the equation with $y_c(0)=0$. So the solution may rest at $0$ as long as
it likes and then take off.

The uniqueness theorem of Picard–Lindelöf needs a Lipschitz condition in $y$, and
$f(y)=\sqrt{|y|}$ violates it at $0$, since
$\frac{f(y)-f(0)}{y-0}=\frac{1}{\sqrt{y}}\to\infty$ for $y\to0^+$.""",
                accepted=True,
                score=26,
                comments=(r"So $y=0$ is lost when one divides by $\sqrt{y}$.",),
            ),
            Answer(
                text=r"""On the technique: when you separate variables you divide by
$\sqrt{|y|}$, which is only allowed where $y\ne0$. The constant solution is lost in that
step and has to be added by hand. Whether a solution can leave the equilibrium $y=0$ in
finite time is decided by an integral:
$$T=\int_0^{\eta}\frac{dy}{f(y)}.$$
For $f(y)=\sqrt{y}$ it is $2\sqrt{\eta}<\infty$, so zero can be left in finite time and
uniqueness fails. For $f(y)=y$ the integral diverges, and $y'=y$, $y(0)=0$ has only the
zero solution. This is Osgood's criterion in its simplest form.""",
                score=13,
            ),
        ),
    ),
    Thread(
        key="differential_equations/lipschitz-uniqueness",
        title=r"Role of the Lipschitz condition in the uniqueness theorem",
        question=r"""The theorem of Picard–Lindelöf assumes that $f$ is continuous and
Lipschitz in the second argument,
$$|f(t,x)-f(t,y)|\le L|x-y|,$$
and concludes that $y'=f(t,y)$, $y(t_0)=y_0$ has exactly one local solution. Peano's
theorem gives existence from continuity alone. So the Lipschitz condition must be
responsible for uniqueness.

Could someone give a short proof of the uniqueness part only, without fixed points? I
would like to see in which line the number $L$ is used.""",
        tags=("ordinary-differential-equations", "lipschitz-functions"),
        score=12,
        answers=(
            Answer(
                text=r"""Let $x$ and $y$ be two solutions with the same initial value,
and consider $d(t)=(x(t)-y(t))^2\ge0$. Then $d(t_0)=0$ and
$$d'=2(x-y)(f(t,x)-f(t,y))\le2L(x-y)^2=2L\,d.$$
This is the only line where $L$ is used. Now $\left(e^{-2Lt}d(t)\right)'
=e^{-2Lt}(d'-2Ld)\le0$, so $e^{-2Lt}d(t)$ is decreasing, nonnegative and zero at $t_0$.
Hence $d(t)=0$ for all $t\ge t_0$. For $t<t_0$ reverse the time. Without a Lipschitz
bound the first estimate breaks down, and examples such as $y'=\sqrt{|y|}$ with
$y(0)=0$ show that uniqueness may really fail.""",
                accepted=True,
                score=18,
            ),
            Answer(
                text=r"""In integral form it is Grönwall's lemma. For two solutions with
equal initial values
$$|x(t)-y(t)|\le\int_{t_0}^t|f(s,x(s))-f(s,y(s))|\,ds\le L\int_{t_0}^t|x(s)-y(s)|\,ds.$$
Let $M$ be the maximum of $|x-y|$ on $[t_0,t_0+h]$ with $h=\frac{1}{2L}$. Then the
inequality says $M\le LhM=\frac M2$, so $M=0$. Repeat on the next interval of length
$h$. Note that a bounded partial derivative $\frac{\partial f}{\partial y}$ is enough to
get $L$, by the mean value theorem, and this is how the condition is checked in
practice.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="differential_equations/integrating-factor",
        title=r"Where does the integrating factor $e^{\int p\,dx}$ come from?",
        question=r"""To solve a linear equation of first order,
$$y'+p(x)y=q(x),$$
we are told to multiply by $\mu(x)=e^{\int p(x)\,dx}$. For example for $y'+2xy=x$ the
factor is $e^{x^2}$, and then "the left side is a derivative". It works like magic, but
how does one come up with the exponential? Also, do I have to include a constant of
integration in $\int p(x)\,dx$?""",
        tags=("ordinary-differential-equations", "integrating-factor"),
        score=11,
        answers=(
            Answer(
                text=r"""You *want* the left side to become a product rule derivative.
So ask: for which $\mu$ is $\mu y'+\mu py=(\mu y)'$? Comparing with
$(\mu y)'=\mu y'+\mu'y$ the condition is
$$\mu'=p\,\mu,$$
and this separable equation has the solution $\mu=e^{\int p\,dx}$. That is all the
magic. A constant of integration would multiply $\mu$ by a number, which cancels, so
leave it out.

Your example: $(e^{x^2}y)'=xe^{x^2}$, hence $e^{x^2}y=\frac12e^{x^2}+C$ and
$$y=\frac12+Ce^{-x^2}.$$""",
                accepted=True,
                score=15,
            ),
            Answer(
                text=r"""An equivalent route that some people find more natural: solve
the homogeneous equation first, $y_h=e^{-\int p\,dx}$, and look for the solution in the
form $y=c(x)y_h(x)$. Inserting gives $c'y_h=q$, because the other terms cancel, so
$$y=y_h(x)\int\frac{q(x)}{y_h(x)}\,dx.$$
Since $\mu=1/y_h$, it is the same computation. For $y'+2xy=x$ you may also notice the
constant solution $y=\frac12$ immediately and add the homogeneous solution
$Ce^{-x^2}$.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="differential_equations/defective-system",
        title=r"Solving $\mathbf{x}'=A\mathbf{x}$ with only one eigenvector",
        question=r"""I have to solve the system
$$\mathbf{x}'=A\mathbf{x},\qquad A=\begin{pmatrix}3&1\\-1&1\end{pmatrix}.$$
The characteristic polynomial is $\lambda^2-4\lambda+4=(\lambda-2)^2$, and the only
eigenvector (up to multiples) is $v=(1,-1)^{\mathsf T}$. So I have the solution
$e^{2t}v$, but I need a second one. By analogy with scalar equations I tried $te^{2t}v$,
and that does not satisfy the system.

What is the correct second solution, and is there a formula for $e^{tA}$ here?""",
        tags=("ordinary-differential-equations", "matrix-exponential"),
        score=10,
        answers=(
            Answer(
                text=r"""Write $A=2I+N$ with
$$N=\begin{pmatrix}1&1\\-1&-1\end{pmatrix},\qquad N^2=0.$$
As $2I$ and $N$ commute, the exponential splits and the series for $N$ stops after two
terms:
$$e^{tA}=e^{2t}e^{tN}=e^{2t}(I+tN)=e^{2t}\begin{pmatrix}1+t&t\\-t&1-t\end{pmatrix}.$$
The columns are two independent solutions. In terms of your attempt: one has to correct
$te^{2t}v$ by a generalised eigenvector $w$ with $(A-2I)w=v$, for instance
$w=(1,0)^{\mathsf T}$, and the second solution is $e^{2t}(tv+w)$.""",
                accepted=True,
                score=13,
            ),
            Answer(
                text=r"""If you prefer scalar equations, eliminate. From the first row
$y=x'-3x$ (with $\mathbf{x}=(x,y)^{\mathsf T}$), and the second row gives
$$x''-3x'=-x+x'-3x,\quad\text{i.e.}\quad x''-4x'+4x=0.$$
So $x=(c_1+c_2t)e^{2t}$, and then
$y=x'-3x=\left(c_2-c_1-c_2t\right)e^{2t}$. This shows where the $t$ comes from, and also
why $te^{2t}v$ alone cannot work: the component $y$ has the extra term $c_2e^{2t}$.
Elimination is a safe fallback for all $2\times2$ systems.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="differential_equations/wronskian-zero",
        title=r"Wronskian identically zero but functions linearly independent",
        question=r"""Our lecturer warned us: "$W(f,g)=0$ everywhere does *not* imply
that $f$ and $g$ are linearly dependent", and gave the example $f(x)=x^2$ and
$g(x)=x|x|$ on $\mathbb{R}$. Indeed $W=fg'-f'g=0$ for all $x$.

On the other hand there is a theorem that two solutions of $y''+p(x)y'+q(x)y=0$ are
dependent if and only if their Wronskian vanishes. Isn't that a contradiction? Could
there be a linear equation with these two functions as solutions?""",
        tags=("ordinary-differential-equations", "wronskian"),
        score=8,
        answers=(
            Answer(
                text=r"""No contradiction: the theorem is about solutions of *one*
equation with continuous coefficients, and your two functions are not. Suppose they
solved $y''+py'+qy=0$ on an interval around $0$. Since $f(0)=f'(0)=0$, uniqueness for
the initial value problem at $0$ would force $f=0$, which is false.

In general Abel's formula
$$W(x)=W(x_0)\exp\left(-\int_{x_0}^xp(s)\,ds\right)$$
shows that the Wronskian of two solutions is either never zero or always zero. (Also
$g''(0)$ does not exist, so $g$ is not even a candidate.)""",
                accepted=True,
                score=10,
            ),
            Answer(
                text=r"""It may help to see what $W=0$ does imply. Where $f\ne0$,
$$\left(\frac gf\right)'=\frac{fg'-f'g}{f^2}=\frac{W}{f^2}=0,$$
so $g/f$ is constant on each *interval* on which $f$ has no zero. In the example
$\frac gf=1$ for $x>0$ and $\frac gf=-1$ for $x<0$: two different constants, glued
together at the zero of $f$. For solutions of a second order equation such a zero of $f$
is always simple, and the constants on both sides must agree.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="differential_equations/finite-blow-up",
        title=r"Why does the solution of $y'=y^2$ not exist for all times?",
        question=r"""The right-hand side of
$$y'=y^2,\qquad y(0)=1$$
is a polynomial, as smooth as one can wish. Nevertheless the solution
$y(t)=\frac{1}{1-t}$ explodes at $t=1$. The theorem on existence and uniqueness seems to
promise a solution, so how can it stop?

Is there an easy criterion to see beforehand whether a solution of $y'=f(y)$ exists for
all $t\ge0$? For $y'=y$ it does, for $y'=y^2$ it does not; what about $y'=y\ln y$ or
$y'=1+y^2$?""",
        tags=("ordinary-differential-equations", "blow-up"),
        score=9,
        answers=(
            Answer(
                text=r"""The theorem promises a *local* solution. The function
$f(y)=y^2$ is locally Lipschitz, but the constant on $[-M,M]$ is $2M$, so the guaranteed
time interval shrinks as the solution grows. What is true: a maximal solution either
exists for all times or leaves every compact set.

For $f>0$ separation of variables gives a criterion. The time needed to reach infinity
from $y_0$ is
$$T=\int_{y_0}^\infty\frac{dy}{f(y)}.$$
It is $1$ for $y^2$ with $y_0=1$, and $\frac{\pi}{2}$ for $1+y^2$ with $y_0=0$ (the
solution is $\tan t$), but infinite for $y$ and for $y\ln y$ with $y_0>1$.""",
                accepted=True,
                score=14,
            ),
            Answer(
                text=r"""A simple sufficient condition: if $|f(t,y)|\le a+b|y|$ with
constants $a,b\ge0$ (linear growth), then all solutions are global. Indeed, Grönwall
applied to
$$|y(t)|\le|y_0|+\int_0^t(a+b|y(s)|)\,ds$$
yields $|y(t)|\le(|y_0|+at)e^{bt}$, so $y$ cannot become infinite in finite time. The
square $y^2$ grows faster than linearly, so the condition is violated, which is a
warning sign but not a proof of explosion: $y'=-y^3$ is fine for all $t\ge0$.""",
                score=7,
            ),
        ),
    ),
)

_ROOTS_CASES = (((1, 3), (2, 4)), ((-1, -2), (0, 3)), ((-3, 2), (5, 0)))
"""``((r, s), (y0, v0))``: characteristic roots and initial values."""

_ROOTS_WORDINGS = (
    (
        r"Initial value problem $%(equation)s$, $y(0)=%(y0)s$, $y'(0)=%(v0)s$",
        r"""I am learning linear equations of second order and want to be sure about the
steps. The problem is
$$%(equation)s,\qquad y(0)=%(y0)s,\quad y'(0)=%(v0)s.$$
I found the characteristic equation $%(poly)s=0$ and its two roots, so I know that
exponentials $e^{%(r)s}$ and $e^{%(s)s}$ are involved. Do I insert the initial values
into each of them separately, as in $ce^{%(r)s}$, or only at the very end? With the
first method I get a contradiction.""",
        (
            r"""Only at the end, into the general solution. The characteristic
polynomial factors as $%(poly)s=%(factors)s$, so the general solution is
$$y(t)=c_1e^{%(r)s}+c_2e^{%(s)s}.$$
Now the two conditions give a linear system for the constants,
$$\begin{cases}c_1+c_2=%(y0)s\\%(slope)s=%(v0)s\end{cases}$$
with the solution $c_1=%(c1)s$ and $c_2=%(c2)s$. Therefore
$$y(t)=%(solution)s.$$
A single exponential has only one free constant, it cannot satisfy two conditions in
general; that explains your contradiction.""",
        ),
    ),
    (
        r"Long-term behaviour of the overdamped oscillator $%(equation)s$",
        r"""A strongly damped spring is modelled by $%(equation)s$ with $y(0)=%(y0)s$
and $y'(0)=%(v0)s$. From the physics I expect that the mass returns to the equilibrium
$y=0$ without oscillating. How can I read this off from the equation, and can I find out
whether the mass ever passes through $y=0$ again at a positive time? Solving explicitly
is allowed, but I am more interested in the reasoning.""",
        (
            r"""Insert $y=e^{\lambda t}$: you get $%(poly)s=0$, which has the two real
negative roots $%(rn)s$ and $%(sn)s$. Real roots mean no oscillation, negative roots
mean decay. With the initial data the solution is
$$y(t)=%(solution)s.$$
For a zero at time $t$ the two exponentials must cancel, and a combination of two
different real exponentials can vanish at most once, since
$c_1e^{%(r)s}=-c_2e^{%(s)s}$ determines $e^{%(gap)s}$ uniquely. Here that one zero is
$t=0$ itself, so the mass never comes back to the equilibrium; it moves out, turns and
creeps towards $0$ like the slower exponential.""",
            r"""The reasoning with energy, without solving: put
$E=\frac12\left((y')^2+%(q)sy^2\right)$. Then along solutions
$$E'=y'(y''+%(q)sy)=-%(p)s(y')^2\le0,$$
so the energy never increases, and only the equilibrium keeps it constant. By LaSalle's
principle $y\to0$ and $y'\to0$. Whether the motion is oscillating is decided by the
discriminant $%(p)s^2-4\cdot%(q)s=%(disc)s$: positive means overdamped, so there is at
most one passage through zero.""",
        ),
    ),
    (
        r"For which initial slope does the solution of $%(equation)s$ stay bounded?",
        r"""The equation $%(equation)s$ has one growing and one decaying exponential, so
a typical solution is unbounded for $t\to+\infty$. I fix $y(0)=%(y0)s$ and want to
choose the slope $m=y'(0)$ such that the solution stays bounded for $t\ge0$. The book
then says that with $m=%(v0)s$ the solution is unbounded, and asks for the exact formula
in this case as well. How does one see the special value of $m$?""",
        (
            r"""The roots of $%(poly)s$ are $%(rn)s$ and $%(sn)s$, hence
$y=c_1e^{%(r)s}+c_2e^{%(s)s}$, and the initial values mean
$$c_1+c_2=%(y0)s,\qquad%(slope)s=m.$$
The solution is bounded for $t\ge0$ exactly when the coefficient of the growing
exponential vanishes. That leaves $c_1=%(y0)s$ and $c_2=0$, so
$m=%(rn)s\cdot%(y0)s=%(bounded)s$ is the only possible slope. For $m=%(v0)s$ one gets
$c_1=%(c1)s$, $c_2=%(c2)s$ and
$$y(t)=%(solution)s,$$
which indeed tends to infinity.""",
        ),
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


def _sum(terms: tuple[tuple[Fraction, str], ...]) -> str:
    """A sum of multiples of named terms, without those that vanish."""
    out = ""
    for factor, name in terms:
        if factor:
            size = "" if abs(factor) == 1 and name else _latex(abs(factor))
            out += ("-" if factor < 0 else "+" if out else "") + size + name
    return out or "0"


def _integers(*terms: tuple[int, str]) -> str:
    """A sum of integer multiples of named terms."""
    return _sum(tuple((Fraction(factor), name) for factor, name in terms))


def _root_threads(rng: random.Random) -> list[Thread]:
    """Homogeneous equations of second order with two real roots."""
    threads = []
    scores = rng.sample(range(1, 10), k=len(_ROOTS_CASES))
    wordings = zip(_ROOTS_CASES, _ROOTS_WORDINGS, scores, strict=True)
    for ((r, s), (y0, v0)), (title, question, answers), score in wordings:
        p, q = -(r + s), r * s
        c1, c2 = Fraction(v0 - s * y0, r - s), Fraction(r * y0 - v0, r - s)
        first, second = _integers((r, "t")), _integers((s, "t"))
        values = {
            "equation": _integers((1, "y''"), (p, "y'"), (q, "y")) + "=0",
            "poly": _integers((1, r"\lambda^2"), (p, r"\lambda"), (q, "")),
            "factors": rf"(\lambda{-r:+d})(\lambda{-s:+d})",
            "p": p,
            "q": q,
            "disc": p * p - 4 * q,
            "y0": y0,
            "v0": v0,
            "r": first,
            "s": second,
            "rn": r,
            "sn": s,
            "gap": _integers((r - s, "t")),
            "slope": _integers((r, "c_1"), (s, "c_2")),
            "c1": _latex(c1),
            "c2": _latex(c2),
            "bounded": r * y0,
            "solution": _sum(((c1, f"e^{{{first}}}"), (c2, f"e^{{{second}}}"))),
        }
        threads.append(
            Thread(
                key="differential_equations/real-roots-" + _key(r, s),
                title=title % values,
                question=question % values,
                tags=("ordinary-differential-equations", "initial-value-problems"),
                score=score,
                answers=tuple(
                    Answer(text=text % values, accepted=i == 0, score=score + 2 - i)
                    for i, text in enumerate(answers)
                ),
            )
        )
    return threads


_TANK_CASES = ((100, 5, 2, 10), (200, 4, 3, 0), (60, 6, 1, 90))
"""``(volume, flow, inflow concentration, salt at the start)``."""

_TANK_WORDINGS = (
    (
        r"Salt in a well-stirred tank of %(volume)s litres",
        r"""A tank holds %(volume)s litres of water in which %(start)s grams of salt are
dissolved. Brine with %(conc)s grams per litre flows in at %(flow)s litres per minute,
and the mixture flows out at the same rate. Let $S(t)$ be the amount of salt in grams. I
understand that $S'=\text{rate in}-\text{rate out}$ and that the rate in is
$%(inflow)s$ grams per minute. But the concentration in the tank changes all the time,
so how do I write down the rate out? And what is $S(t)$ then?""",
        (
            r"""At time $t$ each litre contains $\frac{S(t)}{%(volume)s}$ grams (that is
what "well-stirred" means), and %(flow)s litres leave per minute, so the rate out is
$%(rate)sS(t)$. The equation becomes
$$S'=%(inflow)s-%(rate)sS,\qquad S(0)=%(start)s.$$
The constant solution is $S_\infty=%(final)s$, and the difference $D=S-S_\infty$
satisfies $D'=-%(rate)sD$, so it decays exponentially. Hence
$$S(t)=%(solution)s.$$
In the long run the tank contains $%(final)s$ grams, i.e. the concentration of the
inflow, as it should be.""",
        ),
    ),
    (
        r"Mixing problem: when does the tank reach half of its final concentration?",
        r"""A reservoir of $%(volume)s$ gallons contains pure water. From $t=0$ on,
$%(flow)s$ gallons per minute of a solution with $%(conc)s$ ounces of dye per gallon run
in, and the overflow of $%(flow)s$ gallons per minute is well mixed. I derived
$$\frac{dx}{dt}=%(inflow)s-%(rate)sx,\qquad x(0)=0$$
for the amount $x(t)$ of dye in ounces. I would like to know (a) the solution, (b) the
time at which half of the final amount is reached. For (b) I guessed the time after
which half of the volume has been exchanged, but this seems to be wrong.""",
        (
            r"""(a) Separate the variables or use an integrating factor; the result is
$$x(t)=%(final)s\left(1-e^{-%(rate)st}\right).$$
(b) Half of the final amount means $e^{-%(rate)st}=\frac12$, so
$$t=%(inverse)s\ln2\approx%(half).1f$$
minutes. Your guess corresponds to $t=%(guess)s$ minutes, and it is too short because
part of what flows out is already dye, not only old water. The quantity
$\frac{V}{r}=%(inverse)s$ is the time constant of the tank; the half-life is $\ln2$
times that.""",
            r"""Without solving anything you can answer (b) by a scaling argument. Write
$x=%(final)s\,u$ and $\tau=%(rate)st$; then
$$\frac{du}{d\tau}=1-u,\qquad u(0)=0,$$
an equation without any numbers in it. Its solution $u=1-e^{-\tau}$ reaches $\frac12$ at
$\tau=\ln2$, for every tank. Going back to minutes multiplies by $%(inverse)s$. The
amount of inflow concentration does not matter at all for the half-time.""",
        ),
    ),
    (
        r"Is $\lim_{t\to\infty}S(t)$ independent of the initial amount of salt?",
        r"""In a mixing problem with volume $V=%(volume)s$, flow rate $%(flow)s$ in and
out, and inflow concentration $%(conc)s$, the textbook starts with $S(0)=%(start)s$,
that is, with *more* salt than the inflow would produce. The equation is
$S'(t)=%(inflow)s-%(rate)sS(t)$. Intuitively the initial salt is washed out, so the
limit for $t\to\infty$ should not depend on $S(0)$. How do I prove that without
computing the solution for every initial value?""",
        (
            r"""Subtract two solutions. If $S$ and $\tilde S$ solve the same equation,
then $D=S-\tilde S$ solves $D'=-%(rate)sD$, so
$$D(t)=D(0)\,e^{-%(rate)st}\to0.$$
All solutions approach each other, whatever their initial values are. One of them is the
constant $\tilde S=%(final)s$ (set $S'=0$), so every solution tends to $%(final)s$. For
your data this gives
$$S(t)=%(solution)s,$$
which decreases, since the tank starts above the equilibrium. Your picture of washing
out is exactly the factor $e^{-%(rate)st}$.""",
        ),
    ),
)


def _tank_threads(rng: random.Random) -> list[Thread]:
    """Mixing problems, equations of first order with a constant inflow."""
    threads = []
    scores = rng.sample(range(1, 9), k=len(_TANK_CASES))
    wordings = zip(_TANK_CASES, _TANK_WORDINGS, scores, strict=True)
    for (volume, flow, conc, start), (title, question, answers), score in wordings:
        rate, final = Fraction(flow, volume), volume * conc
        decay = "e^{-" + _latex(rate) + "t}"
        values = {
            "volume": volume,
            "flow": flow,
            "conc": conc,
            "start": start,
            "inflow": flow * conc,
            "rate": _latex(rate),
            "final": final,
            "inverse": _latex(1 / rate),
            "half": float(1 / rate) * 0.6931471805599453,
            "guess": _latex(Fraction(volume, 2 * flow)),
            "solution": _integers((final, ""), (start - final, decay)),
        }
        threads.append(
            Thread(
                key=f"differential_equations/tank-{volume}-{flow}-{conc}",
                title=title % values,
                question=question % values,
                tags=("ordinary-differential-equations", "mathematical-modeling"),
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
    return [*_HAND_WRITTEN, *_root_threads(rng), *_tank_threads(rng)]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="differential_equations/topic-own-frequency",
        title=r"No particular solution for a spring driven at its own frequency?",
        question=r"""A mass on a spring without friction obeys $y''+9y=0$ and swings
like $\cos3t$. Now it is pushed periodically with exactly this frequency, and the
equation becomes
$$y''+9y=6\sin3t$$
The usual trial function $A\cos3t+B\sin3t$ disappears completely on the left, so I am
left with $0=6\sin3t$. Does that mean that the equation has no solution at all?
Physically the mass has to move somehow. How do I find a particular solution, and what
does the motion look like for large $t$?""",
        tags=("ordinary-differential-equations", "physics"),
        grades={
            "differential_equations/resonance#1": 3,
            "differential_equations/resonance#2": 3,
            "differential_equations/resonance#3": 2,
            "differential_equations/double-root-forcing#1": 2,
            "differential_equations/double-root-forcing#2": 2,
            "differential_equations/defective-system#2": 1,
            "differential_equations/integrating-factor#2": 1,
            "differential_equations/real-roots-m1-m2#1": 0,
            "differential_equations/real-roots-m1-m2#2": 0,
            "differential_equations/real-roots-1-3#1": 0,
            "differential_equations/wronskian-zero#1": 0,
            "differential_equations/finite-blow-up#1": 0,
            "differential_equations/tank-100-5-2#1": 0,
            "differential_equations/square-root-branching#1": 0,
            "complex_analysis/cosine-period-5-3#1": 0,
            "real_analysis/harmonic-unbounded#1": 0,
        },
        category="Computation",
        difficulty="Medium",
        dependency="Both",
    ),
    AnswerTopic(
        key="differential_equations/topic-cube",
        title=r"Solver returns zero, pencil and paper return $t^3$: who is right?",
        question=r"""For the problem
$$y'=3y^{2/3}$$
with $y(0)=0$ my numerical solver returns the constant function $0$. On paper I get
$y^{1/3}=t$, that is $y=t^3$, and inserting it shows that it is a solution. So two
different motions start from the same state, which contradicts everything that I was
told about differential equations being deterministic.

Is there a rule that picks the right one? Are there even more solutions? And which
assumption of the general theory is violated, given that the right-hand side is a
perfectly continuous function of $y$?""",
        tags=("ordinary-differential-equations", "existence-and-uniqueness"),
        grades={
            "differential_equations/square-root-branching#1": 3,
            "differential_equations/square-root-branching#2": 3,
            "differential_equations/lipschitz-uniqueness#1": 2,
            "differential_equations/lipschitz-uniqueness#2": 2,
            "differential_equations/finite-blow-up#1": 1,
            "differential_equations/wronskian-zero#1": 1,
            "differential_equations/finite-blow-up#2": 0,
            "differential_equations/integrating-factor#1": 0,
            "differential_equations/resonance#1": 0,
            "differential_equations/real-roots-1-3#1": 0,
            "differential_equations/tank-60-6-1#1": 0,
            "differential_equations/wronskian-zero#2": 0,
            "real_analysis/root-uniform#1": 0,
            "real_analysis/square-not-uniform#1": 0,
            "complex_analysis/log-product#1": 0,
            "calculus/x-to-the-x#1": 0,
        },
        category="Concept",
        difficulty="Medium",
        dependency="Both",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="differential_equations/topic-own-frequency",
        latex=r"y''+9y=6\sin3t",
        grades={
            r"y''+4y=\cos2t": 3,
            r"y''+4y=\cos2t.": 3,
            r"y''+4y=\cos\omega t": 2,
            r"z''+4z=e^{2it}": 2,
            r"y''-2y'+y=e^t": 1,
            r"y''+py'+qy=f": 1,
            r"y_p=\frac t4\sin2t.": 1,
            r"y''+p(x)y'+q(x)y=0": 0,
            r"x''-3x'=-x+x'-3x,\quad\text{i.e.}\quad x''-4x'+4x=0.": 0,
            r"w''+4iw'=1.": 0,
            r"u''=1": 0,
            r"y'+2xy=x": 0,
            r"y'=y^2,\qquad y(0)=1": 0,
            r"f'(x)=\frac{4x^3\cos(x^4)}{1+x^2}-\frac{2x\sin(x^4)}{(1+x^2)^2},": 0,
            r"\varphi''(t)=\frac{2}{(1-t)^3}>0": 0,
        },
    ),
    FormulaTopic(
        topic="differential_equations/topic-cube",
        latex=r"y'=3y^{2/3}",
        grades={
            r"y'=\sqrt{|y|}": 3,
            r"y'=\sqrt{|y|},\qquad y(0)=0.": 3,
            r"f(y)=\sqrt{|y|}": 2,
            r"y_c(t)=\begin{cases}0,&t\le c,\\\frac{(t-c)^2}{4},&t>c,\end{cases}": 1,
            r"\frac{f(y)-f(0)}{y-0}=\frac{1}{\sqrt{y}}\to\infty": 1,
            r"y'=y^2": 0,
            r"y'=-y^3": 0,
            r"y'=1+y^2": 0,
            r"y'=y\ln y": 0,
            r"y'+2xy=x": 0,
            r"\mu'=p\,\mu,": 0,
            r"g'(x)=\frac{1}{2\sqrt{x}}": 0,
            r"f'(x)=x^x(1+\ln x),": 0,
        },
    ),
)
