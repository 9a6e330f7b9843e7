"""Commands that users paste from documentation and browsers."""

from __future__ import annotations

from typing import Any

import pytest

from apps.console.studio.tool_sources.curl_command import CurlTool, read_curl
from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.manifest.kinds.rest import RestToolSet

HOST = "https://api.example.com"


def at(where: str, key: str, kind: str | None = "string", **rest: Any) -> dict[str, Any]:
    return {"type": kind, **rest, "parameter_info": {"type": where, "key": key}}


def parameters(found: CurlTool) -> Any:
    return found.tool["open_ai_tool"]["function"]["parameters"]["properties"]


@pytest.mark.parametrize(
    ("command", "method", "path", "expected"),
    [
        (f"curl -sSL {HOST}/a?q=x", "get", "/a", {"q": at("query", "q", default="x")}),
        (f"$ curl --request DELETE '{HOST}/a/{{id}}'", "delete", "/a/{id}", {"id": at("url", "id")}),
        (
            f"curl {HOST}/a \\\n  --json '{{\"n\": 1, \"on\": true, \"l\": [1.5]}}'",
            "post",
            "/a",
            {
                "n": at("body", "n", "integer", default=1),
                "on": at("body", "on", "boolean", default=True),
                "l": {
                    "type": "array",
                    "items": {"type": "number"},
                    "description": "A list.",
                    "default": [1.5],
                    "parameter_info": {"type": "body", "key": "l", "encoding": "json"},
                },
            },
        ),
        (f"curl -XPUT {HOST}/a -F name=Tom", "put", "/a", {"name": at("body", "name", default="Tom")}),
        (
            f"curl -G {HOST}/a -d q=a -d 'n=b c' --compressed -o out.json",
            "get",
            "/a",
            {"q": at("query", "q", default="a"), "n": at("query", "n", default="b c")},
        ),
        (
            f"curl {HOST}/a -H 'Accept: */*' -H 'X-Version: 2' | jq .",
            "get",
            "/a",
            {"X-Version": at("header", "X-Version", None, const="2")},
        ),
        ("curl api.example.com/a", "get", "/a", {}),
    ],
)  # fmt: skip
def test_a_command_becomes_a_tool(command, method, path, expected):
    found = read_curl(command)

    assert (found.base_url, found.authorization, found.credential) == (HOST, None, "")
    assert found.tool["rest_api_method_info"] == {"method_url": path, "method_type": method}
    assert parameters(found) == expected
    RestToolSet.model_validate({"name": "a", "base_url": found.base_url, "tools": [found.tool]})


SECRET = "S3CR3T"
NAMED = "api-example-com"


@pytest.mark.parametrize(
    ("options", "written"),
    [
        (
            f"-H 'Authorization: Bearer {SECRET}'",
            {"type": "bearer", "token": {"$secret": f"{NAMED}-token"}},
        ),
        (
            f"-u tom:{SECRET}",
            {"type": "basic", "username": "tom", "password": {"$secret": f"{NAMED}-password"}},
        ),
        (
            "-H 'authorization: basic dG9tOlMzQ1IzVA=='",
            {"type": "basic", "username": "tom", "password": {"$secret": f"{NAMED}-password"}},
        ),
        (
            f"-H 'X-API-Key: {SECRET}'",
            {
                "type": "api_key",
                "key": {"$secret": f"{NAMED}-key"},
                "name": "X-API-Key",
                "location": "header",
            },
        ),
        (
            f"-G -d api_key={SECRET}",
            {
                "type": "api_key",
                "key": {"$secret": f"{NAMED}-key"},
                "name": "api_key",
                "location": "query",
            },
        ),
    ],
)
def test_a_credential_is_taken_out_and_proposed_as_a_secret(options, written):
    found = read_curl(f"curl {HOST}/a {options}")

    assert found.authorization is not None
    assert (found.authorization.written, found.credential) == (written, SECRET)
    assert SECRET not in str(found.tool)
    assert SECRET not in repr(found)


def test_every_other_credential_is_left_out():
    found = read_curl(
        f"curl 'https://tom:{SECRET}@api.example.com/a?token={SECRET}' -H 'Cookie: a={SECRET}' "
        f"""--json '{{"login": {{"password": "{SECRET}", "name": "Tom"}}}}'"""
    )

    assert found.authorization is not None
    assert found.authorization.kind == "basic"
    assert SECRET not in str((found.tool, found.base_url, found.notes))
    assert found.notes == (
        "Cookies are omitted, because tools send none.",
        "The command has several credentials; only the first is used.",
        "The value of password in the body is omitted, because it is a credential.",
    )


PROBLEMS = {
    "": "This is not a curl command. It must begin with curl.",
    "rm -rf /": "This is not a curl command. It must begin with curl.",
    "curl": "The command has 0 URLs. Use a command with one URL.",
    "curl --help": "The command cannot be read: unrecognized arguments: --help.",
    "curl -X": "The command cannot be read: argument -X/--request: expected one argument.",
    f"curl '{HOST}": "The command cannot be read: no closing quotation.",
    f"curl -X PATCH {HOST}": ("The command has an unsupported method. Tools can use GET, POST, "
                             "PUT and DELETE."),
    f"curl {HOST} -d @/etc/passwd": ("The command reads its body from a file. Paste the "
                                    "content instead."),
    f"curl {HOST} -F a=@/etc/passwd": "The command sends a file, but tools can send only JSON.",
    f"curl {HOST} -d '[1]'": "The body is not a JSON object, so tools cannot send it.",
    f"curl {HOST} -d '{'[' * 5000}'": "The body of the command is not valid JSON.",
    "curl file:///etc/passwd": ("The command's URL cannot be used: use a URL that "
                               "begins with http://, https:// or /."),
    f"curl {HOST} --config x": "The command cannot be read: unrecognized arguments: --config x.",
    "curl " + "x" * 100_000: "The command is too long; the limit is 100,000 characters.",
}  # fmt: skip
"""Commands, each with its error."""


def test_what_cannot_be_read_is_told_and_ends_no_process():
    assert {command: problem_of(command) for command in PROBLEMS} == PROBLEMS


def problem_of(command: str) -> str:
    with pytest.raises(SourceInvalid) as caught:
        read_curl(command)
    return str(caught.value)
