"""Signs users in: passwords, identity providers, second factors and sessions."""
