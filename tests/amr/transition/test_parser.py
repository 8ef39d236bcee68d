"""The transition parser against a worker that dies, hangs and talks nonsense."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import ParsedDocument, parse_documents
from mathamr_kedro.amr.graphs import ParseFailure
from mathamr_kedro.amr.transition.parser import (
    TransitionConfig,
    TransitionParser,
    make_environment,
)
from mathamr_kedro.base.errors import ConfigurationError, WorkerError
from tests.conftest import PATIENCE

FAKE = Path(__file__).parents[3] / "benchmarks" / "fake_amr_worker.py"
CLEAN = Chunk(("Let FORMULA_0 be even.", "Prove FORMULA_1."))


def test_chunks_become_graphs_in_order(make_parser):
    first, second = make_parser().parse_chunks([CLEAN, Chunk(("See FORMULA_7.",))])
    assert first.nodes[first.top] == "document"
    assert {"FORMULA_0", "FORMULA_1"} <= set(first.nodes.values())
    assert list(second.nodes.values()) == ["say-01", "FORMULA_7"]


def test_one_process_serves_many_batches(make_parser):
    parser = make_parser()
    parser.parse_chunks([CLEAN])
    pid = parser.start().pid
    parser.parse_chunks([CLEAN] * 3)
    assert parser.start().pid == pid
    parser.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_large_batches_pass_the_pipes(make_parser):
    sentence = "word " * 20_000 + "FORMULA_3."
    results = make_parser().parse_chunks([Chunk((sentence,))] * 8)
    assert [set(r.nodes.values()) for r in results] == [{"say-01", "FORMULA_3"}] * 8


@pytest.mark.parametrize("kind", ["kill", "garbage", "malformed"])
def test_a_worker_that_fails_once_costs_nothing(make_parser, notes, kind):
    parser = make_parser()
    chunk = Chunk((f"FORMULA_0 FAULT:{kind}:a:1",))
    (result,) = parser.parse_chunks([chunk])
    assert "FORMULA_0" in result.nodes.values()
    assert len(list(notes.iterdir())) == 1


@pytest.mark.parametrize("kind", ["kill", "garbage", "malformed"])
def test_a_batch_is_left_to_be_halved(make_parser, kind):
    with pytest.raises(WorkerError):
        make_parser().parse_chunks([CLEAN, Chunk((f"FAULT:{kind}:a:1",))])


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("kill", "worker_died"),
        ("garbage", "worker_died"),
        ("malformed", "worker_died"),
        ("memory", "out_of_memory"),
        ("error", "all_chunks_failed"),
        ("unreadable", "penman_error"),
        ("refused", "all_chunks_failed"),
    ],
)
def test_the_bad_text_fails_alone_with_its_reason(make_parser, kind, reason):
    texts = ["See FORMULA_0.", f"FAULT:{kind}:a:-1", "See FORMULA_1.", "Yes."]
    results = parse_documents(texts, make_parser())
    assert [isinstance(r, ParsedDocument) for r in results] == [True, False, True, True]
    assert isinstance(results[1], ParseFailure)
    assert results[1].reason == reason


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hang", "stuck"])
def test_a_worker_that_hangs_is_replaced(make_parser, kind):
    parser = make_parser(silence_timeout_s=2.0, request_timeout_s=4.0)
    results = parse_documents([f"FAULT:{kind}:a:-1", "See FORMULA_1."], parser)
    assert isinstance(results[0], ParseFailure)
    assert results[0].reason == "timeout"
    expected = "no sign of life for 2 s" if kind == "hang" else "no answer within 4 s"
    assert expected in results[0].detail
    assert isinstance(results[1], ParsedDocument)


def test_a_chunk_that_fails_keeps_its_good_sentences(make_parser):
    bad = "FORMULA_1 FAULT:error:a:-1 ends."
    text = f"Let FORMULA_0 be even. {bad} Prove FORMULA_2."
    (result,) = parse_documents([text], make_parser())
    assert isinstance(result, ParsedDocument)
    assert result.missing == ("FORMULA_1",)
    roles = [edge.role for edge in result.graph.edges if edge.role.startswith("snt")]
    assert roles == ["snt1", "snt2"]


def test_a_graph_that_cannot_be_read_costs_its_sentence_alone(make_parser):
    chunk = Chunk(("See FORMULA_0.", "FAULT:unreadable:a:-1", "So FORMULA_1."))
    (result,) = make_parser().parse_chunks([chunk])
    assert {"FORMULA_0", "FORMULA_1"} <= set(result.nodes.values())


def test_a_worker_that_cannot_start_again_stops_the_run(make_parser, monkeypatch):
    parser = make_parser()
    parser.start()
    monkeypatch.setenv("FAKE_WORKER_START", "fatal")
    with pytest.raises(ConfigurationError, match="no weights"):
        parser.parse_chunks([Chunk(("FAULT:kill:a:-1", "FORMULA_0."))])


def test_messages_show_what_the_worker_said_last(make_parser):
    with pytest.raises(WorkerError, match=r"code -9.*fake worker starts"):
        make_parser().parse_chunks([CLEAN, Chunk(("FAULT:kill:a:1",))])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("exit", "did not start in 3 attempts.*code 5"),
        ("fatal", "cannot start: no weights"),
        ("protocol", "protocol 1 .got 99"),
    ],
)
def test_a_worker_that_cannot_start_stops_the_run(
    make_parser, monkeypatch, how, message
):
    monkeypatch.setenv("FAKE_WORKER_START", how)
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    with pytest.raises(ConfigurationError, match=message):
        make_parser().parse_chunks([CLEAN])
    assert pauses == ([1, 2] if how == "exit" else [])


@pytest.mark.slow
def test_a_worker_that_stays_silent_at_the_start_stops_the_run(
    make_parser, monkeypatch
):
    monkeypatch.setenv("FAKE_WORKER_START", "silent")
    parser = make_parser(start_timeout_s=0.5, silence_timeout_s=0.5)
    with pytest.raises(ConfigurationError, match=r"no answer within 0\.5 s"):
        parser.start()


def test_missing_environment_says_how_to_build_it(tmp_path):
    config = TransitionConfig(python=str(tmp_path / "python"))
    with pytest.raises(ConfigurationError, match=r"build_environment\.sh"):
        TransitionParser(config)


@pytest.mark.parametrize(
    ("device", "visible", "expected"),
    [
        ("cpu", "0,1", ""),
        ("cuda:1", None, "1"),
        ("cuda:1", "4,6", "6"),
        ("cuda", "4,6", "4"),
        ("cuda", None, "0"),
    ],
)
def test_the_worker_sees_its_device_alone(device, visible, expected):
    own = {"PYTHONPATH": "src", "HOME": "/h"}
    if visible is not None:
        own["CUDA_VISIBLE_DEVICES"] = visible
    made = make_environment(device, own)
    assert made == {"HOME": "/h", "CUDA_VISIBLE_DEVICES": expected}


def test_the_configuration_refuses_what_cannot_work():
    with pytest.raises(ConfigurationError, match="'cuda:<n>'"):
        TransitionConfig(devices=("gpu0",))
    with pytest.raises(ConfigurationError, match="at least one"):
        TransitionConfig(devices=())
    with pytest.raises(ConfigurationError, match="2 visible ones"):
        make_environment("cuda:2", {"CUDA_VISIBLE_DEVICES": "4,6"})


@pytest.mark.slow
def test_the_worker_ends_when_its_parent_is_gone(notes):
    code = (
        "import os, sys, signal\n"
        "from mathamr_kedro.amr.transition.parser import *\n"
        f"s = TransitionConfig(python={sys.executable!r}, devices=('cpu',),"
        f" worker={str(FAKE)!r})\n"
        "parser = TransitionParser(s)\n"
        "print(parser.start().pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    pid = int(run.stdout)
    limit = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}").exists() and time.monotonic() < limit:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()
