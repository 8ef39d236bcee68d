"""The errors of this project.

```
MathAMRError
├── ConfigurationError      a parameter, an environment or a path in conf/ is wrong
├── InputError              an input file cannot be used
│   ├── MissingInputError       it, or a part of it, does not exist
│   ├── MalformedInputError     it exists, but is not in the expected format
│   └── DamagedFileError        it is not what this project wrote there
├── FormulaError            a formula cannot be turned into a tree (strict mode)
├── GraphError              a graph violates an invariant
├── TrainingError           training cannot continue, e.g. the loss is NaN
├── LockedError             another process is writing to the same folder
├── InsufficientMemoryError there is not enough memory
├── StorageError            a file or folder cannot be read or written
│   └── DiskFullError           there is no room for what is to be written
└── WorkerError             a worker process died, hung or sent an invalid answer
```

A message states one fact, the value with ``!r``, where it was found, and what to do.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Iterable

_FREE = "free room and run the same command again, it resumes"
_OTHER_ROOT = (
    "allow this user to write there, or give a data root that can be written to "
    "(`kedro run --params data_root=FOLDER`)"
)
_REMEDIES = {
    errno.ENOSPC: _FREE,
    errno.EDQUOT: _FREE,
    errno.EROFS: _OTHER_ROOT,
    errno.EACCES: _OTHER_ROOT,
    errno.EPERM: _OTHER_ROOT,
    errno.EIO: "the disk may be failing; `mathamr doctor --verify` lists the damage",
}


# Libraries that are loaded, and torch, say it in their own words.
_NO_MEMORY = re.compile(
    "failed to map segment|an't allocate memory|Cannot allocate|due to MemoryError"
)


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


class StorageError(MathAMRError):
    """A file or folder cannot be read or written."""


class DiskFullError(StorageError):
    """There is no room on the disk for what is to be written."""


class InsufficientMemoryError(MathAMRError):
    """There is not enough memory."""


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
    """Return the error of this project that another one was raised from, if any.

    Refusals of the operating system become a :class:`StorageError` with a remedy.
    """
    while error is not None and not isinstance(error, MathAMRError):
        if isinstance(error, OSError) and error.errno in _REMEDIES:
            return _name_refusal(error)
        if _lacks_memory(error):
            return InsufficientMemoryError(
                "There is not enough memory; close other programs or give the stage "
                "fewer workers (workers.workers), then run again: what is finished "
                "is kept"
            )
        error = error.__cause__
    return error


def _lacks_memory(error: BaseException | None) -> bool:
    """Tell whether memory was short; OmegaConf does not say what it stumbled over."""
    while error is not None and not isinstance(error, MathAMRError):
        if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _name_refusal(error: OSError) -> StorageError:
    what = os.strerror(error.errno or 0)
    where = f" at {str(error.filename)!r}" if error.filename is not None else ""
    return StorageError(f"{what}{where}; {_REMEDIES[error.errno or 0]}")
