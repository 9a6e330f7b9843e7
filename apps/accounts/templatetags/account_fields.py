"""How forms of accounts are written."""

from django import template
from django.forms import BoundField
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def without_placeholder(field: BoundField) -> SafeString:
    """The input of a field that has its label above, which allauth repeats inside of it."""
    return field.as_widget(attrs={"placeholder": False})
