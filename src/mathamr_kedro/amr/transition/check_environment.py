#!/usr/bin/env python3
"""Check the environment of the transition parser; needs no weights.

Runs all of the library but the weights: known actions replace what they would predict.
Like the worker it reads on Python 3.8, imports nothing of this project but the worker
beside it, and is started by path with the Python of that environment.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from typing import Any

_CHUNKS = (
    ("Let FORMULA_0\u00a0even.", "Well.", "Prove it."),
    ("FORMULA_1 holds.", "..."),
)
_ACTIONS = (
    "let-01 ROOT SHIFT COPY SHIFT even-02 >RA(0,:ARG1) >LA(3,:ARG1) SHIFT "
    "CLOSE_SENTENCE SHIFT CLOSE_SENTENCE prove-01 ROOT SHIFT it >RA(12,:ARG1) "
    ">RA(3,:same-as) SHIFT CLOSE_SENTENCE SHIFT",
    "COPY SHIFT hold-01 ROOT >LA(0,:ARG1) SHIFT CLOSE_SENTENCE SHIFT",
)
_OPTIONS = argparse.Namespace(batch_size=32)


def _check_environment() -> dict[str, Any]:
    from transition_amr_parser.amr_machine import AMRStateMachine  # noqa: PLC0415
    from transition_amr_parser.parse import AMRParser  # noqa: PLC0415
    from worker import Engine  # noqa: PLC0415 (the file beside this one)

    class Rehearsal(AMRParser):
        def parse_sentences(self, batch: list[list[str]], **how: Any) -> Any:
            machines = []
            for n, tokens in enumerate(batch):
                machine = AMRStateMachine.from_config(self.machine_config)
                machine.reset(tokens)
                for action in _ACTIONS[n].split():
                    machine.update(action)
                machines.append(machine)
            return None, machines

    parser = Rehearsal.__new__(Rehearsal)  # its own way in wants weights
    config = {"reduce_nodes": None, "absolute_stack_pos": True, "use_copy": True}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        parser.machine_config = file.name
        engine = Engine(_OPTIONS, parser)
        answers = engine.parse(_CHUNKS)
    return {"versions": engine.list_versions(), "answers": answers}


def _main() -> int:
    with contextlib.redirect_stdout(sys.stderr):
        found = _check_environment()
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 0 if all("graphs" in answer for answer in found["answers"]) else 1


if __name__ == "__main__":
    sys.exit(_main())
