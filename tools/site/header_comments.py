"""Doxygen's input filter: the plain comments of the public headers become comments that Doxygen reads."""

import re
import sys


def documented(text: str) -> str:
    text = re.sub(r"^/\* (?!---)", "/** ", text, flags=re.M)  # before a declaration
    text = re.sub(r"(?<=\S)( +)/\* ", r"\1/**< ", text)  # behind one
    return re.sub(r"^enum \{", "enum error_codes {", text, flags=re.M)  # one without a name has no place to link to


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(documented(file.read()))
