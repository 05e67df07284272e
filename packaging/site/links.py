"""A preprocessor of mdBook, which makes links fit the site.

A link to a file that is not a page, such as code, becomes the file's path as text. mdBook calls the page of a README.md `index`.
"""

import json
import posixpath
import re
import sys

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s:]+)\)")


def chapters(items):
    """Every chapter, also those below others."""
    for item in items:
        if chapter := isinstance(item, dict) and item.get("Chapter"):
            yield chapter
            yield from chapters(chapter["sub_items"])


def fitting(page):
    def replace(link):
        text, target = link.groups()
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target.split("#")[0]))
        if path.startswith("docs/"):
            return f"[{text}]({target.replace('README.md', 'index.md')})"
        return f"{text} (`{path}`)"

    return replace


if sys.argv[1:2] == ["supports"]:
    sys.exit()
_context, book = json.load(sys.stdin)
for chapter in chapters(book.get("items") or book["sections"]):
    chapter["content"] = LINK.sub(fitting(chapter["path"]), chapter["content"])
json.dump(book, sys.stdout)
