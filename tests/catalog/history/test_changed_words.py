from apps.catalog.history.changed_words import MOST_WORDS, changed_words
from apps.catalog.history.differences import Line, line_difference


def test_the_words_that_differ_are_marked_in_both_lines():
    before, after = changed_words("Rail under 600 km.", "Rail under 800 km, always.")
    assert before == ((False, "Rail under "), (True, "600"), (False, " km"), (False, "."))
    assert "".join(run.text for run in after if run.is_changed) == "800, always"


def test_lines_with_little_in_common_and_very_long_lines_are_not_compared_by_word():
    assert changed_words("Be brief.", "Ask for the cost centre first") == ((), ())
    assert changed_words("a " * MOST_WORDS, "a " * MOST_WORDS + "b") == ((), ())


def test_a_replaced_line_of_a_diff_has_runs_and_a_new_line_has_none():
    before, after = ["Same", "Name the price."], ["Same", "Name the total price.", "New"]
    _, same, removed, added, new = line_difference(before, after)
    assert (same, new) == (Line("same", "Same"), Line("added", "New"))
    assert [run.text for run in removed.runs if run.is_changed] == []
    assert "".join(run.text for run in added.runs if run.is_changed).strip() == "total"
