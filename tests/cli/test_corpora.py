"""The list of public corpora."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.cli import corpora
from mathamr_kedro.corpus.own_files import OwnCollection
from tests.conftest import SHARED


def run(*arguments: str) -> str:
    done = CliRunner().invoke(corpora.command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_all_corpora_are_listed_with_their_licences():
    shown = run()
    for corpus in corpora.CORPORA:
        assert f"{corpus.name:<10} {corpus.what}" in shown
        assert f"licence: {corpus.licence}" in shown


def test_a_corpus_is_fetched_and_indexed_by_commands():
    lines = run("napkin").splitlines()
    assert lines == [
        "git clone --depth 1 https://github.com/vEnhance/napkin corpora/napkin",
        "mathamr index sync corpora/napkin --env own --data-root data/napkin",
        "mathamr serve --env own --data-root data/napkin",
    ]
    with pytest.raises(MissingInputError, match="did you mean 'stacks'"):
        run("stack")


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize(
    ("archive", "least"),
    [("napkin_tex", 3000), ("openlogic_tex", 2000), ("mathlib_lean_sample", 10_000)],
)
def test_sources_at_hand_are_read(tmp_path: Path, archive: str, least: int):
    with tarfile.open(SHARED / "corpora" / f"{archive}.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    found = list(OwnCollection(tmp_path, "statement").posts())
    lost = [x for x in found if isinstance(x, Failure) and not x.kept]
    assert len(found) - len(lost) >= least
    assert len(lost) < 40
