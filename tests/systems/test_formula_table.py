"""Formulas of an index against lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.systems.formula_table import FormulaTable

ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(-8, 8).map(lambda n: n / 8)), max_size=14
)


def write(folder, visuals):
    formulas = [
        FormulaInstance(f"{7 * n}", f"v{visual}", f"p{n % 3}", f"x^{n}")
        for n, visual in enumerate(visuals)
    ]
    path = folder / "formulas.arrays"
    FormulaTable.write(path, formulas, text=np.arange(len(formulas)))
    return FormulaTable(path), formulas


@given(ROWS, st.integers(1, 9), st.randoms())
def test_each_visual_id_is_ranked_by_its_best_instance(
    tmp_path_factory, rows, depth, random
):
    table, formulas = write(tmp_path_factory.mktemp("t"), [v for v, _ in rows])
    chosen = random.sample(range(len(rows)), len(rows) // 2)
    ranked = sorted(
        chosen,
        key=lambda n: (-rows[n][1], len(formulas[n].formula_id),
                       formulas[n].formula_id),
    )  # fmt: skip
    expected, seen = [], set()
    for n in ranked:
        if rows[n][0] not in seen:
            seen.add(rows[n][0])
            expected.append(n)
    found = table.rank(
        np.array(chosen, dtype=np.int64),
        np.array([rows[n][1] for n in chosen]),
        depth,
    )
    best = expected[:depth]
    assert found.ids == [formulas[n].formula_id for n in best]
    assert found.scores.tolist() == [rows[n][1] for n in best]
    assert found.visual_ids == [formulas[n].visual_id for n in best]
    assert found.post_ids == [formulas[n].post_id for n in best]


def test_formulas_come_back_and_are_found(tmp_path):
    table, formulas = write(tmp_path, [0, 1, 0, 2])
    assert table.take(range(4)) == formulas
    assert table.numbers["text"].tolist() == [0, 1, 2, 3]
    assert table.find("14") == [formulas[2]]
    assert table.find("p0") == [formulas[0], formulas[3]]
    assert table.find("nobody") == []
    assert table.find_visuals(["v0", "v9"]).tolist() == [0, 2]
