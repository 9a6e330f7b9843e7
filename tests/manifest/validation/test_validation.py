from typing import Any

import pytest

from apps.manifest.kinds.mcp import McpToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.problems import Problem
from apps.manifest.toolsets.kinds import KINDS
from apps.manifest.validation.expectations import in_a_row
from apps.manifest.validation.validation import ManifestInvalid, read_manifest, review
from tests.contract import proves
from tests.manifest.documents import (
    EXAMPLES,
    example,
    function,
    internal_tools,
    manifest,
    orchestrator,
    rest_tool,
    rest_tools,
    with_credentials,
)

KINDS_OF_TOOLSET = in_a_row(KINDS, "or")
TOOL = "tool_sets[0].tools[0]"
GENERAL_PURPOSE = {"name": "general-purpose", "description": "d", "system_prompt": "p"}
PARAMETERS = f"{TOOL}.open_ai_tool.function.parameters"


def errors(document: object) -> list[tuple[str, str]]:
    return [(p.path, p.message) for p in review(document, preview=True).errors]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_load(name):
    assert isinstance(read_manifest(example(name)), Manifest)
    assert review(example(name), preview=True).errors == ()


def test_what_was_written_can_be_read_back():
    for name in EXAMPLES:
        first = read_manifest(example(name))

        assert read_manifest(with_credentials(first, example(name))) == first


@proves("T-02", "R-01")
def test_defaults_are_filled_in():
    found = read_manifest(example("smallest"))

    assert found.orchestrator.max_iterations == 15
    assert found.orchestrator.system_prompt.model_dump() == {
        "type": "custom",
        "content": "",
        "variables": {},
    }
    assert found.features is not None
    assert found.features.timestamp is not None
    assert found.features.dial_files is None
    assert (found.skills, found.hooks, found.starters) == (None, None, None)


def test_null_features_differ_from_none_given():
    assert read_manifest(manifest(features=None)).features is None


def test_a_manifest_cannot_be_changed():
    found = read_manifest(example("smallest"))

    with pytest.raises(ValueError, match="frozen"):
        found.orchestrator.max_iterations = 3  # type: ignore[misc]


@proves("m1.10")
def test_null_in_an_attachment_filter_means_the_default():
    nothing = {"supported_types": None, "propagate_types_to_choice": None}
    tool = rest_tool(attachment={**nothing, "media_type_substitution": None})

    (toolset,) = read_manifest(manifest(tool_sets=[rest_tools(tool)])).tool_sets

    assert toolset.model_dump()["tools"][0]["attachment"] == {
        "supported_types": ("*/*",),
        "propagate_types_to_choice": ("image/*", "application/vnd.plotly.v1+json"),
        "propagate_types_to_text": (),
        "media_type_substitution": {},
    }


@proves("m1.8")
@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ({"template_name": "search"}, "predefined-tool"),
        ({"deployment_id": "translator"}, "dial-deployment-simple"),
        (
            {"deployment": {"deployment_id": "expert"}, "open_ai_tool": function("ask")},
            "deployment-tool",
        ),
    ],
)
def test_the_shape_of_a_tool_tells_its_kind(tool, kind):
    document = manifest(tool_sets=[{"type": "dial-deployment", "name": "x", "tools": [tool]}])

    (toolset,) = read_manifest(document).model_dump()["tool_sets"]

    assert toolset["tools"][0]["type"] == kind


@proves("m1.9")
def test_a_parameter_says_how_it_is_encoded():
    place = {"type": "query", "key": "q"}
    tool = rest_tool(
        parameters={
            "plain": {"type": "string", "parameter_info": place},
            "other": {"type": "string", "parameter_info": {**place, "encoding": "json"}},
        }
    )

    (toolset,) = read_manifest(manifest(tool_sets=[rest_tools(tool)])).model_dump()["tool_sets"]

    properties = toolset["tools"][0]["open_ai_tool"]["function"]["parameters"]["properties"]
    encodings = {name: p["parameter_info"]["encoding"] for name, p in properties.items()}
    assert encodings == {"plain": "text", "other": "json"}


