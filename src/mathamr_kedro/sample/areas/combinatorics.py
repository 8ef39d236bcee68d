"""Combinatorics: counting, binomial identities, pigeonholes, recurrences."""

from __future__ import annotations

import random
from collections import Counter
from math import comb, factorial, prod

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_BINOMIAL_SUMS = (
    Thread(
        key="combinatorics/sum-k-binomial",
        title=r"Combinatorial proof of $\sum_{k=0}^{n}k\binom{n}{k}=n2^{n-1}$",
        question=r"""
        By differentiating $(1+x)^n$ one can show that
        $$\sum_{k=0}^{n}k\binom{n}{k}=n2^{n-1}.$$
        Since $\binom nk$ counts subsets with $k$ elements, there should be an argument
        that just counts something in two ways. For $n=3$ the sum is
        $0+3+6+3=12=3\cdot 2^2$. What is being counted here?
        """,
        tags=("combinatorics", "binomial-coefficients", "combinatorial-proofs"),
        score=16,
        related=("combinatorics/sum-k-squared-binomial",),
        answers=(
            Answer(
                r"""
                Count the ways to choose, from $n$ people, a committee of any size
                together with a chair who is one of its members.

                - Fix the size $k$ first: there are $\binom nk$ committees and then $k$
                  choices for the chair. Summing over $k$ gives the left side
                  $\sum_{k=0}^{n}k\binom nk$.
                - Choose the chair first, in $n$ ways. Each of the other $n-1$ people
                  is in the committee or not, which gives $2^{n-1}$ possibilities. That
                  is the right side $n2^{n-1}$.
                """,
                accepted=True,
                score=25,
            ),
            Answer(
                r"""
                Pair each subset $A$ of $\{1,\dots,n\}$ with its complement. The two
                sizes add up to $|A|+|A^c|=n$, and there are $2^{n-1}$ such pairs, so
                the sum of the sizes of all subsets is $n2^{n-1}$. But this sum is also
                $\sum_{k}k\binom nk$, because $\binom nk$ subsets have size $k$.

                In other words, a random subset has $\frac n2$ elements on average.
                """,
                score=18,
                comments=(
                    r"This is Gauss's trick: $\binom nk=\binom n{n-k}$ in disguise.",
                ),
            ),
            Answer(
                r"""
                For completeness the algebra: $k\binom nk=n\binom{n-1}{k-1}$ for
                $k\ge 1$, hence
                $$\sum_{k=1}^{n}k\binom nk=n\sum_{k=1}^{n}\binom{n-1}{k-1}
                =n\cdot 2^{n-1}.$$
                """,
                score=9,
            ),
        ),
    ),
    Thread(
        key="combinatorics/sum-k-squared-binomial",
        title=r"Closed form of $\sum_{k=0}^{n}k^2\binom{n}{k}$",
        question=r"""
        I know $\sum_{k}k\binom nk=n2^{n-1}$. What about the sum with $k^2$? Small
        cases: $n=1$ gives $1$, $n=2$ gives $2+4=6$, and $n=3$ gives $3+12+9=24$. I
        would guess something like a polynomial in $n$ times $2^{n-2}$.
        """,
        tags=("combinatorics", "binomial-coefficients", "summation"),
        score=7,
        answers=(
            Answer(
                r"""
                Write $k^2=k(k-1)+k$. Since $k(k-1)\binom nk=n(n-1)\binom{n-2}{k-2}$,
                $$\sum_{k=0}^{n}k^2\binom nk=n(n-1)2^{n-2}+n2^{n-1}=n(n+1)2^{n-2}.$$
                Check with $n=3$: $3\cdot 4\cdot 2=24$.
                """,
                accepted=True,
                score=12,
            ),
            Answer(
                r"""
                A committee again, now with a chair and a secretary who may be the same
                person: that is $k^2$ choices inside a committee of size $k$. If they
                are the same person, there are $n\cdot 2^{n-1}$ ways; if they are
                different, $n(n-1)\cdot 2^{n-2}$ ways. Altogether $n(n+1)2^{n-2}$.
                """,
                score=10,
            ),
        ),
    ),
    Thread(
        key="combinatorics/sum-of-squared-binomials",
        title=r"Why is $\sum_{k=0}^{n}\binom{n}{k}^2=\binom{2n}{n}$?",
        question=r"""
        In Pascal's triangle the squares of a row add up to a central number:
        $1+4+1=6=\binom 42$ and $1+9+9+1=20=\binom 63$. How do I prove
        $$\sum_{k=0}^{n}\binom nk^2=\binom{2n}{n}$$
        without induction?
        """,
        tags=("combinatorics", "binomial-coefficients", "combinatorial-proofs"),
        score=9,
        answers=(
            Answer(
                r"""
                Choose $n$ people out of $n$ women and $n$ men. In total there are
                $\binom{2n}{n}$ ways. With exactly $k$ women there are
                $\binom nk\binom n{n-k}$ ways, and $\binom n{n-k}=\binom nk$. Sum over
                $k$.
                """,
                accepted=True,
                score=14,
            ),
            Answer(
                r"""
                Compare the coefficient of $x^n$ on both sides of
                $$(1+x)^n(1+x)^n=(1+x)^{2n}.$$
                On the right it is $\binom{2n}n$, on the left $\sum_k\binom nk\binom
                n{n-k}$. This proves Vandermonde's identity
                $\sum_k\binom mk\binom n{r-k}=\binom{m+n}r$ as well.
                """,
                score=11,
            ),
        ),
    ),
    Thread(
        key="combinatorics/hockey-stick",
        title=r"Intuition for $\sum_{i=r}^{n}\binom{i}{r}=\binom{n+1}{r+1}$",
        question=r"""
        The hockey-stick identity
        $$\sum_{i=r}^{n}\binom ir=\binom{n+1}{r+1}$$
        is easy by induction with Pascal's rule $\binom nr+\binom
        n{r+1}=\binom{n+1}{r+1}$, but then I do not *see* it. What do both sides count?
        """,
        tags=("combinatorics", "binomial-coefficients", "intuition"),
        score=8,
        answers=(
            Answer(
                r"""
                Choose $r+1$ numbers from $\{1,2,\dots,n+1\}$ and sort the choices by
                their **largest** element. If it is $i+1$, the other $r$ numbers come
                from $\{1,\dots,i\}$, which can be done in $\binom ir$ ways. The
                largest element can be anything from $r+1$ to $n+1$, so $i$ runs from
                $r$ to $n$.
                """,
                accepted=True,
                score=19,
            ),
            Answer(
                r"""
                It is "integration" in discrete clothes: for polynomials we have
                $\int_0^x t^r\,dt=\frac{x^{r+1}}{r+1}$, and here the polynomials
                $\binom xr$ take the place of the powers. With $r=1$ you get the old
                $1+2+\dots+n=\frac{n(n+1)}2$.
                """,
                score=6,
            ),
        ),
    ),
)

