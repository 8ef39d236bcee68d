import dataclasses
import subprocess
import sys

import pytest

from mathamr_kedro.amr.parsers import (
    ParserConfig,
    choose_parser,
    describe_parser,
    make_parser,
)
from mathamr_kedro.amr.transition import TransitionConfig
from mathamr_kedro.base.errors import ConfigurationError

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


def test_auto_is_the_parser_of_the_thesis_where_it_is_installed(tmp_path):
    nowhere = TransitionConfig(python=str(tmp_path / "python"))
    here = TransitionConfig(python=sys.executable)
    assert choose_parser("auto", here) == "transition"
    assert choose_parser("auto", nowhere) == "builtin"
    assert choose_parser("amrlib", here) == "amrlib"
    # what has made graphs goes on, whatever is installed now
    assert choose_parser("auto", here, "builtin") == "builtin"
    assert choose_parser("auto", nowhere, "transition") == "transition"
    assert choose_parser("builtin", here, "transition") == "builtin"


def test_every_parser_is_named_by_one_line():
    assert describe_parser(BUILTIN.identity()) == (
        "AMR parser: builtin (the thesis: transition, model doc-sen-conll-amr-seed42)."
    )
    assert describe_parser(ParserConfig("transition").identity()) == (
        "AMR parser: transition, model doc-sen-conll-amr-seed42."
    )
    assert describe_parser({}).startswith("AMR parser: not recorded (")
