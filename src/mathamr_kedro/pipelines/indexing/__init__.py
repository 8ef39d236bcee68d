"""Indexing: graphs and the best encoder to vectors, vectors to an index."""
