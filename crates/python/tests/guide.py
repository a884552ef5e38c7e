"""The blocks of the guide, for the tests that run them."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "guide"


def commands(word):
    """The pages and shell scripts of all blocks with this word behind `console`, made small as the comments above them say."""
    # <!-- small: OLD → NEW; OLD → NEW -->
    block = re.compile(rf"(?:<!-- small: (?P<small>.*) -->\n)?```console {word}\n(?P<commands>(?:.*\n)*?)```\n")
    found = []
    for page in sorted(GUIDE.glob("*.md")):
        for match in block.finditer(page.read_text()):
            script = "\n".join(line.removeprefix("$ ") for line in match["commands"].splitlines())
            for pair in match["small"].split("; ") if match["small"] else []:
                old, new = pair.split(" → ")
                assert old in script, (page.name, old)
                script = script.replace(old, new)
            found.append((page.stem, script))
    return found


def recipes(page, language):
    """The blocks in this language."""
    text = (GUIDE / page).read_text()
    return [part.split("```")[0] for part in text.split(f"```{language}\n")[1:]]
