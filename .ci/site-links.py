"""Links that lead out of the site, to the sources or to pages for contributors, lead to the repository. .ci/Links.java checks them."""

import posixpath
import re

LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)\s]*)?(\))")


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)

    def rewrite(link):
        target = posixpath.normpath(posixpath.join("docs", folder, link[2]))
        inside = posixpath.relpath(target, "docs")
        if not inside.startswith("..") and not inside.startswith("contributing"):
            return link[0]
        return link[1] + config.repo_url.rstrip("/") + "/blob/main/" + target + (link[3] or "") + link[4]

    lines, code = [], False
    for line in markdown.split("\n"):
        if line.strip().startswith("```"):
            code = not code
        lines.append(line if code else LINK.sub(rewrite, line))
    return "\n".join(lines)
