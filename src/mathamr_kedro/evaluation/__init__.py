"""From ranked lists to tables: measures and significance tests."""
