"""What is said of Ray without a cluster, or the package itself."""

from __future__ import annotations

from mathamr_kedro.workers.ray_pool import _LONGEST, _describe


def test_errors_of_ray_are_one_line_without_ids_and_guesses():
    said = "The actor died\n\n\tclass_name: Child\n\tactor_id: 01\n unexpectedly."
    error = ValueError(f"{said} Some common causes include:\n (1) memory")
    assert _describe(error) == "ValueError: The actor died unexpectedly."


def test_long_errors_are_cut():
    assert _describe(OSError("x" * 10_000)) == f"OSError: {'x' * _LONGEST}"
