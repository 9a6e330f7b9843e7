"""Serves the Conversations API. Programs use it to hold conversations that the server stores."""
