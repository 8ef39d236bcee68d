"""Run a checkout from outside: all stages of an environment, then typed queries."""

from __future__ import annotations

import json
import os
import string
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DONE = "equality.json"
"""File in a data root whose run has ended, with its parameters."""

TEXT_MODEL = "text_model"
"""Stands for the folder of a small text model, which is made on the spot."""

SETTINGS: Mapping[str, Mapping[str, object]] = {
    "demo+ssemb": {"systems.ssemb.search.text_model": TEXT_MODEL},
    "demo+marf": {
        "systems.marf.model.context": TEXT_MODEL,
        "systems.marf.model.layers": 2,
        "systems.marf.model.width": 64,
        "systems.marf.model.formula_training.epochs": 1,
        "systems.marf.model.fusion_training.epochs": 1,
    },
    "demo+mathamr": {
        "systems.mathamr.model.text_model": TEXT_MODEL,
        "systems.mathamr.model.folds": 2,
        "systems.mathamr.model.epochs": 1,
    },
}
"""Parameters that let the systems of papers end in minutes without a GPU: the text
model has random weights, which are as good as others to see whether scores change."""

SYSTEMS: Mapping[str, Mapping[str, str]] = {
    "demo+formula_rgcn": {"formula": "formula_rgcn"},
    "demo+ssemb": {"formula": "ssemb"},
    "demo+marf": {"text": "marf"},
    "demo+mathamr": {"formula": "mathamr"},
}
"""The system that is asked, by kind of query, if it is not the configured one."""

_ASK = """
import json, sys
import mathamr_kedro.cli as cli
from click.testing import CliRunner

command = getattr(cli, "group", None) or cli.main
usage = CliRunner().invoke(command, ["search", "--help"]).stdout
as_json = ["--json"] if "--json" in usage else ["--output", "json"]
queries = json.load(sys.stdin)
with open(sys.argv[1], "w") as file:
    for arguments in queries:
        done = CliRunner().invoke(command, ["search", *as_json, *arguments])
        if done.exit_code:
            found = {"error": str(done.exception or done.output)}
        else:
            found = json.loads(done.stdout)
        file.write(json.dumps(found) + chr(10))
"""
"""Asks all queries by the command line, but in one process."""


def make_text_model(folder: Path) -> None:
    """Write a transformer of two layers that reads letters, with random weights."""
    import torch
    from transformers import (  # type: ignore[attr-defined]  # loaded lazily there
        BertConfig,
        BertModel,
        BertTokenizerFast,
    )

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = string.ascii_lowercase + string.digits + string.punctuation
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters)]
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=32, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=64, max_position_embeddings=512,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = BertTokenizerFast(vocab=vocabulary, model_max_length=256)
    tokenizer.save_pretrained(folder)


class FailedRunError(Exception):
    """A command of a checkout has failed; its message says where the log is."""


@dataclass(frozen=True)
class Checkout:
    """A working tree of this project, of any version, and where its data goes."""

    folder: Path
    data: Path

    @classmethod
    def open(cls, folder: Path, data: Path) -> Checkout:
        """Give each version a folder of its own, so that its runs can be reused."""
        git = ["git", "describe", "--always", "--dirty", "--exclude=*"]
        version = subprocess.check_output(git, cwd=folder, text=True).strip()
        return cls(folder.resolve(), data.resolve() / version)

    def root(self, env: str) -> Path:
        """Return the data root of an environment."""
        return self.data / env

    def run(self, env: str) -> None:
        """Run all stages, unless this version has done so with these parameters."""
        done = self.root(env) / DONE
        settings = dict(SETTINGS.get(env, {}))
        if self._has(done, settings):
            return
        model = self.data.parent / TEXT_MODEL
        if TEXT_MODEL in settings.values() and not model.exists():
            make_text_model(model)
        params = {"data_root": str(self.root(env)), **settings}
        params = {k: model if v == TEXT_MODEL else v for k, v in params.items()}
        listed = ",".join(f"{key}={value}" for key, value in params.items())
        self._call(env, "-m", "kedro", "run", "--env", env, "--params", listed)
        done.write_text(json.dumps(settings))

    def ask(self, env: str, queries: Sequence[tuple[str, str]]) -> list[Any]:
        """Return what ``mathamr search`` answers to each query, as JSON."""
        where = ["--env", env, "--data-root", str(self.root(env))]
        before = {"text": "--", "formula": "--formula", "like": "--like"}
        listed = []
        for kind, query in queries:
            system = SYSTEMS.get(env, {}).get(kind)
            chosen = ["--system", system] if system else []
            listed.append([*where, *chosen, before[kind], query])
        asked = self.root(env) / "queries.json"
        answers = self.root(env) / "answers.jsonl"
        if not self._has(asked, listed):
            self._call(env, "-c", _ASK, str(answers), given=listed)
            asked.write_text(json.dumps(listed))
        return [json.loads(line) for line in answers.read_text().splitlines()]

    def _has(self, file: Path, content: object) -> bool:
        """Tell whether this very version has done what a file says."""
        is_dirty = self.data.name.endswith("-dirty")
        is_done = file.is_file() and json.loads(file.read_text()) == content
        return is_done and not is_dirty

    def _call(self, env: str, *arguments: str, given: object = None) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        log = self.data / f"{env}.log"
        paths = os.pathsep.join([str(self.folder / "src"), str(self.folder)])
        variables = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
        with log.open("a") as file:
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=self.folder,
                env=variables,
                stdout=file,
                stderr=subprocess.STDOUT,
                input=json.dumps(given),
                text=True,
                check=False,
            )
        if done.returncode:
            raise FailedRunError(f"{env} has failed in {self.folder}; see {log}")
