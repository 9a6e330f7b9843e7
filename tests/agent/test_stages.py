import pytest

from apps.agent.events import (
    Event,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
)
from apps.agent.messages import Attachment
from apps.agent.stages import open_stage
from tests.fakes import timeless


def test_a_stage_says_what_happens_inside_of_it():
    events: list[Event] = []
    note = Attachment(data="n")

    with open_stage(events.append, "1", "Look", "0") as stage:
        stage.write("a")
        stage.write("")
        stage.attach(note)
        stage.rename(" up")
        stage.rename("")

    assert timeless(events) == [
        StageOpened("1", "Look", "0"),
        StageDelta("1", "a"),
        StageAttachment("1", note),
        StageRenamed("1", " up"),
        StageClosed("1", 0.0),
    ]


def test_what_a_stage_shows_can_be_encoded():
    events: list[Event] = []

    with open_stage(events.append, "1", "Look") as stage:
        stage.write("a\ud800")
        stage.rename("\udc00")

    assert events[1:3] == [StageDelta("1", "a\ufffd"), StageRenamed("1", "\ufffd")]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_stage_that_an_exception_passes_through_has_failed(error):
    events: list[Event] = []

    with pytest.raises(error), open_stage(events.append, "1", "Look"):
        raise error

    assert timeless(events) == [StageOpened("1", "Look"), StageClosed("1", 0.0, failed=True)]
