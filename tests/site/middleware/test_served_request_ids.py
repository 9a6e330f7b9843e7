"""A served site returns, logs and stores the ids of its requests."""

from __future__ import annotations

import json
import re

import pytest

from tests.site.house import COMPLETIONS, QUESTION, House
from tests.sites.serving import Site
from tests.sites.websocket import PageSocket, visitor_cookie

pytestmark = pytest.mark.slow("serves a site in a process of its own")


def lines_with(site: Site, request_id: str) -> list[str]:
    return [line for line in site.log.read_text().splitlines() if f"[{request_id}]" in line]


RUN_OF = """
from apps.live.models import RunSummary
result = [str(pk) for pk in RunSummary.objects.filter(request_id=wanted).values_list("pk", flat=True)]
"""


def test_the_id_of_a_request_is_returned_logged_and_kept_with_its_run(house: House):
    response = house.ask(COMPLETIONS, QUESTION, **{"X-Request-ID": "desk-7"})

    assert (response.status, response.headers["X-Request-ID"]) == (200, "desk-7")
    lines = lines_with(house.site, "desk-7")
    assert any("Request received" in line for line in lines)
    assert any("Request completed" in line for line in lines)
    house.until(lambda: len(house.site.shell(RUN_OF, wanted="desk-7")) == 1)


def test_the_answer_to_a_program_has_the_id_of_the_request_that_began_it(house: House):
    question = {"application": "demo", "text": "Hello"}
    path = "/api/IAIAssistantApi/SubmitMessage"
    response = house.ask(path, question, **{"X-Request-ID": "task-7"})

    run = json.loads(response.text)["task_id"]
    assert (response.status, response.headers["X-Request-ID"]) == (202, "task-7")
    house.until(lambda: house.site.shell(RUN_OF, wanted="task-7") == [run])
    assert any("Request completed" in line for line in lines_with(house.site, "task-7"))


@pytest.mark.parametrize("path", ["/healthz", "/", "/v1/none", "/api/none", "/static/none"])
def test_every_door_returns_an_id(house: House, path: str):
    response = house.ask(path, **{"X-Request-ID": "not well formed"})

    assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-ID"])


LATEST = """
from apps.live.models import Run
result = str(Run.objects.latest("started_at").request)
"""


def test_an_answer_of_the_page_has_the_id_of_its_question(house: House):
    page = PageSocket(house.site.url, "demo", visitor_cookie(house.site.url, "demo"))
    page.ask("Hello")
    page.until("message.complete")
    page.close()

    request = house.site.shell(LATEST)
    house.until(lambda: any("Request completed" in one for one in lines_with(house.site, request)))
    house.until(lambda: len(house.site.shell(RUN_OF, wanted=request)) == 1)
