from django.apps import AppConfig


class A2AConfig(AppConfig):
    name = "apps.a2a"
    verbose_name = "A2A"

    def ready(self) -> None:
        # Models can be imported only after all apps are registered.
        from apps.a2a.push_deliveries import note_runs
        from apps.live.listeners import run_listeners

        run_listeners.connect(note_runs)
