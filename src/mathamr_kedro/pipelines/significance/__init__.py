"""Significance: recorded results to tables with tests, and plots."""
