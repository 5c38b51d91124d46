"""Strict reading of JSON that others wrote: every complaint is one line with file, place and hint."""

from __future__ import annotations

import functools
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import jsonschema_rs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.protocols import Validator
from referencing import Registry

FORMAT = 1
#: That of the answers of the verbs.
ANSWERS_FORMAT = 3
MAX_FILE_BYTES = 256 * 2**20
MAX_LINE_BYTES = 64 * 2**20
MAX_DEPTH = 30
SCHEMAS = Path(__file__).parents[1] / "schemas"
FOREIGN_HINT = "give a file that this suite wrote, or update the suite"


class BadInput(Exception):
    """A file or an argument that cannot be used; the text is one line with the place and a hint."""

    def __init__(self, where: str | os.PathLike[str], place: str, fault: str, hint: str) -> None:
        parts = [part for part in (os.fspath(where), place) if part]
        super().__init__(one_line(f"{', '.join(parts)}: {fault}; {hint}"))
        self.fault = fault


def one_line(text: str) -> str:
    """Return the text with everything a terminal could act upon replaced by an escape."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def shown(value: object, limit: int = 60) -> str:
    """Return a short, quoted form of a value for a message."""
    text = one_line(repr(value))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file that is not too large."""
    try:
        if path.is_dir():
            raise BadInput(path, "", "is a directory", "name the file itself")
        if path.exists() and not path.is_file():
            raise BadInput(path, "", "is not a regular file", "name a file on disk")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise BadInput(path, "", f"is larger than {MAX_FILE_BYTES >> 20} MB", "run the suite in shards")
        return path.read_bytes()
    except FileNotFoundError:
        raise BadInput(path, "", "there is no such file", "check the path, or run the suite first") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise BadInput(path, "", f"cannot be read ({reason})", "check the path and its permissions") from None


def parse(raw: bytes, path: Path, place: str, hint: str = FOREIGN_HINT) -> Any:
    """Return the one JSON value in the bytes, refusing what JSON readers usually let pass."""
    if len(raw) > MAX_LINE_BYTES:
        raise BadInput(path, place, f"is larger than {MAX_LINE_BYTES >> 20} MB", "run the suite in shards")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadInput(path, place, f"byte {problem.start + 1} is not UTF-8", hint) from None
    if too_deep(text):
        raise BadInput(path, place, f"is nested deeper than {MAX_DEPTH} levels", hint)
    try:
        value = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")  # half a surrogate pair fits no file and no page
    except UnicodeEncodeError:
        raise BadInput(path, place, "a string holds half of a surrogate pair", hint) from None
    except json.JSONDecodeError as problem:
        fault = f"is not JSON (column {problem.colno}: {problem.msg})"
        raise BadInput(path, place, fault, hint) from None
    except ValueError as problem:
        raise BadInput(path, place, f"is not JSON ({problem})", hint) from None
    return value


def too_deep(text: str) -> bool:
    """Say whether brackets outside strings nest deeper than any file of ours does."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", "".join(text.split('"')[::2])):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(twin)} is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


@functools.cache
def _schemas() -> dict[str, Any]:
    return {path.name: json.loads(path.read_text("utf-8")) for path in sorted(SCHEMAS.glob("*.json"))}


@functools.cache
def _judge(reference: str) -> jsonschema_rs.Draft202012Validator:
    registry = jsonschema_rs.Registry(list(_schemas().items()))
    return jsonschema_rs.Draft202012Validator({"$ref": reference}, registry=registry)


@functools.cache
def _teller(reference: str) -> Validator:
    registry: Registry[Any] = Registry().with_contents(_schemas().items())
    return Draft202012Validator({"$ref": reference}, registry=registry)


def validate(value: Any, reference: str, path: Path, place: str, hint: str = FOREIGN_HINT) -> None:
    """Raise BadInput unless the value fits a definition, e.g. "runfile.schema.json#/$defs/cell".

    jsonschema says best what is wrong, but takes long to see that nothing is.
    """
    if _judge(reference).is_valid(value):
        return
    problem = best_match(_teller(reference).iter_errors(value))
    if problem is not None:
        where = "".join(f"[{shown(key, 80)}]" for key in problem.absolute_path)
        raise BadInput(path, place, _fault(problem, where), hint)


def _fault(problem: ValidationError, where: str) -> str:
    at = f"at {where} " if where else ""
    value: Any = problem.instance
    rule: Any = problem.validator_value
    schema: Any = problem.schema
    if problem.validator == "additionalProperties" and isinstance(value, dict):
        unknown = sorted(set(value) - set(schema.get("properties", ())))
        return f"{at}has the unknown key {shown(unknown[0] if unknown else '')}"
    if problem.validator == "required" and isinstance(value, dict):
        missing = [key for key in rule if key not in value]
        return f"{at}has no key {shown(missing[0] if missing else '')}"
    if problem.validator == "enum":
        return f"{at}{shown(value)} is none of {', '.join(map(str, rule))}"
    if problem.validator == "const":
        return f"{at}{shown(value)} is not {shown(rule)}"
    if problem.validator == "type":
        return f"{at}{shown(value)} is not of type {rule if isinstance(rule, str) else ' or '.join(rule)}"
    return f"{at}{shown(value)} breaks the rule {problem.validator} {shown(rule)}"


def foreign_format(value: Any, path: Path, place: str, number: int = FORMAT) -> None:
    """Raise BadInput when the value says it is of another format number than ours."""
    if isinstance(value, dict) and "format" in value and value["format"] != number:
        fault = f"is of format {shown(value['format'])}, this suite reads format {number}"
        raise BadInput(path, place, fault, "read it with the suite that wrote it, or run the suite again")


def write_atomic(path: Path, text: str) -> None:
    """Write the whole file or nothing: a half-written file is never seen under its name.

    A symbolic link is followed: the file that it names is written. What is no regular file, such as a device, is kept
    and written to.
    """
    path = Path(os.path.realpath(path))
    if path.is_symlink():
        raise BadInput(path, "", "is a link to itself", "name another place")
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as problem:
        raise BadInput(path, "", f"cannot be written ({problem.strerror})", "name another place") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, 0o644)  # mkstemp makes a private file; a page is meant to be read by others
        os.replace(name, path)
    except OSError as problem:
        Path(name).unlink(missing_ok=True)
        raise BadInput(path, "", f"cannot be written ({problem.strerror})", "name another place") from None
