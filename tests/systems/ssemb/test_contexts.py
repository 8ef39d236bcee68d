"""Texts around formulas."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.systems.ssemb.config import RankingConfig
from mathamr_kedro.systems.ssemb.contexts import Contexts, Window


def make_post(pieces, latex):
    """A text in which words and formulas take turns."""
    text, mentions = "", []
    for number, piece in enumerate(pieces):
        text += piece
        if number < len(latex):
            name = f"FORMULA_{number}"
            spot = len(text), len(text) + len(name)
            mentions.append(
                FormulaMention(name, f"f{number}", "1", latex[number], *spot)
            )
            text += name
    return Post(
        "1", "answer", "1", None, None, None, None, (), "", text, tuple(mentions)
    )


def windows_of(size, length, step):
    """All windows of a text: as many as reach its end."""
    found = [(0, min(length, size))]
    while found[-1][1] < size:
        start = found[-1][0] + step
        found.append((start, min(start + length, size)))
    return found


@given(
    st.integers(0, 3000), st.integers(1, 800), st.integers(1, 800), st.integers(0, 3000)
)
def test_a_window_is_the_nearest_of_all(size, length, step, place):
    place = min(place, size)
    known = windows_of(size, length, step)
    start, end = Window.around(place, size, length, step)
    assert (start, end) in known

    def distance(window):
        return abs(window[0] + length / 2 - place)

    assert distance((start, end)) == min(map(distance, known))


@given(
    st.lists(st.text("ab c", max_size=30), min_size=1, max_size=6),
    st.lists(st.text("xy^2", min_size=1, max_size=12), max_size=5),
    st.integers(5, 40),
)
def test_contexts_are_parts_of_the_text_with_its_latex(pieces, latex, length):
    latex = latex[: len(pieces)]
    post = make_post(pieces, latex)
    whole = "".join(
        p + (f"${latex[i]}$" if i < len(latex) else "") for i, p in enumerate(pieces)
    )
    config = RankingConfig(context_length=length, context_step=length // 2)
    contexts = Contexts(config)
    found = dict(contexts.read(post))
    assert list(found) == [f"f{i}" for i in range(len(latex))]
    position = 0
    for number, formula in enumerate(latex):
        middle = position + len(pieces[number]) + (len(formula) + 2) // 2
        position += len(pieces[number]) + len(formula) + 2
        window = Window.around(middle, len(whole), length, length // 2)
        assert found[f"f{number}"] == whole[slice(*window)]
    assert contexts.read_first(post) == whole[:length]


def test_a_short_post_has_one_text_for_all_formulas():
    post = make_post(["let ", " and ", " be even"], ["x", "y"])
    found = dict(Contexts(RankingConfig()).read(post))
    assert set(found.values()) == {"let $x$ and $y$ be even"}
