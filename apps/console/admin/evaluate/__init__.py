"""The admin of test cases, their runs, and users' feedback on answers."""
