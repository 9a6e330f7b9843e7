"""T-30…T-32: names of the page's tools, and their permissions."""

from typing import Any

import pytest

from apps.manifest.kinds.client import ClientToolSet
from apps.manifest.names import sanitize
from apps.manifest.toolsets.client_tools import OF_THE_PAGE, PLATFORM_NAMES
from apps.manifest.validation.validation import ManifestInvalid, read_manifest
from tests.contract import proves
from tests.manifest.documents import manifest

NOTHING = {"type": "object", "properties": {}}


def tool(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": "Fills it in.", "parameters": NOTHING, **fields}


def client(*tools: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "client", "name": "Shop", "tools": list(tools), **fields}


def problems(*toolsets: dict[str, Any]) -> list[tuple[str, str]]:
    try:
        read_manifest(manifest(tool_sets=list(toolsets)))
    except ManifestInvalid as error:
        return [(problem.path, problem.message) for problem in error.problems]
    return []


@proves("T-32")
@pytest.mark.parametrize(
    "name", ["shop.fill", "shop-1.fill_in.all", "fill", "a" * 64, *sorted(OF_THE_PAGE)]
)
def test_a_name_has_parts_and_becomes_one_that_models_accept(name):
    assert problems(client(tool(name))) == []
    assert sanitize(name) == name.replace(".", "_")


@proves("T-32")
@pytest.mark.parametrize("name", ["", ".fill", "shop.", "shop..fill", "shop fill", "ü", "a" * 65])
def test_other_names_are_refused(name):
    [(path, message)] = problems(client(tool(name)))

    assert path == "tool_sets[0].tools[0].name"
    assert "such as `shop.fill_order`" in message


@proves("T-32")
@pytest.mark.parametrize("name", ["_platform.fill", "_platform_fill", "_platform.ui.set_field"])
def test_the_prefix_of_the_platform_is_for_its_own_tools(name):
    [(path, message)] = problems(client(tool(name)))

    assert path == "tool_sets[0].tools[0].name"
    assert "names that begin with `_platform.` are reserved" in message


@proves("T-32")
def test_no_other_tool_takes_the_prefix_of_the_platform():
    deployments = {
        "type": "dial-deployment",
        "name": "x",
        "tools": [{"deployment_id": "_platform.x"}],
    }

    [(path, message)] = problems(deployments)

    assert path == "tool_sets[0].tools[0].deployment_id"
    assert "begins names of the platform" in message
    assert {"_platform_inspect_page", "_platform_set_field"} == PLATFORM_NAMES


@pytest.mark.parametrize("name", ["_platform_inspect_page", "_platform_inspect_team"])
def test_a_tool_of_elsewhere_does_not_pass_for_one_of_the_platform(name):
    function = {
        "name": name,
        "description": "x",
        "parameters": {"type": "object", "properties": {}},
    }
    tools = [{"deployment_id": name}]
    written = {"open_ai_tool": {"type": "function", "function": function}}

    [(path, message)] = problems({"type": "dial-deployment", "name": "x", "tools": tools})
    internal = problems({"type": "internal", "name": "x", "tools": [written]})

    assert path == "tool_sets[0].tools[0].deployment_id"
    assert "begins names of the platform" in message
    assert (internal == []) == (name == "_platform_inspect_team")


@proves("T-31")
def test_two_names_that_the_model_could_not_tell_apart_are_a_mistake():
    found = problems(
        client(tool("shop.fill"), tool("shop.fill", enabled=False)),
        client(tool("shop_fill"), enabled=False),
        client(tool("shop_fill")),
    )

    message = "the model would see a second tool named 'shop_fill'; tool_sets[0].tools[0].name is"
    assert [(path, text.startswith(message)) for path, text in found] == [
        ("tool_sets[2].tools[0].name", True)
    ]


@proves("T-30")
@pytest.mark.parametrize("permission", ["", "change_application", "catalog.", "a.b.c", "A.b"])
def test_a_permission_is_one_of_the_admin(permission):
    assert problems(client(tool("a.b", permission="catalog.change_application"))) == []

    [(path, message)] = problems(client(tool("a.b", permission=permission)))

    assert path == "tool_sets[0].tools[0].permission"
    assert "use one such as `catalog.change_application`" in message


@proves("T-09")
def test_a_toolset_waits_for_90_seconds_unless_it_says_otherwise():
    read_back = read_manifest(
        manifest(tool_sets=[client(tool("a.b")), client(tool("a.c"), seconds=5)])
    )

    toolsets = [one for one in read_back.tool_sets if isinstance(one, ClientToolSet)]
    assert [one.seconds for one in toolsets] == [90, 5]
