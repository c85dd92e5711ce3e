"""What the model does in each scene, step by step, with whatever tools the agent gives it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .talk import Json, Result, Tool

MARK = re.compile(r"\[\[(\w+)(?: (\w+))?\]\]")  # a prompt says which scene it is
WRITTEN = 'PLUM-7\n"quoted" \\ back\n🎉 é done\n'
SHELL = """printf '%s\\n' "say \\"hi\\"" 'back\\slash' '🎉 </x>' | tee shell.txt"""
SHOWN = 'say "hi"\nback\\slash\n🎉 </x>\n'
FILES = {"notes.txt": "The seed is PLUM-7.\n", "a.txt": "ALPHA-1\n", "b.txt": "BETA-2\n"}


class Act(NamedTuple):
    """Something to do: `read`, `write`, `shell`, `look` at a picture, or `send` a sub-agent."""

    kind: str
    what: str
    text: str = ""


class Step(NamedTuple):
    thought: str
    text: str
    acts: tuple[Act, ...] = ()
    shows: tuple[str, ...] = ()  # a pattern for each act that its result must show


def read(*names: str) -> tuple[Act, ...]:
    return tuple(Act("read", name) for name in names)


MISSING = r"(?i)no such|not found|does not exist|doesn't exist|non-existent|could not|ENOENT"
TASK = (
    Step("I should read the notes, é🎉.", "Let me look.", read("notes.txt"), ("PLUM-7",)),
    Step("Two at once.", "", read("a.txt", "b.txt"), ("ALPHA-1", "BETA-2")),
    Step("This one fails.", "", read("missing.txt"), (MISSING,)),
    Step("Now write.", "Writing.", (Act("write", "out.txt", WRITTEN),), ("",)),
    Step(
        "A command with all that is hard to quote.",
        "",
        (Act("shell", SHELL),),
        (r"back\\+slash[\s\S]*🎉",),
    ),
    Step("And the picture.", "", (Act("look", "picture.png"),), ("",)),
    Step("That is all.", "Finished PLUM-7 🎉."),
)
AGAIN = (
    Step("Once more.", "", read("b.txt"), ("BETA-2",)),
    Step("Enough.", "Again BETA-2."),
)
LONG = (
    *(
        Step(f"Turn {n}.", "", (Act("shell", f"echo turn-{n}"),), (f"turn-{n}",))
        for n in range(1, 40)
    ),
    Step("The fortieth.", "Finished 40 turns."),
)
SENT = (
    Step(
        "Two helpers at once.",
        "",
        (Act("send", "[[sub one]]"), Act("send", "[[sub two]]")),
        ("SUB-one", "SUB-two"),
    ),
    Step("Both are back.", "Finished both."),
)
SUB = (
    Step("What the notes say.", "", read("notes.txt"), ("PLUM-7",)),
    Step("And these.", "", read("a.txt", "b.txt"), ("ALPHA-1", "BETA-2")),
    Step("Done.", "SUB-{} PLUM-7."),
)
SCENES: dict[str, tuple[Step, ...]] = {
    "task": TASK,
    "again": AGAIN,
    "busy": (TASK[0], Step("Enough.", "Finished PLUM-7 at last.")),
    "long": LONG,
    "send": SENT,
    "sub": SUB,
}

# What Gemini CLI is told, which asks every few turns whether it only goes round in circles. It asks
# ten times, with pauses, where the answer is not the JSON that it wants.
ON = '{{"unproductive_state_analysis": "It goes on.", "unproductive_state_confidence": 0.0}}'

# -- the same with the tools of each agent ---------------------------------------------------------

NAMES = {
    "read": ("Read", "read_file", "read"),
    "look": ("view_image", "Read", "read_file", "read"),
    "write": ("Write", "write_file", "write", "apply_patch"),
    "shell": ("Bash", "run_shell_command", "bash", "exec_command"),
    "send": ("Agent", "Task", "task", "agent"),
}
KEYS = {
    "path": ("file_path", "filePath", "absolute_path", "path"),
    "content": ("content",),
    "command": ("command", "cmd"),
}


def found(tools: Sequence[Tool], *names: str) -> Tool | None:
    """Return the first tool of these names; one of a group of functions has its name before it."""
    for name in names:
        for tool in tools:
            if tool.name == name or re.fullmatch(rf"functions[_./]{name}", tool.name):
                return tool
    return None


def called(tools: Sequence[Tool], act: Act, home: str) -> tuple[str, Json]:
    """Return the call, its name and arguments, by which this agent does something in a folder."""
    tool = found(tools, *NAMES[act.kind])
    code = found(tools, "exec")  # all that such an agent does is a program
    if tool is None or (code is not None and not found(tools, "exec_command")):
        if code is None and act.kind in ("read", "write", "look"):
            return called(tools, Act("shell", command(act, home)), home)
        assert code is not None, f"no tool to {act.kind}: {[tool.name for tool in tools]}"
        return code.name, freely(code, program(act, home))
    return tool.name, ARGUMENTS[act.kind](tool, act, home)


def _place(tool: Tool, act: Act, home: str) -> Json:
    given: Json = {_key(tool, "path"): f"{home}/{act.what}"}
    return given


def _write(tool: Tool, act: Act, home: str) -> Json:
    if tool.name.endswith("apply_patch"):
        lines = "".join(f"+{line}\n" for line in act.text.splitlines())
        return freely(tool, f"*** Begin Patch\n*** Add File: {act.what}\n{lines}*** End Patch\n")
    return {**_place(tool, act, home), "content": act.text}


def _shell(tool: Tool, act: Act, home: str) -> Json:
    about = {"description": "Run a command"} if "description" in tool.keys else {}
    stays = {"is_background": False} if "is_background" in tool.keys else {}
    return {_key(tool, "command"): act.what, **about, **stays}


def _send(tool: Tool, act: Act, home: str) -> Json:
    kind = "general" if tool.name == "task" else "general-purpose"
    said = {"description": "Look at files", "prompt": f"{act.what} Look at the files in {home}."}
    return {**said, "subagent_type": kind} | (
        {"run_in_background": False} if "run_in_background" in tool.keys else {}
    )


ARGUMENTS: dict[str, Callable[[Tool, Act, str], Json]] = {
    "read": _place, "look": _place, "write": _write, "shell": _shell, "send": _send,
}  # fmt: skip


def _key(tool: Tool, kind: str) -> str:
    return next(key for key in KEYS[kind] if key in tool.keys)


def freely(tool: Tool, text: str) -> Json:
    """Return the input of a freeform tool; where it became a function, in its only argument."""
    return text if tool.freeform else {tool.keys[0]: text}


def command(act: Act, home: str) -> str:
    """Return the shell command that does what an agent without such a tool wants."""
    if act.kind == "write":
        return f"printf %s {shlex.quote(act.text)} > {act.what}"
    return f"cat {home}/{act.what}"


def program(act: Act, home: str) -> str:
    """Return the program that does it, for an agent whose only tool runs programs."""
    if act.kind == "look":
        return f"image((await tools.view_image({json.dumps({'path': f'{home}/{act.what}'})})))"
    line = act.what if act.kind == "shell" else command(act, home)
    return f"const r = await tools.exec_command({json.dumps({'cmd': line})}); text(r.output);"


def shown(pattern: str, result: Result) -> bool:
    """Tell whether a result shows what it should."""
    return re.search(pattern, result.text) is not None


def started(text: str) -> tuple[str, str] | None:
    """Return the scene that a prompt asks for, and its word."""
    marks: list[Any] = MARK.findall(text)
    return (marks[-1][0], marks[-1][1]) if marks else None
