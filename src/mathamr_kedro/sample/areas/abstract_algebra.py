"""Abstract algebra: groups, rings, ideals and fields."""

from __future__ import annotations

import random
from math import gcd

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_THREADS = (
    Thread(
        key="abstract_algebra/order-p-squared",
        title=r"Every group of order $p^2$ is abelian",
        question=r"""I am working through the chapter on $p$-groups and I am stuck
on the following exercise.

> Let $p$ be a prime and let $G$ be a group with $|G| = p^2$. Show that $G$ is abelian.

By Lagrange, every element has order $1$, $p$ or $p^2$. If some element has order
$p^2$ then $G$ is cyclic and we are done. So I may assume that every element other
than $e$ has order $p$, and then I do not see how to make two elements commute. I
know that the center $Z(G)$ of a $p$-group is not trivial, is that the right tool
here?""",
        tags=("abstract-algebra", "group-theory", "p-groups"),
        score=14,
        answers=(
            Answer(
                r"""Yes, the center is the right tool. Since $Z(G)$ is a subgroup,
its order divides $p^2$, and since it is not trivial we have $|Z(G)| = p$ or
$|Z(G)| = p^2$.

In the second case $Z(G) = G$ and there is nothing left to prove. In the first case
the quotient $G/Z(G)$ has order $p^2/p = p$, so it is cyclic. But it is a standard
fact that if $G/Z(G)$ is cyclic then $G$ is abelian, that is $Z(G) = G$. This
contradicts $|Z(G)| = p$, so the first case never occurs.

In particular you do not have to treat elements of order $p$ and of order $p^2$
separately.""",
                accepted=True,
                score=19,
                comments=(
                    r"Nice, I had forgotten that a group of prime order is cyclic.",
                ),
            ),
            Answer(
                r"""Here is a version that avoids the quotient. Take
$x \in G \setminus Z(G)$ and look at its centralizer
$C_G(x) = \{ g \in G : gx = xg \}$. It is a subgroup which contains $Z(G)$ and also
contains $x$, so it is strictly larger than $Z(G)$.

By the class equation
$$|G| = |Z(G)| + \sum_{i} [G : C_G(x_i)]$$
the prime $p$ divides $|Z(G)|$, hence $|Z(G)| \geq p$. Therefore $|C_G(x)| > p$, and
as $|C_G(x)|$ divides $p^2$ we get $C_G(x) = G$. But this says $x \in Z(G)$, a
contradiction. So $Z(G) = G$.""",
                score=8,
            ),
            Answer(
                r"""The other answers show that $G$ is abelian. Since people usually
want to know next what these groups look like, let me finish the classification: up
to isomorphism there are exactly two groups of order $p^2$, namely
$\mathbb{Z}/p^2\mathbb{Z}$ and
$\mathbb{Z}/p\mathbb{Z} \times \mathbb{Z}/p\mathbb{Z}$.

**Case 1.** There is an element $g$ of order $p^2$. Then $G = \langle g \rangle$ is
cyclic and $G \cong \mathbb{Z}/p^2\mathbb{Z}$.

**Case 2.** Every element other than $e$ has order $p$. Pick $x \neq e$. The
subgroup $\langle x \rangle$ has $p$ elements, so there is some
$y \notin \langle x \rangle$. The intersection
$\langle x \rangle \cap \langle y \rangle$ is a proper subgroup of
$\langle y \rangle$, which has prime order, so it is trivial. Now consider
$$\psi : \langle x \rangle \times \langle y \rangle \to G,
\qquad (x^i, y^j) \mapsto x^i y^j.$$
Because $G$ is abelian this is a homomorphism: here we need the result of your
exercise in an essential way. Its kernel consists of the pairs with $x^i = y^{-j}$,
and as the intersection is trivial this forces $x^i = y^j = e$. So $\psi$ is
injective, and by counting elements, $p \cdot p = p^2$, it is an isomorphism.

The two groups are not isomorphic, as only the first one has an element of order
$p^2$. You can also say it in the language of linear algebra: in the second case $G$
is a vector space of dimension $2$ over the field $\mathbb{F}_p$, and $x, y$ is a
basis. For $p^3$ the story becomes more complicated, because nonabelian groups
appear, for example the quaternion group for $p = 2$.""",
                score=5,
            ),
        ),
        related=("abstract_algebra/quotient-by-center-cyclic",),
    ),
    Thread(
        key="abstract_algebra/quotient-by-center-cyclic",
        title=r"If $G/Z(G)$ is cyclic, why is $G$ abelian?",
        question=r"""My lecture notes say that "clearly" a group $G$ is abelian as
soon as $G/Z(G)$ is cyclic, where $Z(G)$ denotes the center. I find this confusing,
because if $G$ is abelian then $Z(G) = G$ and $G/Z(G)$ is the trivial group. So are
we saying that the quotient can never be cyclic of order $n > 1$?

I tried to pick a generator $gZ(G)$ and write every coset as $g^k Z(G)$, but I do
not know how to get from there to $ab = ba$ for arbitrary $a, b \in G$.""",
        tags=("abstract-algebra", "group-theory", "quotient-group"),
        score=9,
        answers=(
            Answer(
                r"""You are nearly there. Let $gZ(G)$ generate $G/Z(G)$. The cosets
$g^k Z(G)$ cover all of $G$, so every $a, b \in G$ can be written as
$$a = g^m z, \qquad b = g^n w, \qquad z, w \in Z(G), \; m, n \in \mathbb{Z}.$$

Now compute, moving the central elements freely:
$$ab = g^m z g^n w = g^{m+n} z w = g^n w g^m z = ba.$$

And yes, your reading is correct: the conclusion is that $G/Z(G)$ is either trivial
or not cyclic at all. For example $|G/Z(G)| = 15$ is impossible, because every group
of order $15$ is cyclic.""",
                accepted=True,
                score=16,
            ),
            Answer(
                r"""A slightly different way to see it: suppose $G$ is generated by
a subset $S$ whose elements commute with each other. Then $G$ is abelian.

If $gZ(G)$ generates the quotient, then $S = Z(G) \cup \{g\}$ generates $G$. Any two
elements of $Z(G)$ commute, and $g$ commutes with everything in $Z(G)$ by
definition. Hence $G = \langle Z(G), g \rangle$ is abelian.

This also shows that the hypothesis can be weakened: any subgroup $N \leq Z(G)$ with
$G/N$ cyclic will do.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="abstract_algebra/index-two-normal",
        title=r"Subgroup of index $2$ is normal",
        question=r"""Let $H$ be a subgroup of $G$ with $[G : H] = 2$. I have to show
that $H \trianglelefteq G$, i.e. that $gHg^{-1} = H$ for every $g \in G$.

If $g \in H$ this is obvious. If $g \notin H$ then $G = H \cup gH$ is a disjoint
union and I would like to show that $ghg^{-1}$ cannot lie in $gH$. I think I am
going round in circles. Does it matter whether $G$ is finite?""",
        tags=("abstract-algebra", "group-theory", "normal-subgroups"),
        score=11,
        answers=(
            Answer(
                r"""Finiteness plays no role. There are exactly two left cosets and
one of them is $H$ itself, so the other one is the complement $G \setminus H$. The
same is true for the right cosets. So for $g \notin H$
$$gH = G \setminus H = Hg,$$
and for $g \in H$ we have $gH = H = Hg$. So left and right cosets agree, which is
the same as $gHg^{-1} = H$ for all $g$.""",
                accepted=True,
                score=22,
            ),
            Answer(
                r"""To finish your own argument: suppose $ghg^{-1} \in gH$, say
$ghg^{-1} = gk$ with $k \in H$. Cancel $g$ on the left to get $hg^{-1} = k$, so
$g = k^{-1}h \in H$, against the choice of $g \notin H$. Thus $ghg^{-1} \in H$ for
every $h \in H$.

Another hint for later: a subgroup of index $2$ is the kernel of the homomorphism
$\varphi : G \to \{1, -1\}$ that sends $H$ to $1$ and the rest to $-1$. For
$A_n \leq S_n$ this is just the sign.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="abstract_algebra/real-polynomials-complex",
        title=r"Prove that $\mathbb{R}[x]/(x^2+1) \cong \mathbb{C}$",
        question=r"""Hello, I am new to quotient rings. I want to prove that
$$\mathbb{R}[x]/(x^2+1) \cong \mathbb{C}$$
with the first isomorphism theorem. My idea is to use the evaluation map
$\varphi : \mathbb{R}[x] \to \mathbb{C}$, $\varphi(f) = f(i)$. I see that it is a
ring homomorphism and that $x^2 + 1$ lies in the kernel. But how do I see that
$\ker \varphi$ is not bigger than the ideal $(x^2+1)$? And is there a way to see
*without* the map that the quotient is a field?""",
        tags=("abstract-algebra", "ring-theory", "polynomials", "ideals"),
        score=17,
        answers=(
            Answer(
                r"""Use division with remainder. Given $f \in \ker \varphi$, write
$$f(x) = q(x)(x^2+1) + ax + b, \qquad a, b \in \mathbb{R}.$$
Plugging in $i$ gives $0 = f(i) = ai + b$, and since $a$ and $b$ are real this
forces $a = b = 0$. So $f \in (x^2+1)$ and $\ker \varphi = (x^2+1)$.

The map is onto because $\varphi(a + bx) = a + bi$. Now the first isomorphism
theorem gives
$\mathbb{R}[x]/\ker \varphi \cong \operatorname{im} \varphi = \mathbb{C}$.""",
                accepted=True,
                score=25,
            ),
            Answer(
                r"""For your second question: $\mathbb{R}[x]$ is a principal ideal
domain, and in a PID the ideal $(p)$ generated by an irreducible element is maximal.
Indeed, if $(p) \subseteq (g) \subseteq \mathbb{R}[x]$ then $g \mid p$, so $g$ is a
unit or an associate of $p$.

The polynomial $x^2 + 1$ has degree $2$ and no root in $\mathbb{R}$, so it is
irreducible. Hence $(x^2+1)$ is maximal and the quotient is a field. The same
argument works for $F[x]/(p)$ over any field $F$ and any irreducible $p$.""",
                score=13,
            ),
            Answer(
                r"""You can also work by hand. Write $\alpha$ for the class of $x$.
Every class has exactly one representative $a + b\alpha$, and $\alpha^2 = -1$ by
construction. So multiplication reads
$$(a + b\alpha)(c + d\alpha) = (ac - bd) + (ad + bc)\alpha,$$
which is literally the definition of the product in $\mathbb{C}$. The inverse of
$a + b\alpha \neq 0$ is $\frac{a - b\alpha}{a^2 + b^2}$.""",
                score=5,
            ),
        ),
    ),
    Thread(
        key="abstract_algebra/prime-not-maximal",
        title=r"A prime ideal of $\mathbb{Z}[x]$ that is not maximal",
        question=r"""We learned that an ideal $P$ of a commutative ring $R$ is prime
iff $R/P$ is an integral domain, and $M$ is maximal iff $R/M$ is a field. In
$\mathbb{Z}$ every nonzero prime ideal is maximal, so I wonder how the two can
differ.

I was told to look at $\mathbb{Z}[x]$ and the ideal $(x)$. What are the quotients,
and what is an ideal strictly between $(x)$ and $\mathbb{Z}[x]$? I guess $(2, x)$
but I am not sure that this is a proper ideal.""",
        tags=("abstract-algebra", "ring-theory", "ideals", "maximal-and-prime-ideals"),
        score=8,
        answers=(
            Answer(
                r"""Your guess is right. The map $f \mapsto f(0)$ from
$\mathbb{Z}[x]$ to $\mathbb{Z}$ is onto with kernel $(x)$, so
$\mathbb{Z}[x]/(x) \cong \mathbb{Z}$. This is an integral domain but not a field, so
$(x)$ is prime and not maximal.

For the ideal in between reduce once more, $f \mapsto f(0) \bmod 2$. The kernel is
$(2, x)$ and the quotient is $\mathbb{Z}[x]/(2, x) \cong \mathbb{Z}/2\mathbb{Z}$, a
field. So $(2, x)$ is proper, even maximal, and we have the chain
$(0) \subsetneq (x) \subsetneq (2, x) \subsetneq \mathbb{Z}[x]$.""",
                accepted=True,
                score=12,
            ),
            Answer(
                r"""Why this cannot happen in $\mathbb{Z}$, or in any PID: let $(p)$
be a nonzero prime ideal and $(p) \subseteq (m)$. Then $p = mr$ for some $r$, and as
$(p)$ is prime, $m \in (p)$ or $r \in (p)$. In the first case $(m) = (p)$. In the
second, $r = ps$ gives $p = mps$, so $ms = 1$ and $(m)$ is the whole ring.

So the example tells you at once that $\mathbb{Z}[x]$ is not a PID; indeed $(2, x)$
is not principal.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="abstract_algebra/sqrt-minus-five",
        title=r"Why is $\mathbb{Z}[\sqrt{-5}]$ not a unique factorization domain?",
        question=r"""Everybody quotes the example
$$6 = 2 \cdot 3 = (1 + \sqrt{-5})(1 - \sqrt{-5})$$
to show that $\mathbb{Z}[\sqrt{-5}]$ is not a UFD. I can check the equation, but how
do I know that the factors are irreducible, and that $2$ is not just a unit times
$1 + \sqrt{-5}$? In $\mathbb{Z}$ we also have $6 = 2 \cdot 3 = (-2)(-3)$ and nobody
is worried about it. What exactly has to be checked to say that two factorizations
are really different?""",
        tags=("abstract-algebra", "ring-theory", "unique-factorization-domains"),
        score=13,
        answers=(
            Answer(
                r"""Use the norm $N(a + b\sqrt{-5}) = a^2 + 5b^2$. It is
multiplicative, $N(\alpha\beta) = N(\alpha)N(\beta)$, and its values are nonnegative
integers.

- Units: $N(u) = 1$ forces $b = 0$ and $a = \pm 1$, so the only units are $\pm 1$.
- No element has norm $2$ or $3$, because $a^2 + 5b^2 = 2$ and $= 3$ have no solutions.

Now $N(2) = 4$, $N(3) = 9$ and $N(1 \pm \sqrt{-5}) = 6$. A proper factor of any of
these would have norm $2$ or $3$, which is impossible. So all four are irreducible.
And since the only units are $\pm 1$, $2$ is not associated to $1 \pm \sqrt{-5}$.""",
                accepted=True,
                score=18,
            ),
            Answer(
                r"""Just to add the point of view of prime elements. In a UFD every
irreducible element is prime. Here $2$ divides the product
$(1 + \sqrt{-5})(1 - \sqrt{-5}) = 6$, but $2$ divides neither factor, since
$\frac{1 \pm \sqrt{-5}}{2}$ is not of the form $a + b\sqrt{-5}$ with
$a, b \in \mathbb{Z}$. So $2$ is irreducible but not prime, and
$\mathbb{Z}[\sqrt{-5}]$ cannot be a UFD. You only need to prove irreducibility of
one single element this way.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="abstract_algebra/every-square-trivial",
        title=r"If $x^2 = e$ for all $x \in G$ then $G$ is abelian",
        question=r"""Suppose that $G$ is a group in which $x^2 = e$ holds for every
element $x$. Prove that $ab = ba$ for all $a, b \in G$.

What I tried: $(ab)^2 = e$ and $a^2 b^2 = e$, so $(ab)^2 = a^2 b^2$. I am not sure
if I may cancel here. Is the converse also true? I mean, in $\mathbb{Z}/4\mathbb{Z}$
not every element has order $2$, so probably not.""",
        tags=("abstract-algebra", "group-theory"),
        score=10,
        answers=(
            Answer(
                r"""You may cancel, this is a group: every element has an inverse,
and multiplying both sides by it is always allowed as long as you do it on the same
side. From $(ab)^2 = a^2b^2$ we get
$$abab = aabb.$$
No order of the group is used anywhere. Multiply by $a^{-1}$ on the left and by
$b^{-1}$ on the right: $ba = ab$. Done. And you are right, the converse fails:
$\mathbb{Z}/4\mathbb{Z}$ is abelian but $1 + 1 \neq 0$ there.""",
                accepted=True,
                score=15,
            ),
            Answer(
                r"""The condition $x^2 = e$ says that every element is its own
inverse, $x = x^{-1}$. Therefore
$$ab = (ab)^{-1} = b^{-1}a^{-1} = ba.$$
No cancelling needed, only the rule for the inverse of a product, which reverses the
order of the factors. More is true: such a group is a vector space over
$\mathbb{F}_2$, so if it is finite then $|G| = 2^n$ and
$G \cong (\mathbb{Z}/2\mathbb{Z})^n$.""",
                score=21,
            ),
            Answer(
                r"""One warning so that nobody generalizes too fast: $x^3 = e$ for
all $x$ does *not* imply that $G$ is abelian. The group of matrices
$$\begin{pmatrix} 1 & a & b \\ 0 & 1 & c \\ 0 & 0 & 1 \end{pmatrix},
\qquad a, b, c \in \mathbb{F}_3,$$
has order $27$, every element satisfies $x^3 = e$, and it is not commutative. So a
proof must use the exponent $2$ in an essential way, as in $x = x^{-1}$.""",
                score=4,
            ),
        ),
    ),
    Thread(
        key="abstract_algebra/order-fifteen",
        title=r"Show that a group of order $15$ is cyclic (Sylow)",
        question=r"""I want to show that every group $G$ with $|G| = 15 = 3 \cdot 5$
is cyclic. From the Sylow theorems I know that $n_3 \equiv 1 \pmod 3$ and
$n_3 \mid 5$, so $n_3 = 1$, and similarly $n_5 = 1$. So there are normal subgroups
$P$ of order $3$ and $Q$ of order $5$. How does it follow that $G$ is cyclic? Does
the same argument work for $|G| = 21$?""",
        tags=("abstract-algebra", "group-theory", "sylow-theory"),
        score=6,
        answers=(
            Answer(
                r"""By Lagrange $P \cap Q = \{e\}$. For $x \in P$ and $y \in Q$ look
at the commutator $xyx^{-1}y^{-1}$. It lies in $P$ since $yx^{-1}y^{-1} \in P$, and
it lies in $Q$ since $xyx^{-1} \in Q$. So it is $e$, and $x$ and $y$ commute.

Now take generators $x$ of $P$ and $y$ of $Q$. As they commute and have coprime
orders, $xy$ has order $\operatorname{lcm}(3, 5) = 15$, so $G = \langle xy \rangle$.

For $21 = 3 \cdot 7$ it fails: $n_3 \mid 7$ and $n_3 \equiv 1 \pmod 3$ allow
$n_3 = 7$, and there really is a nonabelian group of order $21$.""",
                accepted=True,
                score=10,
            ),
            Answer(
                r"""You can also count. A unique subgroup of order $3$ gives $2$
elements of order $3$; a unique subgroup of order $5$ gives $4$ elements of order
$5$; and there is the identity. That makes $1 + 2 + 4 = 7 < 15$ elements, so some
element has another order. By Lagrange that order divides $15$, so it must be $15$
and $G$ is cyclic.""",
                score=12,
            ),
        ),
    ),
    Thread(
        key="abstract_algebra/finite-domain-field",
        title=r"Finite integral domains are fields",
        question=r"""Let $R$ be a finite integral domain with $1 \neq 0$. I should
show that every $a \in R \setminus \{0\}$ has a multiplicative inverse.

A friend told me to look at the powers $a, a^2, a^3, \dots$ and another friend told
me to look at the map $x \mapsto ax$. Which one is better? I know examples like
$\mathbb{Z}/p\mathbb{Z}$, where one uses Bézout to get $ab + pk = 1$, but there is
no division algorithm in a general ring.""",
        tags=("abstract-algebra", "ring-theory", "finite-fields"),
        score=9,
        answers=(
            Answer(
                r"""Both work. Consider $\mu_a : R \to R$, $\mu_a(x) = ax$. If
$ax = ay$ then $a(x - y) = 0$, and since $a \neq 0$ and there are no zero divisors,
$x = y$. So $\mu_a$ is injective. An injective map from a finite set to itself is
surjective, hence there is $b \in R$ with $ab = 1$.""",
                accepted=True,
                score=17,
            ),
            Answer(
                r"""With powers: $R$ is finite, so two of them coincide, $a^m = a^n$
with $m > n \geq 1$. Cancelling $a^n$ (allowed in a domain) gives $a^{m-n} = 1$. If
$m - n = 1$ then $a = 1$; otherwise $a \cdot a^{m-n-1} = 1$, and the inverse of $a$
is $a^{m-n-1}$. The advantage is that the inverse is explicit, for instance
$a^{-1} = a^{p-2}$ in $\mathbb{Z}/p\mathbb{Z}$. The infinite domain $\mathbb{Z}$
shows that finiteness is needed in both arguments.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="abstract_algebra/trivial-kernel",
        title=r"$\varphi$ is injective if and only if $\ker \varphi = \{e\}$",
        question=r"""Let $\varphi : G \to H$ be a group homomorphism. The book
claims that $\varphi$ is injective if and only if $\ker \varphi = \{e_G\}$, but to
me the kernel only talks about what happens over the single point $e_H$. Why does it
control all the other fibers $\varphi^{-1}(h)$ as well? For ordinary functions, say
$f(x) = x^2$ on $\mathbb{R}$, we have $f^{-1}(0) = \{0\}$ and still $f(1) = f(-1)$.""",
        tags=("abstract-algebra", "group-theory", "group-homomorphism"),
        score=7,
        answers=(
            Answer(
                r"""Because all nonempty fibers look alike. If $\varphi(a) = h$,
then
$$\varphi(x) = h \iff \varphi(a)^{-1}\varphi(x) = e_H \iff a^{-1}x \in \ker \varphi,$$
so $\varphi^{-1}(h) = a \ker \varphi$ is a coset of the kernel. All cosets have the
same number of elements, hence if one fiber is a single point then all of them are.
Your $f(x) = x^2$ is not a homomorphism of $(\mathbb{R}, +)$, so there is no
contradiction.""",
                accepted=True,
                score=14,
                comments=(
                    r"So the fibers of a homomorphism are translates of each other.",
                ),
            ),
            Answer(
                r"""The direct proof takes one line in each direction. If $\varphi$
is injective and $x \in \ker \varphi$, then $\varphi(x) = e_H = \varphi(e_G)$, so
$x = e_G$. Conversely let the kernel be trivial and $\varphi(a) = \varphi(b)$. Then
$$\varphi(ab^{-1}) = \varphi(a)\varphi(b)^{-1} = e_H,$$
so $ab^{-1} \in \ker \varphi = \{e_G\}$ and $a = b$. What makes it work is that a
group lets us move any equation $\varphi(a) = \varphi(b)$ to the identity. You know
the same fact from linear algebra, where a linear map is injective if and only if
its null space is zero.""",
                score=9,
            ),
        ),
    ),
)

_ORDER_QUESTIONS = (
    r"""I am learning about cyclic groups and I want to be sure that I understand
the order of an element. Take $\mathbb{Z}_{%(n)d}$ with addition modulo $%(n)d$.
What is the order of the element $%(k)d$?

I started to write down multiples, $%(k)d, %(k2)d, %(k3)d, \dots$, but this takes a
long time and I am afraid of a slip. Somebody mentioned that the answer only depends
on $\gcd(%(k)d, %(n)d)$. Could you explain why, and which subgroup
$\langle %(k)d \rangle$ is?""",
    r"""Exercise: determine $\operatorname{ord}(%(k)d)$ in the additive group
$\mathbb{Z}/%(n)d\mathbb{Z}$ and list the elements of the subgroup it generates.

My attempt: I need the least $m \geq 1$ with $%(n)d \mid %(k)dm$. Of course
$m = %(n)d$ always works, so the order is at most $%(n)d$, but I believe that a
smaller $m$ exists. Do I have to try all the divisors of $%(n)d$, or is there a
formula?""",
    r"""In a cyclic group $G = \langle g \rangle$ of order $%(n)d$, what is the
order of $g^{%(k)d}$? The solution in my book is a single number without
explanation.

I know that $g^m = e$ if and only if $%(n)d \mid m$. So I want the smallest positive
$t$ with $g^{%(k)dt} = e$. Here I got stuck, since $%(k)d$ does not have to divide
$%(n)d$. Which other elements have the same order?""",
)

_ORDER_ANSWERS = (
    r"""The general rule is
$$\operatorname{ord}(k) = \frac{n}{\gcd(k, n)} \quad \text{in } \mathbb{Z}_n.$$
Here $d = \gcd(%(k)d, %(n)d) = %(d)d$, so the order is
$\frac{%(n)d}{%(d)d} = %(o)d$.

Why: write $k = dk'$ and $n = dn'$ with $\gcd(k', n') = 1$. Then $n \mid km$ means
$n' \mid k'm$, and because $k'$ and $n'$ are coprime this means $n' \mid m$. So the
least $m$ is $n' = %(o)d$. The subgroup is the one generated by $%(d)d$, namely all
the multiples of $%(d)d$.""",
    r"""Factor both numbers and cancel what they share. We need $%(k)d\,m$ to be a
multiple of $%(n)d$, that is a common multiple of both numbers, and the first common
multiple is $\operatorname{lcm}(%(k)d, %(n)d) = %(l)d$. So
$m = %(l)d / %(k)d = %(o)d$.

This agrees with the formula $m = n/\gcd(n, k)$ because
$\operatorname{lcm}(a, b) \cdot \gcd(a, b) = ab$. In your case the gcd is $%(d)d$,
and there are $\varphi(%(o)d) = %(phi)d$ elements of that order.""",
    r"""Since $\gcd(%(k)d, %(n)d) = %(d)d$, Bézout gives integers $u, v$ with
$%(k)du + %(n)dv = %(d)d$. So $%(d)d$ is a multiple of $%(k)d$ modulo $%(n)d$, and
of course $%(k)d$ is a multiple of $%(d)d$. The two elements generate the same
subgroup. Now $%(d)d$ divides $%(n)d$, so that subgroup has exactly
$%(n)d/%(d)d = %(o)d$ elements and the order you look for is $%(o)d$. The elements
with the same order are $%(d)dj$ with $\gcd(j, %(o)d) = 1$; there are
$\varphi(%(o)d) = %(phi)d$ of them.""",
)

_HOM_QUESTIONS = (
    r"""I am preparing for an exam and this kind of question comes up every year.
How many group homomorphisms $\varphi : \mathbb{Z}_{%(m)d} \to \mathbb{Z}_{%(n)d}$
are there? I know that $\varphi$ is determined by $a = \varphi(1)$, so there are at
most $%(n)d$ of them. But not every $a$ can be allowed: we need
$0 = \varphi(%(m)d) = %(m)da$ in $\mathbb{Z}_{%(n)d}$. How do I count the solutions
without checking all $%(n)d$ cases?""",
    r"""Today's problem sheet asks for the size of
$\operatorname{Hom}(\mathbb{Z}/%(m)d\mathbb{Z}, \mathbb{Z}/%(n)d\mathbb{Z})$. I
would say that the image is a subgroup whose order divides both $%(m)d$ and $%(n)d$,
so it divides $%(d)d$. Is the answer then simply $%(d)d$, or do I have to count the
homomorphisms for each possible image, $|\operatorname{im} \varphi| = 1$ and so on?
I also wonder if any of them is injective.""",
    r"""Find all homomorphisms from a cyclic group $\langle x \rangle$ of order
$%(m)d$ to a cyclic group $\langle y \rangle$ of order $%(n)d$. I wrote
$\varphi(x) = y^a$ with $0 \leq a < %(n)d$. Since $x^{%(m)d} = e$ I need
$y^{%(m)da} = e$. Is this condition also enough to make $\varphi$ well defined? And
how many values of $a$ are there in the end? I would be happy with a hint, as I want
to do the other parts of the exercise alone.""",
)

_HOM_ANSWERS = (
    r"""Everything is decided by $a = \varphi(1)$. The condition
$%(m)da \equiv 0 \pmod{%(n)d}$ is necessary, and it is also sufficient: if it holds
then $x \mapsto ax$ is well defined on classes modulo $%(m)d$. Divide by
$d = \gcd(%(m)d, %(n)d) = %(d)d$ to get $%(mp)da \equiv 0 \pmod{%(np)d}$, and as
$\gcd(%(mp)d, %(np)d) = 1$ this says $%(np)d \mid a$. So
$a \in \{ %(np)dj : 0 \leq j < %(d)d \}$, and there are exactly $%(d)d$
homomorphisms. The largest of these values of $a$ is not special: each one sends the
generator to an element whose order divides both group orders, and $a = 0$ is the
trivial homomorphism.""",
    r"""The number is $\gcd(%(m)d, %(n)d) = %(d)d$. One way to count: the image of a
generator must be an element of the target whose order divides $%(m)d$. A cyclic
group of order $%(n)d$ has exactly $\varphi(t)$ elements of order $t$ for each
$t \mid %(n)d$. So we get
$$\sum_{t \mid %(m)d, \; t \mid %(n)d} \varphi(t) = \sum_{t \mid %(d)d} \varphi(t)
= %(d)d,$$
using the well known identity $\sum_{t \mid d} \varphi(t) = d$. An injective one
would need an element of order $%(m)d$ in the target, so it exists only if $%(m)d$
divides $%(n)d$.""",
    r"""The necessary condition on the image $a$ of a generator is also enough.
Think of $\mathbb{Z} \to \mathbb{Z}_{%(n)d}$, $k \mapsto ka$, which exists for every
$a$. It factors through $\mathbb{Z}/%(m)d\mathbb{Z}$ precisely when $%(m)d$ lies in
its kernel, i.e. when $%(m)da = 0$ in $\mathbb{Z}_{%(n)d}$. The solutions $a$ form
the subgroup generated by $%(n)d/%(d)d = %(np)d$, which has $%(d)d$ elements. So
$$\operatorname{Hom}(\mathbb{Z}_{%(m)d}, \mathbb{Z}_{%(n)d})
\cong \mathbb{Z}_{%(d)d},$$
where the group structure on the left is pointwise addition. The gcd is symmetric,
so the number does not change when source and target are exchanged.""",
)


def _count_units(n: int) -> int:
    """Return Euler's totient of ``n``."""
    return sum(1 for k in range(1, n + 1) if gcd(k, n) == 1)


def _ask_element_orders(rng: random.Random) -> list[Thread]:
    """Write questions on the order of an element of a cyclic group."""
    titles = (
        r"Order of $%(k)d$ in $\mathbb{Z}_{%(n)d}$",
        r"How to find the order of $%(k)d$ in $\mathbb{Z}/%(n)d\mathbb{Z}$?",
        r"If $g$ has order $%(n)d$, what is the order of $g^{%(k)d}$?",
    )
    threads = []
    for place, (n, k) in enumerate(((48, 36), (100, 35), (84, 30))):
        d = gcd(n, k)
        values = {
            "n": n,
            "k": k,
            "k2": 2 * k,
            "k3": 3 * k,
            "d": d,
            "o": n // d,
            "l": n * k // d,
            "phi": _count_units(n // d),
        }
        other = _ORDER_ANSWERS[(place + rng.choice((1, 2))) % 3]
        threads.append(
            Thread(
                key=f"abstract_algebra/element-order-{n}-{k}",
                title=titles[place] % values,
                question=_ORDER_QUESTIONS[place] % values,
                tags=("abstract-algebra", "group-theory", "cyclic-groups"),
                score=rng.randint(1, 6),
                answers=(
                    Answer(_ORDER_ANSWERS[place] % values, accepted=True, score=6),
                    Answer(other % values, score=2),
                )[: 2 if place != 1 else 1],
            )
        )
    return threads


def _ask_homomorphism_counts(rng: random.Random) -> list[Thread]:
    """Write questions on the number of homomorphisms between cyclic groups."""
    titles = (
        r"Number of homomorphisms $\mathbb{Z}_{%(m)d} \to \mathbb{Z}_{%(n)d}$",
        r"Homomorphisms between cyclic groups of orders $%(m)d$ and $%(n)d$",
        r"Find all homomorphisms from $C_{%(m)d}$ to $C_{%(n)d}$",
    )
    threads = []
    for place, (m, n) in enumerate(((12, 30), (20, 50), (42, 28))):
        d = gcd(m, n)
        values = {"m": m, "n": n, "d": d, "mp": m // d, "np": n // d}
        other = _HOM_ANSWERS[(place + rng.choice((1, 2))) % 3]
        threads.append(
            Thread(
                key=f"abstract_algebra/homomorphisms-{m}-{n}",
                title=titles[place] % values,
                question=_HOM_QUESTIONS[place] % values,
                tags=("abstract-algebra", "cyclic-groups", "group-homomorphism"),
                score=rng.randint(1, 6),
                answers=(
                    Answer(_HOM_ANSWERS[place] % values, accepted=place != 2, score=5),
                    Answer(other % values, score=2),
                )[: 2 if place != 0 else 1],
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of the area."""
    return [
        *_THREADS,
        *_ask_element_orders(rng),
        *_ask_homomorphism_counts(rng),
    ]


ANSWER_TOPICS = (
    AnswerTopic(
        key="abstract_algebra/topic-forty-nine",
        title=r"Does a group with $49$ elements have to be commutative?",
        question=r"""For a talk I would like to classify the groups with $49 = 7^2$
elements. I found the two candidates $\mathbb{Z}/49\mathbb{Z}$ and
$\mathbb{Z}/7\mathbb{Z} \times \mathbb{Z}/7\mathbb{Z}$, and both are commutative.
How can I rule out a nonabelian group $G$ of this order? I read that one should look
at $G/Z(G)$, but I do not know what its order could be or what I could learn from
it.""",
        tags=("abstract-algebra", "group-theory", "finite-groups"),
        grades={
            "abstract_algebra/order-p-squared#1": 3,
            "abstract_algebra/order-p-squared#2": 3,
            "abstract_algebra/order-p-squared#3": 2,
            "abstract_algebra/quotient-by-center-cyclic#1": 2,
            "abstract_algebra/quotient-by-center-cyclic#2": 2,
            "abstract_algebra/order-fifteen#1": 1,
            "abstract_algebra/order-fifteen#2": 1,
            "abstract_algebra/every-square-trivial#1": 0,
            "abstract_algebra/every-square-trivial#2": 0,
            "abstract_algebra/index-two-normal#1": 0,
            "abstract_algebra/finite-domain-field#1": 0,
            "abstract_algebra/element-order-48-36#1": 0,
            "abstract_algebra/real-polynomials-complex#2": 0,
            "graph_theory/greedy-colouring#1": 0,
            "topology/circle-as-quotient#1": 0,
        },
        category="Proof",
        difficulty="Medium",
        dependency="Both",
    ),
    AnswerTopic(
        key="abstract_algebra/topic-adjoin-root-two",
        title=r"Is $\mathbb{Q}[x]/(x^2-2)$ a field, and which one?",
        question=r"""I have to decide whether the ring $\mathbb{Q}[x]/(x^2-2)$ is a
field. I suspect that it is the same as
$\mathbb{Q}(\sqrt{2}) = \{a + b\sqrt{2} : a, b \in \mathbb{Q}\}$, because the class
of $x$ behaves like a square root of $2$, but so far this is only a feeling and not
a proof. How does one write this down properly? And would the answer change for
$(x^2 - 4)$ in place of $(x^2-2)$?""",
        tags=("abstract-algebra", "ring-theory", "field-theory", "ideals"),
        grades={
            "abstract_algebra/real-polynomials-complex#1": 3,
            "abstract_algebra/real-polynomials-complex#2": 3,
            "abstract_algebra/real-polynomials-complex#3": 2,
            "abstract_algebra/prime-not-maximal#1": 1,
            "abstract_algebra/prime-not-maximal#2": 2,
            "abstract_algebra/trivial-kernel#1": 1,
            "abstract_algebra/finite-domain-field#1": 0,
            "abstract_algebra/sqrt-minus-five#1": 0,
            "abstract_algebra/sqrt-minus-five#2": 0,
            "abstract_algebra/quotient-by-center-cyclic#1": 0,
            "topology/circle-as-quotient#1": 0,
            "topology/circle-as-quotient#2": 0,
            "abstract_algebra/homomorphisms-12-30#1": 0,
            "set_theory_logic/rationals-countable#1": 0,
        },
        category="Proof",
        difficulty="Medium",
        dependency="Formula",
    ),
)

FORMULA_TOPICS = (
    FormulaTopic(
        topic="abstract_algebra/topic-forty-nine",
        latex=r"G/Z(G)",
        grades={
            r"G/Z(G)": 3,
            r"|G/Z(G)| = 15": 2,
            r"|Z(G)| = p": 2,
            r"|G| = |Z(G)| + \sum_{i} [G : C_G(x_i)]": 2,
            r"G/N": 1,
            r"gZ(G)": 1,
            r"Z(G) = G": 1,
            r"R/P": 0,
            r"R/M": 0,
            r"\mathbb{R}[x]/(x^2+1) \cong \mathbb{C}": 0,
            r"[0,1]/{\sim}": 0,
            r"\chi(G) \leq \Delta(G) + 1": 0,
            r"G \setminus H": 0,
        },
    ),
    FormulaTopic(
        topic="abstract_algebra/topic-adjoin-root-two",
        latex=r"\mathbb{Q}[x]/(x^2-2)",
        grades={
            r"\mathbb{R}[x]/(x^2+1) \cong \mathbb{C}": 3,
            r"F[x]/(p)": 3,
            r"\ker \varphi = (x^2+1)": 2,
            r"(x^2+1)": 1,
            r"\mathbb{Z}[x]/(x) \cong \mathbb{Z}": 2,
            r"\mathbb{Z}[x]/(2, x) \cong \mathbb{Z}/2\mathbb{Z}": 1,
            r"\mathbb{R}[x]": 1,
            r"\mathbb{Z}[\sqrt{-5}]": 0,
            r"\mathbb{Z}/4\mathbb{Z}": 0,
            r"G \cong (\mathbb{Z}/2\mathbb{Z})^n": 0,
            r"G/Z(G)": 0,
            r"[0,1]/{\sim}": 0,
            r"f(x) = x^2": 0,
            r"\frac{1 \pm \sqrt{-5}}{2}": 0,
        },
    ),
)
