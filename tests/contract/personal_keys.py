"""T-55, T-56, R-14, R-15, R-26: whose keys pay, and whose words stand in the prompt."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

keys = Tests("workspace/local/test_personal_keys.py")
page = Tests("chat/test_key_page.py")
layers = Tests("runs/test_layers.py")
prompts = Tests("runs/test_run.py")

TABLE: Table = {
    "T-55": (
        rule(
            "with the mode off, keys of people are ignored",
            keys["an_application_that_takes_no_keys_of_people_is_paid_by_the_installation"],
            keys["a_deployment_that_takes_no_keys_of_people_is_sent_none"],
        ),
        rule(
            "with it on, the person's key is used; once removed, the installation's",
            keys["a_person_who_has_a_key_pays_and_others_do_not"],
            keys["a_key_that_was_deleted_is_not_sent_again"],
        ),
        rule("a key is bound to its host", keys["a_key_is_bound_to_its_service"]),
        rule(
            "where it is refused, the installation pays only if the operator allows it",
            keys["a_refused_key_fails_the_answer_and_nobody_else_pays"],
            keys["where_the_operator_allows_it_the_installation_pays_and_the_answer_says_so"],
            keys["no_other_deployment_is_paid_by_the_installation_for_a_person_who_pays_alone"],
        ),
    ),
    "T-56": (
        otherwise(
            "an instance has a provider, a model, a name and a secret",
            "A person's key is for a service, a provider at a host, and all its deployments; its name "
            "is that of the host.",
            page["a_key_is_stored_tested_replaced_and_deleted_and_never_shown"],
        ),
        rule(
            "the key is never shown again, encrypted in its column, and not in the log",
            keys["the_column_has_no_key_in_plain_text_and_another_secret_key_reads_it"],
            keys["a_refused_key_fails_the_answer_and_nobody_else_pays"],
            page["nobody_reaches_the_key_of_another_person"],
        ),
    ),
    "R-26": (
        rule(
            "keys of people are used on the page alone",
            keys["a_person_who_has_a_key_pays_and_others_do_not"],
        ),
    ),
    "R-14": (
        rule(
            "the layers have a fixed order",
            layers["t_21_the_layers_are_platform_application_place_and_those_of_capabilities"],
        ),
    ),
    "R-15": (
        rule(
            "a client's instructions stand below the operator's, or in their place where allowed",
            prompts["instructions_of_a_client_stand_below_the_prompt_or_in_its_place"],
        ),
        rule(
            "DIAL's first system message counts only where that is allowed",
            prompts["the_system_message_of_a_client_is_used_only_where_that_is_allowed"],
        ),
    ),
}
