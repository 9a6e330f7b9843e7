"""T-20 to T-24, T-63 and D-08: the system prompt, what the model sees, and the audit."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

denials = Tests("gateway/test_denials.py")
audit = Tests("chat/test_audit.py")
layers = Tests("runs/test_layers.py")
places = Tests("chat/test_places.py")
preview = Tests("console/admin/test_prompt_preview.py")
program_places = Tests("gateway/test_places.py")
sent = Tests("chat/test_sent_requests.py")
view = Tests("live/test_request_view.py")

TABLE: Table = {
    "T-20": (
        rule(
            "the prompt is made for each request, and kept for nobody",
            layers["t_20_the_prompt_is_made_anew_for_each_person"],
        ),
        rule(
            "what the person looks at is told, and seen in the conversation",
            places[
                "t_21_a_place_adds_its_prompt_and_what_the_person_sees_is_seen_in_the_conversation"
            ],
            program_places["a_program_names_the_place_and_what_the_person_sees"],
        ),
    ),
    "T-21": (
        rule(
            "platform, application and place, in this order",
            layers["t_21_the_layers_are_platform_application_place_and_those_of_capabilities"],
        ),
        otherwise(
            "a layer of the team",
            "There are no teams yet, so there is no layer; what says nothing leaves no gap.",
            layers["t_21_layers_that_say_nothing_are_absent"],
        ),
        rule(
            "a place leaves the tools that it names",
            Tests("runs/test_place_tools.py")["t_21_a_place_leaves_the_tools_that_it_names"],
        ),
    ),
    "T-22": (
        rule(
            "builders wait together; the order is fixed and empty ones leave no gap",
            layers["t_22_layers_wait_together_and_keep_their_order"],
        ),
    ),
    "T-23": (
        rule(
            "the page takes no roles and no unknown fields",
            places["t_23_the_page_takes_no_roles_and_no_unknown_fields"],
        ),
        rule(
            "what is shown is what was sent",
            sent["t_23_what_is_shown_is_what_was_sent_byte_for_byte"],
            view["the_layers_of_the_system_prompt_are_told_apart_in_every_api"],
        ),
        rule(
            "others see how much is remembered, and that they looked is known",
            view["others_see_of_private_calls_how_long_they_are"],
            sent["an_operator_with_the_permission_reads_it_and_that_is_in_the_audit"],
        ),
    ),
    "T-24": (
        rule(
            "required layers stop a run, optional ones are left out and logged",
            layers["t_24_without_a_required_layer_no_model_is_asked"],
            layers["t_24_an_optional_layer_that_fails_is_left_out_and_logged"],
        ),
    ),
    "T-63": (
        rule(
            "conversations and messages are events",
            audit["t_63_a_conversation_leaves_an_event_for_each_thing_that_happens"],
            audit["t_63_who_deletes_a_conversation_and_whose_it_was_not_is_in_the_audit"],
        ),
        rule(
            "so are calls of tools",
            audit["t_63_the_call_of_a_tool_in_a_conversation_is_an_event"],
        ),
        rule(
            "denials are, and do not fill the table",
            denials["t_63_every_door_that_refuses_notes_it_once_a_minute"],
            denials["t_63_a_door_is_noted_beside_another_one"],
            denials["t_63_so_does_the_api_of_editors"],
            denials["t_63_and_the_figures_of_the_process"],
        ),
    ),
    "D-08": (
        rule(
            "a preview streams the steps and the prompt, and equals what is sent",
            preview["d_08_the_steps_and_the_prompt_are_those_of_a_run"],
        ),
        rule("it calls no hooks", preview["hooks_are_not_called"]),
    ),
}
