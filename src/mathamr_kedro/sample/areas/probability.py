"""Probability: expectation, conditioning, limit bounds and classic puzzles."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_THREADS = (
    Thread(
        key="probability/geometric-mean",
        title=r"Expected value of a geometric random variable, "
        r"$\sum_{k=1}^\infty k(1-p)^{k-1}p$",
        question=r"""Let $X$ be geometric with parameter $p \in (0, 1]$, that is
$P(X = k) = (1-p)^{k-1}p$ for $k = 1, 2, 3, \dots$ By definition
$$E[X] = \sum_{k=1}^{\infty} k (1-p)^{k-1} p.$$
I know that the result should be $\frac{1}{p}$, which is also what intuition says,
but I do not know how to evaluate the series. I tried to write out the first terms
and to find a pattern in the partial sums, without success. Any hint is welcome!""",
        tags=("probability", "expected-value", "sequences-and-series"),
        score=21,
        answers=(
            Answer(
                r"""Hint: differentiate the geometric series. For $|q| < 1$ we have
$\sum_{k=0}^{\infty} q^k = \frac{1}{1-q}$, and a power series may be differentiated
term by term inside its radius of convergence, so
$$\sum_{k=1}^{\infty} k q^{k-1} = \frac{1}{(1-q)^2}.$$
Put $q = 1 - p$ (the case $p = 1$ is trivial, then the first trial always succeeds)
and multiply by the constant factor $p$ that I have left out so far:
$$E[X] = p \cdot \frac{1}{(1-(1-p))^2} = \frac{p}{p^2} = \frac{1}{p}.$$""",
                accepted=True,
                score=29,
            ),
            Answer(
                r"""You can avoid the series completely by conditioning on the first
trial. With probability $p$ we succeed at once and $X = 1$. With probability $1-p$
we have wasted one trial and everything starts afresh, so
$$E[X] = p \cdot 1 + (1-p)\left(1 + E[X]\right).$$
Solve for the unknown: $p\,E[X] = 1$, hence $E[X] = \frac{1}{p}$. (One should know
beforehand that $E[X] < \infty$, which follows from the ratio test.) I find that
this explains the result better than any calculation.""",
                score=24,
                comments=(r"This first step analysis is worth remembering.",),
            ),
            Answer(
                r"""A third way: sum the tails. For a random variable with values in
$\{1, 2, 3, \dots\}$ we have $E[X] = \sum_{k=1}^{\infty} P(X \geq k)$. The event
$X \geq k$ means that the first $k - 1$ trials failed, so
$P(X \geq k) = (1-p)^{k-1}$ and
$$E[X] = \sum_{k=1}^{\infty} (1-p)^{k-1} = \frac{1}{1 - (1-p)} = \frac{1}{p}.$$
This only needs the plain geometric series, no derivative, and it also works for
other waiting times as soon as you know the probability to wait longer than a given
time.""",
                score=15,
            ),
        ),
        related=("probability/tail-sum", "probability/coupon-collector"),
    ),
    Thread(
        key="probability/coupon-collector",
        title=r"Coupon collector: why $n H_n$?",
        question=r"""Every box of cereal contains one of $n$ different coupons, each
with probability $\frac{1}{n}$, independently of the other boxes. Let $T$ be the
number of boxes until I own all the coupons. Why is
$$E[T] = n \left(1 + \frac{1}{2} + \dots + \frac{1}{n}\right) = n H_n \; ?$$
I tried to find the distribution $P(T = t)$ first, but the inclusion-exclusion got
out of hand quickly. Is there a way around it? For $n = 6$ the formula gives $14.7$,
which is the number of rolls of a die until all the faces have appeared.""",
        tags=("probability", "expected-value", "coupon-collector"),
        score=13,
        answers=(
            Answer(
                r"""Split $T$ into phases. Let $T_i$ be the number of boxes you buy
while you own exactly $i - 1$ different coupons. During this phase each box is new
with probability
$$p_i = \frac{n - i + 1}{n},$$
so $T_i$ is geometric and $E[T_i] = \frac{1}{p_i} = \frac{n}{n-i+1}$. Since
$T = T_1 + \dots + T_n$, linearity of expectation gives
$$E[T] = \sum_{i=1}^{n} \frac{n}{n-i+1} = n \sum_{j=1}^{n} \frac{1}{j} = n H_n.$$
The distribution of $T$ is not needed at all.""",
                accepted=True,
                score=22,
            ),
            Answer(
                r"""If you want to see how large it is:
$H_n = \ln n + \gamma + o(1)$, so $E[T] \approx n \ln n + 0.577\,n$. The phases are
independent, so you also get the variance as
$$\operatorname{Var}(T) = \sum_{i=1}^{n} \frac{1 - p_i}{p_i^2}
\leq n^2 \sum_{j=1}^{\infty} \frac{1}{j^2} = \frac{\pi^2 n^2}{6},$$
and then Chebyshev shows that $T$ is close to $n \ln n$ with high probability. So
for a large album the waiting time is well predictable, although the last few
coupons take a large part of the time: the last one alone needs $n$ boxes on
average.""",
                score=7,
            ),
            Answer(
                r"""You said that the inclusion-exclusion got out of hand. It does
