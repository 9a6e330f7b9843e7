"""The addresses of the API for scripts."""

from rest_framework.routers import SimpleRouter

from apps.triggers.api import SubscriptionViewSet, WebhookViewSet
from apps.triggers.schedules_api import ScheduleViewSet

router = SimpleRouter()
router.register("webhooks", WebhookViewSet)
router.register("subscriptions", SubscriptionViewSet)
router.register("schedules", ScheduleViewSet)

urlpatterns = router.urls
