"""Bring the catalogs up to date: `python -m tools.texts`."""

import os
import sys

import django
from django.conf import settings

from tools.texts.catalogues import bring_up_to_date, compile_english

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
django.setup()
compile_english()
for language, name in settings.LANGUAGES[1:]:
    missing = bring_up_to_date(language)
    sys.stdout.write(f"{language} ({name}): {missing} texts to translate\n")
