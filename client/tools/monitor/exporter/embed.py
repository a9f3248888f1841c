#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""embed.py - page.html as a C array, and the policy that lets a browser run and show
only the content of the page, by its hash.

usage: embed.py page.html page.c
"""
import base64
import hashlib
import re
import sys


def digest(html, tag):
    text = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.S).group(1)
    code = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{code}'"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        html = file.read()
    policy = (f"default-src 'none'; script-src {digest(html, 'script')}; "
              f"style-src {digest(html, 'style')}; connect-src 'self'; "
              "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    numbers = [str(b) for b in html.encode()]
    rows = [", ".join(numbers[i:i + 20]) for i in range(0, len(numbers), 20)]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write('#include "client/tools/monitor/exporter/page.h"\n'
                   f'const char page_policy[] = "{policy}";\n'
                   "const unsigned char page_html[] = {\n"
                   + ",\n".join(rows) + "\n};\n"
                   "const size_t page_len = sizeof(page_html);\n")


main()
