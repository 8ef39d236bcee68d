"""Sentences of a document graph."""

from __future__ import annotations

import pytest

from mathamr_kedro.graph.math_graph import MathGraph
from mathamr_kedro.graph.penman_graph import format_math_graph, read_math_graph
from mathamr_kedro.graph.sentences import Sentences, renumber_sentences


def name(graph: MathGraph, sentences: Sentences) -> list[str]:
    """Write the members of each sentence as their concepts, the root first."""
    return [
        " ".join(graph.atoms[n] for n in [root, *(m for m in members if m != root)])
        for root, members in zip(sentences.roots, sentences.members, strict=True)
    ]


def split(text: str) -> list[str]:
    graph = read_math_graph(text)
    return name(graph, Sentences.of(graph))


def test_each_sentence_has_the_nodes_in_its_brackets() -> None:
    assert split(
        """(m / multi-sentence
             :snt1 (s / show-01 :ARG1 (f / FORMULA_0 :opt (o / V!x)) :polarity -)
             :snt2 (h / hold-01)
             :math (F1 / FORMULA_1 :slt (x / V!y)))"""
    ) == ["show-01 FORMULA_0 -", "hold-01"]


def test_a_graph_without_sentences_is_one_sentence() -> None:
    assert split("(s / show-01 :ARG1 (f / FORMULA_0 :opt (o / V!x)))") == [
        "show-01 FORMULA_0"
    ]


def test_sentences_are_ordered_by_their_number() -> None:
    text = "(m / multi-sentence :snt2 (b / two) :snt10 (c / ten) :snt1 (a / one))"
    assert split(text) == ["one", "two", "ten"]


def test_a_formula_named_in_two_sentences_belongs_to_both() -> None:
    assert split(
        """(m / multi-sentence
             :snt1 (s / show-01 :ARG1 (f / FORMULA_0))
             :snt2 (h / hold-01 :ARG1 f :condition (c / case)))"""
    ) == ["show-01 FORMULA_0", "hold-01 FORMULA_0 case"]


def test_a_node_below_a_shared_formula_belongs_to_the_nearest_sentence() -> None:
    # equal-01 is in the brackets of sentence 1, but next to the root of sentence 2
    assert split(
        """(m / multi-sentence
             :snt1 (s / show-01 :ARG1 (p / prove-01 :ARG1 (f / FORMULA_0
                 :ARG1-of (e / equal-01 :ARG2 (t / thing)))))
             :snt2 t)"""
    ) == ["show-01 prove-01 FORMULA_0", "thing FORMULA_0 equal-01"]


def test_of_two_sentences_at_one_distance_the_first_has_the_node() -> None:
    assert split(
        """(m / multi-sentence
             :snt1 (a / one :ARG0 (s / shared :mod (d / deep)))
             :snt2 (b / two :ARG0 s))"""
    ) == ["one shared deep", "two shared"]


def test_two_sentences_may_be_the_same_formula() -> None:
    text = "(m / multi-sentence :snt1 (f / FORMULA_0) :snt2 f)"
    assert split(text) == ["FORMULA_0", "FORMULA_0"]


def test_what_hangs_from_the_root_alone_is_in_no_sentence() -> None:
    text = "(m / multi-sentence :snt1 (a / one) :mod (b / other) :polarity -)"
    assert split(text) == ["one"]


CHUNKS = """(m / multi-sentence
  :snt1 (m2 / multi-sentence
    :snt1 (s / show-01 :ARG1 (f / FORMULA_0 :opt (o / V!x)))
    :snt2 (h / hold-01 :ARG1 f))
  :snt2 (m3 / multi-sentence :snt2 (c / case) :snt1 f)
  :snt3 (t / thank-01)
  :math (F1 / FORMULA_1))"""


def test_sentences_of_chunks_are_sentences_of_the_document() -> None:
    assert split(CHUNKS) == [
        "show-01 FORMULA_0", "hold-01 FORMULA_0", "FORMULA_0", "case", "thank-01",
    ]  # fmt: skip


def test_chunks_without_common_nodes_are_read_by_their_brackets() -> None:
    assert split(
        """(m / multi-sentence
             :snt1 (m2 / multi-sentence :snt1 (a / one :mod (x / x1)) :snt2 (b / two))
             :snt2 (c / three))"""
    ) == ["one x1", "two", "three"]


def test_sentences_are_numbered_through_the_document() -> None:
    flat = renumber_sentences(read_math_graph(CHUNKS))
    assert format_math_graph(flat).replace("\n", "").replace("  ", "") == (
        "(m / multi-sentence:snt1 (s / show-01:ARG1 (f / FORMULA_0:opt (o / V!x)))"
        ":snt2 (h / hold-01:ARG1 f):snt4 (c / case):snt3 f:snt5 (t / thank-01)"
        ":math (F1 / FORMULA_1))"
    )
    assert name(flat, Sentences.of(flat)) == split(CHUNKS)


@pytest.mark.parametrize(
    "text",
    [
        "(s / show-01)",
        "(m / multi-sentence :snt1 (s / show-01) :snt2 (t / thank-01))",
        # a sentence about a document, and one that says more than its sentences
        "(m / multi-sentence :snt1 (d / document :mod (l / long)) :snt2 (t / tell-01))",
        "(m / multi-sentence :snt1 (m2 / multi-sentence :snt1 (a / a1) :mod (b / b1)))",
        "(m / multi-sentence :snt1 (m2 / multi-sentence :snt1 (a / a1)) :snt2 m2)",
    ],
)
def test_what_is_no_chunk_stays(text: str) -> None:
    graph = read_math_graph(text)
    assert renumber_sentences(graph) is graph
