"""Ingestion: raw collections to typed tables with clean texts."""
