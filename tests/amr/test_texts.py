import pickle

import pytest

from mathamr_kedro.amr.documents import ParserSettings
from mathamr_kedro.amr.graphs import ParseFailure
from mathamr_kedro.amr.parsers import ParsedText, ParseTexts
from mathamr_kedro.amr.penman_io import read_graph
from mathamr_kedro.base.errors import ConfigurationError


def test_texts_become_penman():
    parsed, empty = ParseTexts()(["Prove FORMULA_0. It holds.", " "])
    assert isinstance(parsed, ParsedText)
    assert "FORMULA_0" in read_graph(parsed.graph).nodes.values()
    assert (parsed.missing, parsed.failures) == ((), ())
    assert isinstance(empty, ParseFailure)
    assert empty.reason == "empty_text"


def test_the_function_travels_without_its_parser():
    function = ParseTexts()
    function.prepare()
    assert pickle.loads(pickle.dumps(function)) == function
    assert len(pickle.dumps(function)) < 2_000


class Broken:
    """A parser whose model vanished in the middle of a run."""

    name = "broken"
    calls = 0

    def parse_chunks(self, chunks):
        self.calls += 1
        raise ConfigurationError("the worker does not start any more")


class BrokenConfig(ParserSettings):
    """What another parser needs besides: its settings."""

    name = "broken"

    def __init__(self):
        self.parser = Broken()

    def describe(self):
        return {"parser": self.name}

    def open(self):
        return self.parser


def test_a_parser_that_can_parse_nothing_stops_the_run():
    broken = BrokenConfig()
    with pytest.raises(ConfigurationError, match="does not start any more"):
        ParseTexts(broken)(["One.", "Two.", "Three."])
    assert broken.parser.calls == 1
