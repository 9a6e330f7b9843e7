"""Defines the tool with which the model asks the user a question."""

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial

from django.utils.translation import gettext_lazy

from apps.agent.ledger import InteractionRequest
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities.questions.answers import (
    FREEFORM,
    INPUT_TYPE,
    INPUTS,
    LABEL,
    MOST_OPTIONS,
    OPTIONS,
    QUESTION,
    answer_text,
    read_card,
)
from apps.capabilities.registry import NOTHING, Capability, Open, Opening
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    open_with,
    parameters,
    plain_result,
    text_parameter,
)
from apps.manifest.features.features import Questions
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets.parameters import (
    ArrayParameter,
    ObjectSchema,
    SimpleParameter,
    SimpleSchema,
)

TOOL_NAME = "internal_ask_question"
DESCRIPTION = (
    "Asks the user one question and waits for the answer. Use it if you cannot continue without "
    "something that only the user knows or decides, not for what you can find out yourself. "
    "Several questions at the same time are shown together."
)
OPTION = ObjectSchema(
    type="object",
    description="One of the options.",
    properties={
        LABEL: SimpleSchema(type="string", description="The choice, in a few words."),
        "description": SimpleSchema(type="string", description="The effect of this choice."),
    },
    required=(LABEL,),
)
PARAMETERS = parameters(
    {
        QUESTION: text_parameter("The question, in plain text and in the user's language."),
        INPUT_TYPE: text_parameter(
            "How the user answers: with one option, with several, or in their own words.",
            "single-select",
            enum=tuple(INPUTS),
        ),
        OPTIONS: ArrayParameter(
            type="array",
            items=OPTION,
            description=f"1 to {MOST_OPTIONS} options to choose from; none for the type text.",
        ),
        FREEFORM: SimpleParameter(
            type="boolean",
            description="True to let the user also write an answer that is not among the options.",
            default=True,
        ),
    },
    QUESTION,
)


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.questions if manifest.features is not None else None
    if wanted is None:
        return None
    tool = internal_tool(
        manifest,
        PlatformTool(
            TOOL_NAME,
            DESCRIPTION,
            PARAMETERS,
            gettext_lazy("Question"),
            "read-only",
            addresses=frozenset({QUESTION, OPTIONS}),
            is_system=True,  # Users see the card, and then their answer.
        ),
        partial(ask, wanted),
    )
    opener = open_with(tool)
    return lambda opening: (
        opener(opening) if "question" in opening.can_ask else nullcontext(NOTHING)
    )


async def ask(wanted: Questions, opening: Opening, invocation: Invocation) -> ToolResult:
    """Ask the user, or return the user's answer if there is one. Raises `InvalidParameter` if an
    argument is invalid.
    """
    answered = invocation.answers.get("question")
    if answered is not None:
        given: Mapping[str, object] = answered.answer or {}
        return plain_result(invocation, answer_text(answered.asked, given))
    card = read_card(invocation.arguments)
    is_set = "seconds" in wanted.model_fields_set
    asked = InteractionRequest("", "question", card, wanted.seconds, is_time_set=is_set)
    return PendingResult(interactions=(asked,))


questions = Capability("questions", frozenset({"features.questions"}), prepare)
