import type { Page } from "playwright-core";

/** The least height and width of a box that is looked at. */
const MIN_HEIGHT = 60;
const MIN_WIDTH = 120;
/** More than the padding of two cards, the space between them and that around a line of text. */
const MIN_GAP = 96;

/**
 * Finds boxes in the content that hold no text, control, picture or drawing, and parts of the content over its whole width, between
 * two things, that hold none. Each is described by its element and size.
 */
export function findEmptyBoxes(page: Page): Promise<readonly string[]> {
  return page.evaluate(SCRIPT);
}

/** Waits until the page has been painted after a change of its size or colours. */
export function waitForPaint(page: Page): Promise<unknown> {
  return page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
}

/** A script for the page: the types of browsers are not those of the tests. */
const SCRIPT = `(() => {
  const things = [];
  const isVisible = (element) =>
    getComputedStyle(element).display === "contents" || element.checkVisibility({ visibilityProperty: true });
  const collect = (element) => {
    if (!isVisible(element)) return;
    if (element.matches("input, select, textarea, button, svg, img, canvas, .cm-editor, progress, meter")) {
      things.push(element.getBoundingClientRect());
      return;
    }
    for (const node of element.childNodes) {
      if (node instanceof Element) collect(node);
      else if (node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== "") {
        const range = document.createRange();
        range.selectNodeContents(node);
        things.push(...range.getClientRects());
      }
    }
  };
  const main = document.querySelector("main");
  collect(main);
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const problems = [];
  for (const element of main.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    const isLarge = isVisible(element) && box.height >= ${MIN_HEIGHT} && box.width >= ${MIN_WIDTH};
    if (!isLarge || things.some((thing) => meets(thing, box))) continue;
    const name = element.tagName.toLowerCase() + "." + element.className;
    problems.push(name + " of " + Math.round(box.width) + " × " + Math.round(box.height) + " is empty");
  }
  let bottom;
  for (const { top, bottom: end } of things.filter(({ width }) => width > 0).sort((a, b) => a.top - b.top)) {
    const gap = top - (bottom ?? top);
    if (gap >= ${MIN_GAP}) problems.push(Math.round(gap) + " px are empty above " + Math.round(top));
    bottom = Math.max(bottom ?? end, end);
  }
  return problems;
})()`;
