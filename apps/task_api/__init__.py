"""Serves the Conversations API, through which programs hold conversations that the server stores."""
