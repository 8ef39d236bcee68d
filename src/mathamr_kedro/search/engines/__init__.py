"""Engines that find posts and formulas by their vectors."""
