"""The messages that a run prepares for its model."""

from apps.agent.messages import ModelMessage
from apps.runs.preparation import with_system, without_content_gaps
from tests.contract import proves

QUESTION = ModelMessage("user", "Hello")


@proves("G-05", "T-01")
def test_the_parts_of_the_prompt_are_one_message_in_front():
    found = with_system([ModelMessage("system", "of the client"), QUESTION], "a\n\nb")

    assert found == [ModelMessage("system", "a\n\nb"), QUESTION]


def test_a_prompt_that_says_nothing_is_no_message():
    assert with_system([ModelMessage("system", "of the client"), QUESTION], "") == [QUESTION]


@proves("4")
def test_an_answer_that_said_nothing_is_a_space():
    assert without_content_gaps(ModelMessage("assistant")) == ModelMessage("assistant", " ")
    assert without_content_gaps(ModelMessage("user")) == ModelMessage("user")
