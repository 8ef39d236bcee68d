"""Topology: compactness, connectedness, quotients and the fundamental group."""

from __future__ import annotations

import random

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_THREADS = (
    Thread(
        key="topology/compact-in-hausdorff",
        title=r"Compact subsets of a Hausdorff space are closed",
        question=r"""Let $X$ be a Hausdorff space and $K \subseteq X$ compact. I
want to prove that $K$ is closed, that is, that $X \setminus K$ is open.

I fixed a point $x \in X \setminus K$. For every $y \in K$ there are disjoint open
sets $U_y \ni x$ and $V_y \ni y$. The problem is that $\bigcap_{y \in K} U_y$ is an
infinite intersection of open sets, so it need not be open. Where does compactness
come in? And is the Hausdorff assumption really necessary?""",
        tags=("general-topology", "compactness", "separation-axioms"),
        score=15,
        answers=(
            Answer(
                r"""The sets $V_y$ cover $K$, and $K$ is compact, so finitely many
of them suffice: $K \subseteq V_{y_1} \cup \dots \cup V_{y_n}$. Now put
$$U = U_{y_1} \cap \dots \cap U_{y_n}.$$
This is a *finite* intersection, so it is an open neighborhood of $x$. It does not
meet any $V_{y_i}$, hence $U \cap K = \emptyset$. As $x \in X \setminus K$ was
arbitrary, $X \setminus K$ is open.

Hausdorff is needed: in $\mathbb{R}$ with the cofinite topology every subset is
compact, but only the finite sets and $\mathbb{R}$ itself are closed.""",
                accepted=True,
                score=23,
                comments=(
                    r"This is the standard proof, and it shows a bit more: a compact "
                    r"set and a point outside it have disjoint neighborhoods.",
                ),
            ),
            Answer(
                r"""If you like nets: take a net $(x_\lambda)$ in $K$ that converges
to some $x \in X$. By compactness of $K$ a subnet converges to a point $y \in K$.
But the subnet also converges to $x$, and in a Hausdorff space limits of nets are
unique, so $x = y \in K$. Thus $\overline{K} = K$. In a metric space you may say
"sequence" in place of "net" everywhere, which gives the proof you probably saw in
analysis for $K \subseteq \mathbb{R}^n$.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="topology/image-of-compact",
        title=r"Continuous image of a compact space is compact",
        question=r"""I am looking for the cleanest proof of the following: if $X$ is
compact and $f : X \to Y$ is continuous, then $f(X)$ is compact. In the case
$X = [a, b]$ and $Y = \mathbb{R}$ I know it from calculus, because then $f$ attains
its minimum and its maximum.

My first idea was to take an open cover of $X$ and push it forward, but the sets
$f(U)$ do not have to be open in $Y$. Should I go the other way round? How do I get
the extreme value theorem out of it?""",
        tags=("general-topology", "compactness", "continuity"),
        score=12,
        answers=(
            Answer(
                r"""Yes, go the other way. Start with an open cover
$\{ V_i \}_{i \in I}$ of $f(X)$ in $Y$. Continuity says that every $f^{-1}(V_i)$ is
open, and these sets cover $X$. Compactness of $X$ gives
$$X = f^{-1}(V_{i_1}) \cup \dots \cup f^{-1}(V_{i_n}),$$
and applying $f$ yields $f(X) \subseteq V_{i_1} \cup \dots \cup V_{i_n}$. So $f(X)$
is compact.

For the extreme value theorem: $f([a,b])$ is a compact subset of $\mathbb{R}$, so it
is closed and bounded, and it contains its supremum and its infimum.""",
                accepted=True,
                score=20,
            ),
            Answer(
                r"""For metric spaces there is a proof by sequences. Let $(y_n)$ be
a sequence in $f(X)$ and choose $x_n \in X$ with $f(x_n) = y_n$. Some subsequence
converges, $x_{n_k} \to x$, and by continuity
$y_{n_k} = f(x_{n_k}) \to f(x) \in f(X)$. So every sequence in $f(X)$ has a
subsequence that converges in $f(X)$. In general topological spaces this argument
does not prove compactness, so the version with open covers is the one to remember.""",
                score=5,
            ),
        ),
    ),
    Thread(
        key="topology/compact-to-hausdorff",
        title=r"Continuous bijection from compact to Hausdorff is a homeomorphism",
        question=r"""Let $f : X \to Y$ be a continuous bijection, where $X$ is
compact and $Y$ is Hausdorff. Why is $f^{-1} : Y \to X$ continuous?

I know that in general a continuous bijection does not have a continuous inverse.
The example in my notes is $[0, 2\pi) \to S^1$, $t \mapsto (\cos t, \sin t)$. Here
the domain is not compact. So compactness must be used, but I do not see how to get
a statement about $f^{-1}$ from it.""",
        tags=("general-topology", "compactness", "continuity"),
        score=18,
        answers=(
            Answer(
                r"""It is enough to show that $f$ is a closed map, because
$(f^{-1})^{-1}(C) = f(C)$ for every $C \subseteq X$. So let $C \subseteq X$ be
closed.

1. A closed subset of a compact space is compact, so $C$ is compact.
2. The continuous image of a compact set is compact, so $f(C)$ is compact.
3. A compact subset of a Hausdorff space is closed, so $f(C)$ is closed in $Y$.

Therefore preimages of closed sets under $f^{-1}$ are closed, and $f^{-1}$ is
continuous.""",
                accepted=True,
                score=31,
            ),
            Answer(
                r"""For metric spaces you can see directly what goes wrong
otherwise. Suppose $y_n \to y$ in $Y$ but $x_n = f^{-1}(y_n)$ does not converge to
$x = f^{-1}(y)$. Then a subsequence stays outside a neighborhood of $x$, and by
compactness a further subsequence converges to some $x' \neq x$. By continuity
$f(x') = \lim f(x_{n_k}) = y = f(x)$, against injectivity. In your example the
sequence $x_n = 2\pi - \frac{1}{n}$ runs out of $[0, 2\pi)$, and this is what
compactness forbids.""",
                score=9,
            ),
        ),
        related=("topology/compact-in-hausdorff", "topology/image-of-compact"),
    ),
    Thread(
        key="topology/closed-bounded-not-compact",
        title=r"Closed and bounded but not compact in $\ell^2$",
        question=r"""By Heine-Borel a subset of $\mathbb{R}^n$ is compact iff it is
closed and bounded. My professor mentioned that this fails for the closed unit ball
$$B = \{ x \in \ell^2 : \|x\|_2 \leq 1 \}$$
of the sequence space $\ell^2$. It is clear that $B$ is closed and bounded. How can
I prove that $B$ is not compact? Is there something similar in $\mathbb{Q}$, where
the dimension cannot be the reason?""",
        tags=("general-topology", "metric-spaces", "compactness", "hilbert-spaces"),
        score=11,
        answers=(
            Answer(
                r"""Look at the unit vectors $e_n = (0, \dots, 0, 1, 0, \dots)$ with
the $1$ in position $n$. They all lie in $B$, and for $m \neq n$
$$\|e_m - e_n\|_2 = \sqrt{1^2 + 1^2} = \sqrt{2}.$$
So no subsequence of $(e_n)$ is Cauchy, hence none converges. In a metric space
compactness is the same as sequential compactness, so $B$ is not compact. Or with
covers: the balls of radius $\frac{1}{2}$ cover $B$, but each contains at most one
of the $e_n$, so no finite number of them is enough.""",
                accepted=True,
                score=17,
            ),
            Answer(
                r"""For $\mathbb{Q}$: the set $A = [0, 2] \cap \mathbb{Q}$ is closed
in $\mathbb{Q}$ and bounded. Take rational numbers $q_n \to \sqrt{2}$ in $A$. Every
subsequence tends to $\sqrt{2}$ as well, which is not in $\mathbb{Q}$, so there is
no limit in $A$. The correct general statement is that a metric space is compact iff
it is *complete* and *totally bounded*. The set $A$ is not complete, and the ball in
$\ell^2$ is not totally bounded, so the two examples fail for opposite reasons.""",
                score=10,
            ),
        ),
    ),
    Thread(
        key="topology/line-and-plane",
        title=r"Why is $\mathbb{R}$ not homeomorphic to $\mathbb{R}^2$?",
        question=r"""There is a bijection between $\mathbb{R}$ and $\mathbb{R}^2$,
and there are even continuous surjections $\mathbb{R} \to \mathbb{R}^2$. So how does
one prove that there is no homeomorphism $f : \mathbb{R} \to \mathbb{R}^2$? I would
like an argument that uses only basic notions, like compact or connected, and no
homology. As far as I can see both spaces are connected, both are not compact, both
are second countable...""",
        tags=("general-topology", "connectedness", "homeomorphism"),
        score=16,
        answers=(
            Answer(
                r"""Remove a point. If $f : \mathbb{R} \to \mathbb{R}^2$ is a
homeomorphism, then its restriction
$$\mathbb{R} \setminus \{0\} \to \mathbb{R}^2 \setminus \{f(0)\}$$
is a homeomorphism too. But
$\mathbb{R} \setminus \{0\} = (-\infty, 0) \cup (0, \infty)$ is not connected, while
the plane minus a point is path connected: join two points $u, v$ by a segment, and
if the segment hits the missing point make a small detour. Connectedness is
preserved by homeomorphisms, a contradiction.""",
                accepted=True,
                score=34,
            ),
            Answer(
                r"""The trick in the other answer deserves a name: $p$ is a *cut
point* of a connected space $X$ if $X \setminus \{p\}$ is disconnected. A
homeomorphism $f : X \to Y$ sends cut points to cut points, so the number of cut
points (or of non-cut points) is a topological invariant.

Every point of $\mathbb{R}$ is a cut point, no point of $\mathbb{R}^2$ is one. In
the same way $[0, 1]$ has two non-cut points, $[0, 1)$ has one, $(0, 1)$ has none,
and on the circle $S^1$ no point is a cut point at all.""",
                score=19,
            ),
            Answer(
                r"""A warning: the trick does not distinguish $\mathbb{R}^2$ from
$\mathbb{R}^3$, since both stay connected after removing a point. There one uses
that $\mathbb{R}^2 \setminus \{0\}$ is not simply connected,
$\pi_1(\mathbb{R}^2 \setminus \{0\}) \cong \mathbb{Z}$, while
$\pi_1(\mathbb{R}^3 \setminus \{0\})$ is trivial. For general $m \neq n$ one needs
homology or some version of Brouwer's theorem, and the statement is called
invariance of dimension.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="topology/figure-eight",
        title=r"Circle, figure eight and interval: how to tell them apart?",
        question=r"""I have to decide which of the following spaces are
homeomorphic: the circle $S^1$, the interval $[0, 1]$ and the figure eight $E$, that
is two circles which touch in one point $x_0$. All three are compact, connected and
metrizable. I was able to see that $S^1$ and $[0,1]$ are different, because a
homeomorphism $f : [0,1] \to S^1$ would restrict to a homeomorphism of
$[0, 1] \setminus \{\frac{1}{2}\}$ with $S^1$ minus a point. But how do I treat the
figure eight, and which point should I remove?""",
        tags=("general-topology", "connectedness", "homeomorphism"),
        score=7,
        answers=(
            Answer(
                r"""Remove the crossing point. If $h : E \to S^1$ were a
homeomorphism, then so would be its restriction
$E \setminus \{x_0\} \to S^1 \setminus \{h(x_0)\}$. But $E \setminus \{x_0\}$
consists of two open arcs, so it has two components, while the circle without a
point is one open arc. A homeomorphism maps components onto components, so their
number is the same on both sides, a contradiction.

For $E$ and $[0, 1]$ remove an *end point* of the interval: $[0, 1] \setminus \{0\}$
stays connected, and there are only two points with this property, whereas
$E \setminus \{p\}$ is connected for every $p \neq x_0$.""",
                accepted=True,
                score=11,
            ),
            Answer(
                r"""With a bit of algebraic topology you can compare fundamental
groups. They are $\pi_1([0, 1]) = 0$, $\pi_1(S^1) \cong \mathbb{Z}$ and
$\pi_1(E) \cong \mathbb{Z} * \mathbb{Z}$, the free group on two generators, and no
two of these groups are isomorphic. This shows even more, namely that the spaces are
not homotopy equivalent. For your purpose, where $E$ differs from the others already
after removing $x_0$, it is too much machinery; counting the components after the
removal of a point is quicker.""",
                score=3,
            ),
        ),
        related=("topology/line-and-plane",),
    ),
    Thread(
        key="topology/sine-curve",
        title=r"Topologist's sine curve: connected but not path connected",
        question=r"""Let $S = \{ (x, \sin \frac{1}{x}) : 0 < x \leq 1 \}$ and
$T = S \cup (\{0\} \times [-1, 1])$. I read that $T$ is connected but not path
connected. The first part is fine, since $T = \overline{S}$ is the closure of a
connected set. But the second part is a mystery to me. Suppose there is a path
$\gamma : [0, 1] \to T$ with $\gamma(0) = (0, 0)$ and $\gamma(1) = (1, \sin 1)$. It
has to climb through infinitely many waves in finite time, but a path may be as fast
as it likes. Where is the contradiction?""",
        tags=("general-topology", "connectedness", "path-connected"),
        score=13,
        answers=(
            Answer(
                r"""Write $\gamma(t) = (x(t), y(t))$ and let
$t_0 = \sup \{ t \in [0, 1] : x(t) = 0 \}$. By continuity $x(t_0) = 0$, and
$x(t) > 0$ for $t > t_0$. We show that $y$ is not continuous at $t_0$.

Let $\delta > 0$ be small. By the intermediate value theorem $x$ takes all values
between $0$ and $x(t_0 + \delta)$ on $[t_0, t_0 + \delta]$. In particular it takes
values of the form $\frac{2}{(4k+1)\pi}$ and $\frac{2}{(4k+3)\pi}$ for large $k$,
and there $y = \sin \frac{1}{x}$ equals $1$ and $-1$. So $y$ oscillates between $1$
and $-1$ in every interval $[t_0, t_0 + \delta]$ and has no limit at $t_0$, a
contradiction.""",
                accepted=True,
                score=21,
            ),
            Answer(
                r"""Another way to say it: the image $\gamma([0, 1])$ of a path in
the plane is compact and locally connected. Let the path leave the segment
$\{0\} \times [-1, 1]$ for the last time at $t_0$. By the intermediate value theorem
the image contains all points of $S$ with small $x$, and being compact it then
contains the whole segment. So near the segment the image coincides with $T$. But
there small neighborhoods in $T$ look like infinitely many disjoint arcs that pile
up on a piece of the segment, so $T$ is not locally connected at these points, a
contradiction.""",
                score=3,
            ),
        ),
    ),
    Thread(
        key="topology/circle-as-quotient",
        title=r"Show that $[0,1]/{\sim}$ with $0 \sim 1$ is homeomorphic to $S^1$",
        question=r"""Hi all. Let $\sim$ be the equivalence relation on $[0,1]$ that
identifies $0$ and $1$ and nothing else. I want to show that the quotient space
$[0,1]/{\sim}$ is homeomorphic to the circle $S^1 \subset \mathbb{C}$.

The natural map is $f(t) = e^{2\pi i t}$. I see that $f(0) = f(1)$, so it induces
$\bar{f} : [0,1]/{\sim} \to S^1$ which is a bijection. How do I show that $\bar{f}$
is continuous and that its inverse is continuous without messing with open sets
around the point $[0] = [1]$?""",
        tags=("general-topology", "quotient-spaces", "circles"),
        score=14,
        answers=(
            Answer(
                r"""Continuity of $\bar{f}$ is the universal property of the
quotient: if $q : [0,1] \to [0,1]/{\sim}$ is the projection, then
$\bar{f} \circ q = f$ is continuous, hence $\bar{f}$ is continuous.

For the inverse you do not need to do anything by hand. The quotient
$[0,1]/{\sim} = q([0,1])$ is the continuous image of a compact space, so it is
compact. The circle $S^1$ is Hausdorff, being a subspace of $\mathbb{C}$. And a
continuous bijection from a compact space to a Hausdorff space is a homeomorphism.""",
                accepted=True,
                score=26,
            ),
            Answer(
                r"""By hand it is not that bad either. We need that $\bar{f}$ is
open. An open set $W \subseteq [0,1]/{\sim}$ has open preimage $q^{-1}(W)$. Away
from the glued point nothing happens, since $t \mapsto e^{2\pi i t}$ is a
homeomorphism from $(0,1)$ to $S^1 \setminus \{1\}$. If $[0] \in W$, then
$q^{-1}(W)$ contains $[0, \varepsilon) \cup (1 - \varepsilon, 1]$ for some
$\varepsilon > 0$, and its image is the open arc
$$\{ e^{2\pi i t} : -\varepsilon < t < \varepsilon \}.$$
So the image of $W$ contains a neighborhood of each of its points.""",
                score=8,
            ),
        ),
        related=("topology/compact-to-hausdorff",),
    ),
    Thread(
        key="topology/closure-of-union",
        title=r"$\overline{A \cup B} = \overline{A} \cup \overline{B}$, and what about "
        r"$\overline{A \cap B}$?",
        question=r"""I am trying to prove that
$\overline{A \cup B} = \overline{A} \cup \overline{B}$ for subsets $A, B$ of a
topological space. I did the inclusion $\supseteq$: from $A \subseteq A \cup B$ we
get $\overline{A} \subseteq \overline{A \cup B}$, and the same for $B$.

For the other inclusion I am not sure whether I should use neighborhoods or the
definition of the closure as an intersection of closed sets. I also wonder whether
$\overline{A \cap B} = \overline{A} \cap \overline{B}$ holds, and what happens for
infinite unions $\bigcup_{i} A_i$.""",
        tags=("general-topology",),
        score=8,
        answers=(
            Answer(
                r"""The set $\overline{A} \cup \overline{B}$ is closed, because it
is a union of two closed sets, and it contains $A \cup B$. The closure is the
smallest closed set with this property, so
$\overline{A \cup B} \subseteq \overline{A} \cup \overline{B}$.

For intersections only
$\overline{A \cap B} \subseteq \overline{A} \cap \overline{B}$ is true. Take
$A = (0, 1)$ and $B = (1, 2)$ in $\mathbb{R}$: the left side is empty and the right
side is $\{1\}$.

For infinite unions only $\supseteq$ survives. With $A_q = \{q\}$ for
$q \in \mathbb{Q}$ the union of the closures is $\mathbb{Q}$, but
$\overline{\mathbb{Q}} = \mathbb{R}$.""",
                accepted=True,
                score=13,
            ),
            Answer(
                r"""Pointwise proof of the missing inclusion: let
$x \notin \overline{A} \cup \overline{B}$. Then there are open neighborhoods $U$ and
$V$ of $x$ with $U \cap A = \emptyset$ and $V \cap B = \emptyset$. The set
$U \cap V$ is an open neighborhood of $x$ and
$$(U \cap V) \cap (A \cup B) = \emptyset,$$
so $x \notin \overline{A \cup B}$. You can see why it works for finitely many sets
only: we need the intersection of the neighborhoods to be open.""",
                score=4,
            ),
        ),
    ),
    Thread(
        key="topology/no-retraction",
        title=r"There is no retraction $D^2 \to S^1$; how does $\pi_1$ help?",
        question=r"""A retraction of the disk onto its boundary would be a
continuous map $r : D^2 \to S^1$ with $r(x) = x$ for all $x \in S^1$. My intuition
says that one has to tear the disk. The book says that this follows immediately from
$\pi_1(S^1) \cong \mathbb{Z}$ and $\pi_1(D^2) = 0$. Could somebody spell out the
details? And how does Brouwer's fixed point theorem for $D^2$ follow?""",
        tags=("algebraic-topology", "fundamental-groups", "fixed-point-theorems"),
        score=12,
        answers=(
            Answer(
                r"""The point is that $\pi_1$ turns continuous maps into group
homomorphisms and compositions into compositions. Let $i : S^1 \to D^2$ be the
inclusion. A retraction satisfies $r \circ i = \operatorname{id}_{S^1}$. Apply the
functor $\pi_1$:
$$\mathbb{Z} \cong \pi_1(S^1) \xrightarrow{i_*} \pi_1(D^2) = 0
\xrightarrow{r_*} \pi_1(S^1) \cong \mathbb{Z}.$$
The composition is $r_* \circ i_* = (r \circ i)_* = \operatorname{id}_{\mathbb{Z}}$.
But it factors through the trivial group, so it is zero. Since $\mathbb{Z} \neq 0$
this is a contradiction.""",
                accepted=True,
                score=18,
            ),
            Answer(
                r"""For Brouwer: suppose $f : D^2 \to D^2$ has no fixed point. Then
for each $x$ the points $x$ and $f(x)$ are different, and you can draw the ray from
$f(x)$ through $x$. Let $r(x)$ be the point where the ray leaves the disk. One
checks that $r(x) = x + t(x)\,(x - f(x))$ with a continuous function $t(x) \geq 0$,
found from the quadratic equation $\|r(x)\|^2 = 1$. For $x \in S^1$ we get
$r(x) = x$. So $r$ would be a retraction $D^2 \to S^1$, which does not exist.""",
                score=11,
            ),
        ),
    ),
    Thread(
        key="topology/cofinite",
        title=r"Is an infinite set with the cofinite topology compact? Hausdorff?",
        question=r"""Consider an infinite set $X$ with the cofinite topology
$$\tau = \{ U \subseteq X : X \setminus U \text{ is finite} \} \cup \{ \emptyset \}.$$
I would like to understand this space better, since it appears as a counterexample
in every second exercise. Is $(X, \tau)$ compact? Is it Hausdorff, or at least
$T_1$? And to which points does a sequence like $x_n = n$ in $X = \mathbb{N}$
converge? I have the strange result that it converges to every point.""",
        tags=("general-topology", "compactness", "separation-axioms"),
        score=7,
        answers=(
            Answer(
                r"""Compact: yes. Take an open cover and pick one nonempty member
$U_0$. Only finitely many points $x_1, \dots, x_n$ lie outside $U_0$; choose
$U_i \ni x_i$ from the cover. Then $X = U_0 \cup U_1 \cup \dots \cup U_n$.

Hausdorff: no. If $U$ and $V$ are nonempty and open, then $X \setminus (U \cap V)$
is a union of two finite sets, so $U \cap V$ is infinite. It is $T_1$, because
points are closed.

Your strange result is correct: any neighborhood of any point misses only finitely
many $n$, so $x_n = n$ converges to all of $\mathbb{N}$ at the same time.""",
                accepted=True,
                score=12,
            ),
            Answer(
                r"""Let me add that it is also connected: two nonempty open sets
always intersect, so $X = U \cup V$ with disjoint nonempty open $U$ and $V$ is
impossible. If $X$ is uncountable, it is not even first countable. Suppose
$U_1, U_2, \dots$ were a countable neighborhood base at $x$. Then
$\bigcap_n U_n = \{x\}$ by the $T_1$ property, so
$X \setminus \{x\} = \bigcup_n (X \setminus U_n)$ would be a countable union of
finite sets, against the assumption. So no metric can induce this topology.""",
                score=5,
            ),
        ),
    ),
)

_SETS_QUESTIONS = (
    r"""In $\mathbb{R}$ with the usual topology, let
$$A = (%(a)d, %(b)d] \cup \{%(c)d\}.$$
I have to find the interior $A^\circ$, the closure $\overline{A}$ and the boundary
$\partial A$. For the closure I would add the point $%(a)d$. But I am unsure about
the isolated point $%(c)d$: is it in the interior, in the boundary, or in none of
them? It does not look like an edge of anything.""",
    r"""Could you check my solution? The set is
$A = [%(a)d, %(b)d) \cup \{%(c)d\} \subset \mathbb{R}$. I claim that
$\overline{A} = [%(a)d, %(b)d] \cup \{%(c)d\}$ and that the interior is
$(%(a)d, %(b)d) \cup \{%(c)d\}$. My classmate says that a single point is never in
the interior, but in the subspace $A$ the set $\{%(c)d\}$ is open! Who is right, and
what is the boundary? I have the feeling that we use the same words for two
different spaces.""",
    r"""I am confused about limit points versus boundary points. Take
$A = \{ x \in \mathbb{R} : %(a)d < x < %(b)d \} \cup \{%(c)d\}$. Which points are
limit points of $A$? Which ones belong to
$\partial A = \overline{A} \setminus A^\circ$? I thought that these two notions are
the same, but $%(c)d$ seems to be a counterexample, as do the points between $%(a)d$
and $%(b)d$. Is there a simple way to keep the two definitions apart?""",
)

_SETS_ANSWERS = (
    r"""A point is interior if a whole interval around it lies in $A$. Around
$%(c)d$ there are points outside $A$ as close as you like, so
$%(c)d \notin A^\circ$, and $A^\circ = (%(a)d, %(b)d)$. The closure is the set of
points all of whose neighborhoods meet $A$, so
$\overline{A} = [%(a)d, %(b)d] \cup \{%(c)d\}$. Finally
$$\partial A = \overline{A} \setminus A^\circ = \{%(a)d, %(b)d, %(c)d\}.$$
So the isolated point belongs to the boundary.""",
    r"""Your classmate is right as long as we talk about the topology of
$\mathbb{R}$: no interval $(%(c)d - \varepsilon, %(c)d + \varepsilon)$ is contained
in $A$. It is true that $\{%(c)d\}$ is open in the subspace topology of $A$, but
then you also have to take closure and boundary inside $A$. In $\mathbb{R}$ we get
$A^\circ = (%(a)d, %(b)d)$ and three boundary points, namely $%(a)d$, $%(b)d$ and
$%(c)d$. Whether the end points belong to $A$ plays no role for the boundary.""",
    r"""They are different notions, and neither contains the other. The limit points
of $A$ are exactly the points of $[%(a)d, %(b)d]$; the isolated point $%(c)d$ is not
one of them because $(%(c)d - \frac{1}{2}, %(c)d + \frac{1}{2})$ contains no other
point of $A$. The boundary consists of the points which are close both to $A$ and to
$\mathbb{R} \setminus A$, that is $\partial A = \{%(a)d, %(b)d, %(c)d\}$. So the
midpoint of the interval is a limit point but no boundary point, and $%(c)d$ is a
boundary point but no limit point.""",
    r"""Draw a picture of the complement as well. A boundary point is a point such
that every interval around it meets both $A$ and $\mathbb{R} \setminus A$, and by
this definition $\partial A = \partial(\mathbb{R} \setminus A)$. So look at the ends
of the pieces of the complement: they are $%(a)d$, $%(b)d$, and $%(c)d$, where the
last one is an end on both sides. Hence $\partial A = \{%(a)d, %(b)d, %(c)d\}$, the
closure is $A \cup \partial A$ and the interior is $A \setminus \partial A$. This
recipe works for every subset of a topological space.""",
)

_EULER_QUESTIONS = (
    r"""A closed orientable surface is cut into polygons and I count $V = %(v)d$
vertices, $E = %(e)d$ edges and $F = %(f)d$ faces. What is the genus $g$ of the
surface? I know the formula $V - E + F = 2$ for convex polyhedra, but here the
number is different, so I guess that the surface is not a sphere. Is there a version
of Euler's formula for surfaces with holes, and is it the same for every way of
cutting?""",
    r"""In a paper model, which is glued from polygons into one closed connected
orientable surface without boundary, I find $%(f)d$ polygons, $%(e)d$ edges and
after the gluing $%(v)d$ corner points. How many handles does my model have? I was
told to compute $\chi = V - E + F$, but what is the connection between $\chi$ and
the number of holes? I would also like to know why the answer does not depend on the
way I draw the polygons.""",
    r"""Let $M$ be a compact connected orientable surface without boundary and
suppose that a cell decomposition with $(V, E, F) = (%(v)d, %(e)d, %(f)d)$ is given.
Determine $H_1(M; \mathbb{Z})$. I computed the Euler characteristic but I do not
know how to read the first Betti number $b_1$ from it, since
$\chi(M) = b_0 - b_1 + b_2$ has three unknowns. Is there more information hidden in
the words connected and orientable?""",
)

_EULER_ANSWERS = (
    r"""For a closed orientable surface of genus $g$ the Euler characteristic is
$\chi = 2 - 2g$. Here
$$\chi = V - E + F = %(v)d - %(e)d + %(f)d = %(x)d,$$
so $2 - 2g = %(x)d$ and $g = %(g)d$. The sphere is the case $g = 0$, which gives
back the formula for convex polyhedra, and the torus is the case $g = 1$ with
$\chi = 0$. Each further handle lowers $\chi$ by $2$.""",
    r"""Adding a handle means: remove two open triangles and glue in a tube.
Removing two faces changes $\chi$ by $-2$, and the tube itself contributes $0$. So
after $g$ handles on the sphere $\chi = 2 - 2g$. Your numbers give
$\chi = %(v)d - %(e)d + %(f)d = %(x)d$, therefore $g = \frac{2 - \chi}{2} = %(g)d$.

It does not depend on the drawing because subdividing an edge adds $1$ to both $V$
and $E$, and drawing a diagonal in a face adds $1$ to both $E$ and $F$. In both
cases $\chi$ stays the same.""",
    r"""Connected means $b_0 = 1$, and closed orientable of dimension $2$ means
$b_2 = 1$. So only one unknown is left: $\chi(M) = 2 - b_1$. With
$\chi(M) = %(v)d - %(e)d + %(f)d = %(x)d$ we get $b_1 = %(b)d$. The first homology
of an orientable surface has no torsion, hence
$H_1(M; \mathbb{Z}) \cong \mathbb{Z}^{%(b)d}$ and the genus is $g = b_1/2 = %(g)d$.""",
)


def _ask_boundaries(rng: random.Random) -> list[Thread]:
    """Write questions on interior, closure and boundary in the real line."""
    titles = (
        r"Interior, closure and boundary of $(%(a)d, %(b)d] \cup \{%(c)d\}$",
        r"Is an isolated point of $[%(a)d, %(b)d) \cup \{%(c)d\}$ an interior point?",
        r"Limit points and boundary points of $(%(a)d, %(b)d) \cup \{%(c)d\}$",
    )
    threads = []
    for place, (a, b, c) in enumerate(((0, 3, 5), (-2, 1, 4), (1, 2, 7))):
        values = {"a": a, "b": b, "c": c}
        threads.append(
            Thread(
                key=f"topology/boundary-{c}",
                title=titles[place] % values,
                question=_SETS_QUESTIONS[place] % values,
                tags=("general-topology", "real-analysis"),
                score=rng.randint(0, 5),
                answers=(
                    Answer(_SETS_ANSWERS[place] % values, accepted=True, score=4),
                    Answer(_SETS_ANSWERS[3] % values, score=1),
                )[: 2 if place == 0 else 1],
            )
        )
    return threads


def _ask_genus(rng: random.Random) -> list[Thread]:
    """Write questions on the genus of a surface with a cell decomposition."""
    titles = (
        r"Genus of a surface with $V = %(v)d$, $E = %(e)d$, $F = %(f)d$",
        r"How many handles has a surface glued from $%(f)d$ polygons?",
        r"First homology from $(V, E, F) = (%(v)d, %(e)d, %(f)d)$",
    )
    threads = []
    for place, (v, e, f) in enumerate(((12, 36, 20), (16, 32, 16), (10, 30, 18))):
        x = v - e + f
        g = (2 - x) // 2
        values = {"v": v, "e": e, "f": f, "x": x, "g": g, "b": 2 * g}
        other = _EULER_ANSWERS[(place + rng.choice((1, 2))) % 3]
        threads.append(
            Thread(
                key=f"topology/genus-{v}-{e}-{f}",
                title=titles[place] % values,
                question=_EULER_QUESTIONS[place] % values,
                tags=("algebraic-topology", "surfaces", "euler-characteristic"),
                score=rng.randint(1, 7),
                answers=(
                    Answer(_EULER_ANSWERS[place] % values, accepted=True, score=7),
                    Answer(other % values, score=3),
                )[: 2 if place == 2 else 1],
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of the area."""
    return [*_THREADS, *_ask_boundaries(rng), *_ask_genus(rng)]


ANSWER_TOPICS = (
    AnswerTopic(
        key="topology/topic-simple-arc",
        title=r"Does an injective path have a continuous inverse on its image?",
        question=r"""Let $\gamma : [0, 1] \to \mathbb{R}^3$ be continuous and
injective, a knotted piece of string without self intersections. I would like to say
that the image $\gamma([0,1])$ is homeomorphic to the interval, so I need that
$\gamma^{-1} : \gamma([0,1]) \to [0,1]$ is continuous. For a path defined on
$[0, 1)$ this can fail, so the closed interval has to matter. Is there a general
theorem behind this?""",
        tags=("general-topology", "continuity", "compactness"),
        grades={
            "topology/compact-to-hausdorff#1": 3,
            "topology/compact-to-hausdorff#2": 3,
            "topology/circle-as-quotient#1": 2,
            "topology/image-of-compact#1": 2,
            "topology/compact-in-hausdorff#1": 2,
            "topology/compact-in-hausdorff#2": 1,
            "topology/image-of-compact#2": 1,
            "topology/circle-as-quotient#2": 1,
            "topology/sine-curve#1": 0,
            "topology/no-retraction#1": 0,
            "topology/no-retraction#2": 0,
            "topology/line-and-plane#3": 0,
            "topology/boundary-5#1": 0,
            "set_theory_logic/image-of-intersection#1": 0,
            "abstract_algebra/trivial-kernel#1": 0,
            "topology/closed-bounded-not-compact#1": 0,
        },
        category="Proof",
        difficulty="Medium",
        dependency="Both",
    ),
    AnswerTopic(
        key="topology/topic-letter-t",
        title=r"Is the letter T homeomorphic to a line segment?",
        question=r"""View the letter T as the subset
$T = ([-1, 1] \times \{1\}) \cup (\{0\} \times [0, 1])$ of the plane, with the
topology of $\mathbb{R}^2$. I believe that $T$ is not homeomorphic to the interval
$[-1, 1]$, but both are compact and connected, so the properties I know do not help.
Somebody suggested to study $X \setminus \{p\}$ for different points $p$. What is
the idea, and why is the number of pieces preserved?""",
        tags=("general-topology", "connectedness"),
        grades={
            "topology/line-and-plane#1": 2,
            "topology/line-and-plane#2": 3,
            "topology/figure-eight#1": 3,
            "topology/line-and-plane#3": 1,
            "topology/figure-eight#2": 1,
            "topology/compact-to-hausdorff#1": 0,
            "topology/sine-curve#1": 0,
            "topology/sine-curve#2": 0,
            "topology/circle-as-quotient#1": 0,
            "topology/closure-of-union#1": 0,
            "topology/cofinite#1": 0,
            "topology/genus-12-36-20#1": 0,
            "graph_theory/complement-connected#1": 0,
            "set_theory_logic/interval-and-line#1": 0,
        },
        category="Concept",
        difficulty="Low",
        dependency="Text",
    ),
)

FORMULA_TOPICS = (
    FormulaTopic(
        topic="topology/topic-simple-arc",
        latex=r"\gamma^{-1} : \gamma([0,1]) \to [0,1]",
        grades={
            r"f^{-1} : Y \to X": 3,
            r"x_n = f^{-1}(y_n)": 2,
            r"(f^{-1})^{-1}(C) = f(C)": 2,
            r"\bar{f} : [0,1]/{\sim} \to S^1": 2,
            r"\gamma([0, 1])": 1,
            r"f : X \to Y": 1,
            r"q : [0,1] \to [0,1]/{\sim}": 1,
            r"\gamma : [0, 1] \to T": 1,
            r"f^{-1}(V_i)": 0,
            r"f^{-1}(0) = \{0\}": 0,
            r"\varphi^{-1}(h)": 0,
            r"x = x^{-1}": 0,
            r"gHg^{-1} = H": 0,
            r"[0, 2\pi) \to S^1": 0,
        },
    ),
    FormulaTopic(
        topic="topology/topic-letter-t",
        latex=r"X \setminus \{p\}",
        grades={
            r"X \setminus \{p\}": 3,
            r"E \setminus \{p\}": 3,
            r"E \setminus \{x_0\}": 3,
            r"\mathbb{R} \setminus \{0\} \to \mathbb{R}^2 \setminus \{f(0)\}": 2,
            r"\mathbb{R} \setminus \{0\} = (-\infty, 0) \cup (0, \infty)": 2,
            r"\mathbb{R}^2 \setminus \{0\}": 2,
            r"S^1 \setminus \{1\}": 2,
            r"X \setminus K": 1,
            r"\mathbb{R} \setminus A": 1,
            r"X \setminus (U \cap V)": 1,
            r"x \in G \setminus Z(G)": 0,
            r"a \in R \setminus \{0\}": 0,
            r"G \setminus H": 0,
            r"\partial A = \overline{A} \setminus A^\circ": 0,
            r"x \in X \setminus K": 0,
            r"A \setminus \partial A": 0,
        },
    ),
)
