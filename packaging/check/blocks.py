"""Writes the commands of a page that `make package-check` runs, each block to a file: blocks.py PAGE FOLDER.

The first line of a file says which block it is.
"""

import pathlib
import sys

MARK = "<!-- not run: `make package-check` runs it in a machine of its own -->"

page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True)
title, block, marked, count = "", None, False, 0
for line in page.read_text().splitlines():
    if block is not None:
        if line == "```":
            count += 1
            words = f"# {title}: {block[0]}"
            (folder / f"{count:02}").write_text("\n".join([words, *block]) + "\n")
            block = None
        else:
            block.append(line)
    elif line.startswith("#"):
        title = line.lstrip("# ")
    elif line == MARK:
        marked = True
    elif line == "```sh" and marked:
        block, marked = [], False
assert count >= 6, f"only {count} blocks"
