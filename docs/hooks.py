"""What `make site` adds to the pages: files of the repository that they link to are on the site as well."""

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
# Files of the repository that have a place of their own in the navigation.
PLACES = {
    ROOT / "CHANGELOG.md": "reference/changelog.md",
    ROOT / "CONTRIBUTING.md": "develop/contributing.md",
    ROOT / "README.md": "index.md",
}
# Words that people search for and that a page answers, whether or not they occur in it.
SEARCHED_FOR = {
    "start.md": ["quickstart", "tutorial", "getting started", "install"],
    "understand/ndcg.md": ["Wikipedia", "natural logarithm", "formula", "definition", "normalized"],
    "understand/logarithm.md": ["log2", "discount", "base"],
    "understand/ties.md": ["ties", "equal scores"],
    "understand/unjudged_documents.md": ["unjudged", "holes"],
    "understand/bad_documents.md": ["negative grades"],
    "decide/which_test.md": ["significance", "p-value"],
    "decide/how_many_queries.md": ["sample size", "power"],
    "guides/comparing.md": ["confidence interval", "A/B"],
    "guides/rag.md": ["RAG", "chunks", "passages"],
    "guides/annotation_teams.md": ["annotation", "labelling"],
    "guides/model_judges.md": ["LLM as a judge"],
    "guides/beyond_relevance.md": ["diversity", "novelty", "coverage"],
    "coming_from/scikit_learn.md": ["sklearn", "ndcg_score"],
    "reference/measures.md": ["MAP", "average precision", "MRR", "recall", "graded precision"],
    "reference/dialects.md": ["Kaggle"],
    "reference/different_numbers.md": ["different numbers"],
    "reference/formats.md": ["CSV", "TREC", "JSON", "Parquet"],
}
# Pages that contain every word come after the pages that explain it.
BOOSTS = {
    "reference/api/": 0.2,
    "reference/changelog": 0.1,
    "develop/": 0.2,
    "reference/commands/": 0.5,
    "reference/measures/": 0.5,
}
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".json": "json", ".sh": "sh"}
CODE = re.compile(r"(^ *```.*?^ *```)", re.DOTALL | re.MULTILINE)
# A picture that is dark where the reader's system is; the site has a switch of its own.
DARK = re.compile(r"  @media \(prefers-color-scheme: dark\) \{\n(.*?)\n  \}", re.DOTALL)
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)\s]+)\.(svg|png)\)(\{[^}]*\})?")
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=(?:#[^)\s]*)?\))")


def in_both_schemes(picture: Path) -> dict[str, str]:
    """Return a picture as it is in the light and in the dark, by scheme; nothing if it has one look."""
    svg = picture.suffix == ".svg" and picture.is_file()
    text = picture.read_text(encoding="utf-8") if svg else ""
    if not DARK.search(text):
        return {}
    return {"light": DARK.sub("", text), "dark": DARK.sub(r"\1", text)}


def with_both_schemes(markdown: str, folder: Path) -> str:
    """Return a page that shows its pictures in the colours that the reader has chosen."""

    def both(found: re.Match[str]) -> str:
        words, stem, kind, attributes = found.groups(default="")
        if (folder / f"{stem}_dark.{kind}").is_file():
            places = {"light": f"{stem}.{kind}", "dark": f"{stem}_dark.{kind}"}
        else:
            schemes = in_both_schemes(folder / f"{stem}.{kind}")
            places = {scheme: f"{stem}.{scheme}.{kind}" for scheme in schemes}
        images = (
            f"![{words}]({place}#only-{scheme}){attributes}" for scheme, place in places.items()
        )
        return "".join(images) or found[0]

    parts = CODE.split(markdown)
    parts[::2] = [PICTURE.sub(both, prose) for prose in parts[::2]]
    return "".join(parts)


def place_of(file: Path) -> str:
    """Return the place of a file of the repository on the site."""
    if file in PLACES:
        return PLACES[file]
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    name = file.relative_to(ROOT).as_posix()
    return f"source/{name}" if file.suffix == ".md" else f"source/{name}.md"


def links(markdown: str, folder: Path) -> list[Path]:
    """Return the files of the repository outside docs/ that a page in a folder links to."""
    found = []
    for prose in CODE.split(markdown)[::2]:
        for target in LINK.findall(prose):
            file = Path(os.path.normpath(folder / target))
            if "://" not in target and file.is_file() and not file.is_relative_to(DOCS):
                found.append(file)
    return found


def relinked(markdown: str, folder: Path, place: str) -> str:
    """Return a page with its links to files of the repository as links within the site."""

    def within(found: re.Match[str]) -> str:
        file = Path(os.path.normpath(folder / found[1]))
        if "://" in found[1] or not file.is_file():
            return found[1]
        return os.path.relpath(place_of(file), os.path.dirname(place) or ".")  # noqa: PTH120

    parts = CODE.split(markdown)
    parts[::2] = [LINK.sub(within, prose) for prose in parts[::2]]
    return "".join(parts)


def collapsed(page: str) -> str:
    """Return a long page whose parts of the third level open on a click."""

    def part(found: re.Match[str]) -> str:
        title, body = found.groups()
        return (
            f'<details markdown="1"><summary>{title}</summary>\n\n{body.strip()}\n\n</details>\n\n'
        )

    return re.sub(r"^### ([^\n]+)\n(.*?)(?=^##|\Z)", part, page, flags=re.DOTALL | re.MULTILINE)


def page_of(file: Path) -> str:
    """Return a file of the repository as a page; the search finds only those in the navigation."""
    text = file.read_text(encoding="utf-8")
    search = "" if file in PLACES else "---\nsearch:\n  exclude: true\n---\n\n"
    if file.suffix == ".md":
        page = search + relinked(text, file.parent, place_of(file))
        return collapsed(page) if file.parent.name == "changes" else page
    language = LANGUAGES.get(file.suffix, "text")
    return f"{search}# {file.relative_to(ROOT)}\n\n``````{language}\n{text}\n``````\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the repository that pages link to, and those that pages of these link to."""
    for file in list(files.media_files()):
        for scheme, text in in_both_schemes(DOCS / file.src_uri).items():
            place = f"{file.src_uri.removesuffix('.svg')}.{scheme}.svg"
            files.append(File.generated(config, place, content=text))
    ahead = [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    for page in files.documentation_pages():
        source = DOCS / page.src_uri
        ahead += links(source.read_text(encoding="utf-8"), source.parent)
    while ahead:
        file = ahead.pop()
        place = place_of(file)
        if place in files.src_uris:
            continue
        level = InclusionLevel.INCLUDED if file in PLACES else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place, content=page_of(file), inclusion=level))
        if file.suffix == ".md":
            ahead += links(file.read_text(encoding="utf-8"), file.parent)
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Point links to files of the repository at their pages, and tell the search what the page is about."""
    place = page.file.src_uri
    if place in SEARCHED_FOR:
        page.meta["tags"] = SEARCHED_FOR[place]
    for start, boost in BOOSTS.items():
        if place.startswith(start):
            page.meta["search"] = {"boost": boost}
    if page.file.generated_by:
        return markdown
    folder = (DOCS / page.file.src_uri).parent
    return with_both_schemes(relinked(markdown, folder, page.file.src_uri), folder)


def on_post_page(output: str, **_: object) -> str:
    """Name the dialog of the search, for those who hear the page: the theme does not."""
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(f"{dialog}>", f'{dialog} aria-label="Search">')


def on_post_template(output_content: str, template_name: str, **_: object) -> str:
    """Fix the page for addresses that do not exist in the same way as other pages."""
    return on_post_page(output_content) if template_name == "404.html" else output_content
