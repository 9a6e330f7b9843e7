"""T: the engine: turns, limits, failures, what programs read of it."""

from __future__ import annotations

from tests.contract.rules import Scripts, Table, Tests, otherwise, rule

approval = Tests("capabilities/wrappers/test_approval.py")
answers = Scripts("scripts/answers.test.js")
browser = Tests("browser/test_chat.py")
client_calls = Tests("chat/test_client_calls.py")
client_tool_names = Tests("manifest/test_client_tools.py")
consumers = Tests("chat/test_consumers.py")
dead_ends = Tests("agent/test_dead_ends.py")
event_stream = Tests("chat/test_event_stream.py")
feed = Tests("chat/test_person_feed.py")
loop = Tests("agent/test_loop.py")
processes = Tests("chat/test_processes.py")
protocol = Tests("chat/test_protocol.py")
replies = Tests("agent/test_replies.py")
run = Tests("runs/test_run.py")
survival = Tests("live/test_survival.py")
tasks = Tests("chat/test_tasks.py")
validation = Tests("manifest/test_validation.py")
waiting = Tests("live/test_waiting.py")

TABLE: Table = {
    "T-01": (
        rule(
            "calls are made, their results appended, the model asked again until it ends",
            loop["the_result_of_a_tool_is_shown_to_the_model_before_it_answers"],
        ),
        rule(
            "the prompt is made once for each request",
            Tests("runs/test_prompt.py")["the_parts_of_the_prompt_are_one_message_in_front"],
        ),
    ),
    "T-02": (
        otherwise(
            "the limit of turns is 10",
            "It is 15 and counts calls of the model, as R-01 has it.",
            loop["a_limit_of_n_is_n_questions_to_the_model"],
            validation["defaults_are_filled_in"],
        ),
        rule(
            "at the limit the run fails, and says so",
            run["a_run_that_reaches_its_limit_leaves_its_state"],
        ),
    ),
    "T-03": (
        rule(
            "the reason with which the model ends is that of the run",
            loop["t_03_the_reason_with_which_the_model_ends_is_that_of_the_run"],
        ),
        rule(
            "an answer that is cut says so",
            answers["an answer that is cut shows a notice"],
            replies["an_answer_that_is_too_long_is_cut_and_says_so"],
            consumers["an_answer_that_never_ends_is_cut_and_stored_so"],
        ),
    ),
    "T-04": (
        otherwise(
            "an event for each thing that a run says",
            "Events have the names of the protocol of the page, each with the run and, on a stream "
            "of several conversations, the conversation; AnswerVerified has nothing behind it here.",
            consumers["a_question_is_answered_and_stored"],
            protocol["every_event_has_a_frame_or_is_not_shown"],
            protocol["every_frame_has_a_name_among_server_sent_events"],
        ),
    ),
    "T-05": (
        rule(
            "text grows before the end, steps stand in it, collapsed",
            browser["a_question_is_answered_with_its_steps_text_and_attachments"],
            Tests("browser/test_demo.py")["the_demo_calls_its_tools_and_tells_what_they_said"],
        ),
        rule(
            "what was said outlives a reload and a killed process",
            consumers["a_reload_at_any_point_of_an_answer_loses_and_doubles_nothing"],
            survival["an_answer_whose_process_is_killed_is_finished_by_the_next"],
        ),
    ),
    "T-06": (
        otherwise(
            "text given with a call is a message of its own",
            "Texts of one run are one answer, with an empty line between them: a question has one "
            "answer, which is copied, judged and stored as a whole.",
            loop["an_empty_line_stands_between_the_texts_of_two_answers"],
        ),
        otherwise(
            "an empty answer is replaced by a placeholder",
            "On the page alone; it is kept as one space, because the next request would read words "
            "that no model said.",
            answers["an empty answer shows a notice"],
            loop["an_answer_without_a_word_is_kept_as_a_space"],
        ),
        rule(
            "two turns in a row whose calls all failed end it, but not over DIAL",
            loop["t_06_a_run_ends_after_two_turns_in_a_row_whose_calls_have_all_failed"],
            run["t_06_an_answer_ends_when_tools_keep_failing_but_not_for_dial"],
        ),
        rule(
            "text that says that it cannot proceed, with calls, ends it: a setting, not over DIAL",
            dead_ends["t_06_the_calls_of_a_dead_end_are_not_made_and_have_a_result_each"],
            dead_ends["t_06_a_phrase_is_found_anywhere_in_the_text_in_any_case"],
            dead_ends["t_06_a_phrase_that_takes_too_long_is_not_found"],
            run["t_06_a_dead_end_ends_an_answer_if_the_installation_says_so_and_never_over_dial"],
        ),
    ),
    "T-07": (
        rule(
            "what goes wrong with a call is told to the model by its kind",
            loop["an_unknown_tool_is_answered_with_how_to_go_on"],
            loop["a_wrong_argument_is_to_be_corrected"],
            loop["arguments_that_are_no_json_are_answered_with_the_reason"],
            loop["a_tool_that_fails_leaves_its_siblings_alone"],
            approval["d_22_a_call_that_is_not_approved_is_not_made_and_the_model_is_told"],
        ),
        rule(
            "what goes wrong with the model is told to the person by its kind, never to the model",
            Tests("runs/test_failures.py")["what_a_failure_becomes"],
            Tests("agent/test_retries.py")["after_three_attempts_the_last_failure_is_raised"],
        ),
    ),
    "T-08": (
        rule(
            "cancelling by task id stops before the next call of the model, in any process",
            tasks["a_task_is_cancelled_through_any_process_and_once"],
        ),
        rule(
            "the open stream of the model is closed",
            loop["a_cancelled_run_closes_the_stream_of_the_model"],
            consumers["stop_ends_the_request_to_the_model_and_keeps_what_there_was"],
        ),
    ),
    "T-09": (
        otherwise(
            "a subscriber that takes nothing is dropped after five seconds",
            "It holds up its own stream alone, whose events are read from rows when it goes on, and "
            "is cut off before it fills the memory.",
            Tests("site/test_slow_clients.py")[
                "a_client_that_takes_nothing_holds_its_sender_up_and_is_cut_off"
            ],
            Tests("site/test_slow_clients.py")[
                "an_answer_that_nobody_reads_is_given_up_before_it_fills_the_memory"
            ],
        ),
        rule(
            "a call of the page has 90 seconds, then the model is told",
            client_tool_names["a_toolset_waits_for_90_seconds_unless_it_says_otherwise"],
            client_calls[
                "a_result_after_its_time_is_not_found_and_the_model_is_told_of_the_silence"
            ],
        ),
    ),
    "T-10": (
        rule(
            "one stream has every kind, and each event its conversation",
            feed["one_stream_has_the_answers_of_all_conversations_in_all_processes"],
            feed["messages_of_operators_are_told_to_everybody_once"],
            feed["a_list_that_has_changed_is_to_be_loaded_anew"],
            Tests("site/test_notifications.py")[
                "what_is_sent_to_one_process_is_answered_in_the_stream_of_another"
            ],
        ),
        rule(
            "nothing of others is in it",
            feed["a_stream_has_nothing_of_others_even_if_they_are_asked_for_by_id"],
        ),
    ),
    "T-11": (
        rule(
            "a message has a task at once, whose status follows",
            tasks["a_message_has_a_task_at_once_whose_status_follows_its_answer"],
            Tests("chat/test_queued.py")[
                "a_program_sees_that_its_task_is_queued_and_may_cancel_it"
            ],
        ),
    ),
    "T-12": (
        rule(
            "plain JSON, and the form of unions on request",
            protocol["t_12_an_event_is_plain_json_or_has_the_form_of_a_union"],
            event_stream["t_12_a_program_may_read_events_in_the_form_of_unions"],
        ),
    ),
    "T-13": (
        rule(
            "what one process says is read in another, in order",
            processes["a_viewer_in_another_process_sees_the_answer_as_it_grows"],
            feed["one_stream_has_the_answers_of_all_conversations_in_all_processes"],
        ),
        otherwise(
            "several workers without Redis are warned of",
            "A server has one worker, and processes without Redis read from the database what "
            "others wrote, at the latest after a heartbeat.",
            waiting["any_process_goes_on_when_the_answer_is_there"],
            Tests("site/test_redis.py")["a_socket_is_accepted_and_answered_while_redis_is_away"],
        ),
    ),
    "T-14": (
        rule(
            "a silent stream has a comment every 15 seconds",
            event_stream["a_silent_stream_has_a_heartbeat"],
        ),
        rule(
            "a reader that leaves leaves nothing behind",
            consumers["a_page_that_leaves_in_the_middle_of_anything_leaves_nothing_running"],
        ),
        rule(
            "a reader that comes back misses nothing",
            event_stream["who_comes_back_goes_on_after_the_last_event_it_has"],
            feed["a_reader_that_comes_back_misses_nothing_and_gets_nothing_twice"],
        ),
        otherwise(
            "the last 100 broadcasts are kept for diagnostics",
            "The journal keeps every event of a run, in rows that any process can read.",
            Tests("live/test_replay.py")["any_cuts_and_any_batches_lose_and_double_nothing"],
        ),
    ),
}
