"""A door that offers applications as agents of the A2A protocol, version 1.0."""
