"""Ingestion: raw collections to typed tables with clean texts."""

from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig
from mathamr_kedro.pipelines.ingestion.pipeline import create_pipeline

PARAMETERS = IngestionConfig

__all__ = ["PARAMETERS", "create_pipeline"]
