"""Roles of the installation: what operators see, give and never read."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, rule

doors = Tests("access/test_console.py")
giving = Tests("console/admin/test_giving.py")
operators = Tests("console/admin/test_operators.py")

TABLE: Table = {
    "operators": (
        rule(
            "an operator sees and edits only applications that they own or were granted",
            doors["each_list_of_operators_has_what_they_edit"],
            doors["each_door_of_operators_opens_for_what_they_edit"],
            operators["an_editor_saves_and_only_an_owner_archives"],
            operators["the_api_has_the_same_applications"],
            operators["the_editor_in_dial_has_the_same_applications"],
        ),
        rule(
            "runs, usage, audit, budgets and uses of secrets are of these applications",
            operators["runs_are_those_of_the_applications_that_one_edits"],
            operators["usage_is_that_of_the_applications_that_one_edits"],
            operators["the_audit_and_budgets_are_filtered_too"],
            operators["who_uses_a_secret_is_told_of_the_applications_that_one_edits"],
        ),
        rule(
            "keys of deployments are named, and set with a permission only",
            operators["keys_of_deployments_are_named_and_never_changed"],
        ),
        rule(
            "administrator, operator and auditor are there from the start, and stay as one left them",
            giving["the_roles_are_there_from_the_start"],
            giving["what_is_renamed_taken_or_deleted_stays_so"],
            giving["a_group_of_that_name_stays_who_it_was_made_for"],
        ),
        rule(
            "nobody gives more than they have, or takes over an account with more",
            giving["only_what_one_has_is_offered_and_taken"],
            giving["nobody_takes_over_an_account_with_more"],
            giving["groups_with_more_are_not_edited"],
        ),
        rule(
            "service accounts have no password and sign in nowhere",
            giving["a_service_account_is_made_in_one_step_and_signs_in_nowhere"],
        ),
        rule(
            "a user's page tells who has what and why; looking as somebody is audited",
            giving["the_page_of_a_user_tells_what_they_may_use_and_why"],
            giving["who_looks_as_somebody_sees_what_they_are_offered_and_is_in_the_audit"],
        ),
    ),
}
