"""Defines the optional features of an application."""
