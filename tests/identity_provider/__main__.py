"""Create the tables and users of the provider, and serve it.

    python -m tests.identity_provider PORT REDIRECT_URI…

All users have the password PASSWORD. The client CLIENT has the secret SECRET.
"""

import os
import sys

import django

PASSWORD = "a-password-at-the-provider"
CLIENT, SECRET = "quickapps", "the-right-secret"


def prepare(addresses: list[str]) -> None:
    from allauth.idp.oidc.models import Client
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from tests.identity_provider.settings import people

    call_command("migrate", verbosity=0)
    client = Client(id=CLIENT, name="QuickApps", scopes="openid\nprofile\nemail", skip_consent=True)
    client.set_secret(SECRET)
    client.set_redirect_uris(addresses)
    client.save()
    for name in people():
        User.objects.create_user(name, password=PASSWORD)


def main(port: int, addresses: list[str]) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.identity_provider.settings"
    django.setup()
    prepare(addresses)
    from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
    from django.core.wsgi import get_wsgi_application

    server = ThreadedWSGIServer(("127.0.0.1", port), WSGIRequestHandler)
    server.set_app(get_wsgi_application())
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
