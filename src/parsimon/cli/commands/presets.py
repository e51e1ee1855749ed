"""`parsimon presets`: the template presets."""

from __future__ import annotations

import click

from parsimon.cli.options import CONTEXT


@click.command("presets", context_settings=CONTEXT, short_help="List the template presets.")
@click.argument("name", required=False)
def presets(name: str | None) -> None:
    """List the presets that 'parsimon train -t' knows; with a NAME, print that preset's templates.

    The output is a template file, a good start for one of your own.
    """
    from parsimon.features.arc_presets import PRESETS as OF_ARCS
    from parsimon.features.presets import PRESETS, get_preset

    if name in OF_ARCS:
        click.echo(OF_ARCS[name]().dumps(), nl=False)
        return
    if name is not None:
        click.echo(get_preset(name).dumps(), nl=False)
        return
    width = max(map(len, PRESETS))
    for preset in PRESETS.values():
        columns = ", ".join(f"{number} {what}" for number, what in enumerate(preset.columns))
        click.echo(f"{preset.name:<{width}}  {preset.description} ({len(preset.build())} templates)")
        click.echo(f"{'':<{width}}  columns: {columns}")
    for arcs, build in OF_ARCS.items():
        click.echo(
            f"{arcs:<{width}}  for 'train parser': {(build.__doc__ or '').strip()} ({len(build())} templates)"
        )
