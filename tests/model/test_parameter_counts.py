"""The parameters of Tables 4.14 and 4.20, as docs/experiments.md tells them."""

from __future__ import annotations

from mathamr_kedro.graph import GraphSchema
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from tests.conftest import PROJECT

TABLE_4_2 = GraphSchema(20_000, 266, 1, (262, 263, 264))
"""20,000 node types; 262 relations, four virtual ones, and the inverse of each."""


def count(**changes) -> int:
    model = MathAMRPlus(ModelConfig(**changes), TABLE_4_2)
    return model.count_parameters()["all"]


def test_page_tells_the_parameters_of_both_tables():
    small, large = count(), count(num_bases=256)
    page = (PROJECT / "docs/experiments.md").read_text(encoding="utf-8")
    assert TABLE_4_2.num_relations == 532
    assert small < large
    assert f"{small:,} with 64 bases and {large:,} with 256" in page


def test_rows_of_table_4_14_differ_as_in_the_thesis():
    zero = count(virtual_init="zero")
    single = count(virtual_init="mean_projection") - zero
    typed = count(virtual_init="mean_typed_projection") - zero
    assert (single, typed) == (4_160, 12_480)
    assert round((7_917_000 + single) / 1e6, 3) == 7.921
    assert round((7_917_000 + typed) / 1e6, 3) == 7.929
