"""Where rule files are found: in folders, zip files, mappings and installed packages."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import RuleError, UsageError, mistyped
from ..language import apart
from ..language.source import LADDER, MAX_BYTES, parse
from ..payload import check_path

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from importlib.resources.abc import Traversable

    from ..language.known import Known
    from ..language.source import Node

Source = str | os.PathLike[str] | Mapping[str, Any]
GROUP = "wireglot.rules"  # the entry points of packages that bring rule files
MAX_ENTRIES = 10_000
ENDING = ".yaml"
PREPARED = "packaged.bin"  # what a wheel has of the packaged rules


def packaged_folder() -> str:
    """Return the folder of the packaged rules. Raises RuleError where they are not there."""
    import importlib

    try:
        folder = str(importlib.import_module("wireglot.rules").__path__[0])
    except ModuleNotFoundError:
        folder = "rules"
    if not any(os.path.isfile(f"{folder}/{name}") for name in (f"{LADDER}.yaml", PREPARED)):
        help = "install wireglot again: `pip install --force-reinstall wireglot`"
        raise RuleError(f"the packaged rule files are not in {folder}", help=help)
    return folder


def prepared() -> Known | None:
    """Return what a wheel has prepared of the packaged rules; None in a checkout."""
    file = f"{packaged_folder()}/{PREPARED}"
    if not os.path.isfile(file):
        return None
    from . import shipped

    return shipped.read(file)


def schema(name: str) -> bytes:
    """Return a JSON Schema that comes with the rules: of a `rule-file` or of the `ladder`."""
    with open(f"{packaged_folder()}/{name}.schema.json", "rb") as file:
        return file.read()


def beside(name: str) -> Any:
    """Return what a YAML file beside the packaged rules says. Raises RuleError."""
    return node_beside(name).plain()


def node_beside(name: str) -> Node:
    """Return a YAML file beside the packaged rules, with its places. Raises RuleError."""
    with open(f"{packaged_folder()}/{name}", encoding="utf-8") as file:
        return parse(file.read(), f"rules/{name}")


class File(NamedTuple):
    """A rule file: its stem, its name in messages, and how to get its text."""

    stem: str
    name: str
    text: Callable[[], str]


def files(source: Source, shown: str | None = None) -> Iterator[File]:
    """Yield the rule files of a source in the order of their names; `shown` is how it is called.

    A source is a folder, a zip file, or a mapping of file names to YAML text or parsed YAML.
    Folders within it are not entered, except `examples` in a folder, and the only one of a zip
    file. Raises UsageError for what is not there, RuleError for what cannot be used; and so does
    `File.text`.
    """
    if isinstance(source, Mapping):
        yield from _mapping_files(source)
        return
    from pathlib import Path

    path = Path(source)
    shown = shown or str(path)
    if path.is_dir():
        yield from _folder_files(path, shown)
    elif path.is_file():
        yield from _zip_files(path, shown)
    else:
        raise UsageError(f"there is no folder {path} of rule files")


def plugins() -> list[EntryPoint]:
    """Return the entry points of installed packages that bring rule files, by name."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def plugin_files(point: EntryPoint) -> Iterator[File]:
    """Yield the rule files that an installed package brings; this imports the package.

    The entry point names a package that holds them, a path, or a mapping as `files` takes it.
    Raises UsageError where it gives something else, or fails.
    """
    shown = f"{GROUP}:{point.name}"
    try:
        found = point.load()
    except Exception as error:
        raise UsageError(f"the plugin `{point.name}` cannot be imported: {error!r}") from error
    if hasattr(found, "__path__"):
        from importlib.resources import files as held

        yield from _folder_files(held(found), shown)
    elif isinstance(found, str | os.PathLike | Mapping):
        yield from files(found, None if isinstance(found, Mapping) else shown)
    else:
        wanted = "it must be a package with rule files, a path or a mapping"
        raise UsageError(f"the plugin `{point.name}` is {type(found).__name__}: {wanted}")


def _mapping_files(source: Mapping[str, Any]) -> Iterator[File]:
    for key in sorted(source, key=str):
        if not isinstance(key, str):
            raise mistyped("a rule file's name is a text", key)
        stem = key.removesuffix(ENDING)
        value = source[key]
        if not isinstance(value, str):
            try:  # JSON is YAML too
                value = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                raise UsageError(f"the rule file `{key}` is no YAML text: {error}") from None
        yield File(stem, stem + ENDING, functools.partial(str, value))


def _folder_files(folder: Traversable, shown: str) -> Iterator[File]:
    within = os.path.realpath(folder) if isinstance(folder, os.PathLike) else None
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(ENDING):
            file = f"{shown}/{entry.name}"
            yield File(entry.name[: -len(ENDING)], file, _reader(entry, file, within))
        elif entry.name == apart.FOLDER and entry.is_dir():
            for stem, file, text in _folder_files(entry, f"{shown}/{entry.name}"):
                yield File(f"{entry.name}/{stem}", file, text)


def _reader(entry: Traversable, file: str, within: str | None) -> Callable[[], str]:
    def text() -> str:
        # A link may lead to a file that is no business of whoever reads the message of an error.
        if within is not None and isinstance(entry, os.PathLike):
            if os.path.commonpath((within, os.path.realpath(entry))) != within:
                help = "put the file itself there"
                told = "the file is a link that leads out of its folder"
                raise RuleError(told, file, 1, 1, help=help, rule="R020")
        if not entry.is_file():  # to open a pipe would wait for ever
            raise RuleError("the file cannot be read", file, 1, 1, rule="R020")
        try:
            with entry.open("r", encoding="utf-8-sig") as opened:
                return str(opened.read(MAX_BYTES + 1))
        except UnicodeDecodeError:
            told = "the file is no UTF-8 text"
            raise RuleError(told, file, 1, 1, help="save it as UTF-8", rule="R020") from None
        except Exception:  # of many kinds, of what is wrong with a zip file
            raise RuleError("the file cannot be read", file, 1, 1, rule="R020") from None

    return text


def text_of(file: str | os.PathLike[str]) -> str:
    """Return the text of a file that a caller names. Raises RuleError, UsageError."""
    check_path(file)
    try:
        with open(file, encoding="utf-8-sig") as opened:
            return opened.read(MAX_BYTES + 1)
    except UnicodeDecodeError:
        raise RuleError("the file is no UTF-8 text", str(file), 1, 1) from None
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror}") from None


def _zip_files(path: Any, shown: str) -> Iterator[File]:
    import zipfile

    try:
        archive = zipfile.ZipFile(path)
    except Exception:  # of many kinds
        help = "name the folder that the file is in" if path.suffix == ENDING else ""
        message = f"`{shown}` is neither a folder nor a zip file of rule files"
        raise UsageError(f"{message}; {help}" if help else message) from None
    names = archive.namelist()
    if len(names) > MAX_ENTRIES:
        raise UsageError(f"`{shown}` has more than {MAX_ENTRIES} entries")
    known: set[str] = set()
    for name in names:
        if name in known:  # which of the two counts depends on who reads it
            raise UsageError(f"`{shown}` holds {name!r} twice")
        known.add(name)
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/"):
            raise UsageError(f"`{shown}` names a file outside of itself: {name!r}")
    top = zipfile.Path(archive)  # which is closed when nobody holds one of its files
    within = list(top.iterdir())
    if len(within) == 1 and within[0].is_dir():
        top, shown = within[0], f"{shown}/{within[0].name}"
    yield from _folder_files(top, shown)