_COUNTING = (
    Thread(
        key="combinatorics/stars-and-bars-bounds",
        title=r"Solutions of $x_1+\dots+x_k=n$ with all $x_i\le m$",
        question=r"""
        I know that $x_1+x_2+\dots+x_k=n$ has $\binom{n+k-1}{k-1}$ solutions in
        nonnegative integers (stars and bars).

        How do I count the solutions if in addition every $x_i\le m$? The upper bounds
        seem to spoil the picture with the stars.
        """,
        tags=("combinatorics", "integer-partitions", "inclusion-exclusion"),
        score=13,
        answers=(
            Answer(
                r"""
                Inclusion–exclusion over the variables that are **too big**. If a
                certain set of $j$ variables satisfies $x_i\ge m+1$, subtract $m+1$
                from each of them: what remains are the nonnegative solutions with sum
                $n-j(m+1)$. So the number is
                $$\sum_{j\ge 0}(-1)^j\binom kj\binom{n-j(m+1)+k-1}{k-1},$$
                where terms with $n-j(m+1)<0$ are left out.
                """,
                accepted=True,
                score=22,
            ),
            Answer(
                r"""
                With generating functions: the answer is the coefficient of $x^n$ in
                $$(1+x+\dots+x^m)^k=\left(\frac{1-x^{m+1}}{1-x}\right)^k.$$
                Expand $(1-x^{m+1})^k$ by the binomial theorem and
                $(1-x)^{-k}=\sum_{i}\binom{i+k-1}{k-1}x^i$; their product gives the
                alternating sum of the other answer. For numbers by hand you can also
                multiply out the polynomials step by step.
                """,
                score=14,
            ),
        ),
    ),
    Thread(
        key="combinatorics/derangements",
        title="Probability that nobody gets their own hat",
        question=r"""
        There are $n$ guests whose hats are given back at random. Let $D_n$ be the
        number of permutations in which nobody gets the right hat. I found $D_2=1$,
        $D_3=2$, $D_4=9$.

        Is there a formula for $D_n$, and what happens to $\frac{D_n}{n!}$ for large
        $n$?
        """,
        tags=("combinatorics", "permutations", "derangements", "inclusion-exclusion"),
        score=11,
        answers=(
            Answer(
                r"""
                There are $(n-k)!$ permutations that fix a given set of $k$ points. By
                inclusion–exclusion
                $$D_n=\sum_{k=0}^{n}(-1)^k\binom nk(n-k)!
                =n!\sum_{k=0}^{n}\frac{(-1)^k}{k!}.$$
                So $\frac{D_n}{n!}$ is a partial sum of the series of $e^{-1}$, and the
                probability tends to $\frac1e\approx 0.3679$ very fast. In fact $D_n$
                is the integer nearest to $\frac{n!}e$ for $n\ge 1$.
                """,
                accepted=True,
                score=20,
            ),
            Answer(
                r"""
                There is also the recurrence $D_n=(n-1)(D_{n-1}+D_{n-2})$: guest $1$
                gets the hat of some guest $i$, in $n-1$ ways. If guest $i$ gets hat
                $1$, the others are deranged in $D_{n-2}$ ways; if not, call hat $1$ the
                "forbidden" hat of guest $i$ and you have $D_{n-1}$ ways.
                With $D_1=0$ and $D_2=1$ this gives $2,9,44,265$.
                """,
                score=9,
            ),
        ),
    ),
    Thread(
        key="combinatorics/surjections",
        title="How many surjective functions are there?",
        question=r"""
        In how many ways can $n$ different books be given to $k$ children such that each
        child gets at least one? This is the number of surjections from a set of $n$
        elements onto a set of $k$ elements.

        For $k=2$ I get $2^n-2$. For $k=3$ I subtract from $3^n$ the cases where
        somebody gets nothing, but I am not sure about $3^n-3\cdot 2^n$.
        """,
        tags=("combinatorics", "functions", "inclusion-exclusion", "stirling-numbers"),
        score=6,
        related=("set_theory_logic/surjections-6-4",),
        comments=(r"For $k=3$ test your guess with $n=3$: it must give $3!=6$.",),
        answers=(
            Answer(
                r"""
                In $3^n-3\cdot 2^n$ the cases where *two* children get nothing were
                subtracted twice, so add $3$ again: $3^n-3\cdot 2^n+3$. In general
                $$\sum_{j=0}^{k}(-1)^j\binom kj(k-j)^n.$$
                For $n=4$, $k=3$ this is $81-48+3=36$.
                """,
                accepted=True,
                score=13,
            ),
            Answer(
                r"""
                The number is $k!\,S(n,k)$, where the Stirling number $S(n,k)$ counts
                the partitions of the books into $k$ nonempty heaps. They satisfy
                $S(n+1,k)=kS(n,k)+S(n,k-1)$: the last book joins one of the $k$ heaps
                or makes a heap of its own. From $S(4,3)=6$ we get $3!\cdot 6=36$.
                """,
                score=7,
            ),
        ),
    ),
    Thread(
        key="combinatorics/catalan-reflection",
        title="Paths that stay below the diagonal: why subtract?",
        question=r"""
        The number of paths from $(0,0)$ to $(n,n)$ with steps right and up that never
        go above the line $y=x$ is said to be
        $$C_n=\binom{2n}{n}-\binom{2n}{n+1}=\frac{1}{n+1}\binom{2n}{n}.$$
        All paths are $\binom{2n}{n}$. But why are exactly $\binom{2n}{n+1}$ of them
        bad?
        """,
        tags=("combinatorics", "catalan-numbers", "lattice-paths"),
        score=10,
        answers=(
            Answer(
                r"""
                Reflection. A bad path touches the line $y=x+1$. Reflect the part of it
                up to the first touch in this line. The start $(0,0)$ goes to $(-1,1)$,
                so we get a path from $(-1,1)$ to $(n,n)$, which has $n+1$ steps right
                and $n-1$ up.

                Every such path must cross $y=x+1$, so reflecting back gives a bad path.
                Hence the number of bad paths is $\binom{2n}{n+1}$. And
                $\binom{2n}{n+1}=\frac{n}{n+1}\binom{2n}{n}$ gives the last formula.
                """,
                accepted=True,
                score=17,
            ),
            Answer(
                r"""
                You can get the factor $\frac1{n+1}$ directly by the cycle lemma: take a
                word of $n+1$ letters $U$ and $n$ letters $R$. Of its $2n+1$ rotations
                exactly one has the property that every nonempty prefix has more $U$
                than $R$. So there are $\frac{1}{2n+1}\binom{2n+1}{n}=C_n$ good words,
                and dropping the first $U$ gives the paths with "right" and "up"
                exchanged.
                """,
                score=6,
            ),
        ),
    ),
    Thread(
        key="combinatorics/n-plus-one-of-2n",
        title=r"Choose $n+1$ numbers from $\{1,\dots,2n\}$: one divides another",
        question=r"""
        Show that among any $n+1$ different numbers from $\{1,2,\dots,2n\}$ there are
        two such that one divides the other.

        I suppose that it is the pigeonhole principle, because $n+1$ is one more than
        half of $2n$. But which are the $n$ holes?
        """,
        tags=("combinatorics", "pigeonhole-principle", "divisibility"),
        score=12,
        answers=(
            Answer(
                r"""
                Write each number as $2^a\cdot u$ with $u$ odd. The holes are the odd
                parts: there are only $n$ odd numbers $u$ below $2n$. So two of your
                $n+1$ numbers have the same $u$, say $2^a u$ and $2^b u$ with $a<b$, and
                then $2^a u\mid 2^b u$.
                """,
                accepted=True,
                score=21,
                comments=(
                    r"And $\{n+1,\dots,2n\}$ shows that $n$ numbers are not enough.",
                ),
            ),
            Answer(
                r"""
                Induction works as well. If at most one of $2n-1$ and $2n$ is chosen,
                then at least $n$ of the numbers are from $\{1,\dots,2n-2\}$ and we are
                done by induction. If both are chosen and $n$ is chosen too, $n\mid 2n$.

                Otherwise put $n$ in place of $2n-1$ and $2n$. Now $n$ numbers are at
                most $2n-2$, so one of them divides another. If $n$ is one of these
                two, it is the multiple, since $n$ has no other multiple up to $2n-2$;
                and a divisor of $n$ divides $2n$ as well.
                """,
                score=3,
            ),
        ),
    ),
    Thread(
        key="combinatorics/dominoes-fibonacci",
        title=r"Tilings of a $2\times n$ board and $F_{m+n}=F_{m}F_{n+1}+F_{m-1}F_n$",
        question=r"""
        Let $f_n$ be the number of ways to tile a $2\times n$ board with dominoes. Since
        the last column is either one vertical domino or part of two horizontal ones,
        $f_n=f_{n-1}+f_{n-2}$, and with $f_0=f_1=1$ this gives $f_n=F_{n+1}$.

        Can tilings explain the identity $F_{m+n}=F_mF_{n+1}+F_{m-1}F_n$?
        """,
        tags=("combinatorics", "fibonacci-numbers", "tiling"),
        score=9,
        related=("linear_algebra/fibonacci-matrix",),
        answers=(
            Answer(
                r"""
                Yes. Take a board of length $m+n-1$, which has $f_{m+n-1}=F_{m+n}$
                tilings, and look at the cut after column $m-1$.

                1. If no domino crosses the cut, the parts of length $m-1$ and $n$ are
                   tiled on their own: $f_{m-1}f_n=F_mF_{n+1}$ ways.
                2. If two horizontal dominoes cross it, parts of length $m-2$ and $n-1$
                   remain: $f_{m-2}f_{n-1}=F_{m-1}F_n$ ways.
                """,
                accepted=True,
                score=16,
            ),
            Answer(
                r"""
                The matrix proof is short, too: with
                $M=\begin{pmatrix}1&1\\1&0\end{pmatrix}$ one has
                $M^n=\begin{pmatrix}F_{n+1}&F_n\\F_n&F_{n-1}\end{pmatrix}$, and your
                identity is the entry in the upper left corner of
                $M^{m-1}M^{n}=M^{m+n-1}$.
                """,
                score=8,
            ),
        ),
    ),
)


