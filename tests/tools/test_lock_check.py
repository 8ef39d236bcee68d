"""What was installed is compared with the hashes of the lock files."""

from __future__ import annotations

import json

import pytest

from tests.conftest import PROJECT
from tools.lock_check import main, read_locks

GOOD, OTHER = "a" * 64, "b" * 64


def install(name, version, found, url="https://pypi.org/x.whl"):
    info = {"url": url, "archive_info": {"hashes": {"sha256": found}}}
    return {"metadata": {"name": name, "version": version}, "download_info": info}


@pytest.fixture
def check(tmp_path):
    lock, report = tmp_path / "requirements.lock", tmp_path / "report.json"
    lock.write_text(
        f"# torch==9\ntorch==2.1 \\\n    --hash=sha256:{'c' * 64} \\\n"
        f"    --hash=sha256:{GOOD}\nsym-py==1 ; python_version > '3' \\\n"
        f"    --hash=sha256:{GOOD}\n"
    )

    def run(*items):
        report.write_text(json.dumps({"install": items}))
        return main([str(lock), "--", str(report)])

    return run


def test_hashes_of_the_lock_pass(check, capsys):
    assert check(install("torch", "2.1", GOOD), install("Sym_Py", "1", GOOD)) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "wrong",
    [
        install("torch", "2.1", OTHER),
        install("sym.py", "1", OTHER),
        install("stranger", "1", GOOD),
        install("sym-py", "1", None),
    ],
)
def test_any_other_file_is_refused_and_named(check, capsys, wrong):
    assert check(wrong) == 1
    told = capsys.readouterr().out
    assert "NOT LOCKED" in told
    assert wrong["download_info"]["url"] in told


def test_a_build_of_torch_of_another_index_is_told_with_what_only_it_needs(
    check, capsys
):
    own = install("torch", "2.1+cu126", OTHER), install("cuda-12", "1", OTHER)
    assert check(*own) == 0
    assert capsys.readouterr().out.count("build of this machine: ") == 2
    assert check(*own, install("sym-py", "1", OTHER)) == 1


def test_the_locks_know_torch_and_its_libraries_of_every_platform():
    hashes = read_locks(PROJECT.glob("requirements*.lock"))
    assert {"torch", "triton", "nvidia-cublas", "pip", "setuptools", "sympy"} <= {
        *hashes
    }
    assert all(hashes.values())