def test_a_static_function_keeps_what_we_do_not_know():
    static = {"static_function": {"name": "radar", "range": 40}, "priority": 1}
    deployment = {"deployment_id": "expert", "parameters": {"tools": [static]}}
    tool = {"deployment": deployment, "open_ai_tool": function("ask")}
    document = manifest(tool_sets=[{"type": "dial-deployment", "name": "x", "tools": [tool]}])

    (toolset,) = read_manifest(document).model_dump(exclude_unset=True)["tool_sets"]

    assert toolset["tools"][0]["deployment"]["parameters"]["tools"] == (static,)


def test_a_default_deployment_is_filled_in_only_where_none_is_named():
    silent = manifest(orchestrator={"max_iterations": 3})

    assert read_manifest(silent, default_deployment="spare").orchestrator.deployment.id == "spare"
    named = read_manifest(example("smallest"), default_deployment="spare")
    assert named.orchestrator.deployment.id == "harbour-chat"
    assert silent == manifest(orchestrator={"max_iterations": 3})


def test_of_an_id_and_its_old_spelling_the_id_wins():
    both = orchestrator(deployment={"deployment_id": "new", "name": "old"})

    assert read_manifest(manifest(orchestrator=both)).orchestrator.deployment.id == "new"


def test_an_invalid_manifest_tells_all_its_problems():
    with pytest.raises(ManifestInvalid) as refused:
        read_manifest({"orchestrator": orchestrator(max_iterations="many"), "tool_sets": []})

    assert refused.value.problems == (
        Problem("orchestrator.max_iterations", 'expected an integer, found the string "many"'),
        Problem("contexts", "is missing; write a list"),
    )
    assert str(refused.value) == (
        'orchestrator.max_iterations: expected an integer, found the string "many"; '
        "contexts: is missing; write a list"
    )


