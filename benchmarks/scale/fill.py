"""Fill the empty database of DATABASE_URL.

python -m benchmarks.scale.fill 0.02
"""

from __future__ import annotations

import sys
import time


def main() -> None:
    import django

    django.setup()
    from django.db import connection

    from apps.insights.rollups import sum_up_all
    from apps.live.history.run_rows import count_runs
    from benchmarks.scale.installation import Size, install

    filled = install(Size.scaled(float(sys.argv[1])))
    began = time.perf_counter()
    spans = sum_up_all(count_runs)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(
        f"filled in {filled:.0f} s; {spans} spans of usage summed up in {time.perf_counter() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
