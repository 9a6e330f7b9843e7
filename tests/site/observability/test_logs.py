from __future__ import annotations

import json
import logging
import logging.config
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.exceptions import PermissionDenied

from apps.agent.records import log_event
from quickapps_site.observability.logs import (
    JsonFormatter,
    logging_of,
    read_json_template,
    read_text_format,
)
from tests.contract import proves
from tests.tables import each_row

PAYLOADS = logging.getLogger("apps.payloads")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Restore the levels and filters of the loggers that a configuration changes."""
    names = [None, *configured(own="DEBUG")["loggers"]]
    loggers = [logging.getLogger(name) for name in names]
    before = [(one, one.level, list(one.filters), list(one.handlers)) for one in loggers]
    yield
    for one, level, filters, handlers in before:
        one.setLevel(level)
        one.filters[:] = filters
        one.handlers[:] = handlers


def configured(**wanted):
    options = {"root": "INFO", "own": "INFO", "form": "text", "payloads": False}
    return logging_of(**{**options, "longest_payload": 20, **wanted})


def written(configuration, log) -> list[str]:
    """Return the lines that `log` writes under a configuration."""
    stream = StringIO()
    configuration["handlers"]["console"]["stream"] = stream
    PAYLOADS.filters.clear()  # a configuration adds its own
    logging.config.dictConfig(configuration)
    log()
    return stream.getvalue().splitlines()


def test_a_refused_request_is_one_line_and_a_failed_one_has_its_traceback():
    def log() -> None:
        logger = logging.getLogger("django.request")
        for error, write in ((PermissionDenied("no"), logger.warning), (KeyError(1), logger.error)):
            try:
                raise error
            except type(error) as raised:
                write("Request: %s", "/admin/", exc_info=raised)

    refused, failed, *traceback = written(configured(), log)

    assert refused.endswith(" WARNING django.request Request: /admin/")
    assert failed.endswith(" ERROR django.request Request: /admin/")
    assert (traceback[0], traceback[-1]) == ("Traceback (most recent call last):", "KeyError: 1")


def test_an_event_is_one_json_object_with_its_fields():
    def log() -> None:
        logger = logging.getLogger("apps.runs")
        log_event(logger, "Request received", deployment="wéather", messages=2, tools=["a"])

    (line,) = written(configured(form="json"), log)

    found = json.loads(line)
    assert found.pop("time").endswith("+00:00")
    assert found == {
        "level": "INFO",
        "logger": "apps.runs",
        "message": "Request received",
        "deployment": "wéather",
        "messages": 2,
        "tools": ["a"],
    }


def test_other_lines_have_their_text_and_their_traceback():
    def log() -> None:
        try:
            raise ValueError("no")
        except ValueError:
            logging.getLogger("somebody").exception("It %s", "failed")

    (line,) = written(configured(form="json"), log)

    found = json.loads(line)
    assert (found["level"], found["message"]) == ("ERROR", "It failed")
    assert found["traceback"].endswith("ValueError: no")


def test_a_field_cannot_begin_a_line_of_its_own():
    def log() -> None:
        log_event(
            logging.getLogger("apps.runs"), "Request received", deployment="a\nforged: b", n=1
        )

    (line,) = written(configured(), log)

    assert line.endswith(r"Request received: deployment='a\nforged: b' n=1")


def test_what_was_said_is_logged_cut_and_only_on_request():
    def log() -> None:
        PAYLOADS.debug("[payload] %s: %s", "answer", "x" * 100)

    assert written(configured(own="DEBUG", payloads=False), log) == []
    assert written(configured(own="INFO", payloads=True), log) == []
    (line,) = written(configured(own="DEBUG", payloads=True), log)
    assert line.endswith("[payload] answer: xx… (118 characters)")


def test_our_own_level_is_not_that_of_the_others():
    def log() -> None:
        logging.getLogger("apps.agent").debug("ours")
        logging.getLogger("somebody").debug("theirs")
        logging.getLogger("httpx").info("HTTP Request: GET https://x/?key=secret")

    lines = written(configured(own="DEBUG", root="INFO", payloads=True), log)

    assert [line.rpartition(" ")[2] for line in lines] == ["ours"]


def test_values_that_json_does_not_know_are_written_as_text():
    entry = logging.makeLogRecord({"event": "X", "fields": {"path": object}, "levelname": "INFO"})

    assert json.loads(JsonFormatter().format(entry))["path"] == "<class 'object'>"


def test_a_line_of_django_is_written_once():
    django = logging.getLogger("django")
    django.addHandler(logging.StreamHandler())  # as Django does by itself

    lines = written(configured(), lambda: django.getChild("request").warning("Not Found: %s", "/a"))

    assert [line.split(" ", 2)[2] for line in lines] == ["WARNING django.request Not Found: /a"]
    assert django.handlers == []


def failing() -> None:
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("apps.runs").exception('It "failed"')


@proves("19")
def test_text_has_the_format_of_the_operator_and_its_traceback():
    form = "%(levelprefix)s| %(name)s | %(otelTraceID)s | %(message)s"

    first, *_, last = written(configured(text_format=form), failing)

    assert first == 'ERROR:   | apps.runs | 0 | It "failed"'
    assert last == "ValueError: no"


@proves("19")
def test_a_json_template_may_have_any_shape_and_loses_no_traceback():
    template = {"level": "%(levelname)s", "where": [{"name": "%(name)s"}, 1], "text": "%(message)s"}
    shown = {**template, "trace": "%(exc_text)s"}

    (line,) = written(configured(form="json", json_template=template), failing)
    (other,) = written(configured(form="json", json_template=shown), failing)

    found, traced = json.loads(line), json.loads(other)
    assert found.pop("traceback").endswith("ValueError: no")
    assert traced.pop("trace").endswith("ValueError: no")
    expected = {"level": "ERROR", "where": [{"name": "apps.runs"}, 1], "text": 'It "failed"'}
    assert (found, traced) == (expected, expected)


@each_row(
    ("read", "raw"),
    [
        (read_text_format, "%(nothing)s"),
        (read_text_format, "no field"),
        (read_text_format, "%(message)d"),
        (read_json_template, "{"),
        (read_json_template, '["%(message)s"]'),
        (read_json_template, '{"a": ["%(nothing)s"]}'),
        (read_json_template, '{"a": "%(message"}'),
    ],
)
def test_a_format_that_cannot_write_a_record_is_refused(read, raw):
    with pytest.raises(ValueError):  # noqa: PT011 - the setting's own message follows
        read(raw)
