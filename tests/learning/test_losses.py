"""Losses against their equations."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.learning.losses import (
    INITIAL_TEMPERATURE,
    ContrastiveLoss,
    LossConfig,
    formula_nce,
)
from mathamr_kedro.model.losses import info_nce
from mathamr_kedro.model.maxsim import padded_maxsim, take_documents

FORMULA, SENTENCE, DOCUMENT = range(3)


def draw(posts, seed=0):
    """posts: a list of (kind, label) per post; a vector is drawn for each."""
    torch.manual_seed(seed)
    flat = [item for post in posts for item in post]
    vectors = F.normalize(torch.randn(len(flat), 16), dim=1).requires_grad_()
    ptr = F.pad(torch.tensor([len(p) for p in posts]).cumsum(0), (1, 0)).int()
    kind, label = torch.tensor(flat, dtype=torch.int32).T
    row = torch.arange(len(flat)).int()
    return RaggedVectors(vectors, ptr, {"kind": kind, "label": label, "row": row})


def pairs():
    queries = draw([
        [(FORMULA, 7), (FORMULA, 8), (DOCUMENT, 0)],
        [(SENTENCE, 0), (DOCUMENT, 0)],
        [(FORMULA, 9), (DOCUMENT, 0)],
    ])  # fmt: skip
    documents = draw([
        [(FORMULA, 7), (FORMULA, 7), (DOCUMENT, 0)],
        [(FORMULA, 8), (DOCUMENT, 0)],
        [(FORMULA, 5), (SENTENCE, 0), (DOCUMENT, 0)],
    ], seed=1)  # fmt: skip
    return queries, documents


def slow_nce(scores, tau):
    """Eq. 3.6."""
    total = 0.0
    for i in range(len(scores)):
        terms = [math.exp(s / tau) for s in scores[i].tolist()]
        total -= math.log(terms[i] / sum(terms))
    return total / len(scores)


def loss_of(config, queries, documents):
    return ContrastiveLoss(config)(queries, documents).loss.item()


def same_post(posts, number, other):
    """Give a post the rows, and so the name, of another one."""
    row = posts.columns["row"].clone()
    row[posts.ptr[number + 1] - 1] = row[posts.ptr[other + 1] - 1]
    return replace(posts, columns={**posts.columns, "row": row})


@pytest.mark.parametrize("both_directions", [False, True])
def test_other_right_documents_of_a_query_are_no_negatives(both_directions):
    queries, documents = pairs()
    tau = torch.tensor(INITIAL_TEMPERATURE)
    config = LossConfig("single_vector", both_directions=both_directions)
    scores = take_documents(queries) @ take_documents(documents).T

    def slow(left_out):
        kept = scores.detach().clone()
        for place in left_out:
            kept[place] = -1e4
        return info_nce(kept, tau, symmetric=both_directions).item()

    plain = loss_of(config, queries, documents)
    assert plain == pytest.approx(slow([]), rel=1e-5)
    again = loss_of(config, same_post(queries, 2, 0), documents)
    assert again == pytest.approx(slow([(0, 2), (2, 0)]), rel=1e-5)
    shared = loss_of(config, queries, same_post(documents, 1, 0))
    assert shared == pytest.approx(slow([(0, 1), (1, 0)]), rel=1e-5)
    assert again < plain
    assert shared < plain


def test_maxsim_loss_uses_normalised_scores():
    queries, documents = pairs()
    expected = slow_nce(padded_maxsim(queries, documents), 0.05)
    assert loss_of(LossConfig(), queries, documents) == pytest.approx(
        expected, rel=1e-4
    )


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_document_loss_is_mixed_in_by_beta(beta):
    queries, documents = pairs()
    multi = slow_nce(padded_maxsim(queries, documents), 0.05)
    single = slow_nce(take_documents(queries) @ take_documents(documents).T, 0.05)
    expected = beta * multi + (1 - beta) * single
    config = LossConfig(beta=beta)
    assert loss_of(config, queries, documents) == pytest.approx(expected, rel=1e-4)


def test_single_vector_objective_uses_documents_alone():
    queries, documents = pairs()
    expected = slow_nce(take_documents(queries) @ take_documents(documents).T, 0.05)
    config = LossConfig(objective="single_vector")
    assert loss_of(config, queries, documents) == pytest.approx(expected, rel=1e-4)


def test_temperature_is_learned_as_exp_t():
    queries, documents = pairs()
    loss = ContrastiveLoss(LossConfig())
    tau = INITIAL_TEMPERATURE
    assert loss.temperature.item() == pytest.approx(tau)
    loss(queries, documents).loss.backward()
    step = 1e-3
    scores = padded_maxsim(queries, documents)
    up, down = (slow_nce(scores, tau * math.exp(s)) for s in (step, -step))
    slope = (up - down) / (2 * step)
    assert loss.log_temperature.grad.item() == pytest.approx(slope, rel=1e-3)


def test_accuracy_counts_right_first_places():
    queries, documents = pairs()
    value = ContrastiveLoss(LossConfig())(queries, documents)
    first = padded_maxsim(queries, documents).argmax(1)
    expected = (first == torch.arange(3)).float().mean()
    assert value.accuracy == expected
    assert ContrastiveLoss(LossConfig())(queries, queries).accuracy == 1


def test_further_documents_are_negatives():
    queries, documents = pairs()
    first_two = replace(queries, ptr=queries.ptr[:3])
    expected = slow_nce(padded_maxsim(first_two, documents), 0.05)
    assert loss_of(LossConfig(), first_two, documents) == pytest.approx(
        expected, rel=1e-4
    )


def test_formulas_of_a_pair_that_look_the_same_attract():
    queries, documents = pairs()
    tau = torch.tensor(1.0)
    mine = formula_nce(queries, documents, tau)
    # Only formula 7 of query 0 is in its document, twice; the others there are
    # formulas 8 and 5. Formula 8 is in another pair, formula 9 nowhere.
    terms = (queries.vectors @ documents.vectors.T / tau)[0].exp()
    positive = terms[0] + terms[1]
    expected = -torch.log(positive / (positive + terms[3] + terms[5]))
    assert mine.item() == pytest.approx(expected.item(), rel=1e-4)


def slow_formula_nce(queries, documents):
    """Loop over formulas, at temperature 1."""

    def formulas(posts):
        kinds, labels = posts.columns["kind"], posts.columns["label"]
        return [
            (i, int(labels[v]), posts.vectors[v])
            for i in range(len(posts))
            for v in range(int(posts.ptr[i]), int(posts.ptr[i + 1]))
            if kinds[v] == FORMULA and labels[v] > 0
        ]

    losses = []
    for pair, label, vector in formulas(queries):
        terms = [
            (other == pair, label == theirs, math.exp((vector @ v).item()))
            for other, theirs, v in formulas(documents)
        ]
        top = sum(e for mine, equal, e in terms if mine and equal)
        below = top + sum(e for _, equal, e in terms if not equal)
        if top:
            losses.append(-math.log(top / below))
    return sum(losses) / len(losses)


def test_formula_loss_equals_its_slow_twin():
    queries = draw([
        [(FORMULA, 7), (FORMULA, 8), (FORMULA, 0), (DOCUMENT, 0)],
        [(FORMULA, 0), (DOCUMENT, 0)],
        [(FORMULA, 9), (SENTENCE, 0)],
    ])  # fmt: skip
    documents = draw([
        [(FORMULA, 7), (FORMULA, 6), (FORMULA, 0)],
        [(FORMULA, 8), (FORMULA, 7)],
        [(SENTENCE, 0), (DOCUMENT, 0)],
        [(FORMULA, 9), (FORMULA, 0)],
    ], seed=1)  # fmt: skip
    mine = formula_nce(queries, documents, torch.tensor(1.0)).item()
    expected = slow_formula_nce(queries, documents)
    assert mine == pytest.approx(expected, rel=1e-5)


def test_equal_formula_of_another_pair_is_no_negative():
    queries = draw([[(FORMULA, 7)], [(FORMULA, 7)]])
    documents = draw([[(FORMULA, 7)], [(FORMULA, 7)]], seed=1)
    loss = formula_nce(queries, documents, torch.tensor(0.1))
    assert loss.item() == pytest.approx(0, abs=1e-6)


def test_formula_loss_without_partners_is_zero_with_zero_gradient():
    queries, documents = draw([[(FORMULA, 1)]]), draw([[(FORMULA, 2)]], seed=1)
    loss = formula_nce(queries, documents, torch.tensor(0.1))
    loss.backward()
    assert loss.item() == 0
    assert not queries.vectors.grad.any()


def test_formulas_before_the_first_post_do_not_count():
    """Documents follow the queries of their batch, in one tensor."""
    queries, documents = pairs()
    tau = torch.tensor(1.0)
    expected = formula_nce(queries, documents, tau)
    both = RaggedVectors.join([queries, documents])
    behind = replace(both, ptr=documents.ptr + len(queries.vectors))
    assert formula_nce(queries, behind, tau).item() == pytest.approx(expected.item())


def test_formula_weight_adds_the_formula_loss():
    queries, documents = pairs()
    plain = loss_of(LossConfig(), queries, documents)
    weighted = loss_of(LossConfig(formula_weight=0.5), queries, documents)
    extra = formula_nce(queries, documents, torch.tensor(0.05)).item()
    assert weighted == pytest.approx(plain + 0.5 * extra, rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beta": 1.5}, "beta of at least 0 and at most 1"),
        ({"formula_weight": -1.0}, "formula_weight of at least 0"),
    ],
)
def test_impossible_losses_are_refused(changes, message):
    with pytest.raises(ConfigurationError, match=message):
        LossConfig(**changes)


def test_limits_of_losses_are_allowed():
    for beta in (0.0, 1.0):
        assert LossConfig(beta=beta).beta == beta
    assert LossConfig().formula_weight == 0.0
    for changes in ({"beta": 1.01}, {"beta": -0.01}):
        with pytest.raises(ConfigurationError):
            LossConfig(**changes)


@pytest.mark.parametrize(
    ("objective", "beta", "maxsim", "documents"),
    [
        ("maxsim", 1.0, True, False),
        ("maxsim", 0.5, True, True),
        ("maxsim", 0.0, False, True),
        ("single_vector", 1.0, False, True),
        ("single_vector", 0.0, False, True),
    ],
)
def test_a_loss_says_what_it_compares(objective, beta, maxsim, documents):
    config = LossConfig(objective, beta=beta)
    assert (config.uses_maxsim, config.needs_documents) == (maxsim, documents)
