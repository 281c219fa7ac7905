"""What a command loads as it starts: no more than it needs."""

from importlib import import_module

from orienteer.serve.cli.app import COMMANDS, application


def test_the_lines_of_the_help_are_those_of_the_commands():
    """The table that the help is made of repeats what the modules of the commands say, for it loads none of them."""
    for module, lines in COMMANDS.items():
        commands = import_module(f"orienteer.serve.cli.{module}").COMMANDS
        said = {name: (function.__doc__ or "").partition("\n")[0] for name, (function, _) in commands.items()}
        assert said == lines, module


def test_the_help_is_the_same_once_every_command_is_loaded():
    def shown(group):
        return group.make_context("orienteer", [], resilient_parsing=True).get_help()

    def loaded(group):
        for command in group.commands.values():
            assert command.help or command.commands
            if hasattr(command, "commands"):
                loaded(command)
        return group

    for group in (application(), *map(application().commands.get, ("eval", "train", "trace", "cache"))):
        assert shown(group) == shown(loaded(group))
