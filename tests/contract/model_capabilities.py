"""T, D, R: what models can do, and what is told before one is asked."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

calls = Tests("workspace/text_tools/test_calls.py")
capabilities = Tests("workspace/local/test_capabilities.py")
fitted = Tests("workspace/test_fitted_model.py")
limits = Tests("runs/test_model_limits.py")
messages = Tests("workspace/text_tools/test_messages.py")
metadata = Tests("workspace/dial/test_metadata.py")
model = Tests("workspace/text_tools/test_model.py")
text_tools = Tests("runs/test_text_tools.py")

TABLE: Table = {
    "T-51": (
        rule(
            "each deployment tells what its model can do",
            capabilities["a_model_can_do_what_is_known_by_its_name"],
            capabilities["the_operators_word_wins_over_features_and_these_over_what_is_known"],
            metadata["what_a_model_can_do_is_told_by_cores_listing_and_else_known_by_its_name"],
        ),
        otherwise(
            "without tools they are not sent, and the log says so",
            "They are written into the prompt, as R-04 has it; with TEXT_TOOLS off they are not "
            "sent, and the log says so.",
            model["without_text_tools_a_request_has_none_and_the_log_says_so"],
            capabilities["a_model_without_tools_gets_them_as_text_where_that_is_on"],
        ),
        rule(
            "no vision and a picture are refused before any call",
            limits["a_question_that_the_model_cannot_read_is_refused_before_it_is_asked"],
        ),
        rule(
            "a tool's picture does not end the run of a model without vision",
            fitted["the_picture_of_a_tool_is_left_out_with_a_line_of_text"],
        ),
        rule(
            "what is not known is never refused",
            limits["what_is_not_known_is_never_refused"],
            fitted["a_model_that_nothing_has_to_be_kept_from_is_asked_itself"],
        ),
    ),
    "D-10": (
        otherwise(
            "calls are written in text, several of them wrapped, and results come back as text",
            "The same tags. Tools of MCP servers have the names that the application gives them.",
            calls["calls_are_read_out_of_an_answer"],
            messages["a_call_and_its_result_are_texts"],
            messages["several_calls_are_wrapped_and_their_results_are_one_message"],
        ),
        rule(
            "what others have written is no call",
            messages["tags_that_somebody_wrote_are_quotations"],
            messages["a_tool_cannot_end_its_result"],
        ),
    ),
    "R-04": (
        rule(
            "a run through text has the events of one through the API",
            text_tools["r_04_a_run_through_text_has_the_same_events_as_one_through_the_api"],
            text_tools["r_04_however_the_text_arrives"],
            text_tools["r_04_a_conversation_goes_on_with_either"],
        ),
        rule(
            "it does not matter how the text arrives",
            calls["it_does_not_matter_where_an_answer_is_cut_into_pieces"],
            calls["only_what_may_be_a_tag_is_held_back"],
        ),
    ),
}
