from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "apps.catalog"
    verbose_name = "Catalog"

    def ready(self) -> None:
        from apps.catalog import checks  # noqa: F401 its functions register themselves
        from apps.catalog.history import recorder
        from apps.catalog.history.kinds import KINDS
        from apps.catalog.versions import recorder as versions

        recorder.connect(*KINDS)
        recorder.connect_accounts()
        versions.connect()
