"""How settings reach the worker processes, and what the server logs."""

from __future__ import annotations

import json
import logging
import os
import re
import sys

import pytest

from mathamr_kedro.serve.settings import SETTINGS, TOKEN, ServeConfig, _JsonLines


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in (SETTINGS, TOKEN):
        monkeypatch.setenv(name, "")  # so that what a test leaves is taken back
        monkeypatch.delenv(name)


def test_workers_take_over_what_the_command_left():
    config = ServeConfig(
        "own", "root", "bm25", ("a.example", "b.example"), True, 10, 20, 30.5
    )
    config.hand_on()
    assert ServeConfig.take_over() == config


def test_without_a_command_the_settings_are_the_usual_ones():
    assert ServeConfig.take_over() == ServeConfig()
    assert ServeConfig().hosts == ("127.0.0.1", "localhost", "[::1]")


def test_a_token_is_not_left_with_the_settings():
    ServeConfig("own", token="secret").hand_on()
    assert "secret" not in os.environ[SETTINGS]
    assert ServeConfig.take_over().token is None
    assert "secret" not in repr(ServeConfig(token="secret"))


def test_the_token_is_that_of_the_variable_where_none_is_given(monkeypatch):
    assert ServeConfig().find_token() == ""
    monkeypatch.setenv(TOKEN, "variable")
    assert ServeConfig().find_token() == "variable"
    assert ServeConfig(token="given").find_token() == "given"
    assert ServeConfig(token="").find_token() == ""  # nobody may write


NAMES = ("mathamr_kedro", "uvicorn", "uvicorn.error")


@pytest.fixture
def handlers(monkeypatch):
    """The handlers of the log; they and all levels are as before afterwards."""
    levels = {name: logging.getLogger(name).level for name in NAMES}
    found: list[logging.Handler] = []
    monkeypatch.setattr(logging.getLogger(), "handlers", found)
    for name in NAMES:
        logging.getLogger(name).setLevel(logging.NOTSET)
    yield found
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def set_up(handlers, *own, **settings):
    handlers[:] = own  # not those of pytest
    ServeConfig(**settings).set_up_logs()


def list_levels():
    return [logging.getLogger(name).level for name in NAMES]


def test_a_worker_process_logs_requests_in_words(handlers):
    set_up(handlers)
    assert list_levels() == [logging.INFO, logging.WARNING, logging.WARNING]
    (handler,) = handlers
    record = logging.makeLogRecord({"msg": "GET %s", "args": ("/",)})
    assert handler.format(record) == "GET /"


def test_logs_may_be_json(handlers):
    set_up(handlers, json_logs=True)
    assert list_levels() == [logging.INFO] * 3
    (handler,) = handlers
    assert json.loads(handler.format(logging.makeLogRecord({"msg": "begun"})))


def test_a_log_that_is_set_up_keeps_its_form(handlers):
    handler = logging.StreamHandler()
    set_up(handlers, handler)
    assert handlers == [handler] and handler.formatter is None
    assert list_levels()[0] == logging.NOTSET


def test_json_lines_say_when_where_and_what():
    values = {"msg": "%s posts", "args": (3,), "name": "a.b", "levelname": "WARNING"}
    form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}"
    entry = json.loads(_JsonLines().format(logging.makeLogRecord(values)))
    assert re.fullmatch(form, entry.pop("time"))
    assert entry == {"level": "warning", "logger": "a.b", "message": "3 posts"}


def test_json_lines_of_requests_stay_as_they_are():
    record = logging.makeLogRecord({"msg": '{"request": "1"}'})
    assert _JsonLines().format(record) == '{"request": "1"}'


def test_json_lines_have_the_traceback_of_an_error():
    try:
        raise ValueError("bad")
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info()})
    entry = json.loads(_JsonLines().format(record))
    assert entry["traceback"].endswith("ValueError: bad")
