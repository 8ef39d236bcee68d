"""Which formulas get trees, by the tables that they are in."""

from __future__ import annotations

from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.pipelines.ingestion.nodes import list_formulas


def test_formulas_of_texts_name_their_post_unless_the_index_has_them(tmp_path):
    own = FormulaMention("FORMULA_0", "7/0", "x^2", "x^2", 0, 9)
    known = FormulaMention("FORMULA_1", "12", "70", "y", 10, 19)
    text = "FORMULA_0 FORMULA_1"
    post = Post("7", "answer", "1", "1", None, None, 3, (), "", text, (own, known))
    dataset = ShardedTableDataset(filepath=str(tmp_path / "posts"), record="Post")
    dataset.save(Shard("posts-00000", "a", [post], {"written": 1}))
    dataset.save(EndOfShards("a"))
    table = dataset.load()
    (file,) = table.files()
    ids, read = list_formulas(table, file, False)
    assert ids == ["x^2"]
    (formula,) = read([0])
    assert (formula.formula_id, formula.post_id, formula.latex) == ("7/0", "7", "x^2")
