"""The addresses of the API for scripts."""

from rest_framework.routers import SimpleRouter

from apps.triggers.api import SubscriptionViewSet, WebhookViewSet

router = SimpleRouter()
router.register("webhooks", WebhookViewSet)
router.register("subscriptions", SubscriptionViewSet)

urlpatterns = router.urls
