import type { Catalog, Method } from "../model/catalog.ts";
import { CATALOG_LEGEND } from "./brief-catalog.ts";
import { LineFormatter, NESTED, WIDE_LINES } from "./catalog-lines.ts";
import type { FindInferredOutput } from "./declarations/inferred-output.ts";

/** Maximum length of the lines together. */
const MAX_UNITS = 2_000;

/** Formats methods as the catalog does, one on a line, with a heading that explains the notation; empty without methods. */
export function methodLines(catalog: Catalog, methods: readonly Method[], observed: FindInferredOutput): string {
  const formatter = new LineFormatter(catalog, observed, WIDE_LINES);
  const lines: string[] = [];
  const definitions = new Set<string>();
  let units = 0;
  for (const method of methods) {
    const line = formatter.format(method, NESTED);
    units += method.skill.length + line.text.length + line.definitions.join("").length;
    if (units > MAX_UNITS) break;
    lines.push(`  ${method.skill}.${line.text}`);
    for (const each of line.definitions) definitions.add(`  ${each}`);
  }
  return lines.length === 0 ? "" : [`Methods (${CATALOG_LEGEND}):`, ...lines, ...definitions].join("\n");
}
