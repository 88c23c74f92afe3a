"""What mkdocs calls while it builds the site: links that leave docs/, and pictures of what the command prints."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import links  # noqa: E402
import pictures  # noqa: E402


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source in list(files.documentation_pages()):
        if source.abs_src_path is None:  # made by a plugin
            continue
        for asked in pictures.asked_for(Path(source.abs_src_path).read_text(encoding="utf-8")):
            if files.get_file_from_path(asked.name) is None:
                files.append(File.generated(config, asked.name, content=asked.svg()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    up = "../" * page.file.src_uri.count("/")
    return pictures.shown(links.outside_links(markdown), up)
