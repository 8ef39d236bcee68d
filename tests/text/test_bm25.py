"""BM25 against its formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.text.bm25 import TermIndex


def slow_bm25(documents, query, k1=1.2, b=0.75):
    """Robertson's weights with Lucene's idf, without its constant factor k1 + 1."""
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        total = 0.0
        for term in query:
            holding = sum(term in d for d in documents)
            idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            count = document.count(term)
            length = k1 * (1 - b + b * len(document) / mean)
            total += idf * count / (count + length) if holding else 0.0
        scores.append(total)
    return scores


def test_scores_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(20)]
    documents = [rng.choice(words, rng.integers(1, 30)).tolist() for _ in range(40)]
    ids = [str(i) for i in range(40)]
    index = TermIndex(zip(ids, documents, strict=True))
    for _ in range(5):
        query = [*rng.choice(words, 4).tolist(), "unknown", "w1", "w1"]
        hits = index.search(query, 1000)
        truth = dict(zip(ids, slow_bm25(documents, query), strict=True))
        assert set(hits.ids) == {i for i, s in truth.items() if s > 0}
        found = [truth[k] for k in hits.ids]
        ratio = hits.scores / np.array(found)
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)
        assert index.search(query, 7).ids == hits.ids[:7]


def test_ties_go_to_the_smaller_id_even_at_the_cut():
    index = TermIndex((i, ["a"]) for i in ("30", "4", "200", "5"))
    assert index.search(["a"], 2).ids == ["4", "5"]


@pytest.mark.parametrize("query", [[], ["zebra"], [""]])
def test_nothing_in_common_finds_nothing(query):
    assert TermIndex([("1", ["a"]), ("2", [])]).search(query, 5).ids == []
    assert TermIndex([]).search(query, 5).ids == []


def test_documents_added_later_score_as_if_they_had_been_there():
    """Given the statistics: number of documents, mean length, frequencies of terms."""
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(20)]
    drawn = [rng.choice(words, rng.integers(1, 30)).tolist() for _ in range(50)]
    documents = [(str(i), terms) for i, terms in enumerate(drawn)]
    documents[45][1].append("new")  # a term that the first ones do not have
    first = TermIndex(documents[:40])
    whole = TermIndex(documents, like=first)
    later = TermIndex(documents[40:], like=first)
    for query in (["w1", "w2", "w2"], ["new"], ["w3", "nowhere"]):
        found = dict([*first.search(query, 99), *later.search(query, 99)])
        assert found == dict(whole.search(query, 99))
    assert later.search(["new"], 5).ids == ["45"]


def test_only_what_is_allowed_is_returned(tmp_path):
    TermIndex((i, ["a"]) for i in "123").save(tmp_path)
    index = TermIndex.load(tmp_path)
    allowed = np.array([False, True, True])
    assert index.search(["a"], 1, allowed).ids == ["2"]


def test_an_index_of_an_earlier_version_names_the_command(tmp_path):
    (tmp_path / "ids.json").write_text("[]")
    with pytest.raises(MissingInputError, match="run `kedro run --pipelines indexing`"):
        TermIndex.load(tmp_path)


def test_nothing_is_printed_while_an_index_is_made(capsys):
    TermIndex([("1", ["prime", "number"]), ("2", ["even", "number"])])
    assert capsys.readouterr() == ("", "")
