"""The answers of a run's model as steps of its ledger, and the conversations it recovered with."""

from apps.agent.assembly import Reply, show_once
from apps.agent.ledger import WAITING, Ledger, Step, within
from apps.agent.progress import Progress, Turn
from apps.agent.step_results import read_recovery, read_reply, write_recovery, write_reply


def repeat_reply(ledger: Ledger, turn: Turn) -> Reply | None:
    """The recorded answer of this turn, taken into the progress as if it were given now."""
    progress = turn.progress
    step = ledger.step(f"m:{progress.iterations}")
    if step is None or step.status != "done":
        return None
    recorded = read_reply(step.result)
    progress.usage += recorded.reply.usage
    progress.say(recorded.reply.message.text)
    progress.allowance.left, progress.allowance.data = recorded.left, recorded.data
    for attachment in recorded.reply.message.attachments:
        show_once(attachment, turn.emit, progress.shown)
    return recorded.reply


def record_reply(ledger: Ledger, progress: Progress, reply: Reply) -> None:
    """An application that plays the model and waits has not answered yet."""
    if reply.finish_reason != WAITING:
        result = write_reply(reply, progress.allowance)
        ledger.record(Step(f"m:{progress.iterations}", "model", "done", result=result))


def repeat_recovery(ledger: Ledger, progress: Progress) -> None:
    """Go on from the recorded recovery of this turn, if there is one."""
    step = ledger.step(f"recovered:{progress.iterations}")
    if step is None:
        return
    recorded = read_recovery(step.result)
    progress.has_recovered = True
    progress.base = recorded.messages
    progress.added.clear()
    progress.said, progress.usage[:] = recorded.said, recorded.usage
    progress.shown.update(recorded.shown)
    progress.allowance.left, progress.allowance.data = recorded.left, recorded.data


def record_recovery(ledger: Ledger, progress: Progress) -> None:
    key, result = f"recovered:{progress.iterations}", write_recovery(progress)
    ledger.record(Step(key, "recovery", "done", result=result))


def model_ledger(ledger: Ledger, progress: Progress) -> Ledger:
    """For an application that plays the model in this turn."""
    # Asked with other messages, it begins anew.
    again = ":again" if progress.has_recovered else ""
    return within(ledger, f"m:{progress.iterations}{again}")
