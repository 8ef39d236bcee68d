"""Nodes for systems of other papers: prepare what they read, train them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from mathamr_kedro.datasets import SystemStore
from mathamr_kedro.systems import SystemSources

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]


def prepare_systems(
    systems: SystemStore,
    system_sources: SystemSources,
    chosen: Values,
    training: Values,
) -> dict[str, str]:
    """Write what each chosen system learns from; return its folder."""
    seed = int(training["seed"])
    return {
        name: systems.prepare(name, values or {}, seed, system_sources)
        for name, values in chosen.items()
    }


def train_systems(
    systems: SystemStore, prepared_systems: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Train each of them, or find it trained."""
    trained: dict[str, dict[str, Any]] = {}
    for name, folder in prepared_systems.items():
        found = systems.open(folder)
        history = found.train()
        logger.info("%s: trained for %d epochs", name, len(history))
        counts = dict(found.counts)
        trained[name] = {"folder": folder, "counts": counts, "history": history}
    return trained
