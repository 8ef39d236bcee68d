"""The amrlib adapter against a module of the same interface."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.graphs import ParseFailure
from mathamr_kedro.amr.parsers import AmrlibConfig, AmrlibParser
from mathamr_kedro.base.errors import ConfigurationError

GRAPHS = {
    "See FORMULA_0.": "(s / see-01 :ARG1 (f / formula_0))",
    "So be it.": "(i / it)",
    "Broken.": "(b / break-01",
    "Lost.": None,
}


@pytest.fixture
def amrlib(monkeypatch):
    """A module that records how the model was loaded."""
    module = ModuleType("amrlib")

    class Model:
        def parse_sents(self, sentences, add_metadata=True):
            assert not add_metadata
            return [GRAPHS[sentence] for sentence in sentences]

    def load_stog_model(**how):
        if how["model_dir"] == "nowhere":
            raise OSError("no config.json")
        module.how = how
        return Model()

    module.load_stog_model = load_stog_model
    monkeypatch.setitem(sys.modules, "amrlib", module)
    return module


def test_sentences_of_a_chunk_are_merged(amrlib):
    parser = AmrlibParser(AmrlibConfig())
    both, one, part, none = parser.parse_chunks(
        [
            Chunk(("See FORMULA_0.", "So be it.")),
            Chunk(("So be it.",)),
            Chunk(("Broken.", "So be it.", "Lost.")),
            Chunk(("Broken.", "Lost.")),
        ]
    )
    assert both.nodes[both.top] == "multi-sentence"
    assert "FORMULA_0" in both.nodes.values()
    assert list(one.nodes.values()) == ["it"]
    assert list(part.nodes.values()) == ["it"]
    assert isinstance(none, ParseFailure)
    assert none.reason == "penman_error"
    assert "no graph for 'Lost.'" in none.detail
    assert amrlib.how == {
        "model_dir": None, "device": "cpu", "batch_size": 12, "num_beams": 4,
    }  # fmt: skip


def test_missing_weights_and_package_say_what_to_do(amrlib, monkeypatch):
    with pytest.raises(ConfigurationError, match="model_dir"):
        AmrlibParser(AmrlibConfig(model_dir="nowhere"))
    monkeypatch.setitem(sys.modules, "amrlib", None)
    with pytest.raises(ConfigurationError, match="pip install amrlib"):
        AmrlibParser(AmrlibConfig())
    with pytest.raises(ConfigurationError, match="at least one"):
        AmrlibConfig(devices=())
