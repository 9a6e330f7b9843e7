"""Creates the report about an installation for troubleshooting, without secrets or conversations."""
