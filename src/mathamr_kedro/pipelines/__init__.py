"""The stages: eight packages, each with its nodes, wiring and parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kedro.pipeline import Node, Pipeline

# A system is a namespace inside of each stage (indexing.bm25), and its datasets are
# named only after it (bm25.index): the same in all stages.
warnings.filterwarnings("ignore", "One or more dataset names contain", UserWarning)


def box(name: str, *nodes: Node | Pipeline) -> Pipeline:
    """Return a stage, or the nodes of a system in it, as one box of Kedro-Viz."""
    from kedro.pipeline import Pipeline  # noqa: PLC0415 - checks need no Kedro

    return Pipeline([*nodes], namespace=name, prefix_datasets_with_namespace=False)


def make_node(
    function: Callable[..., Any],
    outputs: str | Sequence[str],
    name: str | None = None,
    tags: str | None = None,
    **inputs: str,
) -> Node:
    """Return a node that reads the datasets named as the parameters of its function.

    ``parameters`` are those of the stage that the function belongs to, ``folders`` are
    where nodes work. Parameters with a default are read only if ``inputs`` name them.

    Args:
        function: of a stage.
        outputs: datasets that it makes.
        name: of the node, if it is not that of the function.
        tags: of the node.
        inputs: datasets of other names, by parameter.
    """
    from kedro.pipeline import node  # noqa: PLC0415 - as above

    stage = function.__module__.removeprefix(f"{__name__}.").partition(".")[0]
    settings = {"parameters": f"params:{stage}", "folders": "params:folders"}
    named = {
        key: settings.get(key, key)
        for key, parameter in signature(function).parameters.items()
        if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is Parameter.empty
    }
    made = outputs if isinstance(outputs, str) else list(outputs)
    name = name or function.__name__
    return node(
        function, inputs={**named, **inputs}, outputs=made, name=name, tags=tags
    )
