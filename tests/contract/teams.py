"""T-31, T-42, T-43, R-14: teams, and what is kept apart between them."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

pages = Tests("chat/test_teams.py")
layers = Tests("runs/test_layers.py")
tools = Tests("capabilities/surroundings/test_capability.py")

TABLE: Table = {
    "T-42": (
        rule(
            "switching the team swaps conversations, files, memories and connections together",
            pages["nothing_of_one_team_is_seen_in_another"],
            pages["a_conversation_begins_in_the_team_and_its_page_closes_when_it_is_left"],
        ),
        rule(
            "what is another team's is 404, as what does not exist",
            pages["nothing_of_one_team_is_seen_in_another"],
            pages["a_person_switches_between_their_teams_and_to_no_other"],
        ),
        rule(
            "one who was removed goes on with nothing",
            pages["one_who_was_removed_asks_nothing_more_in_the_team"],
        ),
    ),
    "T-43": (
        rule(
            "members, administrators or the installation read a conversation, each reading audited",
            pages["t_43_others_read_as_far_as_the_team_is_open"],
        ),
        rule(
            "the author always sees it, and alone goes on with it",
            pages["t_43_others_read_as_far_as_the_team_is_open"],
        ),
        rule(
            "widening does not expose the past",
            pages["t_43_a_team_that_is_opened_shows_nothing_of_before"],
        ),
        otherwise(
            "platform administrators read what the team shows to them alone",
            "They have the permission to read the contents of runs, and work in the team.",
            pages["t_43_others_read_as_far_as_the_team_is_open"],
        ),
    ),
    "R-14": (
        rule(
            "the layer of the team stands between application and place",
            layers["t_21_the_layer_of_the_team_stands_between_application_and_place"],
            layers["t_24_a_broken_layer_of_the_team_is_left_out_and_logged"],
        ),
    ),
    "T-31": (
        rule(
            "`_platform.inspect_team` and `_platform.list_modules` come with the platform",
            tools["the_model_is_told_of_the_team_that_the_person_works_in"],
            tools["nobody_is_told_of_a_team_of_others"],
            tools["the_model_is_told_of_the_places_by_either_name"],
        ),
    ),
}
