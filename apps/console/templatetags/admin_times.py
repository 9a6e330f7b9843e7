"""Defines the template filter for times in the admin."""

from django import template

from apps.console.time_cells import time_cell

register = template.Library()
register.filter("time_cell", time_cell)
