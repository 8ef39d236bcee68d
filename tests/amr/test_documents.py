from __future__ import annotations

import pytest

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import (
    ParsedDocument,
    parse_documents,
    parse_isolating,
)
from mathamr_kedro.amr.graphs import PLACEHOLDER, AMRGraph, Edge, ParseFailure
from mathamr_kedro.amr.parsers import BuiltinConfig
from mathamr_kedro.base.errors import (
    ConfigurationError,
    GraphError,
    MissingInputError,
    WorkerError,
)


class FlatParser:
    """Hangs all placeholders below one node; fails on marked words."""

    name = "flat"

    def __init__(self):
        self.batches = []

    def parse_chunks(self, chunks):
        self.batches.append(len(chunks))
        for chunk in chunks:
            for word, error in ERRORS.items():
                if word in chunk.text:
                    raise error(word)
        return [self._parse(chunk) for chunk in chunks]

    def _parse(self, chunk):
        if "loose" in chunk.text:
            return AMRGraph("a", {"a": "x", "b": "y"}, [])
        if "unwilling" in chunk.text:
            return ParseFailure("penman_error", "no")
        nodes = {"s": "say-01"}
        edges = []
        for n, name in enumerate(PLACEHOLDER.findall(chunk.text)):
            if name != "FORMULA_13":
                nodes[f"f{n}"] = name
                edges.append(Edge("s", "ARG1", f"f{n}"))
        return AMRGraph("s", nodes, edges)


ERRORS = {
    "hang": TimeoutError,
    "killed": WorkerError,
    "garbled": GraphError,
    "memory": MemoryError,
}


def _parse(text, max_tokens=500):
    return parse_documents([text], FlatParser(), max_tokens)[0]


def test_a_text_becomes_one_graph_with_its_formulas():
    result = _parse("FORMULA_0 is. FORMULA_1 is.", max_tokens=3)
    assert isinstance(result, ParsedDocument)
    concepts = list(result.graph.nodes.values())
    assert concepts == ["multi-sentence", "say-01", "FORMULA_0", "say-01", "FORMULA_1"]
    assert result.missing == ()


def test_lost_placeholders_are_reported():
    assert _parse("FORMULA_0 and FORMULA_13").missing == ("FORMULA_13",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty_text"),
        (" \n\u200b ", "empty_text"),
        ("hang", "timeout"),
        ("killed", "worker_died"),
        ("garbled", "penman_error"),
        ("memory", "out_of_memory"),
        ("loose", "disconnected_graph"),
        ("unwilling", "penman_error"),
        ("hang. killed.", "all_chunks_failed"),
    ],
)
def test_failures_have_a_reason(text, reason):
    result = _parse(text, max_tokens=2)
    assert isinstance(result, ParseFailure)
    assert result.reason == reason


def test_one_bad_chunk_leaves_the_rest_of_the_text():
    result = _parse("fine. hang. FORMULA_2.", max_tokens=2)
    assert isinstance(result, ParsedDocument)
    assert [f.reason for f in result.failures] == ["timeout"]
    assert "FORMULA_2" in result.graph.nodes.values()


def test_a_failing_batch_is_halved_until_the_bad_input_is_alone():
    parser = FlatParser()
    chunks = [Chunk(("hang" if n == 5 else f"text {n}",)) for n in range(8)]
    results = parse_isolating(parser, chunks)
    assert [isinstance(r, ParseFailure) for r in results] == [n == 5 for n in range(8)]
    assert parser.batches == [8, 4, 4, 2, 1, 1, 2]


@pytest.mark.parametrize("error", [ConfigurationError, MissingInputError])
def test_an_error_of_our_own_set_up_is_nobody_else_s_fault(error):
    class Unable(FlatParser):
        def parse_chunks(self, chunks):
            self.batches.append(len(chunks))
            raise error("no weights")

    parser = Unable()
    with pytest.raises(error, match="no weights"):
        parse_documents(["one.", "two.", "three."], parser)
    assert parser.batches == [3]


def test_a_parser_that_loses_a_result_is_caught():
    class Forgetful(FlatParser):
        def parse_chunks(self, chunks):
            return super().parse_chunks(chunks)[: 1 if len(chunks) > 1 else None]

    results = parse_isolating(Forgetful(), [Chunk(("a",)), Chunk(("b",))])
    assert all(isinstance(r, AMRGraph) for r in results)


def test_results_stand_in_the_order_of_the_texts_whatever_the_batches():
    texts = ["FORMULA_0.", "", "hang.", "one. FORMULA_1. two.", "FORMULA_2."]
    alone = [_parse(text, 2) for text in texts]
    for batch_size in (1, 2, 64):
        assert parse_documents(texts, FlatParser(), 2, batch_size) == alone


def test_a_long_text_counts_its_sentences_chunk_by_chunk():
    text = "It is even. We see it. They go on. Thanks."
    (parsed,) = parse_documents([text], BuiltinConfig().open(), max_tokens=10)
    roles = [edge.role for edge in parsed.graph.edges if edge.role.startswith("snt")]
    assert sorted(roles) == ["snt1"] * 3 + ["snt2"] * 3  # two chunks of two sentences
    (whole,) = parse_documents([text], BuiltinConfig().open())
    roles = [edge.role for edge in whole.graph.edges if edge.role.startswith("snt")]
    assert sorted(roles) == ["snt1", "snt2", "snt3", "snt4"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It is.", 1),
        ("?! It is even.", 1),
        ("Then\n\n<=>\n\nFORMULA_0\n\n<=>\n\nFORMULA_1", 3),
        ("No. " * 700, 3),  # a sentence for each chunk
    ],
)
def test_sentences_with_a_word_get_a_graph(text, count):
    (parsed,) = parse_documents([text], BuiltinConfig().open())
    graph = parsed.graph
    chunks = {n for n, concept in graph.nodes.items() if concept == "multi-sentence"}
    heads = [
        e for e in graph.edges if e.role.startswith("snt") and e.target not in chunks
    ]
    assert len(heads) == count


def test_of_endless_sentences_the_first_are_parsed():
    texts = ["It is. " * 9000, "It is."]
    long, short = parse_documents(texts, FlatParser())
    (failure,) = long.failures
    assert failure == ("text_cut", "only its first 2,000 sentences are parsed")
    assert 1500 < sum(name == "say-01" for name in long.graph.nodes.values()) * 166
    assert short.failures == ()
