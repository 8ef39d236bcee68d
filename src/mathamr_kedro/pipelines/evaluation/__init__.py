"""Evaluation: an index, baselines and judgments to runs, scores and a report."""
