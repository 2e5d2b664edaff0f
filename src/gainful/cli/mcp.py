"""`gainful mcp`."""

import click

import gainful as gf
from gainful.cli.grouped_help import GroupedCommand


@click.command(cls=GroupedCommand, examples=["gainful mcp ./judgments ./runs"])
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...")
def mcp(folders: tuple[str, ...]) -> None:
    """Offer evaluate, compare, explain, why, check and bounds as tools of the Model Context Protocol.

    It speaks over standard input and output, as clients start it. It reads files in the FOLDERs and
    nowhere else, and writes none. It needs `pip install 'gainful[mcp]'`.
    """
    gf.integrations.mcp.server(folders).run()
