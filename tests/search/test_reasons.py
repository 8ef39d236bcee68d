"""Why a post was found, in sentences."""

from __future__ import annotations

from mathamr_kedro.base.records import Post
from mathamr_kedro.corpus import clean_text
from mathamr_kedro.formula import trees_from_latex
from mathamr_kedro.search.reasons import list_reasons
from mathamr_kedro.systems.query import Query


def write(key: str, text: str, title: str = "", parent: str | None = None) -> Post:
    clean, _ = clean_text(title, text, key, markup="text")
    kind = "answer" if parent else "question"
    return Post(key, kind, parent, title=title, text=clean[0], formula_map=clean[1])


def tell(asked: str, post: Post, question: Post | None = None) -> tuple[str, ...]:
    clean, _ = clean_text("", asked, "query", markup="text")
    query = Query("query", *clean)
    return list_reasons(query, post, question, lambda f: trees_from_latex(f.latex))


QUESTION = write("1", r"Why is $\sqrt n$ irrational?", "Irrational roots of primes")
ANSWER = write("2", r"Suppose $\sqrt2=\frac ab$ in lowest terms.", parent="1")


def test_formulas_are_the_same_up_to_names_or_parts():
    asked = r"is $\sqrt2$ or $\sqrt p$ rational"
    assert tell(asked, ANSWER, QUESTION) == (
        r"$\sqrt2$ is a part of it: $\sqrt2=\frac ab$",
        r"the same formula up to the names of variables: $\sqrt n$ ($p$ ↦ $n$), "
        "in the question that it answers",
    )


def test_titles_and_words_are_compared_by_their_stems():
    assert tell("irrational root of a prime", ANSWER, QUESTION) == (
        "the title of its question asks the same",
        "shares the words: irrational, root, prime",
    )
    assert tell("irrational root of a prime", QUESTION)[0] == "its title asks the same"
    other = "is there an irrational number between any two real numbers"
    assert tell(other, QUESTION) == ("shares the word: irrational",)
    assert tell("lowest terms", ANSWER) == ("shares the words: lowest, terms",)
    assert tell("lowest prices", ANSWER) == ("shares the word: lowest",)


def test_nothing_in_common_is_not_told():
    assert tell("what is the best pizza", ANSWER, QUESTION) == ()
    assert list_reasons(Query("q", "prime"), None, None, lambda f: None) == ()
