"""Errors of others, told in our own words."""

from __future__ import annotations

import errno
import os
import re

import pytest

from mathamr_kedro.base.errors import (
    InsufficientMemoryError,
    LockedError,
    MathAMRError,
    StorageError,
    find_cause,
)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (MemoryError(), InsufficientMemoryError, "run again"),
        (ImportError("x.so: failed to map segment"), InsufficientMemoryError, "memory"),
        (
            RuntimeError("CPUAllocator: can't allocate memory"),
            InsufficientMemoryError,
            "",
        ),
        (
            SystemError("unresolvable due to MemoryError: >"),
            InsufficientMemoryError,
            "",
        ),
        (OSError(errno.ENOSPC, "full", "a.npy"), StorageError, "'a.npy'.*free room"),
        (OSError(errno.EROFS, "read-only", "a"), StorageError, "data_root"),
        (LockedError("held"), LockedError, "held"),
    ],
)
def test_the_cause_names_the_remedy(error, kind, message):
    try:
        raise ValueError("outside") from error
    except ValueError as outside:
        cause = find_cause(outside)
    assert isinstance(cause, kind) and isinstance(cause, MathAMRError)
    assert re.search(message, str(cause))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_what_the_system_refused_is_said_in_its_words(number):
    message = str(find_cause(OSError(number, "whatever", "a.npy")))
    assert message.startswith(f"{os.strerror(number)} at 'a.npy'; ")
    assert str(find_cause(OSError(number, "whatever"))).startswith(
        f"{os.strerror(number)}; "
    )


def test_other_errors_have_no_cause_of_ours():
    assert find_cause(KeyError("x")) is None


def test_memory_that_was_short_is_found_behind_an_error_that_hides_it():
    """OmegaConf raises its own errors from nothing."""
    try:
        try:
            raise MemoryError
        except MemoryError:
            raise TypeError("Unexpected type") from None
    except TypeError as error:
        assert isinstance(find_cause(error), InsufficientMemoryError)


def test_what_was_being_handled_is_no_cause():
    """Only memory is looked for there: the new error tells more than the old one."""
    for handled in (LockedError("held"), OSError(errno.ENOSPC, "full", "a")):
        try:
            try:
                raise handled
            except (LockedError, OSError):
                raise TypeError("a mistake") from None
        except TypeError as error:
            assert find_cause(error) is None
