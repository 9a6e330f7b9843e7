"""Classifies IP addresses: public, private, or never to be contacted.

The standard library's `is_global` is not enough: on Python 3.11, it treats NAT64, 6to4 and
site-local addresses as public. The ranges come from the IANA special-purpose registries.
"""

from enum import Enum, auto
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network


class Reach(Enum):
    PUBLIC = auto()
    PRIVATE = auto()
    """Loopback addresses and an organization's networks. They are allowed only for hosts that the
    operator allows.
    """
    NEVER = auto()
    """Link-local addresses (such as cloud metadata services), and multicast, reserved and
    translated addresses.
    """


PRIVATE: tuple[IPNetwork, ...] = (
    IPv4Network("10.0.0.0/8"),
    IPv4Network("100.64.0.0/10"),  # Carrier-grade NAT.
    IPv4Network("127.0.0.0/8"),
    IPv4Network("172.16.0.0/12"),
    IPv4Network("192.168.0.0/16"),
    IPv6Network("::1/128"),
    IPv6Network("fc00::/7"),
)
NEVER: tuple[IPNetwork, ...] = (
    IPv4Network("0.0.0.0/8"),  # Reaches the machine itself on Linux.
    IPv4Network("168.63.129.16/32"),  # Azure's agents, which hand out the machine's secrets.
    IPv4Network("169.254.0.0/16"),
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.0.2.0/24"),
    IPv4Network("192.88.99.0/24"),
    IPv4Network("198.18.0.0/15"),
    IPv4Network("198.51.100.0/24"),
    IPv4Network("203.0.113.0/24"),
    IPv4Network("224.0.0.0/4"),
    IPv4Network("240.0.0.0/4"),
    IPv6Network("::/96"),
    IPv6Network("64:ff9b:1::/48"),  # NAT64 of a local network
    IPv6Network("100::/64"),
    IPv6Network("2001::/23"),  # Teredo and other protocol assignments
    IPv6Network("2001:db8::/32"),
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("3fff::/20"),
    IPv6Network("5f00::/16"),
    IPv6Network("fe80::/10"),
    IPv6Network("fec0::/10"),
    IPv6Network("ff00::/8"),
)
NAT64 = IPv6Network("64:ff9b::/96")


def reach(text: str) -> Reach:
    """Return the class of an IP address in the form that `getaddrinfo` returns, with or without a
    scope (`%eth0`).

    Raises ValueError if the text is not an address.
    """
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return classify_address(address.ipv4_mapped)
        if address in NAT64:
            # A translator forwards it to the IPv4 address in the last four bytes.
            inner = classify_address(IPv4Address(address.packed[-4:]))
            return Reach.PUBLIC if inner is Reach.PUBLIC else Reach.NEVER
    return classify_address(address)


def classify_address(address: IPAddress) -> Reach:
    if any(address in network for network in PRIVATE):
        return Reach.PRIVATE
    if any(address in network for network in NEVER) or address.is_reserved:
        return Reach.NEVER
    return Reach.PUBLIC if address.is_global else Reach.NEVER
