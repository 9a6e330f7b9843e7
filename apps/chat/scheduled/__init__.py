"""The "Scheduled" page, on which users create, change and delete their schedules."""
