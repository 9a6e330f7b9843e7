"""§8 operations of HTTP services."""

from __future__ import annotations

from tests.contract.rules import Table, Tests, otherwise, rule

capability = Tests("capabilities/rest/test_capability.py")
requests = Tests("capabilities/rest/test_requests.py")
addresses = Tests("capabilities/rest/test_addresses.py")
answers = Tests("capabilities/rest/test_answers.py")
attempts = Tests("capabilities/rest/test_attempts.py")
authorizations = Tests("capabilities/rest/test_authorizations.py")
response_text = Tests("capabilities/rest/test_response_text.py")
secrets = Tests("capabilities/rest/test_secrets.py")
shared = Tests("capabilities/rest/test_shared.py")
credentials = Tests("manifest/test_credentials.py")

TABLE: Table = {
    "8": (
        rule(
            "parameters go into address, query, header or body",
            requests["arguments_go_where_the_manifest_says"],
        ),
        otherwise(
            "{key} in the path is replaced by str(value), not escaped",
            "Values are percent-escaped, so that none changes the path; true and numbers are "
            "written as JSON writes them.",
            addresses["any_text_stays_in_its_segment"],
            addresses["text_and_numbers_are_escaped"],
            requests["numbers_are_written_as_json_writes_them"],
        ),
        otherwise(
            "a missing value, a list or an object in the path is an error of its own",
            "It is an invalid parameter that names the argument, as all of them are.",
            addresses["a_value_that_would_change_the_path_is_refused"],
        ),
        rule(
            "placeholders stand in the path only; a query in the address is kept, and merged",
            requests["the_query_of_the_address_is_kept_and_an_argument_replaces_its_namesake"],
        ),
        rule(
            "query: null is left out, a list is joined by commas, an object is JSON",
            requests["lists_and_objects_in_a_query_are_json_where_the_encoding_says_so"],
            requests["empty_text_and_empty_lists_are_sent_and_null_is_not"],
        ),
        rule(
            "header: null is left out, lists and objects are JSON, nothing breaks the line",
            requests["what_the_model_leaves_out_is_not_sent_and_a_default_is"],
            requests["a_header_cannot_be_broken_by_an_argument"],
            requests["a_header_may_contain_any_script"],
        ),
        rule(
            "body: JSON, with lists and objects as JSON text in it",
            requests["a_body_is_json_with_lists_and_objects_as_json_text"],
        ),
        otherwise(
            "every request has a body, also {} on GET",
            "Proxies refuse a GET or DELETE with a body; one is sent only if an argument goes there.",
            requests["a_get_sends_a_body_only_if_an_argument_goes_there"],
            requests["a_post_without_arguments_sends_an_empty_object_and_a_delete_nothing"],
        ),
        otherwise(
            "user name and password in a method_url are sent",
            "Such an address is refused with where to write them: addresses are shown and logged.",
            addresses["an_address_that_cannot_be_used_is_refused_with_the_reason"],
        ),
        rule(
            "constants are always sent",
            requests["constants_are_sent_wherever_they_belong_whatever_the_model_writes"],
            requests["constants_inside_objects_and_lists_are_sent_and_cannot_be_replaced"],
        ),
        rule(
            "Accept lists JSON, XML, HTML, CSV, Markdown and text",
            requests["an_argument_may_replace_what_is_accepted_but_not_who_is_asked"],
        ),
        rule(
            "five kinds of authorization, written over parameters",
            authorizations["credentials_are_written_over_arguments"],
        ),
        rule(
            "a token of client credentials is fetched once, renewed in time, and once after a 401",
            authorizations["a_token_is_fetched_once_for_concurrent_calls_and_kept"],
            authorizations["a_token_is_renewed_shortly_before_it_expires"],
            authorizations["a_refused_token_is_renewed_once"],
            authorizations["fifty_callers_with_a_token_that_was_withdrawn_renew_it_once"],
            authorizations["a_service_that_refuses_every_token_is_asked_twice"],
        ),
        rule(
            "a secret stands in for any credential, goes to its servers alone and is not shown",
            secrets["a_secret_is_sent_in_the_place_of_a_credential"],
            secrets["a_constant_can_be_a_secret_anywhere_in_the_request_and_is_not_shown"],
            secrets["a_secret_does_not_follow_a_redirect_to_another_server"],
            secrets["a_tool_of_another_server_is_left_out_with_the_place_of_the_secret"],
            secrets["a_token_is_fetched_anew_with_a_rotated_secret"],
            secrets["a_token_that_a_secret_bought_does_not_go_to_another_server"],
            secrets["what_a_service_repeats_of_a_credential_is_not_passed_on"],
        ),
        otherwise(
            "(ours) a toolset has an address and headers for all its tools",
            "What they have in common is written once, as text or secret; a tool's own header wins, "
            "and the authorization over both.",
            shared["an_address_without_a_host_stands_below_the_base"],
            shared["a_base_may_be_on_this_server"],
            shared["headers_go_with_every_call_and_those_of_a_tool_and_the_authorization_win"],
            shared["a_header_of_the_caller_never_replaces_a_shared_one"],
            shared["what_cannot_be_shared_costs_the_toolset"],
        ),
        otherwise(
            "(ours) shared headers go where credentials may go, and are hidden where they are some",
            "Most of them are keys: secrets go to their servers alone, and none follows a redirect.",
            shared["a_shared_header_can_be_a_secret_and_is_shown_nowhere"],
            shared["a_secret_of_another_server_costs_the_toolset"],
            shared["shared_headers_do_not_follow_a_redirect_to_another_host"],
            shared["a_base_of_a_forbidden_network_is_not_reached"],
            credentials["shared_headers_are_credentials_where_their_name_or_their_value_says_so"],
            credentials[
                "the_servers_of_a_toolset_with_a_base_are_that_and_the_others_that_are_named"
            ],
        ),
        rule(
            "a bearer token that the caller does not have is an error",
            authorizations["forwarding_a_token_that_the_caller_does_not_have_is_an_error"],
        ),
        otherwise(
            "all X- headers of the caller are sent last",
            "Those alone that the toolset names, and never over the operator's own: a manifest "
            "may name any host.",
            requests["headers_of_the_caller_that_the_toolset_does_not_name_stay_here"],
            requests[
                "the_named_headers_of_the_caller_are_passed_on_but_never_replace_the_operators"
            ],
        ),
        rule(
            "the tool's time-out holds",
            answers["a_service_that_never_answers_is_given_up"],
        ),
        rule(
            "the model is told the status alone",
            answers["the_model_is_told_the_status_of_an_error_and_the_person_its_body"],
        ),
        rule(
            "a redirect is followed on its host and nowhere else",
            answers["a_redirect_is_followed_on_the_host_and_nowhere_else"],
            answers["a_redirect_keeps_the_method_where_it_says_so"],
        ),
        rule(
            "the result is the text with the type of the answer, whatever the charset",
            answers["an_answer_goes_to_the_model_and_is_shown_in_the_stage"],
            answers["the_model_gets_text_whatever_the_charset"],
        ),
        rule(
            "an answer beyond the limit is refused, packed or not",
            answers["an_answer_that_is_too_large_is_refused_packed_or_not"],
        ),
        rule(
            "response_as_attachment: three modes, and the tool's own wins",
            answers["an_answer_becomes_a_file_where_that_is_wished"],
            answers["two_answers_become_two_files"],
        ),
        rule(
            "one warning for each tool that does not set it",
            capability["a_tool_that_does_not_say_what_becomes_of_answers_is_warned_of"],
        ),
        otherwise(
            "the stage shows all parameters as JSON",
            "It shows them as every tool does, so that what an operator hides stays hidden.",
            answers["an_answer_goes_to_the_model_and_is_shown_in_the_stage"],
        ),
        rule(
            "answers are shown by their type; one that cannot be formatted is shown as it is",
            response_text["an_answer_is_shown_by_its_type"],
            response_text["any_text_can_be_shown"],
            response_text["a_long_answer_is_cut_with_a_notice"],
            response_text["a_long_table_is_cut_with_a_notice"],
        ),
        rule(
            "an error shows status and body, or that there is none",
            answers["the_model_is_told_the_status_of_an_error_and_the_person_its_body"],
        ),
        otherwise(
            "transport errors show class and message of the exception",
            "They are told in a sentence: the text of a library has addresses in it.",
            answers["a_dead_service_and_a_forbidden_one_are_told_apart"],
            answers["an_answer_that_breaks_off_is_an_error"],
        ),
        otherwise(
            "the title is the toolset's name, else the address",
            "The toolset's and the function's name, else the latter: an address may have a key.",
            capability["the_stage_tells_the_toolset_and_the_tool_or_the_function_alone"],
        ),
        rule(
            "what can never be sent is an initialization issue",
            capability["what_cannot_be_used_is_an_issue_and_the_rest_goes_on"],
        ),
        rule(
            "what may be sent twice is tried again where wanted, no earlier than Retry-After",
            attempts["only_what_may_be_sent_twice_and_may_go_well_is_sent_again"],
            attempts["a_service_that_wants_a_longer_pause_than_the_tool_has_is_not_asked_again"],
        ),
    ),
}
