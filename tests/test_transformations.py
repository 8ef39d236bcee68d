"""Versions of transformations, each tied to what comes out for fixed examples.

Where outputs change, everything that was made before is outdated, and only another
version says so to existing data roots. So a test that fails here asks for two things:
raise the version that it names by one, and put the new version and checksum into
``OUTPUTS``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.amr import BuiltinConfig, ParseTexts
from mathamr_kedro.base.records import Formula, FormulaMention
from mathamr_kedro.corpus import PostCleaner
from mathamr_kedro.corpus.extraction import VERSION as CLEANER_VERSION
from mathamr_kedro.corpus.raw import RawPost
from mathamr_kedro.formula.tree_store import VERSION as TREES_VERSION
from mathamr_kedro.graph import (
    BuildBlocks,
    CheckRecords,
    FusedRecord,
    GraphRecord,
    GraphVariant,
    ShardFacts,
    StoredTrees,
)
from mathamr_kedro.graph.shards.layout import VERSION as LAYOUT_VERSION
from mathamr_kedro.graph.shards.writer import BlockWriter
from tests.formula.batches import build_batch

BODIES = [
    "<p>Why is <span class='math-container' id='7'>$\\sqrt{2}$</span> irrational?</p>",
    "<p>Let $x^2+1=0$ &amp; <b>solve</b> it.</p><pre>code</pre><ul><li>one</li></ul>",
    "<p>A sum: $$\\sum_{i=1}^n i = \\frac{n(n+1)}{2}$$ Prove it.</p><!-- no -->",
    r"<p>Case $\left\{ x \right.$ and $y$. \begin{tikzcd}A&B\end{tikzcd}</p>",
]
LATEX = [
    "x^2",
    r"\frac{a+b}{2}",
    r"\int_0^1 f(x)\,dx = \sum_{i} a_i",
    r"\{x \mid x>0\}",
    r"\text{Supp}(\Spec R)",
    r"\xymatrix{ A \ar[r]^f & B }",
]
TEXTS = [
    "Why is FORMULA_0 irrational? I do not understand the proof.",
    "Let FORMULA_0 be a prime number. Then FORMULA_1 holds for every integer.",
    "He asked whether the function that she defined is continuous, but it was not.",
]
MENTIONS = (
    FormulaMention("FORMULA_0", "f0", "v0", "x^2+1", 0, 9),
    FormulaMention("FORMULA_1", "f1", "v1", r"\frac{a}{b}", 0, 9),
)
GRAPHS = [
    GraphRecord("1", "(p / prove-01 :ARG1 (f / FORMULA_0))", "question", MENTIONS),
    GraphRecord(
        "2",
        "(m / multi-sentence :snt1 (h / hold-01 :ARG1 (f / FORMULA_1)) "
        ":snt2 (e / even-01 :polarity -))",
        "answer",
        MENTIONS,
    ),
]


def clean(tmp_path: Path) -> object:
    cleaner = PostCleaner()
    head = ("Posts.xml", "line 1")
    raws = [
        RawPost(*head, str(n), "question", None, None, None, 1, ("a",), "A $t$", body)
        for n, body in enumerate(BODIES)
    ]
    return [cleaner(raw) for raw in raws]


def build_trees(tmp_path: Path) -> object:
    formulas = [
        Formula.of_mention(MENTIONS[0]._replace(visual_id=f"v{n}", latex=latex), "1")
        for n, latex in enumerate(LATEX)
    ]
    return build_batch(formulas, set)


def parse(tmp_path: Path) -> object:
    return ParseTexts()(TEXTS)


def fuse(tmp_path: Path) -> object:
    blocks = [record.format().strip() for record in GRAPHS]
    texts = [FusedRecord.read(r, StoredTrees(None)).write().format() for r in GRAPHS]
    facts = ShardFacts.of_records(CheckRecords(None)(blocks))
    return texts, facts.to_values()


def build(tmp_path: Path) -> object:
    block = BuildBlocks(None, GraphVariant())([GRAPHS])[0]
    arrays = {name: np.asarray(a).tolist() for name, a in block.files.items()}
    return block.keys, block.labels, block.roles, sorted(arrays.items())


def lay_out(tmp_path: Path) -> object:
    (block,) = BuildBlocks(None, GraphVariant())([GRAPHS])
    with BlockWriter(tmp_path / "posts", "", {"a": ""}) as writer:
        writer.append("a", block)
    files = sorted((tmp_path / "posts").glob("*.npy"))
    return [(file.name, file.read_bytes()) for file in files]


VERSIONS = {
    "corpus.extraction.VERSION": CLEANER_VERSION,
    "formula.tree_rows.VERSION": TREES_VERSION,
    "ParseTexts.VERSION or BuiltinConfig.VERSION": (
        ParseTexts.VERSION,
        BuiltinConfig.VERSION,
    ),
    "CheckRecords.VERSION": CheckRecords.VERSION,
    "BuildBlocks.VERSION": BuildBlocks.VERSION,
    "graph.shards.layout.VERSION": LAYOUT_VERSION,
}
OUTPUTS = {
    "corpus.extraction.VERSION": (clean, 8, "71e78743446bad3e"),
    "formula.tree_rows.VERSION": (build_trees, 2, "ea95fe5120fe674b"),
    "ParseTexts.VERSION or BuiltinConfig.VERSION": (
        parse, (1, 1), "909f6ee195896256",
    ),
    "CheckRecords.VERSION": (fuse, 2, "ca3fcfe2667a6852"),
    "BuildBlocks.VERSION": (build, 3, "6b27d1e9a15422e0"),
    "graph.shards.layout.VERSION": (lay_out, 3, "4ca6f4e17ba65a79"),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_change_with_their_version_alone(name, tmp_path):
    make, version, expected = OUTPUTS[name]
    found = hashlib.blake2b(repr(make(tmp_path)).encode(), digest_size=8).hexdigest()
    assert (VERSIONS[name], found) == (version, expected), (
        f"The outputs of {name} changed: raise it by one, and note the new version "
        f"and the digest {found!r} in OUTPUTS"
    )
