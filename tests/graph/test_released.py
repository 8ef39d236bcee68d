import json

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.graph.blocks import LabelCounts, Vocabularies
from mathamr_kedro.graph.builder import CONCEPT
from mathamr_kedro.graph.released import (
    ReleasedEncoder,
)
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    NodeVocabulary,
    RelationVocabulary,
    VocabularyConfig,
)

TYPES = NodeVocabulary.build({"set": 9, "prove-01": 4}, size=8, rare_below=5)
ROLES = RelationVocabulary.build({"ARG0": 3})


@pytest.fixture
def folder(tmp_path):
    ReleasedEncoder.write_vocabularies(tmp_path / "mine", TYPES, ROLES, GraphVariant())
    return tmp_path / "mine"


def test_vocabularies_come_back(folder):
    types, relations = ReleasedEncoder(str(folder)).load_vocabularies(GraphVariant())
    assert types.names == TYPES.names
    assert relations.names == ROLES.names


def test_another_variant_is_refused(folder):
    with pytest.raises(ConfigurationError, match=r"preprocessing\.graph"):
        ReleasedEncoder(str(folder)).load_vocabularies(GraphVariant(formula_mode="opt"))


def test_unknown_name_is_refused():
    with pytest.raises(MissingInputError, match="no_such_encoder"):
        ReleasedEncoder("no_such_encoder")


def test_a_source_takes_the_place_of_counting(folder):
    labels = {(CONCEPT, "group"): 3, (CONCEPT, "set"): 1}
    counts = LabelCounts(1, labels, {"mod": 2})
    made = Vocabularies.build(counts, VocabularyConfig(source=str(folder)))
    assert made.types.names == TYPES.names
    assert made.relations.names == ROLES.names
    # Three of four nodes are groups, which the encoder does not know.
    assert made.report.coverage == pytest.approx(0.25)


def test_an_encoder_without_a_note_saw_all_sentences_below_the_root(folder):
    note = folder / "graph.json"
    values = json.loads(note.read_text())
    assert values.pop("sentence_roots") == "chunks"
    note.write_text(json.dumps(values))
    encoder = ReleasedEncoder(str(folder))
    assert encoder.load_vocabularies(GraphVariant(sentence_roots="document"))
    with pytest.raises(ConfigurationError, match="'sentence_roots': 'document'"):
        encoder.load_vocabularies(GraphVariant())
