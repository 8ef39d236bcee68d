"""Number theory: primes, congruences, divisibility."""

from __future__ import annotations

import math
import random

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_PRIMES = (
    Thread(
        key="number_theory/primes-3-mod-4",
        title="Infinitely many primes of the form $4k+3$",
        question=r"""
        I know Euclid's argument that there are infinitely many primes, and now I want
        to prove that infinitely many of them satisfy $p\equiv 3\pmod 4$.

        If $p_1,\dots,p_n$ were all of them, I would look at $N=p_1p_2\cdots p_n+1$ as
        Euclid does. But the prime factors of this $N$ may all be $\equiv 1\pmod 4$, so
        I get no contradiction. For instance $3\cdot 7+1=22$ is no help.

        Is there a better choice of $N$?
        """,
        tags=("elementary-number-theory", "prime-numbers", "modular-arithmetic"),
        score=14,
        related=("number_theory/euclid-primes", "number_theory/primes-1-mod-4"),
        answers=(
            Answer(
                r"""
                Take $N=4p_1p_2\cdots p_n-1$ instead. Then $N\equiv 3\pmod 4$ whatever
                the primes are.

                Now $N$ is odd, so each of its prime factors is $\equiv 1$ or
                $\equiv 3\pmod 4$. If all of them were $\equiv 1$, then their product
                would be $\equiv 1\cdot 1\cdots 1\equiv 1\pmod 4$, which $N$ is not.
                Hence some prime $q\mid N$ has $q\equiv 3\pmod 4$.

                By assumption $q=p_i$ for some $i$. But then $q$ divides both $N$ and
                $4p_1\cdots p_n$, hence it divides their difference $1$. Contradiction.
                """,
                accepted=True,
                score=21,
                comments=(
                    r"The same idea works for $6k+5$: use $N=6p_1\cdots p_n-1$.",
                    r"Nice. Why can we not do this for $4k+1$?",
                    "Because numbers that are 1 mod 4 can be built from primes that "
                    r"are 3 mod 4, like $21=3\cdot 7$.",
                ),
            ),
            Answer(
                r"""
                Your own try can be saved, you only have to treat $3$ apart. Let
                $p_1,\dots,p_n$ be the primes $\equiv 3\pmod 4$ *other than* $3$ and
                put $N=4p_1p_2\cdots p_n+3$.

                The number $N$ is odd and $N\equiv 3\pmod 4$, so it has a prime factor
                $q\equiv 3\pmod 4$. We cannot have $q=3$, since otherwise
                $3\mid 4p_1\cdots p_n$; and $q=p_i$ would give $p_i\mid 3$. So $q$ is a
                new prime of the desired form.

                Forgetting to leave out $3$ is the usual mistake: with $p_1=3$ and
                $p_2=7$ one gets $4\cdot 21+3=87=3\cdot 29$, which has no new prime of
                this form.
                """,
                score=8,
            ),
            Answer(
                r"""
                The argument is not special to $4$. Let $m$ be $3$, $4$ or $6$. Up to
                the primes that divide $m$, every prime is then $\equiv 1$ or
                $\equiv -1\pmod m$, and $N=mp_1p_2\cdots p_n-1\equiv -1\pmod m$ is
                coprime to $m$. A product of numbers that are $\equiv 1$ is $\equiv 1$,
                so $N$ has a prime factor $\equiv -1\pmod m$, and it is none of the
                $p_i$.

                So there are infinitely many primes of the forms $4k+3$, $6k+5$ and
                $3k+2$. For other $m$ there are more classes of units than $\pm 1$, and
                the trick shows only that some class other than $1$ is hit again and
                again.
                """,
                score=6,
            ),
        ),
    ),
    Thread(
        key="number_theory/primes-1-mod-4",
        title=r"Elementary proof that infinitely many primes are $\equiv 1\pmod 4$",
        question=r"""
        Dirichlet's theorem says that there are infinitely many primes
        $p\equiv a\pmod m$ whenever $\gcd(a,m)=1$. Its proof is far above my head, but
        I have read that the case $a=1$, $m=4$ is easy.

        The trick for $4k+3$ fails, because a number of the form $4k+1$ may have only
        prime factors of the form $4k+3$, e.g. $9=3\cdot 3$. What replaces it?
        """,
        tags=("elementary-number-theory", "prime-numbers", "quadratic-residues"),
        score=9,
        related=("number_theory/primes-3-mod-4", "number_theory/minus-one-residue"),
        answers=(
            Answer(
                r"""
                Use squares. Let $n\ge 2$ and $N=(n!)^2+1$, and let $p$ be any prime
                factor of $N$. Clearly $p>n$, since a prime $p\le n$ divides $n!$.

                Now $(n!)^2\equiv -1\pmod p$, so $-1$ is a square modulo $p$. Raise both
                sides to the power $\frac{p-1}{2}$ and use Fermat's little theorem:
                $$1\equiv (n!)^{p-1}\equiv (-1)^{(p-1)/2}\pmod p.$$
                As $p$ is odd, $1\not\equiv -1\pmod p$, so $\frac{p-1}{2}$ is even and
                $p\equiv 1\pmod 4$.

                For every $n$ we have found such a prime above $n$, so there are
                infinitely many.
                """,
                accepted=True,
                score=17,
            ),
            Answer(
                r"""
                The key fact: **if an odd prime $p$ divides $a^2+1$, then
                $p\equiv 1\pmod 4$.** Indeed $a$ then has order $4$ in the group
                $(\mathbb{Z}/p\mathbb{Z})^\times$, which has $p-1$ elements, and by
                Lagrange's theorem $4\mid p-1$.

                So if $p_1,\dots,p_r$ are finitely many primes of this kind, any prime
                factor of $(2p_1\cdots p_r)^2+1$ is another one.
                """,
                score=6,
            ),
        ),
    ),
    Thread(
        key="number_theory/euclid-primes",
        title="Is Euclid's number always prime?",
        question=r"""
        In the proof that there are infinitely many primes one multiplies the first $n$
        primes and adds one, $E_n=p_1p_2\cdots p_n+1$. My teacher said that "$E_n$ is
        then a new prime".

        I computed $E_1=3$, $E_2=7$, $E_3=31$, $E_4=211$, $E_5=2311$, and all of these
        are prime. Is that always so? If not, does the proof still hold?
        """,
        tags=("elementary-number-theory", "prime-numbers", "proof-explanation"),
        score=11,
        answers=(
            Answer(
                r"""
                No. The next one already fails:
                $$2\cdot 3\cdot 5\cdot 7\cdot 11\cdot 13+1=30031=59\cdot 509.$$

                The proof does not need it. It says only that $E_n>1$ has *some* prime
                factor $q$, and that $q$ is none of $p_1,\dots,p_n$, because dividing
                $E_n$ by each $p_i$ leaves the remainder $1$. So $q$ is a prime that
                was not on the list; it need not be $E_n$ itself.
                """,
                accepted=True,
                score=18,
                comments=("And 59 and 509 are indeed both larger than 13.",),
            ),
            Answer(
                r"""
                What your teacher said becomes true inside a proof by contradiction:
                *if* $p_1,\dots,p_n$ were all primes there are, then $E_n$ would have no
                prime factor below itself and so would have to be prime, which is
                absurd because $E_n>p_n$.

                That is a statement about an impossible world, and it says nothing about
                the real number $E_6=30031$. I prefer the direct version: every finite
                set of primes misses at least one prime $q\mid E_n$.
                """,
                score=5,
            ),
        ),
    ),
    Thread(
        key="number_theory/prime-square-24",
        title=r"Show that $24\mid p^2-1$ for every prime $p>3$",
        question=r"""
        I noticed that $5^2-1=24$, $7^2-1=48$, $11^2-1=120$ and $13^2-1=168$ are all
        multiples of $24$. Why is $p^2-1$ divisible by $24$ for each prime $p>3$?

        I can see that $p^2-1=(p-1)(p+1)$ is even, but where does the rest come from?
        """,
        tags=("elementary-number-theory", "divisibility", "prime-numbers"),
        score=12,
        answers=(
            Answer(
                r"""
                Look at the three consecutive numbers $p-1,p,p+1$.

                - One of them is divisible by $3$, and it is not $p$. So
                  $3\mid (p-1)(p+1)$.
                - Both $p-1$ and $p+1$ are even, and of two consecutive even numbers
                  one is divisible by $4$. So $8\mid (p-1)(p+1)$.

                As $\gcd(3,8)=1$, the product $24$ divides $p^2-1$.
                """,
                accepted=True,
                score=19,
                comments=(
                    r"So all we used is that $p$ is divisible by neither $2$ nor $3$; "
                    r"$25^2-1=624=26\cdot 24$ works as well.",
                ),
            ),
            Answer(
                r"""
                With congruences: a prime $p>3$ is odd and not a multiple of $3$, so
                $p\equiv 1$ or $5\pmod 6$. Write $p=6k\pm 1$. Then
                $$p^2-1=36k^2\pm 12k=12k(3k\pm 1).$$
                Exactly one of $k$ and $3k\pm 1$ is even, because they have different
                parity, so $k(3k\pm 1)$ is even and $24\mid p^2-1$.
                """,
                score=9,
            ),
            Answer(
                r"""
                You can also just check the units modulo $24$: they are
                $1,5,7,11,13,17,19,23$, and each of them has square $1$ modulo $24$.
                Since $\gcd(p,24)=1$, the prime $p$ is congruent to one of them and
                $p^2\equiv 1\pmod{24}$.
                """,
                score=4,
            ),
        ),
    ),
)

