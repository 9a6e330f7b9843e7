"""Test cases of applications, their runs, and users' feedback on answers."""
