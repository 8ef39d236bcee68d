import dataclasses
import subprocess
import sys

import pytest

from mathamr_kedro.amr.parsers import PARSERS, BuiltinConfig, Parsers, describe_parser
from mathamr_kedro.amr.transition import TransitionConfig
from mathamr_kedro.base.errors import ConfigurationError

BUILTIN = BuiltinConfig()


def test_the_description_changes_with_what_the_graphs_depend_on():
    transition = TransitionConfig()
    slower = dataclasses.replace(transition, devices=("cpu",), batch_size=1)
    other = dataclasses.replace(transition, model="other")
    assert transition.describe() == slower.describe()
    assert transition.describe() != other.describe()
    assert len(BUILTIN.describe()["digest"]) == 16


@pytest.mark.parametrize("name", PARSERS)
def test_parsers_are_found_by_name(name):
    settings = Parsers().find(name)
    assert settings.name == settings.describe()["parser"] == name


def test_parsers_are_opened_by_their_settings(tmp_path):
    assert BUILTIN.open().name == "builtin"
    nowhere = TransitionConfig(python=str(tmp_path / "python"))
    with pytest.raises(ConfigurationError, match="build_environment"):
        nowhere.open()


def test_an_unknown_parser_is_refused_with_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"'transition'.*did you mean"):
        Parsers().choose("transitoin")


def test_the_package_is_light_to_import():
    code = "import sys, mathamr_kedro.amr; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"spacy", "torch", "penman", "matplotlib"} & set(run.stdout.split())


def test_auto_is_the_parser_of_the_thesis_if_it_is_installed(tmp_path):
    nowhere = Parsers(transition=TransitionConfig(python=str(tmp_path / "python")))
    here = Parsers(transition=TransitionConfig(python=sys.executable))
    assert here.choose("auto") == "transition"
    assert nowhere.choose("auto") == "builtin"
    assert here.choose("amrlib") == "amrlib"
    # the parser of existing graphs is kept, whatever is installed now
    assert here.choose("auto", "builtin") == "builtin"
    assert nowhere.choose("auto", "transition") == "transition"
    assert here.choose("builtin", "transition") == "builtin"


def test_every_parser_is_named_by_one_line():
    assert describe_parser(BUILTIN.describe()) == (
        "AMR parser: builtin (the thesis: transition, model doc-sen-conll-amr-seed42)."
    )
    assert describe_parser(TransitionConfig().describe()) == (
        "AMR parser: transition, model doc-sen-conll-amr-seed42."
    )
    assert describe_parser({}).startswith("AMR parser: not recorded (")