_CONGRUENCES = (
    Thread(
        key="number_theory/fermat-little",
        title=r"A proof of $a^{p-1}\equiv 1\pmod p$ without group theory",
        question=r"""
        Fermat's little theorem says that $a^{p-1}\equiv 1\pmod p$ if $p$ is prime and
        $p\nmid a$. The only proof I know counts the elements of the group of units.

        Is there one which I can show to pupils who know congruences, but no groups?
        """,
        tags=("elementary-number-theory", "modular-arithmetic", "alternative-proof"),
        score=10,
        answers=(
            Answer(
                r"""
                Multiply all the nonzero remainders. The numbers $a,2a,3a,\dots,(p-1)a$
                are not divisible by $p$, and no two of them are congruent, because
                $ia\equiv ja\pmod p$ gives $p\mid (i-j)a$ and so $i=j$. Hence they are
                the numbers $1,2,\dots,p-1$ in some order, modulo $p$.

                Taking products, $a^{p-1}(p-1)!\equiv (p-1)!\pmod p$, and $(p-1)!$ can
                be cancelled since $p$ does not divide it.
                """,
                accepted=True,
                score=22,
            ),
            Answer(
                r"""
                Induction on $a$, using binomial coefficients. For $0<k<p$ the number
                $\binom{p}{k}=\frac{p!}{k!\,(p-k)!}$ is a multiple of $p$, because $p$
                divides the numerator and not the denominator. Therefore
                $$(a+1)^p=\sum_{k=0}^{p}\binom{p}{k}a^k\equiv a^p+1\pmod p,$$
                and if $a^p\equiv a\pmod p$ then also $(a+1)^p\equiv a+1\pmod p$. Now
                divide $a^p\equiv a$ by $a$ where $p\nmid a$.
                """,
                score=11,
            ),
            Answer(
                r"""
                Pupils like the necklaces: there are $a^p$ strings of $p$ beads in $a$
                colours. Leave out the $a$ strings of one colour. The others fall into
                groups of exactly $p$ rotations each, as $p$ is prime. So
                $p\mid a^p-a$, and $p\nmid a$ gives $p\mid a^{p-1}-1$.
                """,
                score=13,
            ),
        ),
    ),
    Thread(
        key="number_theory/wilson",
        title=r"Why is $(p-1)!\equiv -1\pmod p$?",
        question=r"""
        While playing with factorials I found $4!=24\equiv -1\pmod 5$,
        $6!=720\equiv -1\pmod 7$ and $10!=3628800\equiv -1\pmod{11}$. For composite
        numbers such as $6$ I get $5!=120\equiv 0\pmod 6$.

        Is it true that $(p-1)!\equiv -1\pmod p$ holds exactly when $p$ is prime?
        """,
        tags=("elementary-number-theory", "factorial", "modular-arithmetic"),
        score=7,
        answers=(
            Answer(
                r"""
                Yes, this is Wilson's theorem. For a prime $p$, pair each
                $a\in\{1,\dots,p-1\}$ with its inverse $a^{-1}$ modulo $p$. A number is
                its own partner iff $a^2\equiv 1\pmod p$, that is
                $p\mid (a-1)(a+1)$, so only $a=1$ and $a=p-1$ are left over. All other
                factors cancel in pairs, and $(p-1)!\equiv 1\cdot(p-1)\equiv -1\pmod p$.

                Conversely, if $n$ is composite and $d$ is a divisor with $1<d<n$, then
                $d\mid (n-1)!$, so $(n-1)!\equiv -1\pmod n$ would give
                $d\mid -1$, which is impossible.
                """,
                accepted=True,
                score=16,
            ),
            Answer(
                r"""
                Another way: modulo $p$ the polynomial $f(x)=x^{p-1}-1$ has the roots
                $1,2,\dots,p-1$ by Fermat, hence
                $$x^{p-1}-1\equiv (x-1)(x-2)\cdots(x-(p-1))\pmod p.$$
                Put $x=0$: the right side is $(-1)^{p-1}(p-1)!$, the left side is $-1$.
                For odd $p$ the sign is $+1$, and $p=2$ is trivial.
                """,
                score=7,
            ),
        ),
    ),
    Thread(
        key="number_theory/minus-one-residue",
        title=r"When does $x^2\equiv -1\pmod p$ have a solution?",
        question=r"""
        For which odd primes $p$ is $-1$ a square modulo $p$? Trying small cases I find
        $2^2\equiv -1\pmod 5$, $5^2\equiv -1\pmod{13}$, $4^2\equiv -1\pmod{17}$, but
        nothing for $p=3,7,11,19$. It looks like the condition is $p\equiv 1\pmod 4$.

        How does one prove this, and can one write down a solution $x$?
        """,
        tags=("elementary-number-theory", "quadratic-residues", "prime-numbers"),
        score=8,
        related=("number_theory/wilson",),
        answers=(
            Answer(
                r"""
                If $x^2\equiv -1\pmod p$, then by Fermat
                $1\equiv x^{p-1}=(x^2)^{(p-1)/2}\equiv (-1)^{(p-1)/2}\pmod p$, so
                $\frac{p-1}{2}$ must be even, i.e. $p\equiv 1\pmod 4$.

                Conversely let $p=4k+1$. In Wilson's $(p-1)!\equiv -1\pmod p$ write the
                upper half of the factors as $p-j\equiv -j$:
                $$-1\equiv (p-1)!\equiv (2k)!\cdot(-1)^{2k}(2k)!=\bigl((2k)!\bigr)^2
                \pmod p.$$
                So $x=\left(\frac{p-1}{2}\right)!$ is an explicit solution. For $p=13$:
                $6!=720\equiv 5\pmod{13}$.
                """,
                accepted=True,
                score=15,
            ),
            Answer(
                r"""
                In practice the factorial is far too slow. Pick a random $a$ and compute
                $x=a^{(p-1)/4}\bmod p$. For half of all $a$ one has
                $a^{(p-1)/2}\equiv -1\pmod p$ (these are the non-residues), and then
                $x^2\equiv -1\pmod p$. For $p=17$ and $a=3$ you get
                $3^4=81\equiv 13\equiv -4\pmod{17}$.
                """,
                score=6,
            ),
        ),
    ),
    Thread(
        key="number_theory/sum-of-two-squares-obstruction",
        title=r"Can $x^2+y^2=4^n\cdot 7$ hold for integers?",
        question=r"""
        An exercise asks for all integers with $x^2+y^2=7\cdot 4^n$, where $n\ge 0$. A
        computer finds none for $n\le 6$, so I suppose that there are no solutions, but
        I do not see how to exclude them for all $n$.

        For $n=0$ I can just try: $7-0$, $7-1=6$ and $7-4=3$ are not squares.
        """,
        tags=("elementary-number-theory", "diophantine-equations", "sums-of-squares"),
        score=5,
        answers=(
            Answer(
                r"""
                Look modulo $4$. Squares are $0$ or $1$ modulo $4$, so $x^2+y^2$ is
                $0$, $1$ or $2$ modulo $4$, and it is $0$ only when both $x$ and $y$
                are even.

                For $n=0$ the right side is $7\equiv 3\pmod 4$: impossible. For
                $n\ge 1$ the right side is $\equiv 0\pmod 4$, so $x=2x_1$ and $y=2y_1$
                and
                $$x_1^2+y_1^2=7\cdot 4^{n-1}.$$
                Descend until $n=0$ is reached. So there is no solution for any $n$.
                """,
                accepted=True,
                score=9,
            ),
            Answer(
                r"""
                This follows from the two-squares theorem: $m$ is a sum of two squares
                iff every prime $q\equiv 3\pmod 4$ occurs in $m$ with an even exponent.
                In $7\cdot 4^n$ the prime $7\equiv 3\pmod 4$ has exponent $1$.
                """,
                score=4,
            ),
        ),
    ),
)

