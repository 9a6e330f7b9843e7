from __future__ import annotations

from uuid import UUID

from apps.agent.events import TextDelta
from apps.task_api.server_sent_events import SSE_NAMES, list_refresh, server_sent_event
from tests.contract import proves
from tests.doors.test_event_json import FRAMES


@proves("T-04")
def test_every_frame_has_a_name_among_server_sent_events():
    types = {frame["type"] for _, frame in FRAMES if frame is not None}

    assert types - SSE_NAMES.keys() == set(), "each needs a name in SSE_NAMES"


SAID = 7, UUID(int=2), TextDelta("one")
IDS = f'"conversation":"{UUID(int=1)}","run":"{UUID(int=2)}","seq":7'


@proves("T-12")
def test_t_12_an_event_is_plain_json_or_has_the_form_of_a_union():
    plain = server_sent_event(UUID(int=1), SAID)
    cases = server_sent_event(UUID(int=1), SAID, unions="cases")
    lists = [list_refresh("conversations", form) for form in ("plain", "cases")]

    assert plain.decode() == (
        f'id: 7\nevent: AIMessageDelta\ndata: {{"type":"message.delta","text":"one",{IDS}}}\n\n'
    )
    assert cases.decode() == (
        "id: 7\nevent: AIMessageDelta\n"
        f'data: {{"Case":"MessageDelta","Fields":[{{"text":"one",{IDS}}}]}}\n\n'
    )
    assert lists == [
        b'event: ListRefresh\ndata: {"type":"list.refresh","list":"conversations"}\n\n',
        b'event: ListRefresh\ndata: {"Case":"ListRefresh","Fields":[{"list":"conversations"}]}\n\n',
    ]
