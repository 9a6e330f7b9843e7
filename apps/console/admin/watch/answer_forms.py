"""Defines the forms that operators use to answer a run's question in place of the user."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from apps.capabilities.questions.answers import ANSWER_CHARACTERS, question_problem
from apps.console.admin.theme import LowTextarea
from apps.live.models import LONGEST_REASON, Interaction

LONGEST_SHOWN = 20_000
"""The page shows at most this many characters of each tool argument."""


class AnswerForm(forms.Form):
    outcomes: ClassVar[Mapping[str, str]]
    """The labels of the buttons, by the outcome that each button submits."""

    def __init__(self, question: Mapping[str, Any], data: Any = None) -> None:
        super().__init__(data)
        self.question = question

    @property
    def outcome(self) -> str:
        return str(self.data.get("outcome", ""))

    @property
    def answer(self) -> dict[str, Any]:
        """The answer of a valid form, as a JSON object in the format of the chat page."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        if self.outcome not in self.outcomes:
            raise forms.ValidationError("Choose an answer.")
        return self.cleaned_data


class ApprovalForm(AnswerForm):
    outcomes: ClassVar = {"approved": "Approve", "denied": "Deny"}
    reason = forms.CharField(
        required=False,
        max_length=LONGEST_REASON,
        widget=LowTextarea,
        help_text="If you deny the call, this reason is sent to the model and shown in the conversation.",
    )

    @property
    def answer(self) -> dict[str, Any]:
        reason = self.cleaned_data["reason"] if self.outcome == "denied" else ""
        return {"outcome": self.outcome, "arguments": {}, "reason": reason}


class QuestionForm(AnswerForm):
    outcomes: ClassVar = {"answered": "Answer", "skipped": "Skip"}

    def __init__(self, question: Mapping[str, Any], data: Any = None) -> None:
        super().__init__(question, data)
        if options := [
            (option["label"], describe_option(option)) for option in question["options"]
        ]:
            is_single = question["input"] == "single"
            field = forms.ChoiceField if is_single else forms.MultipleChoiceField
            widget = forms.RadioSelect if is_single else forms.CheckboxSelectMultiple
            self.fields["choices"] = field(
                choices=options, required=False, widget=widget, label="Answer"
            )
        if question["freeform"]:
            label = "Something else" if options else "Answer"
            self.fields["text"] = forms.CharField(
                required=False, max_length=ANSWER_CHARACTERS, widget=LowTextarea, label=label
            )

    @property
    def answer(self) -> dict[str, Any]:
        if self.outcome == "skipped":
            return {"outcome": "skipped", "choices": [], "text": ""}
        given = self.cleaned_data
        chosen = given.get("choices") or []
        choices = [chosen] if isinstance(chosen, str) else chosen
        return {"outcome": "answered", "choices": choices, "text": given.get("text", "")}

    def clean(self) -> dict[str, Any]:
        super().clean()
        if not self.errors and (problem := question_problem(self.question, self.answer)):
            raise forms.ValidationError(problem)
        return self.cleaned_data


class SkipSignInForm(AnswerForm):
    """The form for a sign-in request. An operator cannot sign in for a user, so the only option is
    to continue without the account.
    """

    outcomes: ClassVar = {"skipped": "Continue without it"}

    @property
    def answer(self) -> dict[str, Any]:
        return {"outcome": self.outcome}


class ClientToolForm(AnswerForm):
    """The form for a tool that runs in the user's browser. An operator cannot run it, so the only
    option is to end the call.
    """

    outcomes: ClassVar = {"failed": "End the call"}
    reason = forms.CharField(
        required=False,
        max_length=LONGEST_REASON,
        widget=LowTextarea,
        help_text="This reason is sent to the model.",
    )

    @property
    def answer(self) -> dict[str, Any]:
        reason = self.cleaned_data["reason"]
        return {"outcome": self.outcome, "error": f"An operator ended this call. {reason}".strip()}


class ElicitationForm(AnswerForm):
    """The form for an MCP server's question. Only the user can send data to the server or open its
    page, so an operator can only decline or cancel.
    """

    outcomes: ClassVar = {"declined": "Decline", "cancelled": "Cancel"}

    @property
    def answer(self) -> dict[str, Any]:
        return {"outcome": self.outcome, "content": {}}


def describe_option(option: Mapping[str, str]) -> str:
    return ": ".join(filter(None, (option["label"], option.get("description"))))


FORMS: Mapping[str, type[AnswerForm]] = {
    "approval": ApprovalForm,
    "question": QuestionForm,
    "sign_in": SkipSignInForm,
    "client_tool": ClientToolForm,
    "elicitation": ElicitationForm,
}
"""The form for each kind of question. A timer has no form, because it ends on its own."""
KINDS: Mapping[str, str] = {
    "sign_in": "sign-in",
    "client_tool": "browser tool",
    "elicitation": "server question",
}
"""Labels for kinds of questions whose own names operators would not understand."""


def card_kind(interaction: Interaction) -> str:
    return KINDS.get(interaction.kind, interaction.kind)


def heading(interaction: Interaction) -> str:
    """Return the question that the user was asked, as text."""
    card = interaction.asked
    return str(card.get("title") or card.get("question") or card.get("name") or interaction.kind)


def shown_arguments(interaction: Interaction) -> list[tuple[str, str]]:
    """Return the names and values of a tool call's arguments as text. Truncates long values, and
    replaces the values of a private call with their lengths.
    """
    arguments = interaction.asked.get("arguments") or {}
    show = private if interaction.asked.get("private") else show_value
    return [(name, show(value)) for name, value in arguments.items()]


def private(value: Any) -> str:
    return f"{len(value if isinstance(value, str) else json.dumps(value)):,} characters, private"


def show_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}… (cut; {len(text):,} characters in total)"