_DIVISIBILITY = (
    Thread(
        key="number_theory/sqrt-prime-irrational",
        title=r"Prove that $\sqrt p$ is irrational for every prime $p$",
        question=r"""
        The usual proof for $\sqrt 2$ speaks of even and odd numbers. What takes the
        place of "even" if I want to show that $\sqrt 3$, $\sqrt 5$ or in general
        $\sqrt p$ is irrational?

        Also, where exactly does the proof break down for $\sqrt 4$?
        """,
        tags=("elementary-number-theory", "irrational-numbers", "proof-writing"),
        score=9,
        answers=(
            Answer(
                r"""
                "Divisible by $p$" takes its place. Suppose $\sqrt p=\frac ab$ in lowest
                terms. Then $a^2=pb^2$, so $p\mid a^2$, and since $p$ is **prime** this
                gives $p\mid a$. Write $a=pc$. Then $p^2c^2=pb^2$, so $b^2=pc^2$ and
                $p\mid b$ as well, against lowest terms.

                For $4$ the step "$4\mid a^2$ implies $4\mid a$" is wrong, e.g. $a=2$.
                """,
                accepted=True,
                score=14,
            ),
            Answer(
                r"""
                Count prime factors. Let $v_p(m)$ be the exponent of $p$ in $m$. From
                $a^2=pb^2$ we get $2v_p(a)=1+2v_p(b)$, an even number equal to an odd
                one. This also shows that $\sqrt n$ is irrational whenever some
                exponent in the factorisation of $n$ is odd, i.e. unless $n$ is a
                perfect square.
                """,
                score=10,
                comments=(
                    r"This is the proof that generalises best to $\sqrt[k]{n}$.",
                ),
            ),
        ),
    ),
    Thread(
        key="number_theory/gcd-powers-minus-one",
        title=r"Prove $\gcd(a^m-1,a^n-1)=a^{\gcd(m,n)}-1$",
        question=r"""
        Let $a\ge 2$ and $m,n\ge 1$ be integers. I want to prove
        $$\gcd(a^m-1,a^n-1)=a^{\gcd(m,n)}-1.$$

        One direction is clear: if $d=\gcd(m,n)$ then $a^d-1$ divides both $a^m-1$ and
        $a^n-1$. How do I see that nothing bigger does?
        """,
        tags=("elementary-number-theory", "greatest-common-divisor", "divisibility"),
        score=13,
        answers=(
            Answer(
                r"""
                Do Euclid's algorithm in the exponent. For $m\ge n$ we have
                $$a^m-1=a^{m-n}(a^n-1)+(a^{m-n}-1),$$
                hence $\gcd(a^m-1,a^n-1)=\gcd(a^{m-n}-1,a^n-1)$. So the pair of
                exponents changes exactly as in the subtractive Euclidean algorithm for
                $\gcd(m,n)$, and at its end we have the pair $(d,0)$ with
                $\gcd(a^d-1,a^0-1)=a^d-1$.
                """,
                accepted=True,
                score=20,
            ),
            Answer(
                r"""
                Let $g$ divide both numbers. Then $a^m\equiv a^n\equiv 1\pmod g$, and in
                particular $\gcd(a,g)=1$, so negative exponents make sense modulo $g$.
                By Bézout there are integers with $d=mx+ny$, and
                $$a^d=(a^m)^x(a^n)^y\equiv 1\pmod g.$$
                So $g\mid a^d-1$, which is what was missing.
                """,
                score=12,
            ),
        ),
    ),
    Thread(
        key="number_theory/four-consecutive",
        title="Product of four consecutive integers plus one is a square",
        question=r"""
        Examples: $1\cdot 2\cdot 3\cdot 4+1=25=5^2$ and
        $2\cdot 3\cdot 4\cdot 5+1=121=11^2$. How can I show that $n(n+1)(n+2)(n+3)+1$
        is always a perfect square?

        Expanding gives $n^4+6n^3+11n^2+6n+1$, and there I am stuck.
        """,
        tags=("elementary-number-theory", "polynomials", "square-numbers"),
        score=6,
        answers=(
            Answer(
                r"""
                Group the outer and the inner factors: $n(n+3)=n^2+3n$ and
                $(n+1)(n+2)=n^2+3n+2$. With $m=n^2+3n+1$ the product is
                $(m-1)(m+1)=m^2-1$, so adding one gives
                $$n(n+1)(n+2)(n+3)+1=(n^2+3n+1)^2.$$
                """,
                accepted=True,
                score=15,
            ),
            Answer(
                r"""
                From your expansion: a monic polynomial of degree four that is a square
                must be $(n^2+bn+c)^2=n^4+2bn^3+(b^2+2c)n^2+2bcn+c^2$. Compare
                coefficients: $2b=6$ gives $b=3$, then $9+2c=11$ gives $c=1$, and the
                last two, $2bc=6$ and $c^2=1$, hold as well.
                """,
                score=5,
            ),
        ),
    ),
    Thread(
        key="number_theory/pythagorean-triples",
        title="Where does the formula for Pythagorean triples come from?",
        question=r"""
        Every primitive solution of $a^2+b^2=c^2$ with $b$ even is said to be
        $$a=m^2-n^2,\qquad b=2mn,\qquad c=m^2+n^2$$
        with coprime $m>n>0$ of different parity. It is easy to check that these are
        solutions. But why are there no others?
        """,
        tags=(
            "elementary-number-theory",
            "pythagorean-triples",
            "diophantine-equations",
        ),
        score=10,
        answers=(
            Answer(
                r"""
                Geometrically: divide by $c^2$, so that $(x,y)=(a/c,b/c)$ is a rational
                point on the circle $x^2+y^2=1$. Draw the line through $(-1,0)$ with
                rational slope $t=\frac nm$, i.e. $y=t(x+1)$. It meets the circle once
                more, at
                $$x=\frac{1-t^2}{1+t^2},\qquad y=\frac{2t}{1+t^2},$$
                and every rational point except $(-1,0)$ arises in this way. Clearing
                denominators gives the formula.
                """,
                accepted=True,
                score=18,
                comments=(
                    "The same substitution turns up in calculus as the half-angle "
                    r"substitution $t=\tan\frac{\theta}{2}$.",
                ),
            ),
            Answer(
                r"""
                Arithmetically: $b^2=c^2-a^2=(c-a)(c+a)$. As $a$ and $c$ are odd and
                coprime, $\frac{c-a}{2}$ and $\frac{c+a}{2}$ are coprime integers with
                product $\left(\frac b2\right)^2$. Coprime factors of a square are
                squares themselves, so $\frac{c+a}{2}=m^2$ and $\frac{c-a}{2}=n^2$. Add
                and subtract.
                """,
                score=11,
            ),
        ),
    ),
)


