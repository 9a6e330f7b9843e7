from apps.capabilities.discovery.chooser import messages_of, read_names
from tests.contract import proves
from tests.fakes import spec
from tests.tables import each_row

KNOWN = {"one", "two"}


@proves("14.9")
@each_row(
    ("text", "names"),
    [
        ('["two", "one"]', ["two", "one"]),
        ('Here:\n```json\n["one"]\n```', ["one"]),
        ('["one", "one", "three", 5, null, {"two": 1}]', ["one"]),
        ("[]", []),
        ('["three"]', None),
        ("one", None),
        ("", None),
        ("]one[", None),
        ('["one"', None),
        ("[" * 100_000 + "]", None),
    ],
)
def test_only_known_names_of_an_array_count(text, names):
    assert read_names(text, KNOWN) == names


@proves("14.9")
def test_the_model_is_told_the_catalogue_and_the_query():
    long = spec("two", "x" * 5_000)

    task, question = messages_of("q" * 9_000, [spec("one", 'Says "hi".'), long])

    assert '{"name":"one","description":"Says \\"hi\\"."}' in task.text
    assert len(task.text) < 2_000
    assert (question.role, question.text) == ("user", "q" * 2_000)
