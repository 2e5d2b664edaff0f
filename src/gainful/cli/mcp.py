"""`gainful mcp`."""

import click

import gainful as gf
from gainful.cli.command import GroupedCommand, command


@command("gainful mcp ./judgments ./runs", cls=GroupedCommand)
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...")
def mcp(folders: tuple[str, ...]) -> None:
    """Run an MCP server so an LLM can call evaluate, compare, explain, why, check and bounds.

    The server speaks the Model Context Protocol over standard input and output, so clients can start it.
    It reads files in the FOLDERs only, and writes none. It requires `pip install 'gainful[mcp]'`.
    """
    gf.integrations.mcp.server(folders).run()
