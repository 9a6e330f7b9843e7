"""LiteLLM's proxy, in an environment of its own, with one model and a master key."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv-litellm" / "bin" / "python"
ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
"""Prices come from the package instead of a server, and only errors are logged."""


def write_config(folder: Path, upstream: str, key: str) -> Path:
    config = {
        "model_list": [
            {
                "model_name": "bench",
                "litellm_params": {
                    "model": "openai/fake-model",
                    "api_base": upstream,
                    "api_key": "key",
                },
            }
        ],
        "litellm_settings": {"num_retries": 0, "telemetry": False},
        "general_settings": {"master_key": key},
    }
    path = folder / "litellm.yaml"
    path.write_text(json.dumps(config))
    return path


def arguments(config: Path, port: int) -> list[str]:
    begin = "from litellm.proxy.proxy_cli import run_server; run_server()"
    address = ["--host", "127.0.0.1", "--port", str(port)]
    return ["-c", begin, "--config", str(config), *address, "--num_workers", "1"]
