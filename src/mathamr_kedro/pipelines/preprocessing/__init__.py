"""Preprocessing: math graphs to vocabularies, shards of arrays and training pairs."""