MISTAKES: list[tuple[str, object, list[tuple[str, str]]]] = [
    ("null", None, [("$", "expected an object, found null")]),
    ("a list", [], [("$", "expected an object, found a list")]),
    (
        "nothing",
        {},
        [
            ("orchestrator", 'is missing; write an object with "deployment"'),
            ("contexts", "is missing; write a list"),
            ("tool_sets", "is missing; write a list"),
        ],
    ),
    (
        "no deployment",
        manifest(orchestrator={}),
        [("orchestrator.deployment", "is missing; write an object")],
    ),
    (
        "an unnamed deployment",
        manifest(orchestrator={"deployment": {"deployment_id": ""}}),
        [("orchestrator.deployment", "has no `deployment_id`; set it to the ID of a deployment")],
    ),
    (
        "null for an object",
        manifest(tool_defaults=None),
        [("tool_defaults", "expected an object, found null")],
    ),
    (
        "numbers out of range",
        manifest(
            tool_defaults={"timeout_seconds": 0},
            features={"file_loading": {"size_limit": 0}, "dial_files": {"max_files_scanned": 0}},
            contexts=[{"type": "folder", "url": "files/a/", "max_depth": 11}],
        ),
        [
            ("contexts[0].max_depth", "expected 10 or less, found the integer 11"),
            ("features.file_loading.size_limit", "expected more than 0, found the integer 0"),
            ("features.dial_files.max_files_scanned", "expected 1 or more, found the integer 0"),
            ("tool_defaults.timeout_seconds", "expected more than 0, found the integer 0"),
        ],
    ),
    (
        "too little",
        manifest(
            orchestrator=orchestrator(
                attachment_strategy={"accepted_types": []},
                system_prompt={"type": "predefined", "template": ""},
            ),
            conversation_starters={"starters": []},
        ),
        [
            (
                "orchestrator.system_prompt.template",
                'expected at least 1 character(s), found the string ""',
            ),
            (
                "orchestrator.attachment_strategy.accepted_types",
                "expected at least 1 item(s), found a list of 0",
            ),
            ("conversation_starters.starters", "expected at least 1 item(s), found a list of 0"),
        ],
    ),
    (
        "toolsets of no kind",
        manifest(tool_sets=[{"type": "soap"}, {"name": "x"}, 7, {"type": ["mcp"]}]),
        [
            ("tool_sets[0].type", f'expected {KINDS_OF_TOOLSET}, found the string "soap"'),
            ("tool_sets[1].type", f"is missing; write {KINDS_OF_TOOLSET}"),
            ("tool_sets[2]", 'expected an object with a "type", found the integer 7'),
            ("tool_sets[3].type", f"expected {KINDS_OF_TOOLSET}, found a list of 1"),
        ],
    ),
    (
        "tools of no kind",
        manifest(tool_sets=[rest_tools({"type": "internal-tool"}, None)]),
        [
            (
                f"{TOOL}.type",
                'expected "restapi-tool" or "predefined-tool", found the string "internal-tool"',
            ),
            ("tool_sets[0].tools[1]", 'expected an object with a "type", found null'),
        ],
    ),
    (
        "a broken tool",
        manifest(tool_sets=[rest_tools({"open_ai_tool": function()})]),
        [
            (
                f"{TOOL}.rest_api_method_info",
                'is missing; write an object with "method_url" and "method_type"',
            )
        ],
    ),
    (
        "a broken predefined tool",
        manifest(tool_sets=[rest_tools({"template_name": 5, "enabled": "perhaps"})]),
        [
            (f"{TOOL}.template_name", "expected a string, found the integer 5"),
            (f"{TOOL}.enabled", 'expected true or false, found the string "perhaps"'),
        ],
    ),
    (
        "broken parameters",
        manifest(
            tool_sets=[
                rest_tools(
                    rest_tool(
                        parameters={
                            "city": {"type": "text"},
                            "list": {"type": "array", "description": "x"},
                            "odd name": {"type": "string", "parameter_info": {"type": "cookie"}},
                        }
                    )
                )
            ]
        ),
        [
            (
                f"{PARAMETERS}.properties.city.type",
                'expected "object", "array", "string", "number", "integer", "boolean" or null, '
                'found the string "text"',
            ),
            (
                f"{PARAMETERS}.properties.list.parameter_info",
                'is missing; write an object with "type" and "key"',
            ),
            (f"{PARAMETERS}.properties.list.items", 'is missing; write an object with a "type"'),
            (
                f'{PARAMETERS}.properties["odd name"].parameter_info.type',
                'expected "query", "url", "body" or "header", found the string "cookie"',
            ),
            (
                f'{PARAMETERS}.properties["odd name"].parameter_info.key',
                "is missing; write a string",
            ),
        ],
    ),
    (
        "a nested object without a description",
        manifest(
            tool_sets=[
                {
                    "type": "internal",
                    "name": "x",
                    "tools": [
                        {
                            "open_ai_tool": function(
                                "f",
                                rows={
                                    "type": "array",
                                    "description": "Rows",
                                    "items": {"type": "object", "properties": {}},
                                },
                            )
                        }
                    ],
                }
            ]
        ),
        [(f"{PARAMETERS}.properties.rows.items.description", "is missing; write a string")],
    ),
    (
        "localized names",
        manifest(tool_sets=[rest_tools(name=5), rest_tools(name={"en": 5}), rest_tools(name=None)]),
        [
            ("tool_sets[0].name", "expected a string or an object, found the integer 5"),
            ("tool_sets[1].name.en", "expected a string, found the integer 5"),
            ("tool_sets[2].name", "expected a string or an object, found null"),
        ],
    ),
    (
        "values of several types",
        manifest(
            orchestrator=orchestrator(
                deployment={"deployment_id": "x", "parameters": {"stop": ["a", 1]}}
            ),
            features={"dial_files": {"enabled_tools": "some"}},
        ),
        [
            (
                "orchestrator.deployment.parameters.stop[1]",
                "expected a string, found the integer 1",
            ),
            (
                "features.dial_files.enabled_tools",
                'expected "all" or a list, found the string "some"',
            ),
        ],
    ),
    (
        "an unknown file tool",
        manifest(features={"dial_files": {"enabled_tools": ["list", "internal_file_find"]}}),
        [
            (
                "features.dial_files.enabled_tools[1]",
                'expected "list", "read_lines", "search", "find", "write", "edit", "delete", '
                '"copy" or "move", found the string "internal_file_find"',
            )
        ],
    ),
    (
        "a long value",
        manifest(features={"stage_display": {"level": "x" * 500}}),
        [
            (
                "features.stage_display.level",
                f'expected "none", "error", "info" or "debug", found the string "{"x" * 40}…"',
            )
        ],
    ),
    (
        "a folder that is none",
        manifest(contexts=[{"type": "folder", "url": "files/harbour/charts"}]),
        [("contexts[0].url", "the URL of a folder must end with '/'")],
    ),
    (
        "sub-agents of one name",
        manifest(
            features={
                "subagents": {
                    "types": [{"name": "a", "description": "d", "system_prompt": "p"}] * 2
                }
            }
        ),
        [("features.subagents.types", "several sub-agents are named 'a'; rename all but one")],
    ),
    (
        "a sub-agent with the reserved name",
        manifest(features={"subagents": {"types": [GENERAL_PURPOSE]}}),
        [
            (
                "features.subagents.types",
                "'general-purpose' is reserved; rename this sub-agent, or set "
                "`general_purpose` to null",
            )
        ],
    ),
    (
        "a sub-agent that may not ask its model",
        manifest(features={"subagents": {"general_purpose": {"max_iterations": 0}}}),
        [
            (
                "features.subagents.general_purpose.max_iterations",
                "expected more than 0, found the integer 0",
            )
        ],
    ),
    (
        "a server without an address",
        manifest(tool_sets=[{"type": "mcp", "name": "x", "mcp_server_info": {"protocol": "sse"}}]),
        [("tool_sets[0].mcp_server_info", "has no `url`; set it to the URL of the server")],
    ),
    (
        "an unnamed server of the installation",
        manifest(
            tool_sets=[{"type": "mcp", "name": "x", "mcp_server_info": {"protocol": "stdio"}}]
        ),
        [
            (
                "tool_sets[0].mcp_server_info",
                "has no `server`; set it to the name of a registered server",
            )
        ],
    ),
    (
        "a hidden tool that is not allowed",
        manifest(
            tool_sets=[
                {
                    "type": "dial-mcp",
                    "deployment_id": "x",
                    "allowed_tools": ["a"],
                    "hidden_from_model": ["a", "b"],
                }
            ]
        ),
        [
            (
                "tool_sets[0]",
                ("`hidden_from_model` contains 'b', which `allowed_tools` lacks; add it there too"),
            )
        ],
    ),
    (
        "an unnamed toolset of DIAL",
        manifest(tool_sets=[{"type": "dial-mcp"}]),
        [("tool_sets[0]", "has no `deployment_id`; set it to the ID of a toolset")],
    ),
    *(
        (
            f"{limit} model calls",
            manifest(orchestrator=orchestrator(max_iterations=limit)),
            [
                (
                    "orchestrator.max_iterations",
                    "is not a valid number of model calls; use 1 or more, or -1 for no limit",
                )
            ],
        )
        for limit in (0, -2, -500)
    ),
    (
        "overrides of a type",
        manifest(
            tool_sets=[
                {"type": "predefined", "template_name": "x", "override": {"type": "mcp"}},
                rest_tools({"template_name": "x", "override": {"type": None}}),
                rest_tools({"template_name": "x", "override": {"a": [{"b": {"type": 1}}]}}),
                rest_tools({"template_name": "x", "override": {"type": 1}, "enabled": False}),
            ]
        ),
        [
            (
                "tool_sets[0].override",
                "contains `type`, which cannot be patched because it identifies the template; remove it, or write the tool out",
            ),
            (
                "tool_sets[1].tools[0].override",
                "contains `type`, which cannot be patched because it identifies the template; remove it, or write the tool out",
            ),
        ],
    ),
]


