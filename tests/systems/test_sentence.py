"""Sentence encoders as systems, with an encoder that counts letters."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.checksums import list_damage
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.systems import Collection, make_baseline, sentence
from mathamr_kedro.systems.changes import Changes
from mathamr_kedro.systems.training import build_index
from tests.systems.test_bm25 import DATA, POSTS, ask, ask_formula


class Letters:
    """How often each of eight letters occurs."""

    def __init__(self, folder, device):
        self.folder, self.device = folder, device

    def encode(self, texts):
        rows = np.array([[1e-3 + t.count(c) for c in "aeinqrst"] for t in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def rank(tmp_path, monkeypatch):
    monkeypatch.setattr(sentence, "SentenceEncoder", Letters)
    (tmp_path / "config.json").write_text("{}")

    def rank(name, data, query, depth=1000, types=None):
        system, folder = make_baseline(name, str(tmp_path)), tmp_path / name
        if not folder.exists():
            folder.mkdir()
            system.index(data, folder, folder)
        (hits,) = system.open(data, folder, folder).rank([query], depth, types=types)
        return hits

    return rank


def test_posts_and_formulas_are_ranked(rank):
    query = ask("By FORMULA_0 the root is irrational", r"\sqrt{2}")
    hits = rank("text", DATA, query)
    assert hits.ids[0] == "2"
    assert hits.scores[0] == pytest.approx(1.0)
    assert rank("text", DATA, query, types=("document",)).ids == []
    found = rank("text", DATA, ask_formula(r"\sqrt{2}"), 2)
    assert (found.ids[0], found.visual_ids[0], len(found)) == ("3", "v1", 2)


def test_nothing_can_be_asked(rank):
    assert rank("text", Collection(), ask("x")).ids == []


@pytest.mark.parametrize(
    ("system", "near"), [("text_title", "qe"), ("text_question", "qte")]
)
def test_questions_are_added_to_the_vectors_of_answers(rank, system, near):
    question = POSTS[0]._replace(post_id="q", post_type="question", title="qqq")
    question = question._replace(text="qqqttt", formula_map=())
    answer = POSTS[0]._replace(post_id="a", parent_id="q", text="e", formula_map=())
    data = Collection(posts=lambda: [question, answer])
    found = {text: rank(system, data, ask(text)) for text in ("qe", "qte")}
    assert found["qe"].ids == ["a"]
    assert max(found, key=lambda text: found[text].scores[0]) == near


def test_the_title_of_a_question_ends_where_it_ends(rank):
    """A formula may be its last word, or the first of what follows."""
    mentions = tuple(
        FormulaMention(f"FORMULA_{n}", f"f{n}", f"v{n}", "qt"[n], at, at + 9)
        for n, at in ((0, 3), (1, 14))
    )
    question = POSTS[0]._replace(
        post_id="q", post_type="question", title="On FORMULA_0",
        text="On FORMULA_0\n\nFORMULA_1", formula_map=mentions,
    )  # fmt: skip
    answer = POSTS[0]._replace(post_id="a", parent_id="q", text="", formula_map=())
    data = Collection(posts=lambda: [question, answer])
    scores = {t: rank("text_title", data, ask(t)).scores[0] for t in ("qn", "qnt")}
    assert scores["qn"] > scores["qnt"]


def test_other_weights_of_an_adapter_get_another_index(tmp_path, monkeypatch):
    monkeypatch.setattr(sentence, "SentenceEncoder", Letters)
    monkeypatch.setattr(sentence, "find_text_model", lambda name: name)

    def build(name):
        return build_index(tmp_path, make_baseline(name), DATA)

    first = {name: build(name) for name in ("minilm", "mathamr_text")}
    assert first == {name: build(name) for name in first}
    monkeypatch.setattr(sentence, "identify_adapter", lambda name: "the next release")
    assert build("minilm") == first["minilm"]
    assert build("mathamr_text") != first["mathamr_text"]


def test_an_index_has_checksums_of_all_its_files(tmp_path):
    folder = build_index(tmp_path, make_baseline("bm25"), DATA)
    file = folder / "posts" / "starts.npy"
    assert list_damage(file.parent, "rebuild it") == []
    file.write_bytes(file.read_bytes()[::-1])
    (line,) = list_damage(file.parent, "rebuild it")
    assert str(file) in line and line.endswith("rebuild it")


def test_own_model_needs_its_folder():
    with pytest.raises(ConfigurationError, match=r"evaluation\.text_model.*'text'"):
        make_baseline("text")


def test_changed_posts_are_found_as_if_they_had_been_indexed(tmp_path, monkeypatch):
    """Slow twin: an index of the posts as they are now."""
    monkeypatch.setattr(sentence, "SentenceEncoder", Letters)
    (tmp_path / "config.json").write_text("{}")
    system = make_baseline("text", str(tmp_path))
    new = POSTS[0]._replace(post_id="n", post_type="document", text="tea")
    other = POSTS[1]._replace(text="sea, sea")
    added, deleted = {new.post_id: new, other.post_id: other}, [POSTS[0].post_id]
    opened = []
    for name, posts in (("old", POSTS), ("new", [new, other, *POSTS[2:]])):
        data, folder = Collection(posts=lambda posts=posts: posts), tmp_path / name
        folder.mkdir()
        system.index(data, folder, folder)
        opened.append(system.open(data, folder, folder))
    index, twin = opened
    for changes in (Changes({new.post_id: other}), Changes(deleted=frozenset("n"))):
        index.update(changes)
        index.rank([ask("tea")], 9)
    index.update(Changes(added, frozenset(deleted)))
    for text in ("tea", "sea", "irrational"):
        for types in (None, ("document",), ("answer",)):
            (found,), (wanted,) = (
                asked.rank([ask(text)], 9, types=types) for asked in (index, twin)
            )
            assert found.ids == wanted.ids
            assert found.scores == pytest.approx(wanted.scores)
