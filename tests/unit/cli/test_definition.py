from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module

import pytest

from airflow_provider_ingest.cli.definition import PACKAGE, get_cli_commands

NAMES = ["list", "run", "status", "cancel", "retry", "explain", "prune-files", "prune-rows", "init", "doctor"]
NAMES += ["fab-permissions"]


def test_the_commands_are_those_of_the_contract() -> None:
    (group,) = get_cli_commands()
    assert group.name == "ingest"
    assert [command.name for command in group.subcommands] == NAMES


def test_every_command_has_a_body_and_takes_an_output_format() -> None:
    bodies = {
        "list": "commands.list_importers",
        "prune-files": "pruning.prune_files",
        "prune-rows": "pruning.prune_rows",
        "init": "init.init_importer",
        "doctor": "doctor.doctor",
        "fab-permissions": "fab_permissions.grant_pages",
    }
    for command in get_cli_commands()[0].subcommands:
        module, _, name = bodies.get(command.name, f"commands.{command.name}").rpartition(".")
        assert callable(getattr(import_module(f"{PACKAGE}.{module}"), name))
        assert command.func.__name__ == name
        flags = {flag for argument in command.args for flag in argument.flags}
        assert {"--output", "--verbose"} <= flags


def test_no_help_holds_brackets_which_the_terminal_would_take_for_markup() -> None:
    commands = get_cli_commands()[0].subcommands
    ours = {argument.kwargs["help"] for command in commands for argument in command.args if "help" in argument.kwargs}
    assert not [text for text in ours if "[" in text]


NUMBERS = ["status RUN", "cancel RUN", "retry RUN", "explain RUN", "explain --row", "prune-files --hours"]
NUMBERS += ["prune-rows --days"]


def typed(name: str, text: str) -> int:
    """What the command line makes of the text in this place; wrong usage ends the process."""
    command, place = name.split()
    (group,) = get_cli_commands()
    (argument,) = (
        argument
        for each in group.subcommands
        if each.name == command
        for argument in each.args
        if place in (*argument.flags, argument.kwargs.get("metavar"))
    )
    parser = argparse.ArgumentParser()
    argument.add_to_parser(parser)
    value: int = next(iter(vars(parser.parse_args([*(f for f in [place] if f[0] == "-"), text])).values()))
    return value


@pytest.mark.parametrize("name", NUMBERS)
def test_a_whole_number_is_taken(name: str) -> None:
    assert typed(name, "24") == 24


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("text", ["-1", "1.5", "abc", "", " 7", "1_0", "٣", "9" * 30, "9" * 5000])
def test_what_is_no_whole_number_of_its_kind_is_wrong_usage(name: str, text: str) -> None:
    with pytest.raises(SystemExit) as ended:
        typed(name, text)
    assert ended.value.code == 2


@pytest.mark.parametrize("name", NUMBERS)
def test_ages_begin_at_0_and_runs_and_rows_at_1(name: str) -> None:
    if name.startswith("prune"):
        assert typed(name, "0") == 0
    else:
        with pytest.raises(SystemExit):
            typed(name, "0")


def test_the_definition_imports_nothing_heavy() -> None:
    code = (
        "import sys; import airflow.cli.cli_config; before = set(sys.modules);"
        "import airflow_provider_ingest.cli.definition as d; d.get_cli_commands();"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    added = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(added) <= {"airflow_provider_ingest", "importlib", "_opcode", "opcode", "dis"}, added
