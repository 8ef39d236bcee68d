"""Readers of test collections and of own corpora."""