def _inverse_thread(rng: random.Random, number: int) -> Thread:
    """Inverse of ``a`` modulo ``n`` by the extended Euclidean algorithm."""
    while True:
        n, a = rng.randrange(60, 400), rng.randrange(14, 58)
        if math.gcd(a, n) == 1 and len(_euclid_steps(n, a)) >= 3:
            break
    inverse = pow(a, -1, n)
    k = (a * inverse - 1) // n
    b = rng.randrange(2, 12)
    x = b * inverse % n
    steps = _euclid_steps(n, a)
    chain = r"\\ ".join(f"{p}&={q}\\cdot {d}+{r}" for p, q, d, r in steps)
    opening = (
        "For a problem about keys I have to solve",
        "My homework asks for all solutions of",
        "While counting with a clock of a strange size I came to",
    )[number % 3]
    return Thread(
        key=f"number_theory/linear-congruence-{number}",
        title=(
            f"Solve the congruence ${a}x\\equiv {b}\\pmod{{{n}}}$",
            f"How to find the inverse of ${a}$ modulo ${n}$",
            f"Extended Euclid for ${a}x\\equiv {b}\\pmod{{{n}}}$",
        )[number % 3],
        question=rf"""
        {opening} ${a}x\equiv {b}\pmod{{{n}}}$. I know that I need the inverse of
        ${a}$, that is a number $y$ with ${a}y\equiv 1\pmod{{{n}}}$, and that it exists
        because $\gcd({a},{n})=1$.

        Trying out all $y$ from $1$ to ${n - 1}$ takes too long. Is there a better way?
        """,
        tags=("elementary-number-theory", "modular-arithmetic", "euclidean-algorithm"),
        related=("abstract_algebra/element-order-48-36",) if number == 1 else (),
        comments=(f"Euclid's algorithm for ${n}$ and ${a}$, then backwards.",),
        score=rng.randrange(1, 6),
        answers=(
            Answer(
                rf"""
                Run Euclid's algorithm on ${n}$ and ${a}$:
                $$\begin{{aligned}}{chain}\end{{aligned}}$$
                Now go back from the last line to the first, always replacing the
                remainder, and you arrive at
                $${a}\cdot {inverse}-{n}\cdot {k}=1.$$
                So ${a}^{{-1}}\equiv {inverse}\pmod{{{n}}}$, and multiplying the
                congruence by it gives
                $x\equiv {b}\cdot {inverse}\equiv {x}\pmod{{{n}}}$. Check:
                ${a}\cdot {x}={a * x}={(a * x - b) // n}\cdot {n}+{b}$.
                """,
                accepted=True,
                score=rng.randrange(3, 12),
            ),
            Answer(
                rf"""
                By hand it is often quicker to add multiples of the modulus until a
                division comes out even: ${a}y\equiv 1$ means ${a}y=1+{n}k$ for some
                integer $k$, and you only have to try $k=0,1,\dots,{a - 1}$. Here
                $k={k}$ works, as $1+{n}\cdot {k}={1 + n * k}={a}\cdot {inverse}$. So
                $y={inverse}$.
                """,
                score=rng.randrange(0, 5),
            ),
        ),
    )


