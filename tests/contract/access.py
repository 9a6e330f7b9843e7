"""Who may use what, at every door."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, rule

doors = Tests("access/test_doors.py")
queries = Tests("access/test_queries.py")
revoked = Tests("access/test_revoked.py")
form = Tests("console/admin/test_grants.py")
api = Tests("console/api/test_grants.py")

TABLE: Table = {
    "access": (
        rule(
            "every door and every list, for every caller and role: usable, or like a missing one",
            doors["each_door_knows_only_what_its_caller_may_use"],
            doors["each_list_has_only_what_its_caller_may_use"],
        ),
        rule(
            "one query answers, for one application as for a list",
            queries["one_application_is_one_query"],
            queries["lists_of_many_applications_are_one_query"],
            queries["the_gateway_lists_with_one_query_of_applications"],
        ),
        rule(
            "who loses an application gets no further answer of it",
            revoked["the_next_question_of_an_open_page_is_refused_as_for_a_missing_application"],
            revoked["an_answer_whose_process_died_does_not_go_on_for_who_lost_the_application"],
        ),
        rule(
            "only owners grant, in the admin as through the API, and that is audited",
            form["roles_are_granted_changed_and_revoked_by_names_and_that_is_audited"],
            form["for_editors_who_may_use_it_is_to_be_read_only"],
            api["only_owners_grant_and_say_for_whom_it_is"],
        ),
    ),
}
