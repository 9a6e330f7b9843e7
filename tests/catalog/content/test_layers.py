from __future__ import annotations

import os
from pathlib import Path

import pytest

from apps.catalog.content.installed import installed_content
from apps.catalog.content.layers import Content, read_layers
from apps.catalog.content.review import content_problems
from tests.catalog.content.files import content, write
from tests.contract import proves


def values(found: Content) -> dict[str, object]:
    return {
        f"{kind}/{name}": item.value
        for kind, items in found.items.items()
        for name, item in items.items()
    }


@proves("m4.1")
def test_every_file_is_an_item_named_like_it(tmp_path):
    write(tmp_path, prompt__polite="  Be polite.\n", tool__a={"type": "x"}, toolset__a={})
    (tmp_path / "tool" / "notes.txt").write_text("no item")
    (tmp_path / "tool" / ".hidden.json").write_text("{}")
    (tmp_path / "prompt" / "x.json").write_text("{}")

    found = read_layers([tmp_path])

    assert values(found) == {
        "prompt/polite": "Be polite.",
        "tool/a": {"type": "x"},
        "toolset/a": {},
    }
    assert found.problems == ()


@proves("m4.2")
def test_a_later_layer_replaces_whole_files_by_name(tmp_path):
    first = write(tmp_path / "1", tool__a={"x": 1, "y": 1}, tool__b={"x": 1}, prompt__p="one")
    second = write(tmp_path / "2", tool__a={"x": 2}, tool__c={"x": 2}, prompt__p=b"\xff")

    found = read_layers([first, second])

    assert values(found) == {
        "prompt/p": None,
        "tool/a": {"x": 2},
        "tool/b": {"x": 1},
        "tool/c": {"x": 2},
    }
    assert found.items["prompt"]["p"].problem.startswith("Line 1: not UTF-8")


@proves("m4.2")
def test_the_configuration_of_layers_is_joined_key_by_key(tmp_path):
    layers = [tmp_path / str(index) for index in range(4)]
    for layer, text in zip(
        layers, ['{"a": {"x": 1}, "b": 1}', "[]", "{", '{"a": {"y": 2}}'], strict=True
    ):
        layer.mkdir()
        (layer / "default_configuration.json").write_text(text)

    found = read_layers(layers)

    assert found.configuration == {"a": {"y": 2}, "b": 1}
    assert [problem.partition(": ")[2] for problem in found.problems] == [
        "$: expected an object, found a list.",
        "Line 1, column 2: not valid JSON: Expecting property name enclosed in double quotes.",
    ]


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (b"", "Line 1, column 1: not valid JSON: Expecting value."),
        (b"[]", "$: expected an object, found a list."),
        (b'"text"', "$: expected an object, found a string."),
        (b"\xff\xfe", "Line 1: not UTF-8; save the file as UTF-8."),
        (b'{"a": NaN}', "NaN is not a JSON value; use a number or null."),
        (b'{"a": 1, "a": 2}', "the key 'a' occurs twice in one object; remove one."),
        (b" " * 3_000_000, "the file is 3,000,000 bytes; the limit is 2,097,152."),
    ],
)
def test_what_is_no_json_object_says_why(tmp_path, written, problem):
    item = content(tmp_path, tool__broken=written).items["tool"]["broken"]

    assert (item.value, item.problem) == (None, problem)


def test_deep_nesting_is_a_problem_and_no_crash(tmp_path):
    deep = b'{"a":' * 5_000 + b"1" + b"}" * 5_000

    assert content(tmp_path, tool__deep=deep).items["tool"]["deep"].problem != ""


def test_an_empty_prompt_and_a_directory_like_a_file_are_problems(tmp_path):
    (tmp_path / "tool" / "folder.json").mkdir(parents=True)

    found = content(tmp_path, prompt__nothing=" \n ")

    assert found.items["prompt"]["nothing"].problem == "the file is empty."
    assert found.items["tool"]["folder"].problem == "Is a directory."


def test_a_directory_that_is_missing_is_a_problem(tmp_path):
    assert content_problems(read_layers([tmp_path / "nowhere"])) == [
        f"{tmp_path}/nowhere: the directory does not exist."
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("wether", "; did you mean 'weather'?"),
        ("zzz", "; there are 'ship', 'weather'."),
        ("", "; there are 'ship', 'weather'."),
        ("../tool/weather", "; did you mean 'weather'?"),
        ("w" * 100_000, "; there are 'ship', 'weather'."),
    ],
)
def test_an_unknown_name_is_told_near_ones(tmp_path, name, told):
    assert content(tmp_path, tool__weather={}, tool__ship={}).near("tool", name) == told


def test_without_any_items_there_are_none_to_name(tmp_path):
    assert content(tmp_path).near("prompt", "x") == "; there are none."


def touch(path: Path) -> None:
    """Write like an editor that changes a file without changing its size."""
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 1))


@proves("m4.2")
@pytest.mark.django_db
def test_content_is_read_again_when_a_file_has_changed(tmp_path, settings, monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0.0)
    settings.PREDEFINED_DIR = write(tmp_path, tool__a={"x": 1})
    before = installed_content()
    assert installed_content() is before

    write(tmp_path, tool__a={"x": 2})
    touch(tmp_path / "tool" / "a.json")
    assert installed_content().items["tool"]["a"].value == {"x": 2}

    write(tmp_path, tool__b={})
    assert list(installed_content().items["tool"]) == ["a", "b"]

    (tmp_path / "tool" / "a.json").unlink()
    assert list(installed_content().items["tool"]) == ["b"]
