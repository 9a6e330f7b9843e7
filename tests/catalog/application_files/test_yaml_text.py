import pytest

from apps.catalog.application_files.yaml_text import YAMLTextInvalid, parse_yaml_text
from apps.catalog.application_files.yaml_writer import parses_to, update_yaml, write_yaml

SOURCE = """\
# The travel desk
title: "Travel"   # shown on top
manifest:
  orchestrator:
    deployment: {deployment_id: gpt}  # the cheap one
    max_iterations: 3 # few
  # what it can do
  tool_sets:
  - type: predefined
    # the weather
    template_name: weather
  - {type: predefined, template_name: git}   # code

  contexts: []
"""

TRICKY = (
    "", " a", "a ", "a\n", "\na", "a\n\nb\n\n", "no", "true", "null", "~", "1", "1e3", "0x1", "0o7",
    "1_000", "2024-01-01", "- a", "a: b", "#x", "a #b", "'", '"', "\\", "\x85", "\u2028", "\ufeff",
    "\x07", "a\tb", "\ta", "😀", "a\r\nb", "a\rb", "%x", "@x", "`x", "|", "> a", "&a", "*a", "!a",
    "{a", "[a", "? a", "<<", "=", "a\n b\nc", "line\n\ttab\n", "---", "a\n---\nb", "\x7f", "1:30",
)  # fmt: skip


def test_every_text_number_and_key_is_written_as_it_is_read():
    plain: list[object] = [0, -1, 10**20, 1.5, 1e-7, 1e22, 1e300, True, False, None, [], {}]
    for one in (*TRICKY, *plain):
        assert parses_to(write_yaml({"value": one, "items": [one]}), {"value": one, "items": [one]})
    for key in TRICKY:
        assert parses_to(write_yaml({key: 1}), {key: 1})


def test_equal_parts_of_a_document_are_written_out():
    part = {"name": "a"}

    assert write_yaml({"one": part, "other": part}) == "one:\n  name: a\nother:\n  name: a\n"


def test_one_value_changes_one_line_and_keeps_every_comment():
    document = parse_yaml_text(SOURCE).value
    document["manifest"]["orchestrator"]["max_iterations"] = 5

    changed = update_yaml(SOURCE, document)

    assert changed == SOURCE.replace("max_iterations: 3", "max_iterations: 5")


def test_items_come_and_go_and_no_other_line_changes():
    document = parse_yaml_text(SOURCE).value
    document["manifest"]["tool_sets"][0] = {"type": "predefined", "template_name": "pictures"}
    fewer = parse_yaml_text(SOURCE).value
    del fewer["manifest"]["tool_sets"][0]
    weather = "  - type: predefined\n    # the weather\n    template_name: weather\n"

    assert update_yaml(SOURCE, document) == SOURCE.replace(": weather", ": pictures")
    assert update_yaml(SOURCE, fewer) == SOURCE.replace(weather, "")


def test_a_text_that_says_the_same_is_left_as_it_is():
    assert update_yaml(SOURCE, parse_yaml_text(SOURCE).value) == SOURCE


REFUSED = (
    ("a: &x 1\nb: *x", ("line 1: anchors (&) and aliases (*) are not supported; repeat the "
                       "value.")),
    ("a: 1\na: 2", "line 2: the key 'a' occurs twice; remove one."),
    ("a: !run x", "line 1: the tag !run is not supported; remove it."),
    ("<<: {a: 1}", "line 1: a key must be a string."),
    ("a: .inf", "line 1: '.inf' is not a JSON value."),
    ("a: 1\nb:\n  ? [1]\n  : 2", "line 3: a key must be a string."),
    ("a: [1\nb: 2", "line 2: not valid YAML: while parsing a flow sequence expected ',' or ']', "
     "but got ':'."),
    ("a: 1\n---\nb: 1", "line 2: not valid YAML: expected a single document in the stream but "
     "found another document."),
    ("[" * 1_000, "nested too deeply; the limit is 100 levels."),
    ("a:" + " [" * 150 + "]" * 150, "nested too deeply; the limit is 100 levels."),
)  # fmt: skip


def test_what_json_cannot_say_is_refused_with_its_line():
    for text, message in REFUSED:
        with pytest.raises(YAMLTextInvalid) as caught:
            parse_yaml_text(text)
        assert message in str(caught.value)
