"""The tables say where they come from, and what is written is what is read."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.amr.builtin.tables import (
    TABLES,
    Classifier,
    Models,
    Ranker,
    read_table,
)
from mathamr_kedro.base.errors import MissingInputError
from tools.amr_tables import corpora
from tools.amr_tables.fit import write_table
from tools.amr_tables.linear_fitting import pack_classifier, pack_ranker

NAMES = ("concepts", "lexicon", "memory", "names", "relations", "tops")
PROSE = Path(corpora.__file__).with_name("mathematical_prose.txt")


@pytest.mark.parametrize("name", NAMES)
def test_a_table_names_script_seed_corpora_and_model(name):
    provenance = read_table(TABLES, name)["provenance"]
    assert provenance["made_by"] == "python -m tools.amr_tables.fit"
    assert provenance["seed"] == 0
    assert set(provenance["training_sentences"]) == {"prose", "lpp", "qald9", "bio"}
    assert min(provenance["training_sentences"].values()) > 100
    assert all(re.fullmatch("[0-9a-f]{64}", d) for d in provenance["sha256"].values())
    assert provenance["dependency_model"].startswith("en_core_web_sm")


def test_the_tables_were_made_from_the_prose_that_is_here():
    digest = hashlib.sha256(PROSE.read_bytes()).hexdigest()
    table = read_table(TABLES, "memory")
    assert table["provenance"]["sha256"][PROSE.name] == digest
    sentences = list(corpora.read_corpus(PROSE))
    assert table["provenance"]["training_sentences"]["prose"] == len(sentences)


@pytest.mark.shared
def test_the_tables_were_made_from_the_shared_corpora(shared):
    checksums = read_table(TABLES, "relations")["provenance"]["sha256"]
    for path in (shared / "collection" / "amr").glob("*.txt*"):
        assert checksums[path.name] == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.shared
def test_nothing_of_the_test_split_was_learned(shared):
    """The memory knows the train split of the Little Prince, not its test split."""
    folder = shared / "collection" / "amr"
    counts = read_table(TABLES, "names")["provenance"]["training_sentences"]
    assert counts["lpp"] == len(corpora.read_split(folder, "lpp", "train"))


def test_the_tables_are_small():
    assert sum(file.stat().st_size for file in TABLES.iterdir()) < 5_000_000


def test_a_table_has_the_same_bytes_whenever_it_is_written(tmp_path):
    write_table(tmp_path / "a", "t", {"words": {"b": 1, "a": 2}}, {"seed": 0})
    write_table(tmp_path / "b", "t", {"words": {"a": 2, "b": 1}}, {"seed": 0})
    one, two = (tmp_path / folder / "t.json.gz" for folder in "ab")
    assert one.read_bytes() == two.read_bytes()
    assert read_table(tmp_path / "a", "t")["words"] == {"a": 2, "b": 1}


def test_weights_survive_packing():
    ranker = Ranker({"a": 0.5, "b": -1.25, "tiny": 0.001})
    assert Ranker.unpack(pack_ranker(ranker, 0.01)).features == {"a": 0.5, "b": -1.25}
    weights = np.array([[0, 0], [0.5, 0], [0, -2]], dtype=np.float32)
    classifier = Classifier(("x", "y"), {"a": 1, "b": 2}, weights)
    again = Classifier.unpack(pack_classifier(classifier, 0.01))
    assert again.labels == ("x", "y")
    np.testing.assert_allclose(again.weights, weights)


def test_a_missing_table_says_how_to_make_it(tmp_path):
    with pytest.raises(MissingInputError, match=r"tools\.amr_tables\.fit"):
        Models.load(tmp_path)


SCRIPT = """
from mathamr_kedro.amr.builtin.parser import BuiltinParser
from mathamr_kedro.amr.documents import parse_documents
from mathamr_kedro.amr.penman_io import format_graph
text = "Let FORMULA_0 be prime. If it divides FORMULA_1, use the Cauchy-Schwarz bound."
print(format_graph(parse_documents([text], BuiltinParser())[0].graph))
"""


@pytest.mark.slow
def test_another_process_gives_the_same_graph():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": ":".join(sys.path),
                "OMP_NUM_THREADS": "1",
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert "FORMULA_1" in outputs.pop()
