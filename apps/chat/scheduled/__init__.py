"""The page "Scheduled", on which users create, change and delete their schedules."""
