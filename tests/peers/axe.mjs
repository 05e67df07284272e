// Whether a page fits, and what axe-core finds wrong with it. The judges of the pages share it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules that read colors, and those about places and sizes. All others only read the elements that are shown. */
const OF_COLORS = ["color-contrast", "link-in-text-block"];
const OF_PLACES = ["target-size", "scrollable-region-focusable"];

/** Those about what elements are called. */
const OF_WORDS = ["html-has-lang", "html-lang-valid", "document-title", "link-name", "button-name", "label", "select-name", "svg-img-alt", "empty-table-header", "empty-heading"];

/**
 * At each width and in both color schemes, the page fits. axe-core finds nothing wrong with the narrowest and the widest
 * layout, with the colors of dark mode in both, and with the places and sizes in the layouts between: each rule runs wherever
 * its verdict can differ. So dark mode must change nothing but colors, which is checked too. Widths come in ascending order.
 */
export async function judgeLooks(page, name, { widths, height = 900, picture }) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of widths) {
      await page.setViewportSize({ width, height });
      await picture(page, `${name}-${width}-${colorScheme}`);
      const content = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(content <= width, `${name}: ${content} points in ${width}`);
      const isOutermost = width === widths[0] || width === widths.at(-1);
      if (colorScheme === "dark" && !isOutermost) continue;
      const rules = colorScheme === "dark" ? OF_COLORS : isOutermost ? undefined : OF_PLACES;
      assert.deepEqual(await violationsOf(page, rules), [], `${name}, ${width}, ${colorScheme}`);
    }
  }
  assert.deepEqual(await page.evaluate(changedInDarkMode), [], `${name}: what dark mode changes besides custom properties`);
}

/**
 * What other words can change about a page whose looks were judged: at each width it fits, and its places and sizes are right.
 */
export async function judgeWords(page, name, { widths, height = 900, picture }) {
  for (const width of widths) {
    await page.setViewportSize({ width, height });
    await picture(page, `${name}-${width}`);
    const content = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(content <= width, `${name}: ${content} points in ${width}`);
  }
  await page.setViewportSize({ width: widths[0], height });
  assert.deepEqual(await violationsOf(page, [...OF_PLACES, ...OF_WORDS]), [], name);
}

/** The violations that axe-core finds, with the elements that they are about. */
export async function violationsOf(page, rules) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  return page.evaluate(async (only) => {
    const chosen = only ? { runOnly: only } : { rules: { "target-size": { enabled: true } } };
    const { violations } = await window.axe.run(document, { preload: false, resultTypes: ["violations"], ...chosen });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ")}`);
  }, rules);
}

/** Runs in the page. */
function changedInDarkMode() {
  const groups = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
  const dark = groups.filter((group) => group instanceof CSSMediaRule && group.conditionText.includes("prefers-color-scheme"));
  return dark.flatMap(({ cssRules }) => [...cssRules]).flatMap(({ style }) => [...style]).filter((property) => !property.startsWith("--"));
}