@proves("4", "m1.9", "m4.4")
@pytest.mark.parametrize(
    ("document", "expected"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES]
)
def test_a_mistake_is_told_with_its_place(document, expected):
    assert errors(document) == expected


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/notes/", "the path is relative and must not begin with '/'"),
        ("notes", "the path of a folder must end with '/'"),
        (
            "files/x/",
            "the path is relative to the application's folder and must not begin with 'files/'",
        ),
        ("a/../b/", "the path must not contain '..'"),
        ("a//b/", "the path must not contain empty segments"),
    ],
)
def test_the_home_of_an_agent_is_a_relative_folder(path, reason):
    document = manifest(features={"dial_files": {"agent_home_dir": path}})

    assert errors(document) == [
        ("features.dial_files.agent_home_dir", f"{reason}; use a path such as 'notes/'")
    ]


@pytest.mark.parametrize("path", ["", "notes/", "a/b.c/"])
def test_a_relative_folder_is_a_home(path):
    assert errors(manifest(features={"dial_files": {"agent_home_dir": path}})) == []


def mcp(authorization: object) -> dict[str, Any]:
    server = {"url": "https://x.example", "protocol": "sse", "authorization": authorization}
    return manifest(tool_sets=[{"type": "mcp", "name": "x", "mcp_server_info": server}])


