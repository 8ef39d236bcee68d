"""Ragged MaxSim against a double loop and its padded twin."""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model.maxsim import (
    best_products,
    maxsim,
    padded_maxsim,
    take_documents,
)


def draw(lengths, spare=0, width=16, seed=0):
    torch.manual_seed(seed)
    count = sum(lengths) + spare
    vectors = F.normalize(torch.randn(count, width, dtype=torch.float64), dim=1)
    ptr = F.pad(torch.tensor(lengths).cumsum(0), (1, 0)).int()
    return RaggedVectors(vectors.requires_grad_(), ptr)


def loop(queries, documents):
    """Eq. 3.4 and 3.7, one pair at a time."""

    def posts(p):
        ptr = p.ptr.tolist()
        return [p.vectors[a:b] for a, b in pairwise(ptr)]

    scores = [
        [sum(max(t @ s for s in d) for t in q) / len(q) for d in posts(documents)]
        for q in posts(queries)
    ]
    return torch.stack([torch.stack(row) for row in scores])


def gradients(scores, queries, documents):
    torch.manual_seed(9)
    weight = torch.randn(scores.shape, dtype=torch.float64).to(scores.dtype)
    return torch.autograd.grad(scores, [queries.vectors, documents.vectors], weight)


@pytest.fixture(params=["loop", "scatter"])
def _way(request, monkeypatch):
    """Run a test as a CPU finds partners, and as a GPU does."""
    home = "mathamr_kedro.model.maxsim"
    found = getattr(importlib.import_module(home), f"_find_by_{request.param}")
    monkeypatch.setattr(f"{home}._find_by_loop", found)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("spare", [0, 3])
def test_ragged_equals_loop_and_padded_twin(spare):
    queries, documents = (
        draw([3, 1, 5, 2], spare),
        draw([4, 1, 20, 2, 3], spare, seed=1),
    )
    mine = maxsim(queries, documents)
    for other in (loop(queries, documents), padded_maxsim(queries, documents)):
        assert torch.allclose(mine, other)
        pairs = zip(
            gradients(mine, queries, documents),
            gradients(other, queries, documents),
            strict=True,
        )
        assert all(torch.allclose(a, b) for a, b in pairs)
        mine = maxsim(queries, documents)


@pytest.mark.usefixtures("_way")
def test_small_chunks_change_nothing(monkeypatch):
    queries, documents = draw([3, 1, 5, 2]), draw([4, 1, 20, 2, 3], seed=1)
    whole = maxsim(queries, documents)
    expected = gradients(whole, queries, documents)
    # Parts would be needed for batches of gigabytes only.
    monkeypatch.setattr("mathamr_kedro.model.maxsim._CHUNK", 60)
    parts = maxsim(queries, documents)
    assert torch.allclose(whole, parts)
    pairs = zip(gradients(parts, queries, documents), expected, strict=True)
    assert all(torch.allclose(a, b) for a, b in pairs)


def test_one_vector_each_is_the_cosine():
    queries, documents = draw([1, 1, 1]), draw([1, 1], seed=1)
    expected = queries.vectors @ documents.vectors.T
    assert torch.allclose(maxsim(queries, documents), expected)


def test_maxsim_is_not_symmetric():
    queries, documents = draw([3, 2]), draw([4, 1], seed=1)
    there, back = maxsim(queries, documents), maxsim(documents, queries)
    assert not torch.allclose(there, back.T)


def test_padding_marks_real_vectors():
    posts = draw([2, 3])
    padded, is_real = posts.padded()
    assert padded.shape == (2, 3, 16)
    assert is_real.tolist() == [[True, True, False], [True, True, True]]
    assert torch.equal(padded[is_real], posts.vectors)


@pytest.mark.usefixtures("_way")
def test_of_equal_partners_the_first_learns():
    queries, documents = draw([2, 1], spare=1), draw([3, 2], seed=1)
    twins = documents.vectors.detach()[[0, 0, 1, 4, 3]].requires_grad_()
    products = best_products(queries, replace(documents, vectors=twins))
    for i, vector in enumerate(queries.vectors[:3].detach()):
        for j, (a, b) in enumerate(((0, 3), (3, 5))):
            best = max((vector @ twins[row]).item() for row in range(a, b))
            assert products[i, j].item() == pytest.approx(best)
    products.sum().backward()
    assert (twins.grad[1] == 0).all()


@pytest.mark.usefixtures("_way")
def test_best_products_sum_up_to_maxsim_with_its_gradients():
    queries, documents = draw([3, 1, 5], spare=2), draw([4, 1, 20, 2], 1, seed=1)
    products = best_products(queries, documents)
    mine = torch.stack([part.mean(0) for part in products.split([3, 1, 5])])
    scores = padded_maxsim(queries, documents)
    assert torch.allclose(mine, scores)
    pairs = zip(
        gradients(mine, queries, documents),
        gradients(scores, queries, documents),
        strict=True,
    )
    assert all(torch.allclose(a, b) for a, b in pairs)


@pytest.mark.usefixtures("_way")
def test_posts_may_stand_anywhere_among_the_vectors():
    both = draw([3, 1, 5, 2, 4], spare=2)
    queries = replace(both, ptr=both.ptr[:3])
    documents = replace(both, ptr=both.ptr[2:])
    apart = (
        RaggedVectors(both.vectors[a:b], ptr)
        for a, b, ptr in ((0, 4, both.ptr[:3]), (4, 15, both.ptr[2:] - 4))
    )
    expected = loop(*apart)
    mine = maxsim(queries, documents)
    assert torch.allclose(mine, expected)
    there, back = (
        torch.autograd.grad(scores.square().sum(), both.vectors)[0]
        for scores in (mine, expected)
    )
    assert torch.allclose(there, back)
    assert torch.allclose(maxsim(documents, queries), loop(documents, queries))


def test_document_vector_is_the_last_of_each_post():
    posts = draw([2, 3], spare=2)
    assert torch.equal(take_documents(posts), posts.vectors[[1, 4]])


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None
    or not (torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET")),
    reason="needs triton, and a GPU or TRITON_INTERPRET=1",
)
@pytest.mark.filterwarnings("ignore:Conversion of an array")
def test_kernels_equal_the_padded_twin():
    from mathamr_kedro.model.triton_maxsim import fused_maxsim

    device = "cuda" if torch.cuda.is_available() else "cpu"
    queries, documents = draw([3, 1, 5], 2), draw([4, 70, 2, 3], 3, seed=1)
    truth = padded_maxsim(queries, documents)
    expected = gradients(truth, queries, documents)
    q, d = (
        replace(
            p,
            vectors=p.vectors.detach().float().to(device).requires_grad_(),
            ptr=p.ptr.to(device),
        )
        for p in (queries, documents)
    )
    mine = fused_maxsim(q.vectors, q.ptr, d.vectors, d.ptr, "fp32")
    assert torch.allclose(mine.double().cpu(), truth, atol=1e-6)
    torch.manual_seed(9)
    weight = torch.randn(mine.shape, dtype=torch.float64).float().to(device)
    got = torch.autograd.grad(mine, [q.vectors, d.vectors], weight)
    for a, b in zip(got, expected, strict=True):
        assert torch.allclose(a.double().cpu(), b, atol=1e-6)