def _euclid_steps(p: int, d: int) -> list[tuple[int, int, int, int]]:
    """Return the lines ``p = q d + r`` of Euclid's algorithm until ``r`` is 1."""
    steps = []
    while d > 1:
        q, r = divmod(p, d)
        steps.append((p, q, d, r))
        p, d = d, r
    return steps


def _remainder_thread(rng: random.Random, number: int) -> Thread:
    """Two congruences at once, by the Chinese remainder theorem."""
    m, n = rng.choice(((7, 11), (8, 13), (9, 14), (11, 15), (13, 16), (12, 17)))
    a, b = rng.randrange(1, m), rng.randrange(1, n)
    inverse = pow(m, -1, n)
    t = (b - a) * inverse % n
    x = a + m * t
    things = rng.choice(("eggs", "soldiers", "marbles", "chairs"))
    e1, e2 = n * pow(n, -1, m), m * inverse
    return Thread(
        key=f"number_theory/two-remainders-{number}",
        title=(
            f"Smallest number with remainder ${a}$ by ${m}$ and ${b}$ by ${n}$",
            f"Solving $x\\equiv {a}\\pmod{{{m}}}$ and $x\\equiv {b}\\pmod{{{n}}}$",
        )[number % 2],
        question=rf"""
        If the {things} are put in rows of ${m}$, then ${a}$ remain; in rows of ${n}$
        there remain ${b}$. So the number $x$ of {things} satisfies
        $$x\equiv {a}\pmod{{{m}}},\qquad x\equiv {b}\pmod{{{n}}}.$$

        What is the least possible $x$, and how do I get it without trying?
        """,
        tags=("elementary-number-theory", "chinese-remainder-theorem"),
        duplicate_of="number_theory/two-remainders-1" if number == 2 else None,
        comments=(f"A solution exists because $\\gcd({m},{n})=1$.",),
        score=rng.randrange(1, 7),
        answers=(
            Answer(
                rf"""
                The first congruence says $x={a}+{m}t$. Put this into the second one:
                ${m}t\equiv {b}-{a}\pmod{{{n}}}$. The inverse of ${m}$ modulo ${n}$ is
                ${inverse}$, since ${m}\cdot {inverse}={m * inverse}\equiv 1$. So
                $t\equiv {inverse}\cdot({b - a})\equiv {t}\pmod{{{n}}}$ and
                $x={a}+{m}\cdot {t}={x}$. All solutions are
                $x\equiv {x}\pmod{{{m * n}}}$.
                """,
                accepted=True,
                score=rng.randrange(3, 10),
            ),
            Answer(
                rf"""
                The Chinese remainder theorem gives it in one line. Choose
                $e_1={e1}$, which is $1$ modulo ${m}$ and $0$ modulo ${n}$, and
                $e_2={e2}$, which is $0$ modulo ${m}$ and $1$ modulo ${n}$. Then
                $x={a}e_1+{b}e_2={a * e1 + b * e2}$ solves both, and modulo
                ${m}\cdot {n}={m * n}$ this is ${x}$.
                """,
                score=rng.randrange(1, 6),
            ),
        ),
    )