# People, upper bound, sum: two bounds together are above the sum. Topics judge these.
_BOUNDED = ((4, 8, 14), (3, 9, 16), (5, 5, 9))


def _bounded_sum_thread(rng: random.Random, number: int) -> Thread:
    """Solutions of ``x_1 + ... + x_k = n`` with all ``x_i <= m``, in numbers."""
    k, m, n = _BOUNDED[number - 1]
    terms = [
        (-1) ** j * comb(k, j) * comb(n - j * (m + 1) + k - 1, k - 1)
        for j in range(k + 1)
        if n >= j * (m + 1)
    ]
    total = sum(terms)
    shown = str(terms[0]) + "".join(f"{term:+d}" for term in terms[1:])
    left = "+".join(f"x_{i}" for i in range(1, k + 1))
    what = ("identical sweets", "equal coins", "tokens of one colour")[number - 1]
    rest = n - m - 1
    return Thread(
        key=f"combinatorics/bounded-sum-{number}",
        title=f"How many solutions has ${left}={n}$ with $0\\le x_i\\le {m}$?",
        question=rf"""
        In how many ways can ${n}$ {what} be given to ${k}$ people if nobody may get
        more than ${m}$? So I want the number of integer solutions of
        $${left}={n},\qquad 0\le x_i\le {m}.$$
        Without the upper bound it would be
        $\binom{{{n + k - 1}}}{{{k - 1}}}={terms[0]}$. What has to be subtracted?
        """,
        tags=("combinatorics", "inclusion-exclusion", "discrete-mathematics"),
        score=rng.randrange(1, 6),
        related=("combinatorics/stars-and-bars-bounds",),
        duplicate_of="combinatorics/stars-and-bars-bounds" if number == 3 else None,
        comments=(
            f"Hint: at most one of the variables can be ${m + 1}$ or more. Why?",
        ),
        answers=(
            Answer(
                rf"""
                Subtract the solutions in which some $x_i\ge {m + 1}$. For a fixed $i$,
                put $x_i=y_i+{m + 1}$; then the sum of the new variables is
                ${n}-{m + 1}={rest}$, which has
                $\binom{{{rest + k - 1}}}{{{k - 1}}}={comb(rest + k - 1, k - 1)}$
                solutions. There are ${k}$ choices of $i$. Two variables cannot both be
                too big, because $2\cdot {m + 1}={2 * m + 2}>{n}$. So the number is
                $${shown}={total}.$$
                """,
                accepted=True,
                score=rng.randrange(4, 12),
            ),
            Answer(
                rf"""
                You can check the result with a generating function: it is the
                coefficient of $x^{{{n}}}$ in $(1+x+x^2+\dots+x^{{{m}}})^{{{k}}}$,
                and a computer algebra system gives ${total}$. By symmetry
                ($x_i\mapsto {m}-x_i$) the sum ${k * m - n}$ has the same number of
                solutions as ${n}$.
                """,
                score=rng.randrange(1, 5),
            ),
        ),
    )


