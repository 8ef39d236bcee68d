"""Areas of mathematics, one module each.

A module has ``threads(rng)``, ``ANSWER_TOPICS`` and ``FORMULA_TOPICS``.
"""
