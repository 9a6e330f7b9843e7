from apps.agent.messages import ModelMessage
from apps.agent.todo_list import count_items, is_todo_message, todo_message
from tests.contract import proves
from tests.tables import each_row


@proves("D-49")
@each_row(
    ("text", "counts"),
    [
        ("", (0, 0)),
        ("Only words, [x] and [ ] among them", (0, 0)),
        ("- [ ] a\n- [x] b\n* [X] c\n+ [ ] d", (4, 2)),
        ("1. [x] a\n2) [ ] b", (2, 1)),
        ("# Trip\n- [ ] pack\n  - [x] shoes\n\t- [x] coat\n      1. [ ] blue one", (4, 2)),
        ("- [x]\n- [ ]", (2, 1)),
        ("- [y] no\n- [ x] no\n-[ ] no\n- [ ]no", (0, 0)),
        ("> - [x] quoted", (1, 1)),
    ],
)
def test_items_are_counted_with_those_below_others(text, counts):
    assert count_items(text) == counts


def test_the_message_with_a_list_is_known_again():
    message = todo_message("- [ ] a")

    assert message.role == "user"
    assert "\n- [ ] a\n" in message.text
    assert is_todo_message(message)
    assert not is_todo_message(ModelMessage("user", "What is on <todo_list>?"))
