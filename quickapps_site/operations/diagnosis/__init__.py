"""Creates a troubleshooting report on an installation, without secrets or conversations."""
