"""The errors of this project.

```
MathAMRError
├── ConfigurationError   a parameter, an environment or a path in conf/ is wrong
├── InputError           an input file cannot be used
│   ├── MissingInputError    it is not there, or a part of it is not
│   └── MalformedInputError  it is there, but not in the expected form
├── FormulaError         a formula cannot be turned into a tree (strict mode)
├── GraphError           a graph breaks an invariant
├── TrainingError        a training cannot go on, for instance because of a loss of NaN
├── LockedError          another process is writing to the same place
└── WorkerError          a worker process died, hung or answered nonsense
```

A message states one fact, the value with ``!r``, where it was found, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MathAMRError(Exception):
    """Parent of all errors raised by this project."""


class ConfigurationError(MathAMRError):
    """A parameter, an environment or a path in ``conf/`` is wrong."""


class InputError(MathAMRError):
    """An input file cannot be used."""


class MissingInputError(InputError):
    """An input file, or a part of it, is not there."""


class MalformedInputError(InputError):
    """An input file is there, but not in the expected form."""


class FormulaError(MathAMRError):
    """A formula cannot be turned into a tree in strict mode."""


class GraphError(MathAMRError):
    """A graph breaks an invariant."""


class TrainingError(MathAMRError):
    """A training cannot go on."""


class LockedError(MathAMRError):
    """Another process is writing to the same place."""


class WorkerError(MathAMRError):
    """A worker process died, hung or answered nonsense."""


def suggest(value: str, choices: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest choice, or nothing.

    >>> suggest("otp", ["opt", "slt", "both"])
    "; did you mean 'opt'?"
    >>> suggest("zebra", ["opt", "slt"])
    ''
    """
    nearest = difflib.get_close_matches(value, list(choices), n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def find_cause(error: BaseException | None) -> MathAMRError | None:
    """Return our own error that another one was raised from, if there is any."""
    while error is not None and not isinstance(error, MathAMRError):
        error = error.__cause__
    return error
