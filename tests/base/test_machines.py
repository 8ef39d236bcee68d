"""Where times and memory were measured."""

from __future__ import annotations

import os
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from mathamr_kedro.base import machines
from mathamr_kedro.base.machines import Machine


def test_gpu_is_the_one_that_computes(monkeypatch):
    cuda = SimpleNamespace(get_device_name=lambda device: f"NVIDIA {device}")
    monkeypatch.setattr(
        machines, "import_module", lambda name: SimpleNamespace(cuda=cuda)
    )
    found = Machine.find("cuda:1")
    assert (found.device, found.gpu) == ("GPU", "NVIDIA cuda:1")
    assert found.name.startswith("NVIDIA cuda:1 (")
    assert found != Machine.find("cuda:0")


def test_record_is_read_back_and_older_ones_have_no_machine():
    found = Machine("GPU", "Xeon", 48, "H200")
    assert Machine.read(asdict(found)) == found
    for older in (None, {}):
        assert Machine.read(older) == Machine()
    assert Machine() == Machine("", "", 0, "")
    assert Machine().name == "a machine that was not recorded"
    assert Machine("CPU", "Xeon", 1).name == "Xeon, 1 core"


@pytest.mark.parametrize(("counted", "cores"), [(6, 6), (None, 1)])
def test_cores_are_counted_where_the_system_tells_of_no_container(
    monkeypatch, counted, cores
):
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    monkeypatch.setattr(
        os, "sched_getaffinity", lambda pid: {*range(2 - pid)}, raising=False
    )
    assert Machine.find().cores == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert Machine.find().cores == cores
