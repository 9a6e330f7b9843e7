"""Converts the stages of a run to AG-UI's tool calls and steps.

A tool's stage becomes a tool call. Its result is the content of the stage, because the operator
decides what a stage shows. Any other stage becomes a step, and its content becomes an activity.
"""

from apps.ag_ui.content import OWN_CALL
from apps.ag_ui.events import call_frames, custom, frame, new_id
from apps.ag_ui.interrupts import ResumedInterrupt
from apps.agent.events import (
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    SubagentEnded,
    SubagentStarted,
)
from apps.agent.messages import attachment_to_dict

ACTIVITY = "quickapps.step"


class OpenStage:
    """An open stage. `name` is its first title. `call_id` is "" if the stage is sent as a step."""

    def __init__(self, name: str, call_id: str = "") -> None:
        self.name = name
        self.title = name
        self.call_id = call_id
        self.texts: list[str] = []

    def close(self, *, failed: bool) -> bytes:
        text = "".join(self.texts)
        if self.call_id:
            return result_frame(self.call_id, text or self.title, failed=failed)
        shown = b""
        if text or failed or self.title != self.name:
            content = {"title": self.title, "text": text, "failed": failed}
            shown = frame(
                "ACTIVITY_SNAPSHOT", messageId=new_id(), activityType=ACTIVITY, content=content
            )
        return shown + frame("STEP_FINISHED", stepName=self.name)


def result_frame(call_id: str, content: str, *, failed: bool = False) -> bytes:
    marked = {"metadata": {"failed": True}} if failed else {}
    return frame(
        "TOOL_CALL_RESULT", messageId=new_id(), toolCallId=call_id, content=content, **marked
    )


class StageFrames:
    """Writes the frames of a run's stages and sub-agents, and tracks which are open."""

    def __init__(self, resumed: ResumedInterrupt | None) -> None:
        self.resumed = resumed
        self.open: dict[str, OpenStage] = {}
        self.subagents: dict[str, str] = {}

    def begin(self, event: StageOpened) -> bytes:
        ended = self.close(event.stage_id)  # Models reuse call IDs.
        if self.resumed is not None and self.resumed.id == event.stage_id:
            self.open[event.stage_id] = OpenStage(event.title, self.resumed.shown_id)
            self.resumed = None
            return ended
        if event.tool:
            stage = self.open[event.stage_id] = OpenStage(event.title, f"{OWN_CALL}{new_id()}")
            title = {"title": event.title}
            return ended + call_frames(stage.call_id, event.tool, "{}", metadata=title)
        stage = self.open[event.stage_id] = OpenStage(self.unique(event.title))
        return ended + frame("STEP_STARTED", stepName=stage.name)

    def unique(self, title: str) -> str:
        """Return the title, with a number if an open step already has this name. Names must be
        unique, because the protocol ends a step by its name.
        """
        taken = {stage.name for stage in self.open.values()}
        name, number = title, 1
        while name in taken:
            number += 1
            name = f"{title} ({number})"
        return name

    def write(self, event: StageRenamed | StageDelta | StageAttachment | StageClosed) -> bytes:
        stage = self.open.get(event.stage_id)
        if stage is None:
            return b""
        match event:
            case StageRenamed(_, suffix):
                stage.title += suffix
            case StageDelta(_, text):
                stage.texts.append(text)
            case StageAttachment(_, attachment):
                place = {"toolCallId": stage.call_id} if stage.call_id else {"step": stage.name}
                return custom("attachment", {**attachment_to_dict(attachment), **place})
            case StageClosed():
                stage.title += event.time
                return self.close(event.stage_id, failed=event.reads_failed)
        return b""

    def close(self, stage_id: str, *, failed: bool = False) -> bytes:
        stage = self.open.pop(stage_id, None)
        return b"" if stage is None else stage.close(failed=failed)

    # --- Sub-agents ----------------------------------------------------------------------------

    def begin_subagent(self, event: SubagentStarted) -> bytes:
        if event.key in self.subagents:
            return b""
        run = self.subagents[event.key] = new_id()
        stage = self.open.get(event.stage_id)
        call = {"parentToolCallId": stage.call_id} if stage is not None and stage.call_id else {}
        name = event.agent or event.name
        return frame(
            "SUBAGENT_STARTED", subagentRunId=run, name=name, description=event.name, **call
        )

    def end_subagent(self, event: SubagentEnded) -> bytes:
        run = self.subagents.pop(event.key, None)
        if run is None:
            return b""
        if event.status == "failed":
            return frame("SUBAGENT_ERROR", subagentRunId=run, message="The sub-agent failed.")
        return frame("SUBAGENT_FINISHED", subagentRunId=run)

    # --- The end -------------------------------------------------------------------------------

    def end(self, *, failed: bool) -> bytes:
        """Close all open stages and sub-agents. If the resumed call had no stage, write its result."""
        frames = [self.close(stage, failed=failed) for stage in list(self.open)]
        frames += [
            self.end_subagent(SubagentEnded(key, "failed" if failed else "done"))
            for key in list(self.subagents)
        ]
        if self.resumed is not None:
            frames.append(result_frame(self.resumed.shown_id, self.resumed.answer))
        self.resumed = None
        return b"".join(frames)
