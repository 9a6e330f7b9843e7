import copy
import json

import pytest

from apps.catalog.credentials.masking import (
    UnmaskedDocument,
    mask_credentials,
    seal,
    unmask_document,
)
from apps.manifest.problems import Problem
from tests.contract import proves
from tests.manifest.test_credentials import MCP, bearer, manifest

pytestmark = pytest.mark.django_db


@proves("m1.12")
def test_a_masked_document_tells_only_whether_credentials_are_equal(settings):
    document = manifest(bearer("four"), bearer({"$secret": "s"}), MCP)
    before = copy.deepcopy(document)

    hidden = mask_credentials(document)

    assert document == before
    assert hidden["tool_sets"][0]["authorization"]["token"] == {
        "$hidden": seal("four", settings.SECRET_KEY)
    }
    assert hidden["tool_sets"][1] == document["tool_sets"][1]
    assert "hush" not in json.dumps(hidden)
    assert mask_credentials(hidden) == hidden
    assert unmask_document(hidden, document) == UnmaskedDocument(document, ())


def test_a_credential_goes_back_along_with_what_was_moved():
    document = manifest(bearer("four"), MCP)
    hidden = mask_credentials(document)
    moved = {**hidden, "tool_sets": hidden["tool_sets"][::-1]}

    back = unmask_document(moved, document)

    assert back == UnmaskedDocument({**document, "tool_sets": document["tool_sets"][::-1]}, ())


def test_a_credential_does_not_go_back_for_another_server():
    document = manifest(bearer("four"))
    stolen = mask_credentials(manifest(bearer("four", "https://mine.example.net/items")))

    back = unmask_document(stolen, document)

    assert back.problems == (
        Problem(
            "tool_sets[0].authorization.token",
            "is a hidden credential that was stored for other servers; enter it again, or use a "
            "secret",
        ),
    )
    assert "four" not in repr(back)


def test_a_credential_that_is_not_stored_is_asked_for():
    stale = mask_credentials(manifest(bearer("longer")))

    back = unmask_document(stale, manifest(bearer("four")))

    assert [problem.path for problem in back.problems] == ["tool_sets[0].authorization.token"]


def test_an_older_key_is_tried_too(settings):
    document = manifest(bearer("four"))
    hidden = mask_credentials(document)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "a newer key of fifty characters or more, for tests only"

    back = unmask_document(hidden, document)

    assert back == UnmaskedDocument(document, ())
