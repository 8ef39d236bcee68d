"""Ingestion: raw collections to typed tables with clean texts."""

from mathamr_kedro.pipelines.ingestion.nodes import IngestionParameters
from mathamr_kedro.pipelines.ingestion.pipeline import create_pipeline

PARAMETERS = IngestionParameters

__all__ = ["PARAMETERS", "create_pipeline"]
