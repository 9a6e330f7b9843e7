"""The optional features of an application."""
