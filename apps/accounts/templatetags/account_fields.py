"""Defines template filters for the fields of account forms."""

from django import template
from django.forms import BoundField
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def without_placeholder(field: BoundField) -> SafeString:
    """Return the HTML of a form field without the placeholder in which allauth repeats the field's
    label.
    """
    return field.as_widget(attrs={"placeholder": False})
