"""Kedro-Viz shows layers only where no dataset points back to an earlier one."""

from pathlib import Path

import yaml
from kedro.framework.project import pipelines
from kedro.framework.startup import bootstrap_project

PROJECT = Path(__file__).parents[1]
ORDER = (
    "raw", "intermediate", "primary", "feature", "model_input", "models",
    "model_output", "reporting",
)  # fmt: skip


def read_layers():
    layers = {}
    for file in sorted((PROJECT / "conf/base/catalog").glob("*.yml")):
        for name, entry in yaml.safe_load(file.read_text()).items():
            metadata = entry.get("metadata") if isinstance(entry, dict) else None
            layer = ((metadata or {}).get("kedro-viz") or {}).get("layer")
            if layer is not None:
                layers[name] = ORDER.index(layer)
    return layers


def test_no_node_writes_to_an_earlier_layer():
    bootstrap_project(PROJECT)
    layers, latest = read_layers(), {}
    assert len(layers) > 40
    for node in pipelines["__default__"].nodes:  # in the order of their data
        reached = max((latest.get(name, 0) for name in node.inputs), default=0)
        for name in node.inputs:
            reached = max(reached, layers.get(name, 0))
        for name in node.outputs:
            assert layers.get(name, reached) >= reached, (node.name, name)
            latest[name] = layers.get(name, reached)
