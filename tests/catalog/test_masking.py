import copy
import json

import pytest

from apps.catalog.masking import Unmasked, masked, seal, unmasked
from apps.manifest.problems import Problem
from tests.contract import proves
from tests.manifest.test_credentials import MCP, bearer, manifest

pytestmark = pytest.mark.django_db


@proves("m1.12")
def test_a_masked_document_tells_only_whether_credentials_are_equal(settings):
    document = manifest(bearer("four"), bearer({"$secret": "s"}), MCP)
    before = copy.deepcopy(document)

    hidden = masked(document)

    assert document == before
    assert hidden["tool_sets"][0]["authorization"]["token"] == {
        "$hidden": seal("four", settings.SECRET_KEY)
    }
    assert hidden["tool_sets"][1] == document["tool_sets"][1]
    assert "hush" not in json.dumps(hidden)
    assert masked(hidden) == hidden
    assert unmasked(hidden, document) == Unmasked(document, ())


def test_a_credential_goes_back_along_with_what_was_moved():
    document = manifest(bearer("four"), MCP)
    hidden = masked(document)
    moved = {**hidden, "tool_sets": hidden["tool_sets"][::-1]}

    back = unmasked(moved, document)

    assert back == Unmasked({**document, "tool_sets": document["tool_sets"][::-1]}, ())


def test_a_credential_does_not_go_back_for_another_server():
    document = manifest(bearer("four"))
    stolen = masked(manifest(bearer("four", "https://mine.example.net/items")))

    back = unmasked(stolen, document)

    assert back.problems == (
        Problem(
            "tool_sets[0].authorization.token",
            "is a hidden credential that was stored for other servers; type it again, or name a "
            "secret",
        ),
    )
    assert "four" not in repr(back)


def test_a_credential_that_is_not_stored_is_asked_for():
    stale = masked(manifest(bearer("longer")))

    back = unmasked(stale, manifest(bearer("four")))

    assert [problem.path for problem in back.problems] == ["tool_sets[0].authorization.token"]


def test_an_older_key_is_tried_too(settings):
    document = manifest(bearer("four"))
    hidden = masked(document)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "a newer key of fifty characters or more, for tests only"

    back = unmasked(hidden, document)

    assert back == Unmasked(document, ())