def _word_thread(rng: random.Random, number: int, word: str) -> Thread:
    """Arrangements of the letters of a word, and those without equal neighbours."""
    counts = Counter(word)
    length = len(word)
    repeated = [letter for letter, count in counts.items() if count > 1]
    below = r"\,".join(f"{counts[letter]}!" for letter in repeated)
    total = factorial(length) // prod(factorial(count) for count in counts.values())
    vowels = [letter for letter in word if letter in "AEIOU"]
    blocks = length - len(vowels) + 1
    others = Counter(letter for letter in word if letter not in "AEIOU")
    inner = factorial(len(vowels)) // prod(
        factorial(count) for count in Counter(vowels).values()
    )
    outer = factorial(blocks) // prod(factorial(count) for count in others.values())
    twice = [letter for letter, count in others.items() if count > 1]
    fraction = (
        rf"\frac{{{blocks}!}}{{" + r"\,".join(f"{others[x]}!" for x in twice) + "}"
        if twice
        else f"{blocks}!"
    )
    letters = " and ".join(f"{counts[letter]} times {letter}" for letter in repeated)
    inside = f"inside the block the vowels in ${inner}$ ways"
    if inner == 1:
        inside = "inside the block there is only one way, as the vowels are equal"
    return Thread(
        key=f"combinatorics/letters-{number}",
        title=rng.choice(
            (
                f"Arrangements of the letters of {word} with all vowels together",
                f"How many words can be made of the letters of {word}?",
            )
        ),
        question=rf"""
        The word {word} has ${length}$ letters, among them {letters}. How many different
        "words" can be made by rearranging them? I think of
        ${length}!={factorial(length)}$ and then I have to divide, since equal letters
        can be exchanged.

        {rng.choice(("Second question:", "And then:", "The exercise goes on:"))} in how
        many of them do the ${len(vowels)}$ vowels stand next to each other?
        """,
        tags=("combinatorics", "permutations", "multinomial-coefficients"),
        score=rng.randrange(0, 5),
        answers=(
            Answer(
                rf"""
                If all letters were different there would be ${length}!$ words. Each
                real word is counted ${below}$ times, once for every way to exchange
                equal letters, so the first answer is
                $$\frac{{{length}!}}{{{below}}}={total}.$$
                For the second one glue the vowels together. The block and the other
                ${blocks - 1}$ letters can be arranged in ${fraction}={outer}$ ways, and
                {inside}. That makes ${outer}\cdot {inner}={outer * inner}$ words.
                """,
                accepted=True,
                score=rng.randrange(3, 9),
            ),
            Answer(
                rf"""
                Another way to see the first number: choose the places of the letters
                one kind after the other. For instance {repeated[0]} can be put on
                ${length}$ places in $\binom{{{length}}}{{{counts[repeated[0]]}}}
                ={comb(length, counts[repeated[0]])}$
                ways, the next letter on the remaining
                ${length - counts[repeated[0]]}$ places, and so on. The product is the
                multinomial coefficient, again ${total}$.
                """,
                score=rng.randrange(0, 5),
            ),
        ),
    )