@proves("m1.12")
@pytest.mark.parametrize(
    "authorization",
    [
        "hunter2",
        {"type": "bearer", "token": ["hunter2"]},
        {"type": "basic", "username": {"x": "hunter2"}, "password": 2},
        {"type": "client_id_secret", "client_id": "a", "client_secret": 7, "token_url": "hunter2"},
        {"type": "api_key", "key": 7, "name": "hunter2"},
    ],
)
def test_a_secret_is_never_repeated(authorization):
    for document in (
        mcp(authorization),
        manifest(tool_sets=[rest_tools(authorization=authorization)]),
    ):
        told = review(document, preview=True)

        assert told.errors
        assert "hunter2" not in str(told)
        assert "7" not in str(told)


def test_what_is_a_secret_is_told_by_its_kind():
    assert errors(mcp({"type": "bearer", "token": 123456})) == [
        (
            "tool_sets[0].mcp_server_info.authorization.token",
            "expected a string or a reference to a secret, found an integer",
        )
    ]
    assert errors(mcp({"type": "forward_auth_token"})) == [
        (
            "tool_sets[0].mcp_server_info.authorization.type",
            'expected "bearer", "api_key", "client_id_secret", "basic" or "oauth", '
            'found the string "forward_auth_token"',
        )
    ]


def test_only_so_many_problems_are_told():
    document = manifest(contexts=[{"type": "file"}] * 150)

    told = errors(document)

    assert told[0] == ("contexts[0].url", "is missing; write a string")
    assert told[-1] == ("contexts[99].url", "and 50 more problems after this one")
    assert len(told) == 101


@proves("6.1", "T-31")
def test_two_tools_of_one_name_are_a_mistake():
    document = manifest(
        tool_sets=[
            rest_tools(rest_tool("a b"), name="port"),
            rest_tools(rest_tool("a_b", enabled=False), rest_tool("a.b"), name="port"),
            internal_tools("port_a_b", enabled=False),
            internal_tools("port_a_b"),
            {
                "type": "dial-deployment",
                "name": "x",
                "tools": [{"deployment_id": "same"}, {"deployment_id": "same"}],
            },
        ]
    )

    assert errors(document) == [
        (
            "tool_sets[1].tools[1].open_ai_tool.function.name",
            "the model would see a second tool named 'port_a_b'; "
            "tool_sets[0].tools[0].open_ai_tool.function.name is the first; rename one of them",
        ),
        (
            "tool_sets[3].tools[0].open_ai_tool.function.name",
            "the model would see a second tool named 'port_a_b'; "
            "tool_sets[0].tools[0].open_ai_tool.function.name is the first; rename one of them",
        ),
        (
            "tool_sets[4].tools[1].deployment_id",
            "the model would see a second tool named 'same'; "
            "tool_sets[4].tools[0].deployment_id is the first; rename one of them",
        ),
    ]


@proves("4", "m4.4", "R-01")
@pytest.mark.parametrize(
    "members",
    [
        {"orchestrator": orchestrator(max_iterations=0)},
        {"tool_sets": [{"type": "predefined", "template_name": "x", "override": {"type": "mcp"}}]},
        {
            "hooks": [
                {
                    "event": "on_request_start",
                    "tool_name": "t",
                    "arguments": {"q": "${last_user_message[0]}"},
                }
            ]
        },
    ],
)
def test_what_costs_no_more_than_a_part_is_refused_when_it_is_checked_and_not_when_it_runs(members):
    document = manifest(**members)

    assert len(review(document, preview=True).errors) == 1
    assert len(review(document, preview=False).errors) == 1
    assert isinstance(read_manifest(document), Manifest)


