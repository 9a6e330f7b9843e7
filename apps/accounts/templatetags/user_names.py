"""Defines the template filter that names users."""

from django import template

from apps.accounts.persons import display_name

register = template.Library()
register.filter("display_name", display_name)
