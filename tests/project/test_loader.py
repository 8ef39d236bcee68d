"""Environments over one another."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from omegaconf.errors import UnsupportedInterpolationType

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.graph import PreprocessingConfig, ReleasedEncoder
from mathamr_kedro.project.loader import EnvironmentLoader
from mathamr_kedro.settings import CONFIG_LOADER_ARGS


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    texts = {
        "base/globals.yml": "root: data",
        "base/parameters.yml": "a: {x: 1, y: 1, z: '${globals:root}'}",
        "base/catalog.yml": "one: {type: A, path: '${globals:root}'}",
        "pool/globals.yml": "root: pool",
        "pool/parameters.yml": "a: {y: 2}",
        "pool/catalog.yml": "two: {type: B}",
        "modes/globals.yml": "name: modes",
        "modes/parameters.yml": "a: {w: {v: 3}}",
        "modes/catalog.yml": "two: {path: x}",
    }
    write(tmp_path, texts)
    return tmp_path


def write(conf: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        file = conf / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)


def load(conf: Path, env: str, **params) -> EnvironmentLoader:
    return EnvironmentLoader(
        conf, env, params or None, base_env="base", default_run_env="base",
        merge_strategy={"parameters": "soft", "globals": "soft"},
    )  # fmt: skip


def test_one_environment_is_read_as_kedro_does(conf):
    assert load(conf, "pool")["parameters"] == {"a": {"x": 1, "y": 2, "z": "pool"}}


def test_each_environment_stands_over_those_before(conf):
    loader = load(conf, "pool+modes")
    assert loader["globals"] == {"root": "pool", "name": "modes"}
    assert loader["parameters"] == {"a": {"x": 1, "y": 2, "z": "pool", "w": {"v": 3}}}
    assert loader["catalog"] == {
        "one": {"type": "A", "path": "pool"}, "two": {"path": "x"},
    }  # fmt: skip


def test_runtime_parameters_stand_over_all(conf):
    loader = load(conf, "pool+modes", a={"w": {"v": 9}, "y": 0})
    expected = {"x": 1, "y": 0, "z": "pool", "w": {"v": 9}}
    assert loader["parameters"] == {"a": expected}


def test_what_was_read_cannot_be_changed_from_outside(conf):
    loader = load(conf, "pool+modes")
    loader["parameters"]["a"].clear()
    assert loader["parameters"]["a"]["x"] == 1


def test_value_that_was_set_stays(conf):
    loader = load(conf, "pool+modes")
    loader["parameters"] = {"b": 1}
    assert loader["parameters"] == {"b": 1}


def test_unknown_environment_is_refused(conf):
    with pytest.raises(ConfigurationError, match="did you mean 'modes'"):
        load(conf, "pool+nodes")


def test_loaders_do_not_take_each_others_settings(conf):
    write(conf, {"base/catalog.yml": "one: {path: '${runtime_params:root,x}'}"})
    loaders = [load(conf, "pool", root="r"), load(conf, "pool"), load(conf, "modes")]
    paths = [loader["catalog"]["one"]["path"] for loader in loaders]
    assert paths == ["r", "x", "x"]
    roots = [loader["globals"]["root"] for loader in loaders]
    assert roots == ["pool", "pool", "data"]


OVERLAYS = {
    "overlays/bench.yml": """
        over: pool
        globals: {name: bench}
        parameters: {a: {y: 3, n: '${globals:name}', r: '${globals:root}'}}
        catalog: {_path: x, three: {type: C, path: '${_path}'}}
    """,
    "overlays/shared.yml": "parameters: {a: {s: 1, t: 1}}",
    "experiments/edges.yml": "{over: shared, parameters: {a: {t: 2}}}",
}


@pytest.fixture
def files(conf) -> Path:
    write(conf, OVERLAYS)
    return conf


def test_file_stands_over_what_it_names(files):
    loader = load(files, "bench")
    assert loader["globals"] == {"root": "pool", "name": "bench"}
    expected = {"x": 1, "y": 3, "z": "pool", "n": "bench", "r": "pool"}
    assert loader["parameters"] == {"a": expected}
    assert loader["catalog"] == {
        "one": {"type": "A", "path": "pool"},
        "two": {"type": "B"},
        "three": {"type": "C", "path": "x"},
    }


@pytest.mark.parametrize("key", ["globals", "parameters", "catalog"])
def test_naming_what_a_file_stands_over_changes_nothing(files, key):
    assert load(files, "pool+bench")[key] == load(files, "bench")[key]


def test_what_several_stand_over_is_read_once_and_first(files):
    parameters = load(files, "pool+edges+shared")["parameters"]
    assert parameters["a"] == {"x": 1, "y": 2, "z": "pool", "s": 1, "t": 2}


def test_file_alone_stands_over_base(files):
    assert load(files, "edges")["globals"] == {"root": "data"}
    assert load(files, "edges")["parameters"]["a"]["t"] == 2


def test_runtime_parameters_stand_over_files(files):
    assert load(files, "bench", a={"y": 9})["parameters"]["a"]["y"] == 9


def test_credentials_of_any_folder_are_found(files):
    write(files, {"modes/credentials.yml": "server: {key: secret}"})
    loader = load(files, "pool+modes+bench")
    assert loader["credentials"] == {"server": {"key": "secret"}}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a", "over: poo", "No environment 'poo' below 'a' .*did you mean 'pool'"),
        ("a", "over: b", "do not override themselves .*'a' over 'b' over 'a'"),
        ("a", "parameter: {}", r"overlays/a\.yml' \(got 'parameter'\); did you mean"),
        ("a", "parameters: 3", r"a mapping for 'parameters' .* \(got 3\)"),
        ("a", "over: [pool]", "Expected names for 'over'"),
        ("a", "- 1", "Expected sections in"),
        ("a", "parameters: {", "Expected YAML in"),
        ("pool", "over: base", "one environment 'pool'"),
    ],
)
def test_wrong_file_is_refused(files, name, text, message):
    write(files, {f"overlays/{name}.yml": text, "overlays/b.yml": "over: a"})
    with pytest.raises(ConfigurationError, match=message):
        load(files, name)


@pytest.mark.parametrize("name", ["overlays", "experiments"])
def test_folder_of_files_is_no_environment(files, name):
    with pytest.raises(ConfigurationError, match="No environment"):
        load(files, name)


def test_command_line_shows_one_line(files):
    with click.Context(click.Command("run")), pytest.raises(click.ClickException):
        load(files, "bnch")


PROJECT = Path(__file__).parents[2]


def read_project(env: str, key: str = "parameters") -> dict:
    return EnvironmentLoader(str(PROJECT / "conf"), env, **CONFIG_LOADER_ARGS)[key]


@pytest.mark.parametrize("key", ["globals", "parameters", "catalog"])
def test_benchmark_is_arqmath_with_other_parameters(key):
    found = read_project("benchmark", key)
    assert found == read_project("arqmath+benchmark", key)
    assert (found == read_project("arqmath", key)) == (key != "parameters")


@pytest.mark.parametrize(
    ("env", "released"),
    [
        ("base", None), ("test", None), ("arqmath", None), ("benchmark", None),
        ("demo", "mathamr_plus"), ("pool", "mathamr_plus"), ("own", "mathamr_plus"),
        ("formula_pool", "mathamr_plus"), ("pool+scratch", None),
        ("pool+examples+distil", None), ("pool+distil+finetune", "distilled"),
    ],
)  # fmt: skip
def test_vocabularies_and_weights_come_from_one_encoder(env, released):
    parameters = read_project(env)
    assert parameters["preprocessing"]["vocabulary"]["source"] == released
    assert parameters["training"]["start_from"] == released
    # Without an encoder to start from there is something to train.
    assert released or parameters["training"]["num_epochs"] > 0


@pytest.mark.parametrize(
    "env", ["base", "arqmath", "benchmark", "benchmark+distil", "pool+examples+distil"]
)
def test_what_is_trained_from_nothing_counts_sentences_as_the_thesis(env):
    stage = read_project(env)["preprocessing"]
    assert stage["graph"]["sentence_roots"] == "chunks"
    assert stage["vocabulary"]["rare_roles_below"] == 0


@pytest.mark.parametrize("env", ["demo", "own", "pool", "formula_pool"])
def test_released_encoders_get_the_graphs_they_were_trained_on(env):
    stage = PreprocessingConfig.read(read_project(env)["preprocessing"])
    assert stage.vocabulary.source == "mathamr_plus"
    assert ReleasedEncoder("mathamr_plus").load_vocabularies(stage.graph)


@pytest.mark.parametrize("env", ["arqmath", "benchmark"])
def test_the_official_collection_takes_the_parser_of_the_thesis(env):
    assert read_project(env)["amr_parsing"]["parser"] == "auto"


def test_ray_serves_every_stage_that_has_workers():
    local, ray = read_project("pool"), read_project("pool+ray")
    found = {}
    for name, stage in ray.items():
        below = local[name].get("encoding", local[name])
        if "workers" not in below:
            assert stage == local[name]
            continue
        workers = stage.get("encoding", stage)["workers"]
        config = read_parameters(WorkerConfig, workers, where=name)
        found[name] = (config.runner, config.ray.address, config.ray.cpus_per_worker)
        # What is the stage's own stays.
        assert config.timeout_s == below["workers"]["timeout_s"]
    stages = [
        "amr_parsing", "graph_fusion", "indexing", "ingestion", "preprocessing",
    ]  # fmt: skip
    assert found == dict.fromkeys(stages, ("ray", "auto", 1))


def test_globals_of_an_overlay_may_name_those_below(conf):
    write(conf, {"overlays/part.yml": "globals: {root: '${_below.root}/part'}"})
    assert load(conf, "pool+part")["globals"] == {"root": "pool/part"}
    assert load(conf, "part")["catalog"]["one"]["path"] == "data/part"


def test_only_credentials_may_name_variables_of_the_shell(conf, monkeypatch):
    monkeypatch.setenv("MATHAMR_KEY", "secret")
    write(
        conf,
        {
            "base/credentials.yml": "{}",
            "modes/credentials.yml": "key: '${oc.env:MATHAMR_KEY}'",
        },
    )
    assert load(conf, "pool+modes")["credentials"] == {"key": "secret"}
    write(conf, {"modes/parameters.yml": "key: '${oc.env:MATHAMR_KEY}'"})
    with pytest.raises(UnsupportedInterpolationType):
        load(conf, "pool+modes")
