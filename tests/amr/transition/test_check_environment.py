"""The check of the parser's own environment, without that environment."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest

from mathamr_kedro.amr.transition import check_environment


class Machine:
    """Notes its settings, its tokens and what was done."""

    @classmethod
    def from_config(cls, path):
        machine = cls()
        with open(path, encoding="utf-8") as file:
            machine.config = json.load(file)
        return machine

    def reset(self, tokens):
        self.tokens, self.actions = tokens, []

    def update(self, action):
        self.actions.append(action)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the check with an engine that gives these answers."""

    def run(*answers):
        engine = SimpleNamespace(list_versions=lambda: {"torch": "1"})

        def make(options, parser):
            def parse(chunks):
                sys.stdout.write("noise\n")
                engine.machines = parser.parse_sentences([["a"], ["b", "c"]])[1]
                return list(answers)

            engine.parse = parse
            return engine

        package = "transition_amr_parser"
        modules = {
            f"{package}.amr_machine": SimpleNamespace(AMRStateMachine=Machine),
            f"{package}.parse": SimpleNamespace(AMRParser=object),
            package: SimpleNamespace(),
            "worker": SimpleNamespace(Engine=make),
        }
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)
        code = check_environment._main()
        written = capsys.readouterr()
        return code, json.loads(written.out), written.err, engine.machines

    return run


def test_answers_with_graphs_are_told_and_nothing_else(run):
    answers = [{"graphs": ["(a / b)"]}, {"graphs": []}]
    code, found, noise, machines = run(*answers)
    assert code == 0
    assert found == {"versions": {"torch": "1"}, "answers": answers}
    assert "noise" in noise
    assert [machine.tokens for machine in machines] == [["a"], ["b", "c"]]
    assert machines[0].actions == check_environment._ACTIONS[0].split()
    assert machines[1].config == {
        "reduce_nodes": None, "absolute_stack_pos": True, "use_copy": True,
    }  # fmt: skip


def test_an_answer_without_graphs_fails(run):
    code, found, _, _ = run({"graphs": []}, {"error": "no"})
    assert code == 1
    assert found["answers"][1] == {"error": "no"}