def _last_digits_thread(rng: random.Random, number: int) -> Thread:
    """The last two digits of a large power, by Euler's theorem."""
    base = rng.choice((3, 13, 17, 23, 27, 37))
    exponent = rng.randrange(200, 3000)
    small = exponent % 40
    while small < 4:
        exponent += 7
        small = exponent % 40
    result = pow(base, exponent, 100)
    square, fourth = pow(base, 2, 100), pow(base, 4, 100)
    order = 20
    return Thread(
        key=f"number_theory/last-two-digits-{number}",
        title=f"Last two digits of ${base}^{{{exponent}}}$",
        question=rf"""
        What are the last two digits of ${base}^{{{exponent}}}$? In other words, I am
        looking for ${base}^{{{exponent}}}\bmod 100$.

        I wrote down ${base}^2\equiv {square:02d}$ and ${base}^4\equiv {fourth:02d}$
        modulo $100$, but ${exponent}$ is a bit far away. {
            rng.choice(
                (
                    "Is there a shortcut?",
                    "No calculator is allowed.",
                    "What is the systematic way?",
                )
            )
        }
        """,
        tags=("elementary-number-theory", "modular-arithmetic", "totient-function"),
        score=rng.randrange(1, 6),
        answers=(
            Answer(
                rf"""
                Euler's theorem: if $\gcd(a,100)=1$ then
                $a^{{\varphi(100)}}\equiv 1\pmod{{100}}$, and
                $\varphi(100)=100\cdot\frac12\cdot\frac45=40$. So only the exponent
                modulo $40$ counts, and
                ${exponent}={exponent // 40}\cdot 40+{small}$. Hence
                $${base}^{{{exponent}}}\equiv {base}^{{{small}}}\equiv {result:02d}
                \pmod{{100}},$$
                where the last power is found by repeated squaring.
                """,
                accepted=True,
                score=rng.randrange(3, 11),
            ),
            Answer(
                rf"""
                Euler's exponent is not the best one: already
                ${base}^{{{order}}}\equiv 1\pmod{{100}}$, as you find by squaring
                ${base}^4\equiv {fourth:02d}$ further. Now
                ${exponent}\equiv {exponent % order}\pmod{{{order}}}$, so what remains
                is ${base}^{{{exponent % order}}}\equiv {result:02d}\pmod{{100}}$.
                """,
                score=rng.randrange(1, 6),
            ),
        ),
    )


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of this area; numbers of the families come from ``rng``."""
    return [
        *_PRIMES,
        *_CONGRUENCES,
        *_DIVISIBILITY,
        *(_inverse_thread(rng, number) for number in (1, 2, 3)),
        *(_remainder_thread(rng, number) for number in (1, 2)),
        *(_last_digits_thread(rng, number) for number in (1, 2)),
    ]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="number_theory/topic-five-mod-six",
        title="Infinitely many primes leave the remainder 5 when divided by 6?",
        question=r"""
        Apart from $2$ and $3$ every prime is one more or one less than a multiple of
        $6$. I would like to show that the second kind, $5,11,17,23,29,\dots$, never
        ends.

        My plan is to assume that $p_1,p_2,\dots,p_n$ are all of them and to consider
        $$N=6p_1p_2\cdots p_n-1.$$
        It is not divisible by any $p_i$. But why must it have a prime factor of the
        desired kind at all?
        """,
        tags=("elementary-number-theory", "prime-numbers"),
        grades={
            "number_theory/primes-3-mod-4#1": 2,
            "number_theory/primes-3-mod-4#2": 2,
            "number_theory/primes-3-mod-4#3": 3,
            "number_theory/euclid-primes#1": 1,
            "number_theory/euclid-primes#2": 1,
            "number_theory/primes-1-mod-4#2": 1,
            "number_theory/primes-1-mod-4#1": 0,
            "number_theory/prime-square-24#1": 0,
            "number_theory/prime-square-24#2": 0,
            "number_theory/wilson#1": 0,
            "number_theory/minus-one-residue#1": 0,
            "number_theory/fermat-little#1": 0,
            "number_theory/sqrt-prime-irrational#1": 0,
            "number_theory/two-remainders-1#2": 0,
            "combinatorics/n-plus-one-of-2n#1": 0,
            "abstract_algebra/sqrt-minus-five#1": 0,
            "abstract_algebra/order-p-squared#1": 0,
            "set_theory_logic/well-ordering-induction#1": 0,
        },
        category="Proof",
        difficulty="Medium",
        dependency="Both",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="number_theory/topic-five-mod-six",
        latex=r"N=6p_1p_2\cdots p_n-1.",
        grades={
            r"N=6p_1\cdots p_n-1": 3,
            r"N=4p_1p_2\cdots p_n-1": 3,
            r"N=mp_1p_2\cdots p_n-1\equiv -1\pmod m": 3,
            r"N=4p_1p_2\cdots p_n+3": 2,
            r"N=p_1p_2\cdots p_n+1": 2,
            r"E_n=p_1p_2\cdots p_n+1": 2,
            r"(2p_1\cdots p_r)^2+1": 1,
            r"N=(n!)^2+1": 1,
            r"4p_1\cdots p_n": 1,
            r"p_1,\dots,p_n": 0,
            r"n(n+1)(n+2)(n+3)+1": 0,
            r"x_1+x_2+\dots+x_k=n": 0,
            r"24\mid p^2-1": 0,
            r"p=6k\pm 1": 0,
            r"(p-1)!\equiv -1\pmod p": 0,
            r"x^{p-1}-1\equiv (x-1)(x-2)\cdots(x-(p-1))\pmod p.": 0,
        },
    ),
)
