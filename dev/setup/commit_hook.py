"""Puts the commit into wheels and source archives, where no git can say it any more: hbstore/commit.txt."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the file, with what git says, or with what it holds already: a wheel is built from a source archive, too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the files are gathered."""
        if version == "editable":  # there git is asked
            return
        root = Path(self.root)
        built = root / "hbstore" / "commit.txt"
        if built.exists():
            build_data["force_include"][str(built)] = "hbstore/commit.txt"  # behind all others, as below
            return
        spec = importlib.util.spec_from_file_location("release", root / "hbstore" / "release.py")
        assert spec is not None
        assert spec.loader is not None
        release = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(release)
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name) / "commit.txt"
        file.write_text((release.commit_of(root) or "") + "\n", encoding="ascii")
        build_data["force_include"][str(file)] = "hbstore/commit.txt"
