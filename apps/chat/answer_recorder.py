"""Where the events of an answer go: to those who follow it now, and to what is stored at its end."""

from dataclasses import dataclass

from apps.agent.events import StageClosed
from apps.agent.meter import ModelCallReport
from apps.chat.transcript import Transcript
from apps.insights.answer_figures import with_call
from apps.live.events import CallCounted, StreamEvent
from apps.live.run_record import RunRecord


@dataclass(frozen=True, slots=True)
class AnswerRecorder:
    """Writes the events of a run into its record, and into the transcript."""

    record: RunRecord
    transcript: Transcript

    def count(self, report: ModelCallReport) -> None:
        """Tell what the answer costs with another call; the journal keeps it for other processes."""
        self.emit(CallCounted(with_call(self.transcript.figures, report)))

    def emit(self, event: StreamEvent) -> None:
        if self.record.log.is_over:
            return  # it did not stop in time, and its ending is already stored
        if isinstance(event, StageClosed):
            event = self.transcript.as_told(event)
        self.transcript.take(event)
        self.record.say(event)