def _grid_thread(rng: random.Random, number: int) -> Thread:
    """Lattice paths that avoid a closed crossing."""
    a, b = rng.randrange(5, 9), rng.randrange(4, 8)
    c, d = rng.randrange(2, a - 1), rng.randrange(1, b - 1)
    total, to, onward = (
        comb(a + b, a), comb(c + d, c), comb(a + b - c - d, a - c),
    )  # fmt: skip
    city = rng.choice(
        ("In a city with square blocks", "On a chessboard-like street map")
    )
    return Thread(
        key=f"combinatorics/closed-crossing-{number}",
        title=f"Shortest paths from $(0,0)$ to $({a},{b})$ avoiding $({c},{d})$",
        comments=(f"How many of all paths go through $({c},{d})$?",),
        question=rf"""
        {city} I walk from $(0,0)$ to $({a},{b})$, always one step right or up. All in
        all there are $\binom{{{a + b}}}{{{a}}}={total}$ paths.

        The crossing $({c},{d})$ is closed today. How many paths are left? I do not want
        to draw them all.
        """,
        tags=("combinatorics", "lattice-paths", "discrete-mathematics"),
        score=rng.randrange(0, 5),
        answers=(
            Answer(
                rf"""
                Count the paths through the closed crossing and subtract. A path through
                $({c},{d})$ consists of a path from $(0,0)$ to $({c},{d})$, of which
                there are $\binom{{{c + d}}}{{{c}}}={to}$, and a path on to $({a},{b})$
                with ${a - c}$ steps right and ${b - d}$ up, of which there are
                $\binom{{{a + b - c - d}}}{{{a - c}}}={onward}$. Hence
                $${total}-{to}\cdot {onward}={total - to * onward}$$
                paths are left.
                """,
                accepted=True,
                score=rng.randrange(3, 10),
            ),
            Answer(
                rf"""
                If several crossings are closed, it is easier to fill in a table: write
                $P(x,y)=P(x-1,y)+P(x,y-1)$ at each crossing, starting with $P(x,0)=1$
                and $P(0,y)=1$, and write $0$ at the closed ones. In your case the
                entry at $({a},{b})$ becomes ${total - to * onward}$.
                """,
                score=rng.randrange(1, 6),
            ),
        ),
    )


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of this area; numbers of the families come from ``rng``."""
    words = rng.sample(("BANANAS", "TATTOO", "COMMITTEE", "BALLOON", "SUCCESSES"), 2)
    return [
        *_BINOMIAL_SUMS,
        *_COUNTING,
        *(_bounded_sum_thread(rng, number) for number in (1, 2, 3)),
        *(
            _word_thread(rng, number, word)
            for number, word in enumerate(words, start=1)
        ),
        *(_grid_thread(rng, number) for number in (1, 2)),
    ]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="combinatorics/topic-average-subset",
        title=r"Average number of elements of a subset of $\{1,2,\dots,n\}$",
        question=r"""
        I draw a subset of $\{1,2,\dots,n\}$ at random, each of the $2^n$ subsets with
        the same probability, and write down how many elements it has. What is the
        average?

        So I would have to compute
        $$\frac{1}{2^n}\sum_{k=0}^{n}k\binom{n}{k}.$$
        For $n=3$ this is $\frac{12}{8}=1.5$, which suggests $\frac{n}{2}$. Is there a
        way to see this without calculus?
        """,
        tags=("combinatorics", "binomial-coefficients", "average"),
        grades={
            "combinatorics/sum-k-binomial#1": 3,
            "combinatorics/sum-k-binomial#2": 3,
            "combinatorics/sum-k-binomial#3": 3,
            "combinatorics/sum-k-squared-binomial#1": 1,
            "combinatorics/sum-k-squared-binomial#2": 2,
            "combinatorics/sum-of-squared-binomials#1": 0,
            "combinatorics/sum-of-squared-binomials#2": 0,
            "combinatorics/hockey-stick#1": 0,
            "combinatorics/hockey-stick#2": 0,
            "combinatorics/n-plus-one-of-2n#1": 0,
            "combinatorics/derangements#1": 0,
            "combinatorics/surjections#1": 0,
            "number_theory/fermat-little#2": 0,
            "probability/geometric-mean#1": 0,
            "probability/tail-sum#1": 0,
            "probability/maximum-uniform#1": 0,
        },
        category="Computation",
        difficulty="Low",
        dependency="Both",
    ),
    AnswerTopic(
        key="combinatorics/topic-four-wheels",
        title="In how many ways can four numbers from 0 to 7 add up to 12?",
        question=r"""
        A lock has four wheels, each with the digits $0,1,\dots,7$, and I only remember
        that the digits add up to $12$. How many combinations do I have to try in the
        worst case? That is, how many solutions has
        $$x_1+x_2+x_3+x_4=12$$
        in integers with $0\le x_i\le 7$? Without the bound $7$ it would be
        $\binom{15}{3}=455$, but a wheel cannot show $8$ or more.
        """,
        tags=("combinatorics", "discrete-mathematics"),
        grades={
            "combinatorics/stars-and-bars-bounds#1": 3,
            "combinatorics/stars-and-bars-bounds#2": 3,
            "combinatorics/bounded-sum-1#1": 2,
            "combinatorics/bounded-sum-2#1": 2,
            "combinatorics/bounded-sum-3#1": 2,
            "combinatorics/bounded-sum-1#2": 1,
            "combinatorics/bounded-sum-2#2": 1,
            "combinatorics/surjections#1": 1,
            "combinatorics/derangements#1": 0,
            "combinatorics/closed-crossing-1#1": 0,
            "combinatorics/letters-1#1": 0,
            "combinatorics/letters-2#2": 0,
            "combinatorics/hockey-stick#1": 0,
            "combinatorics/catalan-reflection#1": 0,
            "number_theory/two-remainders-1#1": 0,
            "probability/draw-4-6-3#1": 0,
            "set_theory_logic/multiples-200-6-10#1": 0,
        },
        category="Computation",
        difficulty="Medium",
        dependency="Both",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="combinatorics/topic-average-subset",
        latex=r"\frac{1}{2^n}\sum_{k=0}^{n}k\binom{n}{k}.",
        grades={
            r"\sum_{k=0}^{n}k\binom{n}{k}=n2^{n-1}": 3,
            r"\sum_{k=0}^{n}k\binom nk": 3,
            r"\sum_{k}k\binom nk=n2^{n-1}": 3,
            r"\sum_{k}k\binom nk": 3,
            r"\sum_{k=1}^{n}k\binom nk=n\sum_{k=1}^{n}\binom{n-1}{k-1} "
            r"=n\cdot 2^{n-1}.": 2,
            r"k\binom nk=n\binom{n-1}{k-1}": 2,
            r"\sum_{k=0}^{n}k^2\binom{n}{k}": 1,
            r"\sum_{k=0}^{n}k^2\binom nk=n(n-1)2^{n-2}+n2^{n-1}=n(n+1)2^{n-2}.": 1,
            r"\sum_{k=0}^{n}\binom{n}{k}^2=\binom{2n}{n}": 0,
            r"\sum_{i=r}^{n}\binom{i}{r}=\binom{n+1}{r+1}": 0,
            r"(a+1)^p=\sum_{k=0}^{p}\binom{p}{k}a^k\equiv a^p+1\pmod p,": 0,
            r"\sum_{j=0}^{k}(-1)^j\binom kj(k-j)^n.": 0,
            r"\sum_k\binom mk\binom n{r-k}=\binom{m+n}r": 0,
            r"\frac{1}{2n+1}\binom{2n+1}{n}=C_n": 0,
            r"\sum_{k=1}^\infty k(1-p)^{k-1}p": 0,
        },
    ),
    FormulaTopic(
        topic="combinatorics/topic-four-wheels",
        latex="x_1+x_2+x_3+x_4=12",
        grades={
            "x_1+x_2+x_3+x_4=14": 3,
            r"x_1+x_2+x_3+x_4=14,\qquad 0\le x_i\le 8.": 3,
            "x_1+x_2+x_3=16": 2,
            r"x_1+x_2+x_3=16,\qquad 0\le x_i\le 9.": 2,
            "x_1+x_2+x_3+x_4+x_5=9": 2,
            r"x_1+x_2+\dots+x_k=n": 2,
            r"x_1+\dots+x_k=n": 2,
            r"(1+x+\dots+x^m)^k=\left(\frac{1-x^{m+1}}{1-x}\right)^k.": 1,
            r"\binom{n+k-1}{k-1}": 1,
            r"x_1^2+y_1^2=7\cdot 4^{n-1}.": 0,
            r"1+2+\dots+n=\frac{n(n+1)}2": 0,
            r"1+9+9+1=20=\binom 63": 0,
            r"0+3+6+3=12=3\cdot 2^2": 0,
            r"\sin x+\sin 2x+\dots+\sin nx": 0,
            r"A+B+C=\pi": 0,
            r"E_n=p_1p_2\cdots p_n+1": 0,
            "P(x,y)=P(x-1,y)+P(x,y-1)": 0,
            r"\sqrt[m]{x_1x_2\cdots x_m}\le\frac{x_1+x_2+\dots+x_m}{m}": 0,
        },
    ),
)
