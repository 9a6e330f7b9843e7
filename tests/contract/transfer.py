"""§17 files in arguments, and what is fetched from outside."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

references = Tests("capabilities/wrappers/test_file_references.py")
loader = Tests("workspace/loading/test_loader.py")
places = Tests("workspace/loading/test_places.py")
fetch = Tests("workspace/egress/test_fetch.py")
policy = Tests("workspace/egress/test_fetch_policy.py")
addresses = Tests("workspace/egress/test_addresses.py")
guard = Tests("workspace/egress/test_guard.py")

TABLE: Table = {
    "17": (
        rule(
            "references in texts and in lists of them, one level deep; prefixes in any case",
            references["each_prefix_brings_its_own"],
            references["elements_of_lists_are_resolved_one_level_deep_and_nothing_else_is_touched"],
            references["a_reference_is_read_as_it_was_written"],
        ),
        rule(
            "a prefix that is missing, and other mistakes, are invalid parameters",
            references["each_mistake_is_told_at_its_place"],
        ),
        rule(
            "text: no binary files; marks removed, what is not UTF-8 replaced",
            references["what_is_no_text_is_refused_as_text_alone"],
            references["a_byte_order_mark_is_no_part_of_a_text"],
        ),
        rule(
            "url is never fetched; arguments that take addresses get them bare",
            references["a_url_is_never_fetched"],
            references["arguments_that_take_addresses_get_them_bare"],
        ),
        rule(
            "kinds of addresses: DIAL, the agent's folder, the Internet, others",
            places["places_are_told_apart"],
            places["what_is_no_place_of_a_file"],
            places["whatever_is_at_dial_is_never_fetched_from_outside"],
            places["no_other_scheme_is_loaded"],
        ),
        rule(
            "loaded once in a request",
            loader["fifty_at_the_same_time_load_it_once"],
            references["fifty_calls_at_the_same_time_load_a_file_once"],
        ),
        rule(
            "one limit of size, the application's or the installation's, for both",
            loader["one_limit_holds_wherever_a_file_is"],
            loader["an_application_changes_the_rules_of_the_installation"],
        ),
        rule("nothing of the caller goes along", fetch["nothing_of_ours_goes_along"]),
        rule(
            "the installation caps, an application narrows; both lists hold",
            fetch["the_policy_decides_before_the_name_is_looked_up"],
            fetch["what_both_allow_is_fetched"],
        ),
        rule(
            "a host or what it ends in, in any case, never an address",
            policy["an_entry_is_a_host_or_what_it_ends_in_and_never_an_address"],
            policy["a_host_is_listed_below_each_of_its_parents_and_not_as_one"],
        ),
        rule(
            "lists are asked before the name is looked up, again for each redirect",
            fetch["the_policy_decides_before_the_name_is_looked_up"],
            fetch["the_lists_are_asked_again_for_each_redirect"],
        ),
        rule(
            "one bad address of a host is enough to refuse it",
            addresses["the_networks_of_an_organisation_are_private"],
            addresses["what_is_nowhere_to_go_is_never_contacted"],
            guard["one_bad_address_refuses_the_host"],
            fetch["nothing_hostile_is_fetched"],
        ),
        otherwise(
            "(ours) the address that was judged is the one that is dialled",
            "A name that is looked up twice may have two answers.",
            fetch["a_name_is_looked_up_once_for_each_connection_and_what_was_judged_is_dialled"],
        ),
        rule(
            "redirects: 5, at most 10",
            fetch["redirects_are_followed_as_far_as_they_may_be"],
            fetch["without_redirects_the_first_is_one_too_many"],
        ),
        rule(
            "size: by what is declared, else while it comes",
            fetch["a_file_may_be_as_large_as_the_limit_and_no_larger"],
        ),
        rule(
            "a time to connect, and a time in all",
            fetch["a_connection_that_is_not_made_in_time_is_a_time_out"],
            fetch["a_slow_server_has_no_more_time_than_the_whole_fetch"],
        ),
        rule(
            "five reasons, each in its words; no payload and no query in any",
            fetch["every_failure_has_its_reason_and_its_words"],
            loader["what_is_not_loaded_is_told_without_secrets"],
            loader["no_error_repeats_the_data_of_a_data_uri"],
        ),
        rule(
            "a file has the name that the server says, else of its address, else one of its own",
            fetch["the_name_is_the_servers_else_the_paths_else_one_of_the_address"],
        ),
    ),
}
