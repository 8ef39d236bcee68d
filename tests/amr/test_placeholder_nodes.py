import pytest

from mathamr_kedro.amr.graphs import restore_placeholders
from mathamr_kedro.amr.penman_io import format_graph, read_graph


@pytest.mark.parametrize(
    ("parsed", "expected"),
    [
        ("(f / formula_0)", "(f / FORMULA_0)"),
        ('(s / set :quant "FORMULA_1")', "(s / set :quant (formula0 / FORMULA_1))"),
        ('(p / person :name (n / name :op1 "FORMULA_0"))', "(p / FORMULA_0)"),
        (  # a name of several words is a name that holds a formula
            '(t / thing :name (n / name :op1 "Lemma" :op2 "FORMULA_0"))',
            '(t / thing :name (n / name :op1 "Lemma" :op2 (formula0 / FORMULA_0)))',
        ),
        (
            '(p / prove-01 :ARG1 (t / thing :name (n / name :op1 "FORMULA_3") :mod '
            "(e / even-02)))",
            "(p / prove-01 :ARG1 (t / FORMULA_3 :mod (e / even-02)))",
        ),
        ("(s / set :ARG0 (formula0 / map) :op1 FORMULA_2)",
         "(s / set :ARG0 (formula0 / map) :op1 (formula0x / FORMULA_2))"),
        ("(s / set :mod formula)", "(s / set :mod formula)"),
    ],
)  # fmt: skip
def test_every_placeholder_becomes_a_node(parsed, expected):
    restored = restore_placeholders(read_graph(parsed))
    assert format_graph(restored, indent=None) == expected


def test_a_shared_name_stays():
    text = (
        "(a / and :op1 (t / thing :name (n / name :op1 FORMULA_0)) "
        ":op2 (p / person :name n))"
    )
    restored = restore_placeholders(read_graph(text))
    assert sorted(restored.nodes.values()) == [
        "FORMULA_0", "and", "name", "person", "thing",
    ]  # fmt: skip
