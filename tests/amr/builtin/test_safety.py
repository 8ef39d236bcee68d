"""Any text gives a connected graph that penman reads again."""

import re

import penman
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mathamr_kedro.amr.builtin.parser import BuiltinParser
from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import ParsedDocument, parse_documents
from mathamr_kedro.amr.graphs import PLACEHOLDER
from mathamr_kedro.amr.penman_io import format_graph, read_graph

PARSER = BuiltinParser()
WORDS = st.sampled_from(
    "let Let FORMULA_0 FORMULA_12 be such that if then , . ? ! ( ) - ' \" : ; / and or "
    "not it its prime Cauchy Schwarz Theorem the is are there every Prove x R 3 -1 2.5 "
    "1st more than less equal to can must why how \\ ~ # * é 𝔸 ∀ 数 🙂 's n't".split()
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=14).map(" ".join))


def _check(text):
    (result,) = parse_documents([text], PARSER)
    if not re.search(r"\w", text):
        return
    assert isinstance(result, ParsedDocument), result
    assert result.graph.is_connected()
    written = format_graph(result.graph)
    assert len(penman.decode(written).instances()) == len(result.graph.nodes)
    again = read_graph(written)
    assert dict(again.nodes) == dict(result.graph.nodes)
    assert set(again.edges) == set(result.graph.edges)
    assert set(again.attributes) == set(result.graph.attributes)
    kept = set(result.graph.nodes.values())
    assert set(PLACEHOLDER.findall(text)) - set(result.missing) <= kept


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(TEXTS)
@example('Say "FORMULA_0" (a/b) ~1 :ARG0 #x')
@example("FORMULA_0FORMULA_1-FORMULA_2th FORMULA_3's")
@example("Cauchy-Cauchy - - -Theorem Theorem")
@example("It is it and its it.")
def test_any_text_gives_a_graph_that_can_be_read_again(text):
    _check(text)


@pytest.mark.parametrize(
    "text",
    [
        "Let FORMULA_0 be FORMULA_1 and FORMULA_2.",
        "FORMULA_0",
        "FORMULA_0 FORMULA_1 FORMULA_2",
        "The map FORMULA_0: FORMULA_1, where FORMULA_2-module FORMULA_3.",
        '(FORMULA_0) = "FORMULA_1", FORMULA_2?! FORMULA_3\'s FORMULA_4th',
    ],
)
def test_every_placeholder_has_a_node(text):
    (result,) = parse_documents([text], PARSER)
    assert result.missing == ()


def test_the_batch_does_not_matter():
    texts = ["Let FORMULA_0 be prime.", "Is it even?", "Use the Cauchy-Schwarz bound."]
    chunks = [Chunk((text,)) for text in texts]
    together = PARSER.parse_chunks(chunks)
    alone = [PARSER.parse_chunks([chunk])[0] for chunk in reversed(chunks)]
    assert together == alone[::-1]
    assert BuiltinParser().parse_chunks(chunks) == together
