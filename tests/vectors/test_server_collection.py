"""Failed requests are sent again, with growing waits."""

from __future__ import annotations

import httpx
import numpy as np
import pytest
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, WorkerError
from mathamr_kedro.vectors.points import Point
from mathamr_kedro.vectors.server_collection import (
    Retry,
    ServerCollection,
    _is_temporary,
)


class Flaky:
    def __init__(self, failures, error=None):
        self.failures, self.calls = failures, 0
        self.error = error or ConnectionError("refused")

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return "answer"


def test_call_works_after_some_failures_and_growing_waits(caplog):
    waits: list[float] = []
    call = Flaky(4)
    assert Retry(attempts=5, sleep=waits.append)("Asking", call) == "answer"
    assert call.calls == 5
    for wait, longest in zip(waits, [0.5, 1, 2, 4], strict=True):
        assert longest / 2 <= wait <= longest
    assert "refused" in caplog.text


def test_call_that_never_works_names_the_cause():
    with pytest.raises(
        WorkerError, match=r"Asking failed 3 times \(refused\)"
    ) as caught:
        Retry(attempts=3, sleep=lambda s: None)("Asking", Flaky(9))
    assert isinstance(caught.value.__cause__, ConnectionError)


def test_lasting_error_is_raised_at_once():
    call = Flaky(9, ValueError("wrong"))
    with pytest.raises(ValueError, match="wrong"):
        Retry()("Asking", call)
    assert call.calls == 1


def test_no_attempts_are_refused():
    with pytest.raises(ConfigurationError, match="at least 1"):
        Retry(attempts=0)


@pytest.mark.parametrize(("code", "again"), [(503, True), (429, True), (400, False)])
def test_only_errors_of_the_server_are_temporary(code, again):
    error = UnexpectedResponse(code, "reason", b"", httpx.Headers())
    assert _is_temporary(error) is again
    assert not _is_temporary(ValueError("mine"))


@pytest.mark.filterwarnings("ignore:Local mode performs exact")
def test_points_are_written_deleted_and_counted():
    client = QdrantClient(":memory:")
    size = models.VectorParams(size=2, distance=models.Distance.DOT)
    client.create_collection("mine", vectors_config={"all": size})
    points = ServerCollection(client, "mine", Retry(attempts=1))
    points.upsert([Point(n, {}, {"all": np.full(2, n)}) for n in (1, 2, 3)])
    points.delete([2, 9])
    assert points.count() == 2
    assert [v.tolist() for v in points.fetch([3, 1], "all")] == [[3, 3], [1, 1]]
    with pytest.raises(MissingInputError, match=r"Expected point 2 in 'mine'"):
        points.fetch([1, 2], "all")
    client.close()


def test_only_the_vectors_of_a_space_are_asked_for(monkeypatch):
    client = QdrantClient(":memory:")
    asked = []

    def retrieve(name, ids, **what):
        asked.append(what)
        return [models.Record(id=i, vector={"all": [i, i]}) for i in ids]

    monkeypatch.setattr(client, "retrieve", retrieve)
    ServerCollection(client, "mine", Retry(attempts=1)).fetch([7], "all")
    assert asked == [{"with_payload": False, "with_vectors": ["all"]}]
    client.close()