not have to, and it gives the distribution as a bonus. Let $A_i$ be the event that
coupon $i$ is still missing after $t$ boxes. Then $T > t$ means that at least one of
these events occurs, so
$$P(T > t) = P\left( \bigcup_{i=1}^{n} A_i \right).$$
For a fixed set of $j$ coupons, the probability that all of them are missing after
$t$ boxes is $\left(1 - \frac{j}{n}\right)^t$, because each box has to avoid $j$ of
the $n$ coupons. There are $\binom{n}{j}$ such sets. Inclusion-exclusion gives
$$P(T > t) = \sum_{j=1}^{n} (-1)^{j+1} \binom{n}{j} \left(1 - \frac{j}{n}\right)^t.$$
Now use the tail sum formula, which says that the expectation of a variable with
values in the natural numbers is $E[T] = \sum_{t=0}^{\infty} P(T > t)$. For each $j$
we have to sum a geometric series with ratio $1 - \frac{j}{n}$, and its value is
$\frac{n}{j}$. Therefore
$$E[T] = n \sum_{j=1}^{n} \frac{(-1)^{j+1}}{j} \binom{n}{j}.$$
It is a nice exercise to show that this alternating sum is the harmonic number
$H_n$. Hint: write $\frac{1}{j} = \int_0^1 x^{j-1}\,dx$, exchange sum and integral,
and recognize $\frac{1 - (1-x)^n}{x}$ under the integral sign; then substitute
$u = 1 - x$. So this way is longer than the one with the phases, but in return you
can answer questions like "how many boxes do I need to be complete with probability
$0.95$".""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="probability/uncorrelated",
        title=r"Does $\operatorname{Cov}(X, Y) = 0$ imply independence?",
        question=r"""I know that for independent random variables
$E[XY] = E[X]E[Y]$, so $\operatorname{Cov}(X, Y) = 0$ and
$$\operatorname{Var}(X + Y) = \operatorname{Var}(X) + \operatorname{Var}(Y).$$
Is the converse true? If the covariance vanishes, are $X$ and $Y$ independent? I
believe that the answer is no, but every example I try, for instance two dice, turns
out to be independent. For which of the two formulas above do I really need
independence?""",
        tags=("probability", "covariance", "independence"),
        score=9,
        answers=(
            Answer(
                r"""The converse is false, and the smallest examples already show
it. Let $X$ be uniform on $\{-1, 0, 1\}$ and $Y = X^2$. Then $E[X] = 0$ and
$E[XY] = E[X^3] = 0$, so
$$\operatorname{Cov}(X, Y) = E[XY] - E[X]E[Y] = 0.$$
But $Y$ is a function of $X$, and $P(X = 0, Y = 1) = 0$ while
$P(X = 0)P(Y = 1) = \frac{1}{3} \cdot \frac{2}{3} \neq 0$. So they are uncorrelated
and very much dependent. Covariance only sees the linear part of the relation, and a
parabola that is symmetric about zero has none.""",
                accepted=True,
                score=17,
            ),
            Answer(
                r"""About the second part of your question: expand the square,
$$\operatorname{Var}(X + Y) = \operatorname{Var}(X) + \operatorname{Var}(Y)
+ 2\operatorname{Cov}(X, Y),$$
so the variance of the sum is additive if and only if
$\operatorname{Cov}(X, Y) = 0$. You never need full independence for that. In one
important situation the converse does hold: if $(X, Y)$ is *jointly* normal, then
uncorrelated implies independent. For two normal variables that are not jointly
normal it fails again: take $X$ standard normal and $Y = \varepsilon X$ with a fair
sign $\varepsilon = \pm 1$ independent of $X$.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="probability/chebyshev",
        title=r"From Markov's inequality to Chebyshev's inequality",
        question=r"""Markov's inequality says that for a nonnegative random variable
$X$ and $a > 0$ we have $P(X \geq a) \leq \frac{E[X]}{a}$. In the lecture it was
said that Chebyshev's inequality
$$P(|X - \mu| \geq k\sigma) \leq \frac{1}{k^2}$$
"follows immediately". I do not see it, because $X - \mu$ can be negative and there
is no square in Markov's inequality. Also, how does one prove Markov's inequality
itself, is there a picture behind it?""",
        tags=("probability", "inequality", "variance"),
        score=10,
        answers=(
            Answer(
                r"""Apply Markov to the right random variable. Put
$Y = (X - \mu)^2$, which is nonnegative with
$E[Y] = \operatorname{Var}(X) = \sigma^2$. The events $|X - \mu| \geq k\sigma$ and
$Y \geq k^2\sigma^2$ are the same, so
$$P(|X - \mu| \geq k\sigma) = P(Y \geq k^2\sigma^2)
\leq \frac{\sigma^2}{k^2\sigma^2} = \frac{1}{k^2}.$$
Squaring has removed the sign, and this is the whole idea. With the fourth power,
$Y = (X - \mu)^4$, you get a bound with $k^4$ in the denominator, provided that the
fourth moment exists. In general any increasing nonnegative function may be put in
front of Markov's inequality.""",
                accepted=True,
                score=19,
                comments=(r"The same trick with $e^{tX}$ gives the Chernoff bound.",),
            ),
            Answer(
                r"""The picture behind Markov: let $\mathbf{1}_{X \geq a}$ be the
indicator of the event. Then, because $X \geq 0$,
$$a \cdot \mathbf{1}_{X \geq a} \leq X$$
holds pointwise: if $X < a$ the left side is $0$, and otherwise it is $a \leq X$.
Take expectations on both sides and get $a\,P(X \geq a) \leq E[X]$. In words, a
graph of $X$ lies above a box of height $a$ over the event, so the area of the box
is at most the area under the graph.""",
                score=12,
            ),
        ),
    ),
    Thread(
        key="probability/birthday",
        title=r"Birthday problem: where does $1 - \frac{365!}{342! \cdot 365^{23}}$ "
        r"come from?",
        question=r"""In a room with $23$ people the probability that two of them
share a birthday is more than $\frac{1}{2}$. I have seen the formula
$$1 - \frac{365!}{342! \cdot 365^{23}} \approx 0.507$$
but not the derivation. My own approach was: there are $\binom{23}{2} = 253$ pairs,
and each pair matches with probability $\frac{1}{365}$, so the answer is
$\frac{253}{365} \approx 0.69$. What is wrong with this? For a larger group it would
even exceed one.""",
        tags=("probability", "combinatorics", "birthday"),
        score=11,
        answers=(
            Answer(
                r"""Compute the probability of the complement, that all birthdays
are different. The second person avoids the first with probability
$\frac{364}{365}$, the third avoids both with probability $\frac{363}{365}$, and so
on:
$$P(\text{all different}) = \prod_{i=0}^{22} \frac{365 - i}{365}
= \frac{365!}{342! \cdot 365^{23}} \approx 0.493.$$
The wanted probability is one minus that, so about $0.507$. Here I have assumed that
all the days are equally likely and that the birthdays are independent; with real
data, where some days are more common, a match becomes a little more likely. With
$22$ people you stay just below one half.""",
                accepted=True,
                score=16,
            ),
            Answer(
                r"""As for your approach: the sum $253 \cdot \frac{1}{365}$ is the
*expected number* of matching pairs $E[N]$. It is an upper bound for the probability
of at least one match, $P(N \geq 1) \leq E[N]$ (union bound), but the events are not
disjoint, since there can be several matching pairs. If the pairs were independent
you would get
$$1 - \left(\frac{364}{365}\right)^{253} \approx 0.5005,$$
which is already close to the truth. They are only pairwise independent, so this is
an approximation, but a good one.""",
                score=10,
            ),
        ),
    ),
    Thread(
        key="probability/memoryless",
        title=r"Memoryless property: $P(X > s + t \mid X > s) = P(X > t)$",
        question=r"""Let $X$ be exponentially distributed with rate $\lambda > 0$,
so $P(X > t) = e^{-\lambda t}$ for $t \geq 0$. I have to show that
$$P(X > s + t \mid X > s) = P(X > t), \qquad s, t \geq 0,$$
and to explain it to the class next week. I can do the calculation, but I am not
sure about the interpretation. Does it say that the events $X > s + t$ and $X > s$
are independent? Is the exponential distribution the only one with this property?""",
        tags=("probability", "conditional-probability", "exponential-distribution"),
        score=8,
        answers=(
            Answer(
                r"""It is one line with the definition of conditional probability.
Since $X > s + t$ implies $X > s$,
$$P(X > s + t \mid X > s) = \frac{P(X > s + t)}{P(X > s)}
= \frac{e^{-\lambda(s+t)}}{e^{-\lambda s}} = e^{-\lambda t} = P(X > t).$$
It does *not* say that the events are independent. Independence would mean
$P(X > s + t \mid X > s) = P(X > s + t)$. The property says that a bulb which has
survived $s$ hours is as good as a new one.""",
                accepted=True,
                score=14,
            ),
            Answer(
                r"""For the uniqueness, put $G(t) = P(X > t)$. The property is the
functional equation $G(s + t) = G(s)G(t)$. It follows that $G(m/n) = G(1)^{m/n}$ for
positive integers $m, n$, and because $G$ is monotone the formula extends to all
real $t \geq 0$. So $G(t) = G(1)^t = e^{-\lambda t}$ with $\lambda = -\ln G(1)$,
which is positive and finite since $0 < G(1) < 1$. Among the distributions on
$\{1, 2, 3, \dots\}$ the geometric ones are the memoryless ones.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="probability/tail-sum",
        title=r"Prove $E[X] = \sum_{k=1}^{\infty} P(X \geq k)$",
        question=r"""Let $X$ be a random variable with values in
$\{0, 1, 2, \dots\}$. I want to prove the tail sum formula
$$E[X] = \sum_{k=1}^{\infty} P(X \geq k).$$
I checked it for a fair die, where
$\frac{6 + 5 + 4 + 3 + 2 + 1}{6} = \frac{21}{6} = 3.5$, so I believe it. But the
definition is $E[X] = \sum_{k} k P(X = k)$ and I do not know how to pass from one
sum to the other. What is the analogue for a continuous $X \geq 0$?""",
        tags=("probability", "expected-value", "summation"),
        score=12,
        answers=(
            Answer(
                r"""The idea is to see the number $k$ itself as a sum with $k$
terms. Write $k = \sum_{j=1}^{k} 1$ and exchange the order of summation, which is
fine because all the terms are nonnegative:
$$\begin{align}
E[X] &= \sum_{k=1}^{\infty} k\,P(X = k) \\
&= \sum_{k=1}^{\infty} \sum_{j=1}^{k} P(X = k) \\
&= \sum_{j=1}^{\infty} \sum_{k=j}^{\infty} P(X = k) = \sum_{j=1}^{\infty} P(X \geq j).
\end{align}$$
In the last step the events $X = j$, $X = j + 1$ and so on are disjoint, so their
probabilities add up. For a continuous nonnegative variable the same trick gives
$E[X] = \int_0^\infty P(X > t)\,dt$.""",
                accepted=True,
                score=18,
            ),
            Answer(
                r"""With indicators: for every outcome
$$X = \sum_{k=1}^{\infty} \mathbf{1}_{X \geq k},$$
because exactly the first $X$ indicators are equal to $1$. Take expectations on both
sides. Monotone convergence lets you exchange $E$ and $\sum$, and
$E[\mathbf{1}_{X \geq k}] = P(X \geq k)$. The same proof works for
$E[X] = \int_0^\infty P(X > t)\,dt$ if you replace the sum by
$X = \int_0^\infty \mathbf{1}_{X > t}\,dt$.""",
                score=11,
            ),
        ),
    ),
    Thread(
        key="probability/poisson-sum",
        title=r"Sum of independent Poisson variables",
        question=r"""Let $X \sim \operatorname{Poisson}(\lambda)$ and
$Y \sim \operatorname{Poisson}(\mu)$ be independent. I want to show that
$X + Y \sim \operatorname{Poisson}(\lambda + \mu)$. I wrote
$$P(X + Y = n) = \sum_{k=0}^{n} P(X = k) P(Y = n - k)
= \sum_{k=0}^{n} e^{-\lambda} \frac{\lambda^k}{k!} e^{-\mu} \frac{\mu^{n-k}}{(n-k)!}$$
and then I did not know what to do with the factorials. It looks a bit like the
binomial theorem, but the binomial coefficients are missing. Is there also a proof
without any sums? And does the statement remain true without independence, as it
does for the expectations?""",
        tags=("probability", "poisson-distribution", "convolution"),
        score=7,
        answers=(
            Answer(
                r"""You are very close. Multiply and divide by $n!$ so that the
binomial coefficient shows up, and take the exponentials out of the sum:
$$\begin{align}
P(X + Y = n) &= \frac{e^{-(\lambda + \mu)}}{n!} \sum_{k=0}^{n} \binom{n}{k} \lambda^k
\mu^{n-k} \\
&= e^{-(\lambda + \mu)} \frac{(\lambda + \mu)^n}{n!}.
\end{align}$$
The last step is the binomial theorem. Without independence it is false, take
$Y = X$: then $X + Y = 2X$ has only even values, which is never the case for a
Poisson variable with $\lambda > 0$.""",
                accepted=True,
                score=13,
            ),
            Answer(
                r"""With generating functions it becomes a one-liner. For a Poisson
variable
$$G_X(s) = E[s^X] = \sum_{k=0}^{\infty} s^k e^{-\lambda} \frac{\lambda^k}{k!}
= e^{\lambda(s-1)}.$$
Independence gives $G_{X+Y}(s) = G_X(s)G_Y(s) = e^{(\lambda + \mu)(s-1)}$, and this
is the generating function of $\operatorname{Poisson}(\lambda + \mu)$, valid for
$|s| \leq 1$. A generating function determines the distribution, so we are done. By
induction the result holds for any finite number of independent summands.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="probability/maximum-uniform",
        title=r"$E[\max(X_1, \dots, X_n)]$ for uniform random variables",
        question=r"""Let $X_1, \dots, X_n$ be independent and uniform on $[0, 1]$
and let $M = \max(X_1, \dots, X_n)$. What is $E[M]$? For $n = 1$ it is
$\frac{1}{2}$, and for $n = 2$ a double integral gave me $\frac{2}{3}$, so I
conjecture $\frac{n}{n+1}$. I would not like to compute an $n$-fold integral. Is
there a slick argument that explains why the answer is so simple?""",
        tags=("probability", "order-statistics", "uniform-distribution"),
        score=9,
        answers=(
            Answer(
                r"""The distribution function is easy: $M \leq t$ means that all the
variables are at most $t$, so $P(M \leq t) = t^n$ for $0 \leq t \leq 1$. The density
is $n t^{n-1}$ and
$$E[M] = \int_0^1 t \cdot n t^{n-1}\,dt = \frac{n}{n+1}.$$
So one integral is enough, because independence turns the distribution function into
a product. For the minimum you get $\frac{1}{n+1}$ by symmetry, as $1 - X_i$ is
uniform too.""",
                accepted=True,
                score=15,
            ),
            Answer(
                r"""Here is the slick argument. Put $n + 1$ independent uniform
points on a circle of circumference $1$. By symmetry each of the $n + 1$ gaps has
expected length $\frac{1}{n+1}$. Now cut the circle at one of the points and unroll
it to $[0, 1]$: the other $n$ points are independent and uniform. The largest of
them is followed by one last gap, so $E[M] = 1 - \frac{1}{n+1} = \frac{n}{n+1}$. In
the same way the $k$-th smallest has expectation $\frac{k}{n+1}$.""",
                score=20,
            ),
        ),
    ),
    Thread(
        key="probability/monty-hall",
        title=r"Monty Hall with conditional probability",
        question=r"""I understand the list of cases for the Monty Hall problem, but
I want to see it with Bayes. Let $C_i$ be the event that the car is behind door $i$,
so $P(C_1) = P(C_2) = P(C_3) = \frac{1}{3}$. I choose door $1$ and the host opens
door $3$; call this event $H_3$. Why is $P(C_2 \mid H_3) = \frac{2}{3}$ and not
$\frac{1}{2}$? After all, $P(C_2 \mid C_3^c) = \frac{1}{2}$.""",
        tags=("probability", "conditional-probability", "monty-hall", "bayes-theorem"),
        score=10,
        answers=(
            Answer(
                r"""Because $H_3$ is not the same event as $C_3^c$. You learn more
than "the car is not behind door $3$", namely that the host *chose* to open door
$3$. He never opens the door with the car and never your own door, and if he has a
choice he tosses a coin. So his behaviour is $P(H_3 \mid C_1) = \frac{1}{2}$,
$P(H_3 \mid C_2) = 1$, $P(H_3 \mid C_3) = 0$. Bayes gives
$$P(C_2 \mid H_3) = \frac{P(H_3 \mid C_2) P(C_2)}{\sum_{i=1}^{3} P(H_3 \mid C_i) P(C_i)}
= \frac{1 \cdot \frac{1}{3}}{\frac{1}{2} \cdot \frac{1}{3} + 1 \cdot \frac{1}{3} + 0}
= \frac{2}{3}.$$""",
                accepted=True,
                score=18,
            ),
            Answer(
                r"""If the host opens one of the doors $2, 3$ at random, without
knowing where the car is, then $P(H_3 \mid C_1) = P(H_3 \mid C_2) = \frac{1}{2}$
and, given that door $3$ shows a goat, the posterior for door $2$ is
$$\frac{\frac{1}{2} \cdot \frac{1}{3}}{\frac{1}{2} \cdot \frac{1}{3} +
\frac{1}{2} \cdot \frac{1}{3}} = \frac{1}{2}.$$
So your intuition is correct for an ignorant host. What matters is the likelihood of
what you have seen under each hypothesis, and this is exactly what Bayes' theorem
takes into account.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="probability/two-sixes-in-a-row",
        title=r"Expected number of rolls until two sixes in a row",
        question=r"""A fair die is rolled until two consecutive sixes show up. Let
$N$ be the number of rolls. A friend claims that $E[N] = 36$, because the
probability of two sixes is $\frac{1}{6} \cdot \frac{1}{6} = \frac{1}{36}$. My
simulation with $10^6$ runs says about $42$. Which is right? If it is $42$, how do I
compute it, and what is wrong with the argument of my friend?""",
        tags=("probability", "expected-value", "dice", "markov-chains"),
        score=14,
        answers=(
            Answer(
                r"""Your simulation is right. Let $a$ be the expected number of
further rolls when the last roll was not a six (or at the start), and $b$ when it
was a six. Conditioning on the next roll we get
$$\begin{cases} a = 1 + \frac{1}{6} b + \frac{5}{6} a, \\
b = 1 + \frac{1}{6} \cdot 0 + \frac{5}{6} a. \end{cases}$$
The first equation gives $a = 6 + b$, and then $b = 1 + \frac{5}{6}(6 + b)$, so
$b = 36$ and $a = 42$.""",
                accepted=True,
                score=20,
            ),
            Answer(
                r"""The argument of your friend works for *disjoint* blocks: if you
roll in pairs and wait for a pair of sixes, you need $36$ pairs, that is $72$ rolls
on average. With overlapping windows the trials are not independent, so the number
of windows is not geometric. For a run of $r$ successes with probability $p$ each,
the general formula is
$$E[N] = \frac{1 - p^r}{(1 - p)\,p^r},$$
and $p = \frac{1}{6}$, $r = 2$ gives $\frac{35/36}{5/216} = 42$.""",
                score=11,
            ),
        ),
    ),
)

_BAYES_QUESTIONS = (
    r"""A disease affects a fraction $%(p)s$ of the population. A test is positive
for a sick person with probability $%(s)s$, and for a healthy person with
probability $%(f)s$. I was tested and the result is positive. What is
$P(\text{sick} \mid \text{positive})$?

Intuitively I would say that it is about $%(s)s$, because that is how reliable the
test is. But the solution in the book is much smaller and I do not understand where
the rest goes.""",
    r"""Machine $A$ produces a share of $%(p)s$ of all the screws and machine $B$
the rest, $%(q)s$. A screw from $A$ is defective with probability $%(s)s$, a screw
from $B$ with probability $%(f)s$. A randomly chosen screw turns out to be
defective; with which probability did it come from machine $A$? I think that I have
to divide $P(A \cap D)$ by $P(D)$, but how do I find $P(D)$ when only the
conditional probabilities are given?""",
    r"""I am writing a small mail filter. A share of $%(p)s$ of my mail is spam
(event $S$). The word "winner" occurs in spam with probability $P(W \mid S) = %(s)s$
and in other mail with probability $P(W \mid S^c) = %(f)s$. A new message contains
the word. How likely is it that the message is spam, i.e. what is $P(S \mid W)$? And
how would a second, independent word change the result?""",
)

_BAYES_ANSWERS = (
    r"""Think of what can lead to a positive result. Either you are sick and the
test is right, which has probability $%(p)s \cdot %(s)s = %(ps)s$, or you are
healthy and the test is wrong, with probability $%(q)s \cdot %(f)s = %(qf)s$. Given
a positive result,
$$P(\text{sick} \mid \text{positive}) = \frac{%(ps)s}{%(ps)s + %(qf)s} = %(frac)s
%(value)s.$$
There are so many more healthy than sick people that most positive results are false
alarms. The number $%(s)s$ is $P(\text{positive} \mid \text{sick})$, which is a
different thing.""",
    r"""Every screw comes from exactly one of the two machines, so use the law of
total probability for the denominator:
$$P(D) = P(D \mid A)P(A) + P(D \mid B)P(B) = %(s)s \cdot %(p)s + %(f)s \cdot %(q)s
= %(total)s.$$
Then Bayes' theorem says
$$P(A \mid D) = \frac{P(D \mid A)P(A)}{P(D)} = \frac{%(ps)s}{%(total)s} = %(frac)s
%(value)s.$$
It helps to imagine $10000$ screws and to count them instead of multiplying
decimals: $%(many)s$ of the defective ones come from $A$, out of $%(all)s$ defective
ones.""",
    r"""I like odds for this. The prior odds of spam are $%(p)s : %(q)s$. Seeing the
word multiplies them by the likelihood ratio
$\frac{P(W \mid S)}{P(W \mid S^c)} = \frac{%(s)s}{%(f)s}$. So the posterior odds are
$%(ps)s : %(qf)s$, and
$$P(S \mid W) = \frac{%(ps)s}{%(ps)s + %(qf)s} = %(frac)s %(value)s.$$
If a second word is conditionally independent of the first given $S$ and given
$S^c$, just multiply the odds by its own likelihood ratio as well. This is the naive
Bayes filter.""",
    r"""Natural frequencies make this less mysterious. Imagine $10000$ people. By
the given numbers we expect $%(many)s$ of them to be sick and tested positive, and
altogether we expect $%(all)s$ positive tests, the rest being false alarms. So among
the people with a positive result a share of
$$\frac{%(many)s}{%(all)s} %(value)s$$
is really sick. A second test, if its errors are independent of the first one, would
start from this new prior instead of $%(p)s$ and bring much more certainty.""",
)

_URN_QUESTIONS = (
    r"""An urn contains $%(r)d$ red and $%(b)d$ blue balls. I draw $%(k)d$ balls
without replacement. What is the probability of at least one red ball? I started
with exactly one red, exactly two red and so on, and I got lost in the cases. My
first guess $%(k)d \cdot \frac{%(r)d}{%(n)d}$ cannot be correct in general, because
for more draws it would become larger than $1$.""",
    r"""From a class with $%(r)d$ girls and $%(b)d$ boys a committee of $%(k)d$ is
chosen at random. Let $X$ be the number of girls in it. I need $P(X \geq 1)$ and
$E[X]$. I know that there are $\binom{%(n)d}{%(k)d}$ possible committees, all
equally likely. For the numerator I would choose one girl in $\binom{%(r)d}{1}$ ways
and then anybody for the rest, but this gives too many. What am I counting twice?""",
    r"""A box holds $%(n)d$ light bulbs, $%(r)d$ of which are broken. We test
$%(k)d$ of them, chosen at random. How likely is it that we find at least one broken
bulb? Does the answer change if we put each bulb back before taking the next one? I
was told that the first case is hypergeometric and the second one is binomial with
$p = \frac{%(r)d}{%(n)d}$, but I do not see which formula to use.""",
)

_URN_ANSWERS = (
    r"""Look at the opposite event: no red ball at all. Then all $%(k)d$ balls are
blue, and there are $\binom{%(b)d}{%(k)d} = %(none)d$ ways for this among
$\binom{%(n)d}{%(k)d} = %(all)d$ possible draws. So
$$P(\text{at least one red}) = 1 - \frac{\binom{%(b)d}{%(k)d}}{\binom{%(n)d}{%(k)d}}
= 1 - \frac{%(none)d}{%(all)d} = %(frac)s %(value)s.$$
Whenever you read "at least one", try the complement first. The direct way leads to
the same number, but you have to add a term for every possible number of red balls.""",
    r"""You count a committee with two girls twice, once for each girl that could
have been "the chosen one". The complement is safe: committees without girls are
counted by $\binom{%(b)d}{%(k)d} = %(none)d$, and in all there are $%(all)d$
committees, so $P(X \geq 1) = 1 - \frac{%(none)d}{%(all)d} = %(frac)s$.

For the expectation number the seats from $1$ to $%(k)d$. Each seat is filled by a
girl with probability $\frac{%(r)d}{%(n)d}$, and by linearity
$E[X] = %(k)d \cdot \frac{%(r)d}{%(n)d} = %(mean)s$.""",
    r"""Without putting back, the chance that all the tested bulbs work is
$$\frac{\binom{%(b)d}{%(k)d}}{\binom{%(n)d}{%(k)d}} = \frac{%(none)d}{%(all)d},$$
so we find a broken one with probability $%(frac)s$. If each bulb is put back, the
tests are independent and the answer is
$1 - \left(\frac{%(b)d}{%(n)d}\right)^{%(k)d} \approx %(back)s$. It is a bit smaller
than without replacement, where $P %(value)s$, because we may test the same good
bulb several times. For a large box the two numbers get close to each other.""",
    r"""You can also multiply along the draws. The first ball is blue with
probability $\frac{%(b)d}{%(n)d}$, and every further draw has one blue ball less and
one ball less in total. So the probability of no red ball is a product of $%(k)d$
such factors, and its value is $\frac{%(none)d}{%(all)d}$, before cancelling. The
wanted probability is $1 - \frac{%(none)d}{%(all)d} = %(frac)s$. Your guess is the
*expected number* of red balls, which is $%(mean)s$ here, and this is always at
least as large as the probability that there is one.""",
)


def _write_fraction(value: Fraction) -> str:
    """Write a fraction in LaTeX."""
    if value.denominator == 1:
        return str(value.numerator)
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _write_decimal(value: Fraction) -> str:
    """Write a fraction with a finite decimal expansion."""
    return f"{float(value):.6f}".rstrip("0").rstrip(".")


def _write_rounded(value: Fraction) -> str:
    """Write a relation sign and three decimals."""
    sign = "=" if (1000 * value).denominator == 1 else r"\approx"
    return f"{sign} {float(value):.3f}"


def _ask_bayes(rng: random.Random) -> list[Thread]:
    """Write questions that Bayes' theorem answers."""
    titles = (
        r"Positive test, $P(\text{sick}) = %(p)s$: am I really ill?",
        r"Which machine made the defective screw? Finding $P(A \mid D)$",
        r"Computing $P(S \mid W)$ for a spam filter",
    )
    tags = ("probability", "conditional-probability", "bayes-theorem")
    threads = []
    cases = (
        ("1/100", "19/20", "1/25"),
        ("3/5", "1/50", "1/20"),
        ("2/5", "1/4", "1/20"),
    )
    for place, case in enumerate(cases):
        p, s, f = (Fraction(part) for part in case)
        total = p * s + (1 - p) * f
        posterior = p * s / total
        values = {
            "p": _write_decimal(p),
            "q": _write_decimal(1 - p),
            "s": _write_decimal(s),
            "f": _write_decimal(f),
            "ps": _write_decimal(p * s),
            "qf": _write_decimal((1 - p) * f),
            "total": _write_decimal(total),
            "frac": _write_fraction(posterior),
            "value": _write_rounded(posterior),
            "many": _write_decimal(10000 * p * s),
            "all": _write_decimal(10000 * total),
        }
        threads.append(
            Thread(
                key=f"probability/bayes-{('test', 'screws', 'spam')[place]}",
                title=titles[place] % values,
                question=_BAYES_QUESTIONS[place] % values,
                tags=tags,
                score=rng.randint(2, 9),
                answers=(
                    Answer(
                        _BAYES_ANSWERS[place] % values,
                        accepted=True,
                        score=rng.randint(4, 12),
                    ),
                    Answer(_BAYES_ANSWERS[3] % values, score=2),
                )[: 2 if place == 0 else 1],
            )
        )
    return threads


def _ask_urns(rng: random.Random) -> list[Thread]:
    """Write questions on drawing without replacement."""
    titles = (
        r"At least one red ball in $%(k)d$ draws from $%(n)d$",
        r"Probability of a girl in a committee of $%(k)d$ out of $%(n)d$",
        r"Testing $%(k)d$ of $%(n)d$ bulbs: hypergeometric or binomial?",
    )
    threads = []
    for place, (r, b, k) in enumerate(((4, 6, 3), (12, 8, 5), (3, 17, 4))):
        n = r + b
        none = Fraction(comb(b, k), comb(n, k))
        values = {
            "r": r,
            "b": b,
            "k": k,
            "n": n,
            "none": comb(b, k),
            "all": comb(n, k),
            "frac": _write_fraction(1 - none),
            "value": _write_rounded(1 - none),
            "mean": _write_fraction(Fraction(k * r, n)),
            "back": f"{1 - (b / n) ** k:.3f}",
        }
        threads.append(
            Thread(
                key=f"probability/draw-{r}-{b}-{k}",
                title=titles[place] % values,
                question=_URN_QUESTIONS[place] % values,
                tags=("probability", "combinatorics", "binomial-coefficients"),
                score=rng.randint(0, 6),
                answers=(
                    Answer(
                        _URN_ANSWERS[place] % values,
                        accepted=place != 1,
                        score=rng.randint(2, 8),
                    ),
                    Answer(_URN_ANSWERS[3] % values, score=2),
                )[: 2 if place == 0 else 1],
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of the area."""
    return [*_THREADS, *_ask_bayes(rng), *_ask_urns(rng)]


ANSWER_TOPICS = (
    AnswerTopic(
        key="probability/topic-first-six",
        title=r"How many rolls on average until the first $6$?",
        question=r"""In many board games you may only start after rolling a $6$. If
$R$ denotes the number of rolls up to and including the first six, then
$P(R = k) = \left(\frac{5}{6}\right)^{k-1} \frac{1}{6}$, and the mean waiting time
is
$$\sum_{k=1}^{\infty} k \left(\frac{5}{6}\right)^{k-1} \frac{1}{6}$$
if I am not mistaken. My children say that the answer is $6$, "because there are six
sides". Are they right, and how can one evaluate such a sum, or avoid it?""",
        tags=("probability", "expected-value", "dice"),
        grades={
            "probability/geometric-mean#1": 3,
            "probability/geometric-mean#2": 3,
            "probability/geometric-mean#3": 3,
            "probability/coupon-collector#1": 2,
            "probability/tail-sum#1": 2,
            "probability/tail-sum#2": 1,
            "probability/two-sixes-in-a-row#1": 1,
            "probability/two-sixes-in-a-row#2": 1,
            "probability/coupon-collector#2": 0,
            "probability/coupon-collector#3": 0,
            "probability/poisson-sum#1": 0,
            "probability/poisson-sum#2": 0,
            "probability/maximum-uniform#1": 0,
            "probability/memoryless#1": 0,
            "probability/birthday#1": 0,
            "probability/chebyshev#1": 0,
            "graph_theory/handshake#1": 0,
        },
        category="Computation",
        difficulty="Low",
        dependency="Both",
    ),
    AnswerTopic(
        key="probability/topic-alarm",
        title=r"An alarm goes off: how likely is a burglary?",
        question=r"""An alarm system reacts to a burglary with probability
$P(A \mid B) = 0.98$ but also gives false alarms, $P(A \mid B^c) = 0.01$. Burglaries
happen on one night out of a thousand, $P(B) = 0.001$. The alarm goes off tonight.
The salesman says that I can be $98$ percent sure that there is a burglar. Is this
the correct reading, or how do I get $P(B \mid A)$ from the given numbers?""",
        tags=("probability", "conditional-probability", "bayes-theorem"),
        grades={
            "probability/bayes-test#1": 3,
            "probability/bayes-screws#1": 3,
            "probability/bayes-spam#1": 3,
            "probability/monty-hall#1": 2,
            "probability/monty-hall#2": 1,
            "probability/memoryless#1": 0,
            "probability/memoryless#2": 0,
            "probability/birthday#2": 0,
            "probability/uncorrelated#1": 0,
            "probability/draw-4-6-3#1": 0,
            "probability/draw-3-17-4#1": 0,
            "probability/chebyshev#1": 0,
            "set_theory_logic/contrapositive#1": 0,
        },
        category="Computation",
        difficulty="Low",
        dependency="Text",
    ),
)

FORMULA_TOPICS = (
    FormulaTopic(
        topic="probability/topic-first-six",
        latex=r"\sum_{k=1}^{\infty} k \left(\frac{5}{6}\right)^{k-1} \frac{1}{6}",
        grades={
            r"\sum_{k=1}^\infty k(1-p)^{k-1}p": 3,
            r"E[X] = \sum_{k=1}^{\infty} k (1-p)^{k-1} p.": 3,
            r"\sum_{k=1}^{\infty} k q^{k-1} = \frac{1}{(1-q)^2}.": 3,
            r"E[X] = \sum_{k} k P(X = k)": 2,
            r"P(X = k) = (1-p)^{k-1}p": 1,
            r"\sum_{k=0}^{\infty} q^k = \frac{1}{1-q}": 1,
            r"E[X] = \sum_{k=1}^{\infty} P(X \geq k)": 1,
            r"E[X] = \sum_{k=1}^{\infty} (1-p)^{k-1} = \frac{1}{1 - (1-p)} = "
            r"\frac{1}{p}.": 2,
            r"k = \sum_{j=1}^{k} 1": 0,
            r"X = \sum_{k=1}^{\infty} \mathbf{1}_{X \geq k},": 0,
            r"\mathbf{1}_{X \geq a}": 0,
            r"1 - \left(\frac{364}{365}\right)^{253} \approx 0.5005,": 0,
            r"\frac{1}{6} \cdot \frac{1}{6} = \frac{1}{36}": 0,
            r"\sum_{i=1}^{n} d_i": 0,
        },
    ),
    FormulaTopic(
        topic="probability/topic-alarm",
        latex=r"P(B \mid A)",
        grades={
            r"P(A \mid D)": 3,
            r"P(S \mid W)": 3,
            r"P(\text{sick} \mid \text{positive})": 3,
            r"P(C_2 \mid H_3) = \frac{2}{3}": 2,
            r"P(W \mid S) = 0.25": 1,
            r"P(\text{positive} \mid \text{sick})": 1,
            r"P(H_3 \mid C_2) = 1": 1,
            r"P(X > s + t \mid X > s) = P(X > t)": 1,
            r"P(A \cap D)": 0,
            r"P(D)": 0,
            r"P(X \geq 1)": 0,
            r"\mathcal{P}(A)": 0,
            r"P(G, k)": 0,
            r"n' \mid m": 0,
            r"n_3 \mid 5": 0,
        },
    ),
)
