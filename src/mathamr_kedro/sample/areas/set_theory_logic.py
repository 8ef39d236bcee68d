"""Set theory and logic: cardinality, set algebra, implication and counting."""

from __future__ import annotations

import random
from math import comb, factorial, lcm

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_THREADS = (
    Thread(
        key="set_theory_logic/cantor-power-set",
        title=r"Cantor's theorem: no surjection $f : A \to \mathcal{P}(A)$",
        question=r"""I am trying to understand the proof that there is no surjection
from a set $A$ onto its power set $\mathcal{P}(A)$. The proof takes an arbitrary
function $f : A \to \mathcal{P}(A)$ and defines
$$D = \{ a \in A : a \notin f(a) \}.$$
Then it says "clearly $D$ is not in the image of $f$". I can follow each line, but
it looks like a magic trick. Why would anybody think of this set, and what happens
if $D$ is empty? Is it still a contradiction?""",
        tags=("elementary-set-theory", "cardinals", "proof-explanation"),
        score=18,
        answers=(
            Answer(
                r"""Suppose $D = f(d)$ for some $d \in A$, and ask whether
$d \in D$.

- If $d \in D$ then by definition of $D$ we have $d \notin f(d) = D$.
- If $d \notin D = f(d)$ then $d$ satisfies the condition, so $d \in D$.

Both are impossible, so no such $d$ exists and $f$ is not surjective. If
$D = \emptyset$ nothing changes: it just means that $a \in f(a)$ for all $a$, and
then the empty set is not in the image, because $f(a)$ always has at least the
element $a$.""",
                accepted=True,
                score=24,
            ),
            Answer(
                r"""Why would anybody think of it? Draw a table for
$A = \mathbb{N}$. Row $n$ lists the answers to the questions "is $k \in f(n)$?" as a
sequence of zeros and ones. We want a subset that differs from every row. The
cheapest way is to differ from row $n$ in column $n$, that is, to walk down the
diagonal and flip each entry. Put $n \in D$ exactly if the entry $(n, n)$ is $0$,
i.e. $n \notin f(n)$. This is the set in your proof. The definition makes sense for
arbitrary $A$, even if there is no table to draw. In particular
$|\mathcal{P}(\mathbb{N})| > |\mathbb{N}|$: the set $\{0,1\}^{\mathbb{N}}$ of all
zero-one sequences is uncountable.""",
                score=17,
                comments=(r"That is how Cantor's diagonal argument was found.",),
            ),
        ),
        related=("set_theory_logic/reals-uncountable",),
    ),
    Thread(
        key="set_theory_logic/rationals-countable",
        title=r"Why is $\mathbb{Q}$ countable if it is dense in $\mathbb{R}$?",
        question=r"""Between any two real numbers there is a rational number, so the
set $\mathbb{Q}$ seems to be much bigger than $\mathbb{N}$. Still, people say
$|\mathbb{Q}| = |\mathbb{N}|$. How can I write down an enumeration? I tried to order
the rationals by size, but then there is no "next" one after $0$. I would prefer an
explicit argument with as little machinery as possible.""",
        tags=("elementary-set-theory", "cardinals", "rational-numbers"),
        score=14,
        answers=(
            Answer(
                r"""Forget the order by size, sort by complexity instead. Write a
positive rational as $\frac{p}{q}$ in lowest terms and call $p + q$ its height. For
each height there are only finitely many fractions, so list them height by height:
$$\frac{1}{1}, \quad \frac{1}{2}, \frac{2}{1}, \quad \frac{1}{3}, \frac{3}{1}, \quad
\frac{1}{4}, \frac{2}{3}, \frac{3}{2}, \frac{4}{1}, \quad \dots$$
Every positive rational appears exactly once. To include all of $\mathbb{Q}$, start
with $0$ and put $-\frac{p}{q}$ right after $\frac{p}{q}$. Density has nothing to do
with cardinality.""",
                accepted=True,
                score=22,
            ),
            Answer(
                r"""An injection $\mathbb{Q} \to \mathbb{N}$ is enough. Take the
rational $(-1)^s \frac{p}{q}$ in lowest terms with $s \in \{0, 1\}$ and map it to
$$2^s \cdot 3^p \cdot 5^q.$$
By unique factorization different rationals get different numbers (represent zero by
$s = 0$, $p = 0$, $q = 1$). So $\mathbb{Q}$ is in bijection with an infinite subset
of $\mathbb{N}$, and every infinite subset of $\mathbb{N}$ is countable. The same
trick shows that the set of all finite sequences of natural numbers is countable.""",
                score=12,
            ),
            Answer(
                r"""In general, a countable union of countable sets is countable.
Here
$$\mathbb{Q} = \bigcup_{q = 1}^{\infty}
\left\{ \frac{p}{q} : p \in \mathbb{Z} \right\},$$
and each set in the union is countable. The proof of the general fact is the zigzag
path through $\mathbb{N} \times \mathbb{N}$, for instance via the pairing function
$\pi(m, n) = \frac{(m+n)(m+n+1)}{2} + n$, which is a bijection
$\mathbb{N} \times \mathbb{N} \to \mathbb{N}$ when $\mathbb{N}$ starts at $0$.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="set_theory_logic/reals-uncountable",
        title=r"Diagonal argument for $(0, 1)$: what about $0.4999\dots = 0.5$?",
        question=r"""The usual proof that the interval $(0, 1)$ is uncountable goes
as follows. Given a list $x_1, x_2, x_3, \dots$ of numbers with decimal expansions
$x_n = 0.d_{n1} d_{n2} d_{n3} \dots$, build a number $y$ whose $n$-th digit differs
from $d_{nn}$. Then $y$ is not on the list. But some numbers have two expansions,
for example $0.4999\dots = 0.5000\dots$ Could it happen that $y$ is on the list,
only written in the other way? And why does the same argument not show that
$\mathbb{Q}$ is uncountable?""",
        tags=("elementary-set-theory", "real-numbers", "cardinals"),
        score=15,
        answers=(
            Answer(
                r"""Choose the digits of $y$ such that this cannot happen, for
instance
$$y_n = \begin{cases} 5 & \text{if } d_{nn} \neq 5, \\ 6 & \text{if } d_{nn} = 5.
\end{cases}$$
A number with two expansions has one that ends in $000\dots$ and one that ends in
$999\dots$. All digits of $y$ are $5$ or $6$, so $y$ has only one expansion, and
since it differs from the chosen expansion of $x_n$ in the $n$-th digit,
$y \neq x_n$ for all $n$.

If the list contains all the rational numbers in $(0,1)$, the argument still
produces a $y$ that is not on it. There is no contradiction, because $y$ is simply
not rational.""",
                accepted=True,
                score=20,
            ),
            Answer(
                r"""You can avoid decimals. Suppose $(0, 1) = \{x_1, x_2, \dots\}$.
Pick a closed interval $I_1 \subset (0, 1)$ with $x_1 \notin I_1$, inside it a
closed interval $I_2$ with $x_2 \notin I_2$, and so on. Nested closed bounded
intervals have a common point
$$y \in \bigcap_{n=1}^{\infty} I_n,$$
and $y \neq x_n$ for every $n$. Here it is the completeness of $\mathbb{R}$ that is
used, and this is where the argument breaks down for $\mathbb{Q}$. This was in fact
Cantor's first proof, older than the diagonal.""",
                score=11,
            ),
        ),
    ),
    Thread(
        key="set_theory_logic/interval-and-line",
        title=r"Bijection between $(0,1)$ and $\mathbb{R}$, and between $[0,1]$ and "
        r"$(0,1)$",
        question=r"""I have to show that $(0,1)$, $[0,1]$ and $\mathbb{R}$ have the
same cardinality. For the first and the last I think that some version of the
tangent works. But for $[0,1]$ and $(0,1)$ I do not find any formula. A continuous
bijection $[0,1] \to (0,1)$ cannot exist, because the image of $[0, 1]$ would be
compact. How can I get rid of the two end points?""",
        tags=("elementary-set-theory", "cardinals", "functions"),
        score=10,
        answers=(
            Answer(
                r"""For $(0,1) \to \mathbb{R}$ take
$x \mapsto \tan\left(\pi x - \frac{\pi}{2}\right)$, or $x \mapsto \ln \frac{x}{1-x}$
if you prefer logarithms.

For $[0,1] \to (0,1)$ use the trick of Hilbert's hotel. Let
$S = \left\{0, 1, \frac{1}{2}, \frac{1}{3}, \frac{1}{4}, \dots\right\}$ and define
$$f(x) = \begin{cases} \frac{1}{2} & x = 0, \\
\frac{1}{n+2} & x = \frac{1}{n}, \; n \geq 1, \\
x & x \notin S. \end{cases}$$
The points of the sequence move two places down the corridor and make room for $0$
and $1$. All other points stay where they are.""",
                accepted=True,
                score=19,
            ),
            Answer(
                r"""If you only need existence, quote Cantor-Schröder-Bernstein:
there are injections $(0,1) \to [0,1]$, $x \mapsto x$, and $[0,1] \to (0,1)$,
$x \mapsto \frac{x}{2} + \frac{1}{4}$, so there is a bijection. The theorem even
tells you how to build it from the two injections: follow the chains
$x, f(x), g(f(x)), \dots$ back as far as possible and decide by the side where they
start. Then $|[0,1]| = |(0,1)| = |\mathbb{R}|$ with hardly any formula.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="set_theory_logic/de-morgan",
        title=r"De Morgan's law for arbitrary families of sets",
        question=r"""For two sets I can prove De Morgan's laws with a Venn diagram.
Now I need them for an arbitrary family $\{A_i\}_{i \in I}$ of subsets of $X$:
$$X \setminus \bigcup_{i \in I} A_i = \bigcap_{i \in I} (X \setminus A_i).$$
May I use induction, starting with $(A \cup B)^c = A^c \cap B^c$? My index set $I$
can be uncountable, so I have doubts that induction is enough. What does the
statement say when $I = \emptyset$?""",
        tags=("elementary-set-theory", "proof-writing"),
        score=7,
        answers=(
            Answer(
                r"""Induction only reaches finite families. But no induction is
needed, just translate to logic:
$$\begin{align}
x \in X \setminus \bigcup_{i \in I} A_i &\iff \neg\, \exists i \in I : x \in A_i \\
&\iff \forall i \in I : x \notin A_i \\
&\iff x \in \bigcap_{i \in I} (X \setminus A_i).
\end{align}$$
Here $x$ is an element of $X$ throughout. For $I = \emptyset$ the union is empty,
and the intersection, taken inside $X$, is all of $X$. So the law says
$X \setminus \emptyset = X$, which is fine.""",
                accepted=True,
                score=12,
            ),
            Answer(
                r"""The two De Morgan laws follow from each other. If you know
$\left(\bigcup_i A_i\right)^c = \bigcap_i A_i^c$ for all families, apply it to the
complements $B_i = A_i^c$ and take complements on both sides, using $(B^c)^c = B$:
$$\bigcup_i B_i^c = \left(\bigcap_i B_i\right)^c.$$
In topology this is the reason why the axioms for open sets and for closed sets are
mirror images: arbitrary unions of open sets correspond to arbitrary intersections
of closed sets.""",
                score=5,
            ),
        ),
    ),
    Thread(
        key="set_theory_logic/contrapositive",
        title=r"Is $P \implies Q$ the same as $\neg Q \implies \neg P$?",
        question=r"""In class we proved "if $n^2$ is even then $n$ is even" by
showing "if $n$ is odd then $n^2$ is odd". Why is it allowed to replace
$P \implies Q$ by $\neg Q \implies \neg P$? I would rather expect that one has to
show $\neg P \implies \neg Q$. Also, what is the difference between a proof by
contrapositive and a proof by contradiction? They look the same to me, both start
from $\neg Q$.""",
        tags=("logic", "propositional-calculus", "proof-writing"),
        score=11,
        answers=(
            Answer(
                r"""Look at the truth table, or better, rewrite: $P \implies Q$ is
by definition $\neg P \lor Q$. The contrapositive is $\neg(\neg Q) \lor \neg P$,
that is $Q \lor \neg P$, which is the same thing. On the other hand
$\neg P \implies \neg Q$ is $P \lor \neg Q$, and this is the *converse*
$Q \implies P$ in disguise. "If it rains, the street is wet" is true, but "if it
does not rain, the street is not wet" fails when somebody washes a car.""",
                accepted=True,
                score=16,
            ),
            Answer(
                r"""On the second question. In a proof by contrapositive you assume
$\neg Q$ and derive $\neg P$. In a proof by contradiction you assume
$P \land \neg Q$ and derive something absurd, such as $R \land \neg R$. The second
one has an additional assumption to work with, and you do not know beforehand which
contradiction will come out. If your proof by contradiction never uses $P$ except at
the very end, to say "but $P$, contradiction", then it is really a proof by
contrapositive and reads better as such.""",
                score=13,
            ),
        ),
    ),
    Thread(
        key="set_theory_logic/russell",
        title=r"Russell's paradox: why is $\{ x : x \notin x \}$ not a set?",
        question=r"""Let $R = \{ x : x \notin x \}$. If $R \in R$ then $R \notin R$,
and if $R \notin R$ then $R \in R$. I see that this is a contradiction, but what do
we conclude from it? Did we just prove that mathematics is inconsistent? And why can
we still write things like $\{ x \in \mathbb{R} : x^2 < 2 \}$, where the braces look
exactly the same? Is there a rule that tells me which of these expressions are
harmless?""",
        tags=("elementary-set-theory", "logic", "paradoxes"),
        score=12,
        answers=(
            Answer(
                r"""We conclude that there is no set $R$ with the property
$\forall x\,(x \in R \iff x \notin x)$. The paradox only arises if we insist that
*every* property defines a set (unrestricted comprehension). The axioms of ZF do not
allow this. They have the axiom of separation: for a given set $A$ and a property
$\varphi$,
$$\{ x \in A : \varphi(x) \}$$
is a set. This covers $\{ x \in \mathbb{R} : x^2 < 2 \}$. If you try to repeat
Russell's argument with $R_A = \{ x \in A : x \notin x \}$, all you get is
$R_A \notin A$, and hence that there is no set of all sets.""",
                accepted=True,
                score=21,
            ),
            Answer(
                r"""It may help to see that nothing about sets is used. Replace
$\in$ by any relation $E$ on any domain: the formula
$$\neg\, \exists y\, \forall x\, (x \mathrel{E} y \iff \neg (x \mathrel{E} x))$$
is a theorem of pure logic. Just put $x = y$ to get
$y \mathrel{E} y \iff \neg (y \mathrel{E} y)$. With $E$ as "is shaved by" it says
that there is no barber who shaves exactly those who do not shave themselves. Nobody
concludes from this that villages are inconsistent; the barber simply does not
exist. In the same way the *class* $\{ x : x \notin x \}$ is not a set.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="set_theory_logic/image-of-intersection",
        title=r"When is $f(A \cap B) = f(A) \cap f(B)$?",
        question=r"""Let $f : X \to Y$ be a function and $A, B \subseteq X$. I
proved $f(A \cap B) \subseteq f(A) \cap f(B)$. For the other inclusion I took
$y \in f(A) \cap f(B)$, so $y = f(a)$ and $y = f(b)$, but $a$ and $b$ do not have to
be equal. So I guess it is false in general, and true for injective $f$. Is
injectivity also necessary? And why do preimages behave so much better,
$f^{-1}(C \cap D) = f^{-1}(C) \cap f^{-1}(D)$?""",
        tags=("elementary-set-theory", "functions"),
        score=9,
        answers=(
            Answer(
                r"""Your guess is correct: equality can fail, and for an injective
function it holds. And injectivity is necessary if you want equality for *all*
subsets. Suppose $f(a) = f(b)$ with $a \neq b$ and take $A = \{a\}$, $B = \{b\}$.
Then $f(A \cap B) = f(\emptyset) = \emptyset$, but
$f(A) \cap f(B) = \{f(a)\} \neq \emptyset$. Conversely, if $f$ is injective, then
$y = f(a) = f(b)$ gives $a = b \in A \cap B$. A concrete example is $f(x) = x^2$
with the negative and the positive numbers.""",
                accepted=True,
                score=14,
            ),
            Answer(
                r"""Preimages behave well because membership in $f^{-1}(C)$ is a
condition on one single element: $x \in f^{-1}(C) \iff f(x) \in C$. So "and", "or"
and "not" pass through:
$$x \in f^{-1}(C \cap D) \iff f(x) \in C \text{ and } f(x) \in D
\iff x \in f^{-1}(C) \cap f^{-1}(D).$$
Membership in an image hides an existential quantifier,
$y \in f(A) \iff \exists a \in A : f(a) = y$. The quantifier $\exists$ commutes with
"or", which is why $f(A \cup B) = f(A) \cup f(B)$, but not with "and".""",
                score=16,
            ),
        ),
    ),
    Thread(
        key="set_theory_logic/empty-functions",
        title=r"How many functions are there from $\emptyset$ to $A$?",
        question=r"""For finite sets the number of functions $A \to B$ is
$|B|^{|A|}$. If $A = \emptyset$ this gives $|B|^0 = 1$, so there is one function
from the empty set to $B$? And if also $B = \emptyset$, do we get $0^0 = 1$? On the
other hand, for $B = \emptyset$ and $A \neq \emptyset$ the formula gives $0$. I find
it hard to imagine a function that does nothing. Is this a convention or a theorem?""",
        tags=("elementary-set-theory", "functions", "exponentiation"),
        score=8,
        answers=(
            Answer(
                r"""It is a theorem once you take the definition seriously. A
function $A \to B$ is a set $f \subseteq A \times B$ such that for every $a \in A$
there is exactly one $b \in B$ with $(a, b) \in f$. For $A = \emptyset$ we have
$\emptyset \times B = \emptyset$, so the only candidate is $f = \emptyset$, and the
condition is vacuously true. Exactly one function, whatever $B$ is. If
$A \neq \emptyset$ and $B = \emptyset$, the only candidate is again $\emptyset$, but
the condition fails for any $a \in A$. In the combinatorial sense this is why
$0^0 = 1$.""",
                accepted=True,
                score=13,
            ),
            Answer(
                r"""Maybe a picture for a function that does nothing: a function is
a filled form with one line for each $a \in A$, and on each line you must write an
element of $B$. If $A$ is empty, the form has no lines. There is exactly one such
form, the blank one, and it is correctly filled in. If $B$ is empty and $A$ is not,
there is a line and nothing you may write on it, so there is no correct form. The
laws of exponents agree with this counting: $|B|^{m+n} = |B|^m \cdot |B|^n$ with
$n = 0$ forces $|B|^0 = 1$ whenever $|B| > 0$.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="set_theory_logic/well-ordering-induction",
        title=r"Induction and the well-ordering of $\mathbb{N}$ are equivalent",
        question=r"""My textbook derives the principle of induction from the fact
that every nonempty subset of $\mathbb{N}$ has a least element, and leaves the other
direction as an exercise. So: assume induction, and let $S \subseteq \mathbb{N}$ be
nonempty. How do I show that $\min S$ exists? I tried induction on the number of
elements of $S$, but $S$ can be infinite. What should the statement $P(n)$ be?""",
        tags=("logic", "induction", "natural-numbers"),
        score=8,
        answers=(
            Answer(
                r"""Use the contrapositive with strong induction. Suppose that $S$
has no least element and let $P(n)$ be the statement $n \notin S$. If $P(k)$ holds
for all $k < n$, then $n \notin S$ as well, since otherwise $n$ would be the least
element of $S$. By strong induction $P(n)$ holds for all $n \in \mathbb{N}$, so
$S = \emptyset$.""",
                accepted=True,
                score=12,
            ),
            Answer(
                r"""If you only want to use ordinary induction, let $Q(n)$ be: every
subset $S \subseteq \mathbb{N}$ that contains a number $m \leq n$ has a least
element. For $n = 0$ we have $0 \in S$ and $\min S = 0$. For the step assume $Q(n)$
and let $S$ contain some $m \leq n + 1$. Either $S$ contains a number $\leq n$ and
we use $Q(n)$, or it does not, and then $\min S = n + 1$. Since a nonempty set
contains some number, some $Q(n)$ applies to it.""",
                score=6,
            ),
        ),
    ),
)

_DIVISIBLE_QUESTIONS = (
    r"""How many integers in $\{1, 2, \dots, %(n)d\}$ are divisible by $%(a)d$ or by
$%(b)d$? Let $A$ and $B$ be the sets of multiples. I have $|A| = %(na)d$ and
$|B| = %(nb)d$, so I answered $%(sum)d$, but this is marked as wrong. My teacher
wrote "inclusion-exclusion!" next to it. What did I forget? The two numbers
themselves are correct, I have checked them by division.""",
    r"""I want to count the numbers $n \leq %(n)d$ which are divisible by *neither*
$%(a)d$ *nor* $%(b)d$. In set notation this is $|(A \cup B)^c|$, where $A$ and $B$
contain the multiples of $%(a)d$ and of $%(b)d$. By De Morgan it is also
$|A^c \cap B^c|$. Which of the two forms is easier to count? I would like to avoid
writing down all the numbers from $1$ to $%(n)d$.""",
    r"""Let $A = \{ n \leq %(n)d : %(a)d \mid n \}$ and
$B = \{ n \leq %(n)d : %(b)d \mid n \}$ be sets of positive integers. Find the size
of the symmetric difference $A \triangle B = (A \setminus B) \cup (B \setminus A)$,
that is, the number of integers which are divisible by exactly one of the two. I can
count $|A|$ and $|B|$ by dividing, but I am not sure how often I have to subtract
$|A \cap B|$: never, once or twice?""",
)

_DIVISIBLE_ANSWERS = (
    r"""You counted the numbers which are divisible by both twice. These are the
multiples of $\operatorname{lcm}(%(a)d, %(b)d) = %(l)d$, and there are
$\left\lfloor \frac{%(n)d}{%(l)d} \right\rfloor = %(nab)d$ of them. So
$$|A \cup B| = |A| + |B| - |A \cap B| = %(na)d + %(nb)d - %(nab)d = %(union)d.$$
Draw a Venn diagram: in the sum $|A| + |B|$ the lens in the middle is counted two
times, and we have to take it away once.""",
    r"""Count the complement. First $|A| = \lfloor %(n)d/%(a)d \rfloor = %(na)d$ and
$|B| = \lfloor %(n)d/%(b)d \rfloor = %(nb)d$. A number is divisible by both if and
only if it is divisible by the least common multiple $%(l)d$, so
$|A \cap B| = %(nab)d$. By inclusion-exclusion
$|A \cup B| = %(na)d + %(nb)d - %(nab)d = %(union)d$, and therefore
$|(A \cup B)^c| = %(n)d - %(union)d = %(rest)d$. The form with the union is the
easier one, because "divisible by" is what we can count directly.""",
    r"""Twice. The sum $|A| + |B|$ contains each element of $A \cap B$ two times,
and you want it to be there zero times:
$$|A \triangle B| = |A| + |B| - 2|A \cap B|.$$
Here $|A| = %(na)d$, $|B| = %(nb)d$, and $A \cap B$ consists of the multiples of
$\operatorname{lcm}(%(a)d, %(b)d) = %(l)d$ up to $%(n)d$, so $|A \cap B| = %(nab)d$.
The result is $%(na)d + %(nb)d - 2 \cdot %(nab)d = %(sym)d$. Subtracting only once
gives the union, which has $%(union)d$ elements.""",
)

_ONTO_QUESTIONS = (
    r"""How many surjective functions are there from a set with $%(m)d$ elements to
a set with $%(k)d$ elements? In total there are $%(k)d^{%(m)d} = %(all)d$ functions.
I tried to choose first which elements hit the targets,
$\binom{%(m)d}{%(k)d} \cdot %(k)d!$, and to map the other elements anywhere, but
this counts many functions several times. What is the right way? For two targets I
know that the answer is easy, but here I do not see it.""",
    r"""We give $%(m)d$ different books to $%(k)d$ children, and every child should
get at least one book. In how many ways can this be done? I think that this is the
same as counting onto functions $f : \{1, \dots, %(m)d\} \to \{1, \dots, %(k)d\}$.
My idea was to subtract the distributions in which some child gets nothing: $%(k)d$
children times $%(km)d^{%(m)d}$ possibilities. But then the result is too small,
isn't it?""",
    r"""Let $X$ and $Y$ be finite sets, $|X| = %(m)d$ and $|Y| = %(k)d$. I would
like to compute the number of surjections $X \to Y$ with the help of
inclusion-exclusion. Let $A_y$ be the set of all functions that miss $y \in Y$. Then
I need $\left| \bigcup_{y \in Y} A_y \right|$. How large are the intersections
$A_y \cap A_z$ and so on, and what is the final number?""",
)

_ONTO_ANSWERS = (
    r"""Use inclusion-exclusion over the targets that are missed. If a given set of
$j$ targets is missed, there are $(%(k)d - j)^{%(m)d}$ functions left. So the number
of surjections is
$$\sum_{j=0}^{%(k)d} (-1)^j \binom{%(k)d}{j} (%(k)d - j)^{%(m)d} = %(onto)d.$$
Equivalently it is $%(k)d! \cdot S(%(m)d, %(k)d)$, where
$S(%(m)d, %(k)d) = %(stirling)d$ is the Stirling number of the second kind: first
split the domain into $%(k)d$ nonempty blocks, then match the blocks with the
targets.""",
    r"""Right, it is too small: distributions in which *two* children get nothing
have been subtracted twice, so you have to add them again, and so on alternately.
Let $a_j$ be the number of ways to choose $j$ empty-handed children and to give the
books to the others, $a_j = \binom{%(k)d}{j} (%(k)d - j)^{%(m)d}$. Then the answer
is
$$a_0 - a_1 + a_2 - \dots = %(terms)s = %(onto)d.$$
Out of all $%(all)d$ distributions this is a share of about $%(share)s$.""",
    r"""A function that misses a fixed set of $j$ elements of $Y$ is just a function
into the remaining $%(k)d - j$ elements, so an intersection of $j$ of the sets $A_y$
has $(%(k)d - j)^{%(m)d}$ elements. There are $\binom{%(k)d}{j}$ such intersections.
Hence
$$\left| \bigcup_{y \in Y} A_y \right|
= \sum_{j=1}^{%(k)d} (-1)^{j+1} \binom{%(k)d}{j} (%(k)d - j)^{%(m)d} = %(missed)d,$$
and the number of surjections is $%(k)d^{%(m)d} - %(missed)d = %(onto)d$.""",
)


def _ask_divisibility(rng: random.Random) -> list[Thread]:
    """Write questions on inclusion and exclusion for two sets."""
    titles = (
        r"Numbers up to $%(n)d$ divisible by $%(a)d$ or $%(b)d$",
        r"Counting $|(A \cup B)^c|$: divisible by neither $%(a)d$ nor $%(b)d$",
        r"Size of the symmetric difference $A \triangle B$ of two sets of multiples",
    )
    threads = []
    for place, (n, a, b) in enumerate(((200, 6, 10), (1000, 8, 12), (500, 9, 15))):
        both = lcm(a, b)
        union = n // a + n // b - n // both
        values = {
            "n": n,
            "a": a,
            "b": b,
            "l": both,
            "na": n // a,
            "nb": n // b,
            "nab": n // both,
            "sum": n // a + n // b,
            "union": union,
            "rest": n - union,
            "sym": union - n // both,
        }
        threads.append(
            Thread(
                key=f"set_theory_logic/multiples-{n}-{a}-{b}",
                title=titles[place] % values,
                question=_DIVISIBLE_QUESTIONS[place] % values,
                tags=("elementary-set-theory", "inclusion-exclusion", "divisibility"),
                score=rng.randint(0, 6),
                answers=(
                    Answer(
                        _DIVISIBLE_ANSWERS[place] % values,
                        accepted=place != 2,
                        score=rng.randint(2, 8),
                    ),
                ),
            )
        )
    return threads


def _ask_surjections(rng: random.Random) -> list[Thread]:
    """Write questions on the number of surjections between finite sets."""
    titles = (
        r"Number of surjections from $%(m)d$ elements onto $%(k)d$",
        r"Giving $%(m)d$ books to $%(k)d$ children so that nobody is left out",
        r"Counting onto functions with $\left| \bigcup_{y \in Y} A_y \right|$",
    )
    threads = []
    for place, (m, k) in enumerate(((5, 3), (6, 4), (7, 3))):
        terms = [comb(k, j) * (k - j) ** m for j in range(k)]
        onto = sum((-1) ** j * term for j, term in enumerate(terms))
        signed = "".join(f" {'-+'[j % 2 == 0]} {t}" for j, t in enumerate(terms) if j)
        values = {
            "m": m,
            "k": k,
            "km": k - 1,
            "all": k**m,
            "onto": onto,
            "stirling": onto // factorial(k),
            "missed": k**m - onto,
            "terms": f"{terms[0]}{signed}",
            "share": f"{onto / k**m:.2f}",
        }
        other = _ONTO_ANSWERS[0 if place else 2]
        threads.append(
            Thread(
                key=f"set_theory_logic/surjections-{m}-{k}",
                title=titles[place] % values,
                question=_ONTO_QUESTIONS[place] % values,
                tags=("combinatorics", "functions", "inclusion-exclusion"),
                score=rng.randint(1, 7),
                answers=(
                    Answer(_ONTO_ANSWERS[place] % values, accepted=True, score=7),
                    Answer(other % values, score=2),
                )[: 2 if place == 1 else 1],
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of the area."""
    return [*_THREADS, *_ask_divisibility(rng), *_ask_surjections(rng)]


ANSWER_TOPICS = (
    AnswerTopic(
        key="set_theory_logic/topic-binary-sequences",
        title=r"Are there countably many infinite sequences of zeros and ones?",
        question=r"""Let $\{0, 1\}^{\mathbb{N}}$ be the set of all infinite
sequences $(s_1, s_2, s_3, \dots)$ with $s_i \in \{0, 1\}$. For each length $n$
there are only $2^n$ finite words, so the finite words form a countable set. Does it
follow that $\{0, 1\}^{\mathbb{N}}$ is countable as well? I have a vague memory of
an argument with a diagonal, but I cannot reconstruct it. Please do not just cite a
theorem.""",
        tags=("elementary-set-theory", "cardinals"),
        grades={
            "set_theory_logic/cantor-power-set#2": 3,
            "set_theory_logic/reals-uncountable#1": 3,
            "set_theory_logic/cantor-power-set#1": 2,
            "set_theory_logic/reals-uncountable#2": 1,
            "set_theory_logic/rationals-countable#2": 1,
            "set_theory_logic/rationals-countable#1": 0,
            "set_theory_logic/rationals-countable#3": 0,
            "set_theory_logic/empty-functions#1": 0,
            "set_theory_logic/russell#1": 0,
            "set_theory_logic/interval-and-line#2": 0,
            "set_theory_logic/surjections-5-3#1": 0,
            "topology/cofinite#1": 0,
            "probability/two-sixes-in-a-row#1": 0,
            "graph_theory/walks-adjacency#1": 0,
        },
        category="Proof",
        difficulty="Medium",
        dependency="Text",
    ),
)

FORMULA_TOPICS = (
    FormulaTopic(
        topic="set_theory_logic/topic-binary-sequences",
        latex=r"\{0, 1\}^{\mathbb{N}}",
        grades={
            r"\{0,1\}^{\mathbb{N}}": 3,
            r"|\mathcal{P}(\mathbb{N})| > |\mathbb{N}|": 2,
            r"\mathcal{P}(A)": 2,
            r"|B|^{|A|}": 2,
            r"f : A \to \mathcal{P}(A)": 1,
            r"\mathbb{N} \times \mathbb{N}": 1,
            r"D = \{ a \in A : a \notin f(a) \}.": 1,
            r"\{-1, 0, 1\}": 0,
            r"s \in \{0, 1\}": 0,
            r"|B|^0 = 1": 0,
            r"(0, 1)": 0,
            r"\ker \varphi = \{e_G\}": 0,
            r"\{0\} \times [-1, 1]": 0,
            r"X = \mathbb{N}": 0,
            r"G \cong (\mathbb{Z}/2\mathbb{Z})^n": 0,
        },
    ),
)
