"""What nodes read from texts, against a loop in float64."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.graph import DOCUMENT
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.text_input import TextInput

CONFIG = ModelConfig(
    hidden_dim=16, projection_dim=8, num_layers=2, num_bases=4, text_dim=12
)


@pytest.fixture
def texts(batch):
    torch.manual_seed(1)
    return replace(batch, text=torch.randn(batch.num_graphs, 12))


def find_documents(batch):
    """Graph to its document among the representatives."""
    ptr = batch.representative_ptr.tolist()
    return {
        g: row
        for g in range(batch.num_graphs)
        for row in range(ptr[g], ptr[g + 1])
        if batch.representative_kind[row] == DOCUMENT
    }


def test_terms_equal_a_loop(texts):
    module = TextInput(CONFIG)
    begin, finish = module.begin(texts), module.finish(texts)
    first = torch.zeros(texts.num_nodes, 16)
    last = torch.zeros(len(texts.representative), 8)
    found = find_documents(texts)
    assert found
    for graph, row in found.items():
        node = int(texts.representative[row])
        first[node] = module.start.weight @ texts.text[graph]
        last[row] = module.end.weight @ texts.text[graph]
    assert torch.allclose(begin, first, atol=1e-6)
    assert torch.allclose(finish, last, atol=1e-5)


def test_texts_of_length_one_keep_their_similarities_at_the_start():
    torch.manual_seed(0)
    module = TextInput(replace(CONFIG, text_dim=6, projection_dim=8))
    texts = torch.nn.functional.normalize(torch.randn(5, 6), dim=1)
    read = torch.nn.functional.normalize(module.end(texts), dim=1)
    assert torch.allclose(read @ read.T, texts @ texts.T, atol=1e-5)


def test_similarities_of_few_kinds_of_texts_need_few_numbers():
    torch.manual_seed(0)
    module = TextInput(replace(CONFIG, text_dim=40, projection_dim=8))
    kinds = torch.randn(3, 40)  # texts lie in three of forty dimensions
    texts = torch.nn.functional.normalize(torch.randn(50, 3) @ kinds, dim=1)

    def compare() -> float:
        read = torch.nn.functional.normalize(module.end(texts), dim=1).detach()
        return float((read @ read.T - texts @ texts.T).abs().max())

    assert compare() > 0.1
    module.fit(texts[:20])
    assert compare() < 1e-4


def test_a_zero_text_changes_nothing(batch):
    torch.manual_seed(0)
    model = MathAMRPlus(CONFIG, batch.schema)
    plain = MathAMRPlus(replace(CONFIG, text_dim=0), batch.schema)
    state = {k: v for k, v in model.state_dict().items() if not k.startswith("text.")}
    plain.load_state_dict(state)
    silent = replace(batch, text=torch.zeros(batch.num_graphs, 12))
    assert torch.allclose(model(silent), plain(batch), atol=1e-6)


def test_a_text_reaches_the_other_vectors_of_its_graph_alone(texts):
    torch.manual_seed(0)
    model = MathAMRPlus(CONFIG, texts.schema)
    other = texts.text.clone()
    other[0] = -other[0]
    changed = (model(texts) - model(replace(texts, text=other))).abs().amax(1) > 1e-6
    last = int(texts.representative_ptr[1])
    assert changed[:last].all()
    assert not changed[last:].any()


@pytest.mark.parametrize("width", [None, 7])
def test_graphs_without_the_texts_of_the_encoder_are_refused(batch, width):
    text = None if width is None else torch.zeros(batch.num_graphs, width)
    model = MathAMRPlus(CONFIG, batch.schema)
    with pytest.raises(MalformedInputError, match=r"preprocessing\.text_model"):
        model(replace(batch, text=text))


def test_a_negative_width_is_refused():
    with pytest.raises(ConfigurationError, match="text_dim"):
        ModelConfig(text_dim=-1)


def test_parameters_are_counted(batch):
    counts = MathAMRPlus(CONFIG, batch.schema).count_parameters()
    assert counts["texts"] == 12 * (16 + 8)
