"""All backends compute one convolution, in value and gradients."""

from __future__ import annotations

import copy
import importlib.util
import os

import pytest
import torch
from torch_geometric.nn import RGCNConv

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.model.backends import choose_backend
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.reference_backend import ReferenceBackend
from mathamr_kedro.model.row_plan import RowPlan

# Blocks are chosen on GPUs; here they are compared with the reference on any machine.
from mathamr_kedro.model.torch_backend import TorchBackend, _BlockProducts, _SortedRows

HIDDEN = 16


def draw_layer(batch, dtype, seed=0):
    """x, weight, root, bias, shift"""
    torch.manual_seed(seed)
    n, r = batch.num_nodes, batch.schema.num_relations
    shapes = (
        (n, HIDDEN),
        (r, HIDDEN, HIDDEN),
        (HIDDEN, HIDDEN),
        (HIDDEN,),
        (r, HIDDEN),
    )
    drawn = [torch.randn(s, dtype=torch.float64) for s in shapes]
    return [t.to(dtype).requires_grad_() for t in drawn]


def run(backend, graph, layer):
    """The output and all gradients of a fixed weighted sum of it."""
    out = backend.convolve(*layer, graph)
    torch.manual_seed(7)
    grad = torch.randn(out.shape, dtype=torch.float64).to(out)
    inputs = [t for t in layer if t is not None]
    return [out, *torch.autograd.grad(out, inputs, grad)]


def largest_error(mine, truth):
    errors = [
        ((a.double().cpu() - b).norm() / b.norm()).item()
        for a, b in zip(mine, truth, strict=True)
    ]
    return max(errors)


@pytest.fixture
def keep(batch):
    torch.manual_seed(1)
    return torch.rand(2 * batch.source.numel()) > 0.3


@pytest.fixture
def truth(batch, keep):
    reference = ReferenceBackend()
    layer = draw_layer(batch, torch.float64)
    return run(reference, reference.prepare(batch, keep), layer)


def test_reference_equals_pyg(batch):
    x, weight, root, bias, _ = draw_layer(batch, torch.float64)
    conv = RGCNConv(HIDDEN, HIDDEN, batch.schema.num_relations).double()
    with torch.no_grad():
        conv.weight.copy_(weight)
        conv.root.copy_(root)
        conv.bias.copy_(bias)
    source, target, relation = batch.list_edges()
    theirs = conv(x, torch.stack([source, target]), relation)
    reference = ReferenceBackend()
    mine = reference.convolve(x, weight, root, bias, None, reference.prepare(batch))
    assert torch.allclose(mine, theirs, atol=1e-12)


def test_edge_attributes_are_added_to_neighbours_before_the_product(batch):
    x, weight, root, bias, _ = draw_layer(batch, torch.float64)
    vectors = torch.randn(len(weight), HIDDEN, dtype=torch.float64)
    shift = torch.einsum("rd,rde->re", vectors, weight)
    reference = ReferenceBackend()
    graph = reference.prepare(batch)
    mine = reference.convolve(x, weight, root, bias, shift, graph)
    expected = x @ root + bias
    for (i, r), neighbours in graph.items():
        messages = [(x[j] + vectors[r]) @ weight[r] for j in neighbours]
        expected = expected.index_add(
            0, torch.tensor([i]), torch.stack(messages).mean(0, keepdim=True)
        )
    assert torch.allclose(mine, expected, atol=1e-10)


@pytest.mark.parametrize("shifted", [True, False])
def test_torch_loop_equals_the_reference(batch, keep, shifted):
    layers = {d: draw_layer(batch, d) for d in (torch.float32, torch.float64)}
    if not shifted:
        layers = {d: [*layer[:4], None] for d, layer in layers.items()}
    reference, backend = ReferenceBackend(), TorchBackend()
    truth = run(reference, reference.prepare(batch, keep), layers[torch.float64])
    mine = run(backend, backend.prepare(batch, keep), layers[torch.float32])
    assert largest_error(mine, truth) < 1e-6


def test_torch_blocks_equal_the_reference(batch, keep, truth):
    plan, relations = RowPlan.of_batch(batch, keep).number_present()
    graph = _SortedRows(plan, _BlockProducts(plan), relations)
    mine = run(TorchBackend(), graph, draw_layer(batch, torch.float32))
    assert largest_error(mine, truth) < 1e-6


def test_bfloat16_products_stay_near_the_reference(batch, keep, truth):
    backend = TorchBackend("bf16")
    mine = run(backend, backend.prepare(batch, keep), draw_layer(batch, torch.float32))
    assert 1e-4 < largest_error(mine, truth) < 2e-2


def test_graphs_without_virtual_nodes_are_convolved(flat_shards):
    batch = flat_shards.assemble([0, 1, 2])
    reference, backend = ReferenceBackend(), TorchBackend()
    truth = run(reference, reference.prepare(batch), draw_layer(batch, torch.float64))
    mine = run(backend, backend.prepare(batch), draw_layer(batch, torch.float32))
    assert largest_error(mine, truth) < 1e-6


