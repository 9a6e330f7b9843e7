"""Defines the page that creates deployments for more models from a deployment's service."""

from collections.abc import Sequence
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.views.decorators.http import require_http_methods

from apps.console.admin.rows.recorded import RecordedAdmin
from apps.errors import ModelFailed
from apps.workspace.local.deployments.found_deployments import read_row
from apps.workspace.local.deployments.service_models import (
    can_list,
    make_deployment,
    models_of_service,
    used_names,
)
from apps.workspace.local.models import Deployment
from apps.workspace.services.model_list import ListedModel
from apps.workspace.services.probe import explain


class ServiceModelsAdmin(RecordedAdmin[Deployment]):
    def get_urls(self) -> list[URLPattern]:
        view = require_http_methods(["GET", "HEAD", "POST"])(self.models_view)
        route = "<int:object_id>/models/"
        return [self.staff_path(route, view, "models"), *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        may_add = row is not None and self.may_save(request, None) and self.may_save(request, row)
        place = self.url("models", row.pk) if row is not None and may_add and can_list(row) else ""
        context = {**(extra_context or {}), "models_url": place}
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    def models_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """List the models of the deployment's service. A POST creates deployments for the selected
        models.

        Raises `PermissionDenied` if the user may not add deployments, and `Http404` if the service
        cannot list its models.
        """
        deployment = self.visible_row(request, object_id)
        # The new deployments get this deployment's key.
        if not self.may_save(request, None) or not self.may_save(request, deployment):
            raise PermissionDenied
        if deployment is None or not can_list(deployment):
            raise Http404("The list of models is not available.")
        problem, listed = "", list[ListedModel]()
        try:
            listed = async_to_sync(models_of_service)(read_row(deployment))
        except ModelFailed as failure:
            problem = explain(failure).text
        used = used_names(deployment)
        ticked = set(request.POST.getlist("model"))
        chosen = [model for model in listed if model.id in ticked - used]
        if request.method == "POST" and chosen:
            return self.add_models(request, deployment, chosen)
        context = {
            "deployment": deployment,
            "listed": [(model, model.id in used) for model in listed],
            "problem": problem,
            "is_nothing_ticked": request.method == "POST" and not problem,
        }
        title = f"Models of the service of {deployment}"
        return self.page(request, "admin/workspace/deployment/models.html", title, context)

    @transaction.atomic
    def add_models(
        self, request: HttpRequest, source: Deployment, chosen: Sequence[ListedModel]
    ) -> HttpResponse:
        taken = set(Deployment.objects.values_list("deployment_id", flat=True))
        for model in chosen:
            added = make_deployment(model, source, taken)
            added.full_clean()
            added.save()
            taken.add(added.deployment_id)
            self.log_addition(request, added, f"Added from the list of models of {source}.")
            told = f"{added} is added as {added.deployment_id}."
            self.message_user(request, told, messages.SUCCESS)
        return redirect(self.url("changelist"))
