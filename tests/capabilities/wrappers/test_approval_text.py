"""The card of a call as text, for people who answer with a message."""

from apps.capabilities.wrappers.approval_text import approval_card


def test_r_11_the_text_says_why_it_is_asked_where_nothing_of_it_is_markup():
    asked = {
        "title": "Shop · pay",
        "name": "shop_pay",
        "arguments": {"amount": 5},
        "risk": "destructive",
        "because": "This conversation has read untrusted content:\nfile [x](https://x).",
    }

    assert approval_card(asked).text == (
        "**May this be done?** It may destroy something.\n\n"
        '```\nShop · pay\nshop_pay {\n "amount": 5\n}\n'
        "This conversation has read untrusted content: file [x](https://x).\n```"
    )
