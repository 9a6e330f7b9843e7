from __future__ import annotations

import pytest

from apps.workspace.egress.ip_addresses import Reach, reach
from tests.contract import proves
from tests.tables import each_row


@each_row(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "192.169.0.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
    ],
)
def test_the_internet_is_public(address):
    assert reach(address) is Reach.PUBLIC


@proves("17")
@each_row(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "::1",
        "fc00::1",
        "fd12:3456::1",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
    ],
)
def test_the_networks_of_an_organisation_are_private(address):
    assert reach(address) is Reach.PRIVATE


@proves("17")
@each_row(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "169.254.169.254",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::7f00:1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "5f00::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_what_is_nowhere_to_go_is_never_contacted(address):
    assert reach(address) is Reach.NEVER


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f.0.0.1", "1.2.3.4.5"])
def test_what_is_not_an_address_is_not_judged(text):
    with pytest.raises(ValueError, match="IPv4"):
        reach(text)
