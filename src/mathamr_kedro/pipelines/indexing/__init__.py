"""Indexing: collections and models to the indexes of all systems."""
