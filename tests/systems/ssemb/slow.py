"""SSEmb as its paper writes it: plain loops over one graph, one pair, one formula."""

from __future__ import annotations

import math

import numpy as np
import torch
from hypothesis import strategies as st

from mathamr_kedro.base.vocabulary import Vocabulary
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs import build_shared_graph
from mathamr_kedro.systems.ssemb.graphs import (
    MASK,
    GraphTable,
    GraphTableBuilder,
    count_labels,
)

LEAVES = ("V!x", "V!y", "V!z", "N!1", "N!2")
OPERATORS = ("U!plus", "U!times", "O!SUP", "O!divide", "O!eq")


def draw_trees(max_leaves=8):
    """Bracket strings of operator trees."""
    leaf = st.sampled_from(LEAVES).map(lambda label: f"[{label}]")

    def join(parts):
        operator, below = parts
        return f"[{operator}" + "".join(f",{i}{b}" for i, b in enumerate(below)) + "]"

    return st.recursive(
        leaf,
        lambda inner: st.tuples(
            st.sampled_from(OPERATORS), st.lists(inner, min_size=1, max_size=3)
        ).map(join),
        max_leaves=max_leaves,
    ).map(lambda text: FormulaTree.from_string(text, "opt"))


def lay_out(trees) -> tuple[GraphTable, Vocabulary]:
    builder = GraphTableBuilder()
    for tree in trees:
        builder.add(build_shared_graph(tree))
    vocabulary = count_labels(builder.counts, 1)
    return builder.finish(vocabulary), vocabulary


def split_batch(batch):
    """Graphs of a batch as (labels, edges), edges in their order."""
    found = []
    for start, end in zip(batch.ptr.tolist(), batch.ptr.tolist()[1:], strict=False):
        edges = [
            (a - start, b - start)
            for a, b in batch.edges.T.tolist()
            if start <= a < end
        ]
        found.append((batch.labels[start:end].tolist(), edges))
    return found


def list_levels(labels, edges, count):
    """Leaves, nodes above a leaf, nodes above those, ..."""
    level = [n for n in range(len(labels)) if all(a != n for a, _ in edges)]
    levels = [level]
    for _ in range(count - 1):
        level = sorted({a for a, b in edges if b in level})
        levels.append(level)
    return levels


def view_one(labels, edges, config, wildcards, draws):  # noqa: C901, PLR0912
    """All augmentations of one graph; ``draws`` are lists of numbers."""
    probabilities = config.substitution
    chosen = set()
    levels = list_levels(labels, edges, len(probabilities))
    for order, (probability, level) in enumerate(
        zip(probabilities, levels, strict=True)
    ):
        for node in level:
            if draws["substitution"][order][node] < probability:
                chosen.add(node)
    new = list(labels)
    for node in chosen:
        new[node] = wildcards[int(draws["wildcard"][node] * len(wildcards))]
    for node in range(len(new)):
        if draws["masking"][node] < config.attribute_masking:
            new[node] = MASK
    stays = [a not in chosen for a, _ in edges]
    kept, waiting = {0}, [0]
    while waiting:
        node = waiting.pop()
        for (a, b), there in zip(edges, stays, strict=True):
            if there and a == node and b not in kept:
                kept.add(b)
                waiting.append(b)
    for node in range(1, len(new)):
        if draws["dropping"][node] < config.node_dropping:
            kept.discard(node)
    ends = []
    for number, edge in enumerate(edges):
        if not stays[number]:
            continue
        fresh = tuple(int(draws["ends"][i][number] * len(new)) for i in (0, 1))
        moves = draws["perturbation"][number] < config.edge_perturbation
        ends.append(fresh if moves else edge)
    place = {old: n for n, old in enumerate(sorted(kept))}
    return (
        [new[old] for old in sorted(kept)],
        [(place[a], place[b]) for a, b in ends if a in kept and b in kept],
    )


def gin_one(model, labels, edges):
    """h of one graph: the sum of each layer's nodes, layer beside layer."""
    x = [model.embedding.weight[label].double() for label in labels]
    sums = []
    for layer in model.layers:
        out = []
        for v in range(len(x)):
            total = (1 + layer.epsilon.double()) * x[v]
            for a, b in edges:
                if a == v:
                    total = total + x[b]
                if b == v:
                    total = total + x[a]
            first, _, second = layer.mlp
            hidden = first.weight.double() @ total + first.bias.double()
            hidden = second.weight.double() @ hidden.clamp(min=0)
            hidden = (hidden + second.bias.double()).clamp(min=0)
            norm = layer.norm
            scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
            shifted = (hidden - norm.running_mean.double()) * scale
            out.append(shifted + norm.bias.double())
        x = out
        sums.append(torch.stack(x).sum(0))
    return torch.cat(sums).detach()


def info_nce_one_by_one(first, second, temperature):
    def cosine(a, b):
        dot = sum(p * q for p, q in zip(a, b, strict=True))
        return dot / math.sqrt(sum(p * p for p in a) * sum(q * q for q in b))

    total, n = 0.0, len(first)
    for i in range(n):
        right = math.exp(cosine(first[i], second[i]) / temperature)
        there = sum(math.exp(cosine(first[i], b) / temperature) for b in second)
        back = sum(math.exp(cosine(a, second[i]) / temperature) for a in first)
        total -= math.log(right / there) + math.log(right / back)
    return total / (2 * n)


def rank_one_by_one(instances, structure, texts, weight, candidates, depth):
    """Eq. 3 over instances (formula id, visual id, number of its text or -1)."""
    kept = sorted(structure.values(), reverse=True)[:candidates]
    best = {}
    for formula, visual, text in instances:
        if structure[visual] < kept[-1]:
            continue
        semantic = texts[text] if text >= 0 else 0.0
        score = weight * structure[visual] + (1 - weight) * semantic
        known = best.get(visual)
        if known is None or score > known[0] + 1e-12:
            best[visual] = (score, formula)
    ranked = sorted(best.values(), key=lambda f: (-round(f[0], 6), len(f[1]), f[1]))
    return [formula for _, formula in ranked[:depth]]


def to_lists(draws, nodes, edges):
    """Draws of one graph of a batch: its ranges of nodes and of edges."""
    a, b = nodes
    c, d = edges
    return {
        "substitution": draws.substitution[:, a:b].tolist(),
        "wildcard": draws.wildcard[a:b].tolist(),
        "masking": draws.masking[a:b].tolist(),
        "dropping": draws.dropping[a:b].tolist(),
        "perturbation": draws.perturbation[c:d].tolist(),
        "ends": draws.ends[:, c:d].tolist(),
    }


def chance(seed):
    return torch.Generator().manual_seed(seed)


def rows(count):
    return np.arange(count)
