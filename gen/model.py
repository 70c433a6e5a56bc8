"""Reads the API tables under spec/ into plain objects. The only reader of those files.

Does not print anything: every product has its own emit_*.py. A row that the words cannot
describe is an error here, never a silent default.
"""
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "spec"


def load_toml(path):
    with open(path, "rb") as stream:
        return tomllib.load(stream)


def write_if_changed(path, text):
    """Keeps the time stamp of an unchanged product, so that nothing is rebuilt for it."""
    path = Path(path)
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def load_types():
    return load_toml(SPEC / "api" / "types.toml")
