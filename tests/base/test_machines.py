"""Where times and memory were measured."""

from __future__ import annotations

import os
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from mathamr_kedro.base import machines
from mathamr_kedro.base.machines import Machine


@pytest.fixture(autouse=True)
def forget():
    machines._name_cpu.cache_clear()
    yield
    machines._name_cpu.cache_clear()


def test_processor_is_named_as_linux_names_it(tmp_path, monkeypatch):
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: Xeon  8558P @ 2.7\nmodel name\t: b")
    monkeypatch.setattr(machines, "_CPU_INFO", info)
    found = Machine.find("cpu")
    assert (found.device, found.cpu, found.gpu) == ("CPU", "Xeon 8558P @ 2.7", "")
    assert found.cores >= 1
    assert found.name.startswith("Xeon 8558P @ 2.7, ")


def test_processors_of_arm_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(machines, "_CPU_INFO", tmp_path / "cpuinfo")
    names = set()
    for part in ("0xd40", "0xd4f"):
        text = f"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {part}\n"
        (tmp_path / "cpuinfo").write_text(text)
        machines._name_cpu.cache_clear()
        names.add(Machine.find().cpu)
    assert len(names) == 2
    assert all("0x41 0xd4" in name for name in names)


@pytest.mark.parametrize(
    ("processor", "machine", "name"),
    [
        ("i386", "x86_64", "i386"),
        ("", "x86_64", "x86_64"),
        ("", "", "unknown processor"),
    ],
)
def test_where_linux_names_none_the_platform_does(
    tmp_path, monkeypatch, processor, machine, name
):
    monkeypatch.setattr(machines, "_CPU_INFO", tmp_path / "none")
    monkeypatch.setattr(machines.platform, "processor", lambda: processor)
    monkeypatch.setattr(machines.platform, "machine", lambda: machine)
    assert Machine.find().cpu == name


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
