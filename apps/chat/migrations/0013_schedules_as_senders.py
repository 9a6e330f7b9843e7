"""What was asked by schedules: their marks become senders, and their runs keep the budget."""

from django.db import migrations

AT_ONCE = 500


def sender_of(trigger):
    return {
        "kind": trigger["kind"],
        "title": trigger["name"],
        "untrusted": False,
        "at": trigger["at"],
    }


def unattended_of(trigger):
    return {"seconds": trigger["seconds"], "budget": trigger["cap"]}


def marked(model):
    """The rows from earlier, a batch at a time; those that were moved are not found again."""
    rows = model.objects.filter(place__has_key="trigger").order_by("pk")
    while found := list(rows[:AT_ONCE]):
        yield from found


def move(apps, schema_editor):
    run_model = apps.get_model("runs", "Run")
    for message in marked(apps.get_model("chat", "Message")):
        trigger = message.place["trigger"]
        message.sender, message.place = sender_of(trigger), None
        message.save(update_fields=["sender", "place"])
        run_model.objects.filter(pk=message.run_id).update(unattended=unattended_of(trigger))
    for waiting in marked(apps.get_model("chat", "QueuedMessage")):
        trigger = waiting.place["trigger"]
        waiting.sender = {**sender_of(trigger), **unattended_of(trigger)}
        waiting.place = None
        waiting.save(update_fields=["sender", "place"])


class Migration(migrations.Migration):
    dependencies = [("chat", "0012_published_versions"), ("runs", "0012_unattended_runs")]

    operations = [migrations.RunPython(move, migrations.RunPython.noop, elidable=True)]
