"""The errors of this project.

```
MathAMRError
├── ConfigurationError   a parameter, an environment or a path in conf/ is wrong
├── InputError           an input file cannot be used
│   ├── MissingInputError    it, or a part of it, does not exist
│   ├── MalformedInputError  it exists, but is not in the expected format
│   └── DamagedFileError     it is not what this project wrote there
├── FormulaError         a formula cannot be turned into a tree (strict mode)
├── GraphError           a graph violates an invariant
├── TrainingError        training cannot continue, for instance because the loss is NaN
├── LockedError          another process is writing to the same folder
├── DiskFullError        there is no room for what is to be written
└── WorkerError          a worker process died, hung or sent an invalid answer
```

A message states one fact, the value with ``!r``, where it was found, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MathAMRError(Exception):
    """Base class of all errors raised by this project."""


class ConfigurationError(MathAMRError):
    """A parameter, an environment or a path in ``conf/`` is wrong."""


class InputError(MathAMRError):
    """An input file cannot be used."""


class MissingInputError(InputError):
    """An input file, or a part of it, does not exist."""


class MalformedInputError(InputError):
    """An input file exists, but is not in the expected format."""


class DamagedFileError(InputError):
    """A file of our own is missing, cut short or changed since it was written."""


class FormulaError(MathAMRError):
    """A formula cannot be turned into a tree in strict mode."""


class GraphError(MathAMRError):
    """A graph violates an invariant."""


class TrainingError(MathAMRError):
    """Training cannot continue."""


class LockedError(MathAMRError):
    """Another process is writing to the same folder."""


class DiskFullError(MathAMRError):
    """There is no room on the disk for what is to be written."""


class WorkerError(MathAMRError):
    """A worker process died, hung or sent an invalid answer."""


def suggest(value: str, choices: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the closest choice, or an empty string.

    >>> suggest("otp", ["opt", "slt", "both"])
    "; did you mean 'opt'?"
    >>> suggest("zebra", ["opt", "slt"])
    ''
    """
    nearest = difflib.get_close_matches(value, list(choices), n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def find_cause(error: BaseException | None) -> MathAMRError | None:
    """Return the error of this project that another one was raised from, if any."""
    while error is not None and not isinstance(error, MathAMRError):
        error = error.__cause__
    return error
