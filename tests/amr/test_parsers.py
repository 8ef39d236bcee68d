import dataclasses
import subprocess
import sys

import pytest

from mathamr_kedro.amr import parsers
from mathamr_kedro.amr.parsers import ParserConfig, make_parser
from mathamr_kedro.amr.transition import TransitionConfig
from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.files import fingerprint

BUILTIN = ParserConfig()


def test_identity_changes_with_what_the_graphs_depend_on():
    transition = ParserConfig("transition")
    slower = dataclasses.replace(
        transition, transition=TransitionConfig(devices=("cpu",), batch_size=1)
    )
    wider = dataclasses.replace(
        transition, transition=TransitionConfig(window_size=300)
    )
    assert transition.identity() == slower.identity()
    assert transition.identity() != wider.identity()
    assert len(BUILTIN.identity()["digest"]) == 16
    assert ParserConfig("amrlib").identity()["parser"] == "amrlib"


def test_parsers_are_made_by_name(tmp_path):
    assert make_parser(BUILTIN).name == "builtin"
    nowhere = TransitionConfig(python=str(tmp_path / "python"))
    with pytest.raises(ConfigurationError, match="build_environment"):
        make_parser(ParserConfig("transition", transition=nowhere))


def test_the_identity_covers_rules_and_tables(tmp_path, monkeypatch):
    """Rules by their version; tests/test_transformations.py ties it to graphs."""
    monkeypatch.setattr(parsers, "__file__", str(tmp_path / "parsers.py"))
    (tmp_path / "tables").mkdir()
    found = []
    for content, version in (("one", 1), ("two", 1), ("two", 2)):
        (tmp_path / "tables/words.json.gz").write_text(content)
        monkeypatch.setattr(parsers, "BUILTIN_VERSION", version)
        parsers._digest_tables.cache_clear()
        found.append(fingerprint(BUILTIN.identity()))
    parsers._digest_tables.cache_clear()
    assert len(set(found)) == 3


def test_the_package_is_light_to_import():
    code = "import sys, mathamr_kedro.amr; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"spacy", "torch", "penman", "plotly"} & set(run.stdout.split())
