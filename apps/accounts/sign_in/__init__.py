"""Signs users in, with passwords, identity providers, second factors and sessions."""
