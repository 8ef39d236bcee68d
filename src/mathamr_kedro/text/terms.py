r"""Terms for BM25: the words of a text, the tokens of LaTeX, the tuples of trees.

::

    text     Prove that FORMULA_0 is irrational.     FORMULA_0 = \sqrt{2}
    terms    prove that $\sqrt $2 is irrat

Words are stemmed (Porter). Tokens of formulas carry a ``$``, so that the variable ``a``
is not the article; braces and commands that only position symbols are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.base.stemming import stem
from mathamr_kedro.formula import FormulaTree, FormulaTrees, find_kind
from mathamr_kedro.graph import (
    MathGraph,
    read_label,
    renumber_sentences,
)

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+")
_LATEX = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:\.\d+)?|[^\s{}$&]")
_PLACING = frozenset(
    r"\left \right \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \displaystyle "
    r"\textstyle \limits \nolimits \, \; \: \! \quad \qquad \ \\".split()
)


def _pair_words(text: str) -> list[tuple[str, str]]:
    """Return the stemmed words of a text with the words.

    >>> [term for term, _ in _pair_words("Primes are never-ending")]
    ['prime', 'are', 'never', 'end']
    """
    return [(stem(word), word) for word in _WORD.findall(text.lower())]


def split_latex(latex: str) -> list[str]:
    r"""Return the tokens of a formula.

    >>> split_latex(r"\left( \frac{1}{2} \right)")
    ['$(', '$\\frac', '$1', '$2', '$)']
    """
    return [f"${t}" for t in _LATEX.findall(latex) if t not in _PLACING]


def split_text(text: str, formula_map: Sequence[FormulaMention]) -> list[str]:
    """Return the terms of a clean text with its formulas in their places."""
    return [term for term, _ in pair_terms(text, formula_map)]


def pair_terms(
    text: str, formula_map: Sequence[FormulaMention]
) -> list[tuple[str, str]]:
    r"""Return the terms of a clean text, each with its word or token.

    >>> pair_terms("Primes are even", ())
    [('prime', 'primes'), ('are', 'are'), ('even', 'even')]
    """
    terms: list[tuple[str, str]] = []
    end = 0
    for mention in sorted(formula_map, key=lambda m: m.start):
        terms += _pair_words(text[end : mention.start])
        terms += [(token, f"{token}$") for token in split_latex(mention.latex)]
        end = mention.end
    return terms + _pair_words(text[end:])


def measure_math_share(text: str, formula_map: Sequence[FormulaMention]) -> float:
    r"""Return the share of tokens of formulas among all terms of a clean text.

    >>> mention = FormulaMention("FORMULA_0", "17", "4", "y^2", start=6, end=15)
    >>> measure_math_share("Prove FORMULA_0", [mention])  # prove $y $^ $2
    0.75
    """
    terms = split_text(text, formula_map)
    return sum(t.startswith("$") for t in terms) / len(terms) if terms else 0.0


def list_tuples(trees: FormulaTrees, window: int = 1) -> list[str]:
    """Return the tuples of both trees of a formula, without their location."""
    terms = []
    for kind, tree in (("slt", trees.slt), ("opt", trees.opt)):
        if tree is not None:
            terms += [
                f"{kind} {p.first} {p.second} {p.path}" for p in tree.tuples(window)
            ]
    return terms


def list_patterns(tree: FormulaTree | None, window: int = 3) -> list[str]:
    """Return the distinct tuples of a tree, each also with kinds for its symbols.

    The kind of a variable or a number replaces its name: ``x^2`` and ``y^2`` share a
    term. Terms are not repeated, as their frequency mostly reflects the length of a
    formula.

    >>> list_patterns(FormulaTree.from_string("[V!x,a[N!2]]"))
    ['N! 0! n', 'N!2 0! n', 'V! 0! n', 'V! N! a', 'V!x 0! n', 'V!x N!2 a']
    """
    if tree is None:
        return []
    found = {(p.first, p.second, p.path) for p in tree.tuples(window)}
    kinds = {
        (find_kind(first), find_kind(second), path) for first, second, path in found
    }
    return sorted(" ".join(term) for term in found | kinds)


def list_ngrams(latex: str, longest: int = 3) -> list[str]:
    """Return the distinct runs of at most so many LaTeX tokens.

    >>> list_ngrams("x+x", 2)
    ['$+', '$+ $x', '$x', '$x $+']
    """
    tokens = split_latex(latex)
    return sorted(
        {
            " ".join(tokens[start : start + length])
            for length in range(1, longest + 1)
            for start in range(len(tokens) - length + 1)
        }
    )


def list_graph_terms(graph: MathGraph) -> list[str]:
    """Return the nodes of a math graph and its edges with both their ends.

    The number of ``FORMULA_n`` and the chunk of a sentence carry no information and are
    left out.

    >>> from mathamr_kedro.graph import read_math_graph
    >>> text = "(p / prove-01 :ARG1 (f / FORMULA_0 :opt (x / V!x)))"
    >>> list_graph_terms(read_math_graph(text))
    ['prove-01', 'V!x', 'prove-01 ARG1 FORMULA', 'FORMULA opt V!x']
    """
    read = renumber_sentences(graph)
    labels = [
        "FORMULA" if label.startswith("FORMULA_") else label
        for label in map(read_label, read.atoms)
    ]
    nodes = [label for label in labels if label != "FORMULA"]
    edges = [f"{labels[a]} {role} {labels[b]}" for a, role, b in read.lines]
    return nodes + edges
