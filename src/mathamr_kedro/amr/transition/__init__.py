"""The thesis' parser, transition-amr-parser, as a worker in an environment of its own.

It needs Python 3.8 and an old torch, so it can never share a process with this project:

```
TransitionParser ─ JSON lines over pipes ─> worker.py (Python 3.8, one GPU)
   starts, watches, restarts                   loads the weights, parses, answers
```

``parser`` starts, watches and restarts a process, and describes the lines.
``worker.py``, ``check_environment.py`` and ``scatter.py`` run in the other environment,
which ``build_environment.sh`` makes: they import nothing of this project.
"""

from mathamr_kedro.amr.transition.parser import TransitionConfig, TransitionParser

__all__ = ["TransitionConfig", "TransitionParser"]
