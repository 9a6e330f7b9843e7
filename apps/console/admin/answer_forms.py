"""The forms with which operators answer what a run asks, in place of the person."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from apps.capabilities.questions.answers import ANSWER_CHARACTERS, question_problem
from apps.console.admin.theme import LowTextarea
from apps.live.models import LONGEST_REASON, Interaction

LONGEST_SHOWN = 20_000
"""Characters of one argument."""


class AnswerForm(forms.Form):
    """`outcomes` are the answers that have a button each, with its words."""

    outcomes: ClassVar[Mapping[str, str]]

    def __init__(self, asked: Mapping[str, Any], data: Any = None) -> None:
        super().__init__(data)
        self.asked = asked

    @property
    def outcome(self) -> str:
        return str(self.data.get("outcome", ""))

    @property
    def answer(self) -> dict[str, Any]:
        """The answer as the page gives it, of a form that is valid."""
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
        help_text="Told to the model and shown in the conversation when the call is denied.",
    )

    @property
    def answer(self) -> dict[str, Any]:
        reason = self.cleaned_data["reason"] if self.outcome == "denied" else ""
        return {"outcome": self.outcome, "arguments": {}, "reason": reason}


class QuestionForm(AnswerForm):
    outcomes: ClassVar = {"answered": "Answer", "skipped": "Skip"}

    def __init__(self, asked: Mapping[str, Any], data: Any = None) -> None:
        super().__init__(asked, data)
        if options := [(option["label"], described(option)) for option in asked["options"]]:
            is_single = asked["input"] == "single"
            field = forms.ChoiceField if is_single else forms.MultipleChoiceField
            widget = forms.RadioSelect if is_single else forms.CheckboxSelectMultiple
            self.fields["choices"] = field(
                choices=options, required=False, widget=widget, label="Answer"
            )
        if asked["freeform"]:
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
        if not self.errors and (problem := question_problem(self.asked, self.answer)):
            raise forms.ValidationError(problem)
        return self.cleaned_data


class SignInForm(AnswerForm):
    """Nobody signs in for somebody else, so there is nothing to do but go on without."""

    outcomes: ClassVar = {"skipped": "Go on without it"}

    @property
    def answer(self) -> dict[str, Any]:
        return {"outcome": self.outcome}


class ClientToolForm(AnswerForm):
    """Only the page of the person can carry out the call."""

    outcomes: ClassVar = {"failed": "End the call"}
    reason = forms.CharField(
        required=False,
        max_length=LONGEST_REASON,
        widget=LowTextarea,
        help_text="Told to the model.",
    )

    @property
    def answer(self) -> dict[str, Any]:
        reason = self.cleaned_data["reason"]
        return {"outcome": self.outcome, "error": f"An operator ended this call. {reason}".strip()}


class ElicitationForm(AnswerForm):
    """Only the person can give a server what is theirs, or open its page."""

    outcomes: ClassVar = {"declined": "Decline", "cancelled": "Cancel"}

    @property
    def answer(self) -> dict[str, Any]:
        return {"outcome": self.outcome, "content": {}}


def described(option: Mapping[str, str]) -> str:
    return ": ".join(filter(None, (option["label"], option.get("description"))))


FORMS: Mapping[str, type[AnswerForm]] = {
    "approval": ApprovalForm,
    "question": QuestionForm,
    "sign_in": SignInForm,
    "client_tool": ClientToolForm,
    "elicitation": ElicitationForm,
}
"""By the kind of what is asked; a timer is for the clock alone."""
KINDS: Mapping[str, str] = {
    "sign_in": "sign-in",
    "client_tool": "tool of the browser",
    "elicitation": "question of a server",
}
"""Of kinds that have other words than their names."""


def kind_of(asked: Interaction) -> str:
    return KINDS.get(asked.kind, asked.kind)


def heading(asked: Interaction) -> str:
    """What is asked, in words."""
    card = asked.asked
    return str(card.get("title") or card.get("question") or card.get("name") or asked.kind)


def shown_arguments(asked: Interaction) -> list[tuple[str, str]]:
    """The arguments of a call with their values as text, cut where they are very long.

    Of a private call only how long they are.
    """
    arguments = asked.asked.get("arguments") or {}
    show = private if asked.asked.get("private") else shown
    return [(name, show(value)) for name, value in arguments.items()]


def private(value: Any) -> str:
    return f"{len(value if isinstance(value, str) else json.dumps(value)):,} characters, private"


def shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}… (cut; {len(text):,} characters in all)"
