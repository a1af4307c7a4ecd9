"""An SVG picture as part of a page: its ids get a prefix, its styles its own scope, and nothing in it runs or loads."""

from __future__ import annotations

import re
from xml.etree import ElementTree

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_LINKS = ("href", f"{{{XLINK}}}href")
_DROPPED = {"script", "foreignObject", "metadata", "iframe", "audio", "video"}


def inline_svg(text: str, prefix: str) -> str:
    """The `<svg>` element with all ids and references to them beginning with `prefix`.

    Scripts, event handlers and links out of the picture are left out. `ValueError` for what is no SVG.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"{prefix}: not an SVG picture ({error})") from None
    if _tag(root) != "svg":
        raise ValueError(f"{prefix}: not an SVG picture, its root is {_tag(root)!r}")
    _clean(root)
    ids = {e.attrib["id"] for e in root.iter() if "id" in e.attrib}
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            element.attrib[name] = _renamed(name, value, ids, prefix)
        if _tag(element) == "style":
            element.text = _scoped(element.text or "", prefix, ids)
    root.set("id", f"{prefix}-svg")
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    written = ElementTree.tostring(root, encoding="unicode")
    return written.strip()


def width_of(text: str) -> float:
    """The width of an SVG's view box, 0 where it has none."""
    found = re.search(r'viewBox="[-\d.eE]+[ ,]+[-\d.eE]+[ ,]+([\d.eE]+)', text)
    return float(found[1]) if found else 0.0


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _clean(element: ElementTree.Element) -> None:
    for child in list(element):
        if _tag(child) in _DROPPED:
            element.remove(child)
        else:
            _clean(child)
    for name in list(element.attrib):
        value = element.attrib[name].strip()
        outside = name in _LINKS and not value.startswith(("#", "data:image/png;", "data:image/jpeg;"))
        if name.lower().startswith("on") or outside:
            del element.attrib[name]


def _renamed(name: str, value: str, ids: set[str], prefix: str) -> str:
    if name == "id":
        return f"{prefix}-{value}"
    if name in _LINKS and value.startswith("#"):
        return f"#{prefix}-{value[1:]}"
    if name in ("aria-labelledby", "aria-describedby"):
        return " ".join(f"{prefix}-{part}" if part in ids else part for part in value.split())
    return _references(value, prefix)


def _references(text: str, prefix: str) -> str:
    return re.sub(r"url\(\s*['\"]?#([^)'\"\s]+)['\"]?\s*\)", rf"url(#{prefix}-\1)", text)


def _scoped(css: str, prefix: str, ids: set[str]) -> str:
    """Each rule only for this picture; rules of ids with their new names; no imports, no links out."""
    css = re.sub(r"/\*.*?\*/|@[^;{]*;", "", css, flags=re.DOTALL)
    rules = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        if selectors.strip().startswith("@"):
            continue
        names = [_selector(s.strip(), prefix, ids) for s in selectors.split(",")]
        safe = re.sub(r"url\((?!\s*['\"]?#)[^)]*\)", "none", body)
        rules.append(f"{', '.join(names)} {{{_references(safe, prefix)}}}")
    return "\n".join(rules)


def _selector(selector: str, prefix: str, ids: set[str]) -> str:
    renamed = re.sub(r"#([\w-]+)", lambda m: f"#{prefix}-{m[1]}" if m[1] in ids else m[0], selector)
    return f"#{prefix}-svg {renamed}"
