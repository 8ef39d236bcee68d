"""The embedded sample: a small corpus of our own in ARQMath's official formats."""
