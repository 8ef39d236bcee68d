"""What systems return for topics: topic sets, searches, baselines, fusions."""
