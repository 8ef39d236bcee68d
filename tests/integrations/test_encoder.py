"""A released encoder by itself."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, DamagedFileError
from mathamr_kedro.integrations import PortableEncoder
from mathamr_kedro.model.weights import SAFE_WEIGHTS

safetensors = pytest.importorskip("safetensors.torch")

TEXTS = [
    r"Is $\sqrt p$ irrational for a prime $p$?",
    r"Suppose $\sqrt p = a/b$. Then $a^2 = p b^2$, and $p$ divides $a$.",
    "The Gaussian integral is computed in polar coordinates.",
]


@pytest.fixture(scope="module")
def encoder() -> PortableEncoder:
    return PortableEncoder("mathamr_plus")


@pytest.fixture(scope="module")
def exported(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "encoder"
    encoder.export(folder)
    return folder


def test_weights_are_exported_in_half_precision(exported):
    weights = safetensors.load_file(exported / SAFE_WEIGHTS)
    assert {str(w.dtype) for w in weights.values() if w.is_floating_point()} == {
        "torch.float16"
    }


def compare(a, b) -> float:
    return float((a @ b.T).max(axis=1).mean())


def test_parts_of_a_text_have_a_vector_each(encoder):
    question, answer, other = encoder.encode(TEXTS)
    assert question.shape == (4, encoder.width)  # two formulas, a sentence, the whole
    assert np.linalg.norm(question, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert compare(question, answer) > compare(question, other)


def test_one_vector_for_each_text_is_that_of_the_whole(encoder):
    vectors = encoder.encode_documents(TEXTS)
    assert vectors.shape == (3, encoder.width)
    assert np.array_equal(vectors[0], encoder.encode(TEXTS[:1])[0][-1])
    assert encoder.encode_documents([]).shape == (0, encoder.width)


def test_export_gives_the_same_vectors(encoder, exported):
    assert not (exported / "weights.pt").exists()
    again = PortableEncoder(exported)
    for ours, theirs in zip(encoder.encode(TEXTS), again.encode(TEXTS), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.slow
def test_export_is_read_without_kedro_and_pickle(exported):
    code = (
        "import sys; sys.modules['kedro'] = None\n"
        "import pickle\n"
        "def refuse(*args, **kwargs): raise AssertionError('pickle')\n"
        "import torch; torch.load = refuse\n"
        "from mathamr_kedro.integrations import PortableEncoder\n"
        f"encoder = PortableEncoder({str(exported)!r})\n"
        "print(encoder.encode(['Let $x$ be even.'])[0].shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "(3, 128)", done.stderr


def test_safetensors_are_what_others_read(encoder, exported):
    from safetensors.numpy import load_file

    found = load_file(exported / "weights.safetensors")
    assert set(found) == set(encoder.model.state_dict())


def test_damaged_export_is_refused(exported, tmp_path):
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(exported, broken)
    content = bytearray((broken / "weights.safetensors").read_bytes())
    content[-5] ^= 1
    (broken / "weights.safetensors").write_bytes(bytes(content))
    with pytest.raises(DamagedFileError, match=r"weights\.safetensors"):
        PortableEncoder(broken)


def test_only_an_earlier_export_is_replaced(encoder, tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ConfigurationError, match="Expected a new folder"):
        encoder.export(tmp_path)
    assert (tmp_path / "thesis.tex").exists()
    for _ in range(2):
        encoder.export(tmp_path / "mine")
    assert not (tmp_path / "mine/thesis.tex").exists()


def test_a_text_instead_of_a_list_is_refused(encoder):
    with pytest.raises(ConfigurationError, match="Expected a list of texts"):
        encoder.encode("Let $x$ be even.")