def test_results_repeat_bit_by_bit(batch, keep):
    backend = TorchBackend()
    one, two = (
        run(backend, backend.prepare(batch, keep), draw_layer(batch, torch.float32))
        for _ in range(2)
    )
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def test_each_graph_of_a_batch_is_on_its_own(shards):
    backend = TorchBackend()
    together = shards.assemble([0, 1])
    alone = shards.assemble([1])
    layer = draw_layer(together, torch.float32)
    out = backend.convolve(*layer, backend.prepare(together))
    n = alone.num_nodes
    second = [layer[0][-n:], *layer[1:]]
    mine = backend.convolve(*second, backend.prepare(alone))
    assert torch.allclose(out[-n:], mine, atol=1e-5)


def test_cpu_takes_the_torch_backend():
    cpu = torch.device("cpu")
    assert choose_backend("auto", "fp32", cpu, 64).name == "torch"
    assert choose_backend("reference", "fp32", cpu, 64).name == "reference"
    assert ComputeConfig(device="cpu").choose_device() == cpu


def test_triton_refuses_other_widths():
    with pytest.raises(ConfigurationError, match=r"one of \[16, 32, 64, 128\]"):
        choose_backend("triton", "fp32", torch.device("cpu"), 48)


def test_missing_triton_is_named(monkeypatch):
    monkeypatch.setattr("mathamr_kedro.model.backends.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="package triton"):
        choose_backend("triton", "fp32", torch.device("cpu"), 64)


needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None
    or not (torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET")),
    reason="needs triton, and a GPU or TRITON_INTERPRET=1",
)


@pytest.fixture
def triton_backend():
    from mathamr_kedro.model.triton_backend import TritonBackend

    return TritonBackend()


@needs_triton
@pytest.mark.filterwarnings("ignore:Conversion of an array")
@pytest.mark.parametrize("shifted", [True, False])
def test_triton_convolution_equals_the_reference(shards, triton_backend, shifted):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch = shards.assemble([0, 1])
    torch.manual_seed(1)
    keep = torch.rand(2 * batch.source.numel()) > 0.3
    layers = {d: draw_layer(batch, d) for d in (torch.float32, torch.float64)}
    if not shifted:
        layers = {d: [*layer[:4], None] for d, layer in layers.items()}
    reference = ReferenceBackend()
    truth = run(reference, reference.prepare(batch, keep), layers[torch.float64])
    graph = triton_backend.prepare(batch.to(device), keep.to(device))
    layer = [
        t if t is None else t.detach().to(device).requires_grad_()
        for t in layers[torch.float32]
    ]
    mine = run(triton_backend, graph, layer)
    assert largest_error(mine, truth) < 2e-6


@needs_triton
@pytest.mark.filterwarnings("ignore:Conversion of an array")
@pytest.mark.parametrize("attributes", [True, False])
def test_fused_layers_equal_the_reference(shards, attributes):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    batch = shards.assemble([0, 1])
    torch.manual_seed(0)
    config = ModelConfig(
        HIDDEN, 16, num_layers=2, num_bases=3, edge_attributes=attributes
    )
    model = MathAMRPlus(config, shards.schema)
    torch.nn.init.normal_(model.encoder.norm_weight)
    torch.nn.init.normal_(model.encoder.bias)
    fused = copy.deepcopy(model).to(device)
    fused.set_compute(ComputeConfig(backend="triton"))
    mine = fused(batch.to(device))
    model.double().set_compute(ComputeConfig(backend="reference"))
    truth = model(batch)
    grad = torch.randn_like(truth)
    mine.backward(grad.float().to(device))
    truth.backward(grad)
    assert torch.allclose(mine.cpu().double(), truth, atol=2e-6)
    with torch.no_grad():
        assert torch.equal(fused(batch.to(device)), mine)
    for (name, p), q in zip(fused.named_parameters(), model.parameters(), strict=True):
        error = (p.grad.cpu().double() - q.grad).norm() / q.grad.norm()
        assert error < 2e-6, name


@needs_triton
@pytest.mark.filterwarnings("ignore:Conversion of an array")
@pytest.mark.parametrize("shorts", [7, 6])
def test_gradient_of_a_lookup_equals_that_of_torch(monkeypatch, shorts):
    from mathamr_kedro.model import triton_sums
    from mathamr_kedro.model.triton_sums import look_up_rows

    monkeypatch.setattr(triton_sums, "_LARGEST_SHORT", shorts)  # int16, int32
    rows = 7
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(2)
    index = torch.randint(0, 4, (700,), dtype=torch.int32)
    index[::100] = rows - 1  # the last row, and a gap before it
    table = torch.randn(rows, 16, dtype=torch.float64, requires_grad=True)
    grad = torch.randn(700, 16, dtype=torch.float64)
    torch.nn.functional.embedding(index, table).backward(grad)
    mine = table.detach().float().to(device).requires_grad_()
    found = look_up_rows(mine, index.to(device))
    assert torch.equal(found, mine[index.long().to(device)])
    found.backward(grad.float().to(device))
    assert largest_error([mine.grad.cpu().double()], [table.grad]) < 1e-6
