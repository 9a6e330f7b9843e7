"""The admin's home page, runs and usage."""