@proves("7.4", "m1.8")
def test_without_preview_its_features_read_as_null_and_its_models_are_gone():
    found = read_manifest(example("preview"), preview=False).model_dump(
        mode="json", exclude_unset=True
    )

    assert found == {
        "orchestrator": {"deployment": {"deployment_id": "harbour-chat"}, "tool_discovery": None},
        "contexts": [],
        "tool_sets": [
            {
                "type": "dial-app",
                "name": "Logbook",
                "deployment_id": "logbook-app",
                "transport": "mcp",
                "deferred": None,
                "allowed_tools": ["open", "note", "look_up"],
            },
            {
                "type": "dial-deployment",
                "name": "papers",
                "deferred": None,
                "tools": [
                    {
                        "type": "dial-deployment-simple",
                        "deployment_id": "paper-reader",
                        "propagate_annotations_to_choice": None,
                    }
                ],
            },
        ],
        "skills": [],
        "hooks": None,
        "features": {
            "web_fetch": None,
            "representation_tooling": None,
            "dial_files": {"tool_call_result_offload": None},
            "subagents": None,
        },
    }


@proves("6.3")
def test_hidden_tools_are_visible_without_preview():
    server = {"protocol": "stdio", "server": "time"}
    toolset = {"type": "mcp", "name": "x", "mcp_server_info": server, "hidden_from_model": ["a"]}
    document = manifest(tool_sets=[toolset])

    found = []
    for preview in (True, False):
        (read_toolset,) = read_manifest(document, preview=preview).tool_sets
        assert isinstance(read_toolset, McpToolSet)
        found.append(read_toolset.hidden_from_model)

    assert found == [("a",), None]


@proves("6.3")
def test_a_hidden_tool_that_is_not_allowed_is_a_mistake_with_preview_and_without():
    """The manifest is validated before preview features are removed."""
    server = {"protocol": "stdio", "server": "time"}
    toolset = {"type": "mcp", "name": "x", "mcp_server_info": server, "hidden_from_model": ["b"]}

    for preview in (True, False):
        with pytest.raises(ManifestInvalid) as refused:
            read_manifest(
                manifest(tool_sets=[{**toolset, "allowed_tools": ["a"]}]), preview=preview
            )
        assert [problem.message for problem in refused.value.problems] == [
            "`hidden_from_model` contains 'b', which `allowed_tools` lacks; add it there too"
        ]
        everything: tuple[object, ...] = (None, [])
        for allowed in everything:
            read_manifest(
                manifest(tool_sets=[{**toolset, "allowed_tools": allowed}]), preview=preview
            )


def test_a_preview_feature_that_is_on_by_default_is_off_without_preview():
    document = manifest(features={"dial_files": {}}, tool_sets=[rest_tools()])

    gated, whole = read_manifest(document, preview=False), read_manifest(document)

    assert whole.features is not None
    assert whole.features.dial_files is not None
    assert whole.features.dial_files.tool_call_result_offload is not None
    assert gated.features is not None
    assert gated.features.dial_files is not None
    assert gated.features.dial_files.tool_call_result_offload is None


def test_the_other_items_of_a_list_stay():
    document = manifest(
        contexts=[
            {"type": "user-defined", "content": "a"},
            {"type": "folder", "url": "files/b/"},
            {"type": "file", "url": "files/c"},
        ]
    )

    assert [c.type for c in read_manifest(document, preview=False).contexts] == [
        "user-defined",
        "file",
    ]


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"preview", "memory_service"}))
def test_without_preview_a_manifest_that_uses_none_says_the_same(name):
    gates = {"deferred", "tool_call_result_offload"}
    gated = read_manifest(example(name), preview=False).model_dump(mode="json", exclude_unset=True)
    whole = read_manifest(example(name)).model_dump(mode="json", exclude_unset=True)

    assert without(gated, gates) == without(whole, gates)


def without(value: object, keys: set[str]) -> object:
    if isinstance(value, dict):
        return {k: without(v, keys) for k, v in value.items() if k not in keys or v is not None}
    return [without(item, keys) for item in value] if isinstance(value, list) else value
