import json

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.graph.counting import LabelCounts, choose_vocabularies
from mathamr_kedro.graph.released import ReleasedEncoder
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    NodeVocabulary,
    RelationVocabulary,
    Vocabularies,
    VocabularyConfig,
)

TYPES = NodeVocabulary.build({"set": 9, "prove-01": 4}, size=8, rare_below=5)
ROLES = RelationVocabulary.build({"ARG0": 3})
KNOWN = Vocabularies(TYPES, ROLES)


@pytest.fixture
def folder(tmp_path):
    ReleasedEncoder.write_vocabularies(tmp_path / "mine", KNOWN, GraphVariant())
    return tmp_path / "mine"


def test_vocabularies_come_back(folder):
    found = ReleasedEncoder(str(folder)).load_vocabularies(GraphVariant())
    assert found.names == KNOWN.names


def test_another_variant_is_refused(folder):
    with pytest.raises(ConfigurationError, match=r"preprocessing\.graph"):
        ReleasedEncoder(str(folder)).load_vocabularies(GraphVariant(formula_mode="opt"))


def test_unknown_name_is_refused():
    with pytest.raises(MissingInputError, match="no_such_encoder"):
        ReleasedEncoder("no_such_encoder")


def test_a_source_takes_the_place_of_counting(folder):
    labels = {("concept", "group"): 3, ("concept", "set"): 1}
    counts = LabelCounts(1, labels, {"mod": 2})
    config = VocabularyConfig(source=str(folder))
    found, report = choose_vocabularies(counts, config, GraphVariant())
    assert found.names == KNOWN.names
    # Three of four nodes are groups, which the encoder does not know.
    assert report.coverage == pytest.approx(0.25)


def test_graphs_of_other_vocabularies_are_refused(folder):
    encoder = ReleasedEncoder(str(folder))
    encoder.check(KNOWN, GraphVariant())
    others = KNOWN._replace(types=NodeVocabulary.build({}, size=8, rare_below=5))
    with pytest.raises(ConfigurationError, match=r"preprocessing\.vocabulary\.source"):
        encoder.check(others, GraphVariant())


def test_an_encoder_without_a_note_saw_all_sentences_below_the_root(folder):
    note = folder / "graph.json"
    values = json.loads(note.read_text())
    assert values.pop("sentence_roots") == "chunks"
    note.write_text(json.dumps(values))
    encoder = ReleasedEncoder(str(folder))
    assert encoder.load_vocabularies(GraphVariant(sentence_roots="document"))
    with pytest.raises(ConfigurationError, match="'sentence_roots': 'document'"):
        encoder.load_vocabularies(GraphVariant())
