from apps.capabilities.discovery.search import match_words
from tests.fakes import spec
from tests.tables import each_row

SPECS = (
    spec("shop_get_order", "Returns one order of a customer."),
    spec("shop_list_customers", "All customers, by name."),
    spec("weather_now", "The current weather in a city."),
)


@each_row(
    ("query", "found"),
    [
        ("weather in Oslo", ["weather_now"]),
        ("which customers are there", ["shop_list_customers", "shop_get_order"]),
        ("ORDERS", ["shop_get_order"]),
        ("a of in", []),
        ("", []),
        ("!?-_", []),
        ("погода", []),
        ("weather " * 10_000, ["weather_now"]),
    ],
)
def test_tools_are_found_by_the_words_of_their_names_and_descriptions(query, found):
    assert match_words(query, SPECS) == found
