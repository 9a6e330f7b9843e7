"""Records the events of an answer while the answer is being written."""

from dataclasses import dataclass

from apps.agent.events import StageClosed
from apps.agent.meter import ModelCallReport
from apps.conversations.outcome.transcript import Transcript
from apps.insights.answer_figures import with_call
from apps.live.events import CallCounted, StreamEvent
from apps.live.journal.run_record import RunRecord


@dataclass(frozen=True, slots=True)
class AnswerRecorder:
    """Records a run's events in the journal and in the answer's transcript."""

    record: RunRecord
    transcript: Transcript

    def count(self, report: ModelCallReport) -> None:
        """Emit the answer's updated metrics after a model call."""
        self.emit(CallCounted(with_call(self.transcript.figures, report)))

    def emit(self, event: StreamEvent) -> None:
        if self.record.log.is_over:
            return  # The run did not stop in time, and its outcome is already stored.
        if isinstance(event, StageClosed):
            event = self.transcript.as_shown(event)
        self.transcript.apply(event)
        self.record.say(event)
