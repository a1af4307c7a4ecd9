/* What tests ask a page: colours of texts against their ground, and names of controls. */
(() => {
  const parts = (colour) => (colour.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = (c) => {
    const f = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]);
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const c = parts(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const contrasts = () => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const text = walker.currentNode.textContent.trim();
      if (!text || element.closest("script, style, noscript, .paper") || !element.checkVisibility()) continue;
      const style = getComputedStyle(element);
      const ink = parts(element.closest("svg") ? style.fill : style.color);
      const [a, b] = [light(ink), light(ground(element))].sort((x, y) => x - y);
      found.push([(b + 0.05) / (a + 0.05), text.slice(0, 40)]);
    }
    return found;
  };
  const nameOf = (e) =>
    e.getAttribute("aria-label") ||
    (e.labels && e.labels.length && e.labels[0].textContent) ||
    (e.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent || "").join("") ||
    (e.tagName === "SELECT" ? "" : e.textContent.trim());
  const nameless = () =>
    [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0'], [role=img], [role=group], [role=region]")]
      .filter((e) => !nameOf(e))
      .map((e) => e.outerHTML.slice(0, 120));
  return { contrasts: contrasts(), nameless: nameless() };
})();
