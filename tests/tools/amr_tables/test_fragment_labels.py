import pytest

from mathamr_kedro.amr.builtin.fragments import Fragment
from tools.amr_tables.fragment_labels import format_fragment


@pytest.mark.parametrize(
    "label",
    [
        "set",
        "(happy-01* :polarity -)",
        "(person :ARG0-of (teach-01*))",
        "(have-degree-91 :ARG2 (big*) :ARG3 (more))",
    ],
)
def test_a_label_is_written_as_it_is_read(label):
    assert format_fragment(Fragment.read(label)) == label
