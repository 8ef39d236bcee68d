r"""A post of more than 3,000 words: portraits of the numbers from 2 to 42.

Every statement is computed; the wording is drawn::

    12: "12 = 2^2 \cdot 3 ...", "its divisors add up to 28 ...", "no primitive root ..."
"""

from __future__ import annotations

import random
from math import gcd, isqrt

LAST = 42
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


def portray_numbers(rng: random.Random) -> str:
    """Return the survey as light Markdown, one paragraph for each number."""
    opening = (
        "I made such a list for my own pupils, who each took a number home and came "
        "back with a poster. Below, $\\varphi$ is Euler's function, $\\sigma$ the sum "
        "of all divisors, and a primitive root is a number whose powers run through "
        "all units. Corrections are welcome, I computed everything twice."
    )
    closing = (
        "That is where the paper ended. If you look for a pattern, compare the numbers "
        "that are sums of two squares with those that have a prime factor of the form "
        "$4k+3$, or the lengths of the periods with the values of $\\varphi$: every "
        "period length divides the value of $\\varphi$, as Euler's theorem says it "
        "must."
    )
    return "\n\n".join(
        [opening, *(_portray(n, rng) for n in range(2, LAST + 1)), closing]
    )


def _portray(n: int, rng: random.Random) -> str:
    extras = [_two_squares(n, rng), _primitive_root(n, rng), _period(n, rng)]
    rng.shuffle(extras)
    sentences = [_factors(n, rng), _divisor_sum(n, rng), _units(n, rng), *extras[:2]]
    return f"**{n}.** " + " ".join(sentences)


def factorise(n: int) -> list[tuple[int, int]]:
    """Return the primes of ``n`` with their exponents.

    >>> factorise(12)
    [(2, 2), (3, 1)]
    """
    factors, p = [], 2
    while n > 1:
        exponent = 0
        while n % p == 0:
            n, exponent = n // p, exponent + 1
        if exponent:
            factors.append((p, exponent))
        p += 1
    return factors


def _is_prime(n: int) -> bool:
    return factorise(n) == [(n, 1)]


def _write_product(n: int) -> str:
    return r"\cdot ".join(f"{p}^{e}" if e > 1 else str(p) for p, e in factorise(n))


def _factors(n: int, rng: random.Random) -> str:
    if _is_prime(n):
        place = sum(_is_prime(m) for m in range(2, n + 1))
        which = (
            f"the {_ORDINALS[place - 1]} one"
            if place <= len(_ORDINALS)
            else f"number ${place}$ in the list of primes"
        )
        return rng.choice(
            (
                f"A prime, and {which}, so only $1$ and ${n}$ itself divide it.",
                f"There is nothing to factorise here, because ${n}$ is prime; it is "
                f"{which}.",
                f"No smaller number except $1$ divides ${n}$, so it is a prime: "
                f"{which}.",
            )
        )
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    return rng.choice(
        (
            f"The factorisation is ${n}={_write_product(n)}$, which gives "
            f"${len(divisors)}$ divisors in all.",
            f"Since ${n}={_write_product(n)}$, it can be divided by each of the "
            f"numbers ${','.join(map(str, divisors))}$ and by no others.",
            f"It is composite, ${n}={_write_product(n)}$, and its largest prime factor "
            f"is ${factorise(n)[-1][0]}$.",
        )
    )


def _divisor_sum(n: int, rng: random.Random) -> str:
    total = sum(d for d in range(1, n + 1) if n % d == 0)
    if _is_prime(n):
        return rng.choice(
            (
                f"As for every prime, the sum of the divisors is one more than the "
                f"number, $\\sigma({n})={total}$.",
                f"Its two divisors have the sum $\\sigma({n})={total}$.",
            )
        )
    if total == 2 * n:
        return (
            f"Now comes a rare thing: $\\sigma({n})={total}=2\\cdot {n}$, so the "
            f"proper "
            "divisors add up to the number itself and we have a perfect number."
        )
    kind = "abundant" if total > 2 * n else "deficient"
    side = "more" if total > 2 * n else "less"
    return rng.choice(
        (
            f"Adding up all divisors gives $\\sigma({n})={total}$, which is {side} "
            f"than twice the number, so the old Greeks would have called it {kind}.",
            f"The divisors without the number itself add up to ${total - n}$, {side} "
            f"than ${n}$, hence we have one of the {kind} numbers.",
        )
    )


def _units(n: int, rng: random.Random) -> str:
    phi = sum(gcd(n, k) == 1 for k in range(1, n + 1))
    return rng.choice(
        (
            f"Among the numbers below it, counting from one, exactly "
            f"$\\varphi({n})={phi}$ have no common factor with it.",
            f"Euler's function takes the value $\\varphi({n})={phi}$ here, so there "
            f"are that many units among the remainders.",
            f"A fraction with this denominator between $0$ and $1$ can be in lowest "
            f"terms in $\\varphi({n})={phi}$ ways.",
        )
    )


def _two_squares(n: int, rng: random.Random) -> str:
    for a in range(1, isqrt(n) + 1):
        b = isqrt(n - a * a)
        if b >= a and a * a + b * b == n:
            return rng.choice(
                (
                    f"It is a sum of two squares, ${n}={a}^2+{b}^2$, so it is the "
                    f"squared distance of two points of the grid.",
                    f"Two squares are enough to write it: ${a}^2+{b}^2={n}$.",
                )
            )
    for p, exponent in factorise(n):
        if p % 4 == 3 and exponent % 2:
            return (
                f"It is not a sum of two squares, because its prime factor "
                f"${p}\\equiv 3\\pmod 4$ occurs with an odd exponent."
            )
    return f"As a square it is ${n}={isqrt(n)}^2$, and it is no sum of two others."


def _primitive_root(n: int, rng: random.Random) -> str:
    units = [k for k in range(1, n) if gcd(n, k) == 1]
    for g in units:
        if len({pow(g, k, n) for k in range(len(units))}) == len(units) and n > 3:
            return rng.choice(
                (
                    f"The smallest primitive root modulo ${n}$ is ${g}$, which means "
                    f"that its powers meet every unit.",
                    f"Every unit modulo ${n}$ is a power of ${g}$, and no smaller "
                    f"number has this property.",
                )
            )
    if n <= 3:
        return "About primitive roots there is not much to say for so small a number."
    return (
        f"There is no primitive root modulo ${n}$, as it is neither $4$ nor a power of "
        "an odd prime nor twice such a power."
    )


def _period(n: int, rng: random.Random) -> str:
    if gcd(n, 10) > 1:
        rest = n
        for p in (2, 5):
            while rest % p == 0:
                rest //= p
        if rest == 1:
            return f"The decimal fraction of $\\frac{{1}}{{{n}}}$ comes to an end."
        return (
            f"The decimal fraction of $\\frac{{1}}{{{n}}}$ begins with some digits "
            f"that do not come back; then it repeats, with a period as long as that of "
            f"$\\frac{{1}}{{{rest}}}$."
        )
    length = next(k for k in range(1, n) if pow(10, k, n) == 1)
    return rng.choice(
        (
            f"Written as a decimal, $\\frac{{1}}{{{n}}}$ has a period of ${length}$ "
            f"digit{'s' if length > 1 else ''}.",
            f"The first power of ten that leaves the remainder $1$ is "
            f"$10^{{{length}}}$, so the digits of $\\frac{{1}}{{{n}}}$ repeat after "
            f"${length}$ step{'s' if length > 1 else ''}.",
        )
    )
