"""Shows an A2A agent's answer in the tool's stage as it arrives, and collects it for the model."""

from dataclasses import dataclass, field

import msgspec

from apps.agent.stages import Stage
from apps.capabilities.a2a_agents.updates import (
    ENDED,
    INTERRUPTED,
    STATES,
    AgentMessage,
    AnswerInvalid,
    Artifact,
    Part,
    Task,
    TaskStatus,
    Update,
)
from apps.capabilities.wrappers.value_texts import fence_code, one_line

HEADING = "> #### Response:\n"
MOST_ARTIFACTS = 1_000
MOST_PROGRESS = 200
"""A call shows at most this many progress messages from the agent."""
PROGRESS_CHARACTERS = 500


@dataclass(slots=True)
class ArtifactContent:
    """Collects the text chunks and the files of one artifact."""

    texts: list[str] = field(default_factory=list)
    files: list[Part] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)


class AgentAnswer:
    """Collects the answer of an A2A agent."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.task_id = ""
        """The ID of the agent's task, or "" if the agent has not started one."""
        self.context_id = ""
        self.state = ""
        self.artifacts: dict[str, ArtifactContent] = {}
        self.message = ArtifactContent()
        """The agent's message. If there is a task, the message belongs to the status with which the
        task ended or paused.
        """
        self.has_message = False
        self.shown: str | None = None
        """The ID of the artifact whose text was shown last; "" for a message, and None if nothing
        was shown.
        """
        self.has_answered = False
        self.progress_left = MOST_PROGRESS

    @property
    def is_over(self) -> bool:
        """Return True if the task has ended or is waiting for a message, or if the agent has
        answered without a task.
        """
        return self.has_message or self.state in ENDED | INTERRUPTED

    @property
    def text(self) -> str:
        """Return the agent's last message, followed by the texts of its artifacts.

        Omit the message if the artifacts already contain it.
        """
        texts = [one.text.strip() for one in self.artifacts.values()]
        said = "\n\n".join(filter(None, texts))
        told = self.message.text.strip()
        return "\n\n".join(filter(None, (told if told not in said else "", said)))

    @property
    def files(self) -> list[Part]:
        gathered = (self.message, *self.artifacts.values())
        return [part for one in gathered for part in one.files]

    def take(self, update: Update) -> None:
        """Add an update to the answer. Raises `AnswerInvalid` if it violates the protocol."""
        if update.task is not None:
            self.take_task(update.task)
        elif update.message is not None:
            self.note(update.message.task_id, update.message.context_id)
            self.has_message = True
            self.message = read_content(update.message)
            self.show("", self.message.text)
        elif update.status_update is not None:
            self.note(update.status_update.task_id, update.status_update.context_id)
            self.take_status(update.status_update.status)
        elif (change := update.artifact_update) is not None:
            self.note(change.task_id, change.context_id)
            self.take_artifact(change.artifact, append=bool(change.append))

    def take_task(self, task: Task) -> None:
        """Add the artifacts and the status of a task. Raises `AnswerInvalid` for an unknown state
        or too many artifacts.
        """
        self.note(task.id, task.context_id)
        for artifact in task.artifacts or ():
            self.take_artifact(artifact, append=False)
        self.take_status(task.status)

    def note(self, task_id: str | None, context_id: str | None) -> None:
        self.task_id = task_id or self.task_id
        self.context_id = context_id or self.context_id

    def take_status(self, status: TaskStatus) -> None:
        """Update the state of the task. Raises `AnswerInvalid` for an unknown state."""
        if status.state not in STATES:
            raise AnswerInvalid(f"its task has the unknown state {one_line(status.state)!r}.")
        self.state = status.state
        if status.message is None:
            return
        if self.is_over:
            self.message = read_content(status.message)
            if self.message.text.strip() not in self.artifact_text:
                self.show("", self.message.text)
        elif (text := read_content(status.message).text) and self.progress_left:
            self.progress_left -= 1
            if self.shown is not None:
                self.stage.write("\n\n")
            self.stage.write(f"{one_line(text, PROGRESS_CHARACTERS)}\n\n")
            self.shown = None

    @property
    def artifact_text(self) -> str:
        return "\n\n".join(one.text for one in self.artifacts.values())

    def take_artifact(self, artifact: Artifact, *, append: bool) -> None:
        """Add an artifact, or append to it if `append` is True. Raises `AnswerInvalid` for too many
        artifacts.
        """
        id, known = artifact.artifact_id, self.artifacts.get(artifact.artifact_id)
        new = read_content(artifact)
        if known is not None and append:
            known.texts += new.texts
            known.files += new.files
            self.show(id, new.text)
            return
        if known is None and len(self.artifacts) >= MOST_ARTIFACTS:
            raise AnswerInvalid(
                f"its response has too many artifacts; the limit is {MOST_ARTIFACTS}."
            )
        self.artifacts[id] = new
        # A task repeats the artifacts that have already been streamed.
        before = known.text if known is not None else ""
        self.show(id, new.text.removeprefix(before))

    def show(self, id: str, text: str) -> None:
        if not text:
            return
        if self.shown not in (None, id):
            self.stage.write("\n\n")
        self.stage.write(text)
        self.has_answered, self.shown = True, id


def read_content(content: Artifact | AgentMessage) -> ArtifactContent:
    found = ArtifactContent()
    for part in content.parts or ():
        if part.text is not None:
            found.texts.append(part.text)
        elif part.data is not msgspec.UNSET and part.data is not None:
            written = msgspec.json.format(msgspec.json.encode(part.data)).decode()
            found.texts.append(f"\n{fence_code(written, 'json')}\n")
        elif part.raw is not None or part.url:
            found.files.append(part)
    return found
