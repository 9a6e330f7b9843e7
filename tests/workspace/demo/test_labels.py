from __future__ import annotations

import pytest

from apps.workspace.demo.labels import label, tool_title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Weather_now", "Weather now"),
        ("internal_timeawareness_current_timestamp", "Current timestamp"),
        ("internal_clock", "Internal clock"),
        ("getOrderStatus", "Get order status"),
        ("list-open.tickets", "List open tickets"),
        ("HTTP_get", "HTTP get"),
        ("___", "___"),
        ("", ""),
    ],
)
def test_a_tool_is_named_in_words(name, title):
    assert tool_title(name) == title


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("wind_km_h", "Wind (km/h)"),
        ("temperature_celsius", "Temperature (°C)"),
        ("humidity_percent", "Humidity (%)"),
        ("snow_depth_cm", "Snow depth (cm)"),
        ("percent", "Percent"),
        ("km_h", "Km h"),
        ("maximum", "Maximum"),
        ("rises_at", "Rises at"),
        ("id", "Id"),
        ("", ""),
    ],
)
def test_the_unit_at_the_end_of_a_name_stands_in_brackets(name, written):
    assert label(name) == written
