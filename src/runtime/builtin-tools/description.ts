import { CATALOG_LEGEND } from "../../registry/index.ts";
import type { Runtime } from "../../runtime.ts";
import { BUILTIN_TOOLS } from "./definitions.ts";

/** A token is about four UTF-16 units. */
const TOKEN_UNITS = 4;

const METHODS_HEADING = `\n\nSome methods, below their skills. ${CATALOG_LEGEND}.\n`;

const RUN_CODE = BUILTIN_TOOLS.find(({ name }) => name === "run_code")?.description ?? "";

/** Formats the description of `run_code` with a part of the brief catalog. */
export function formatRunCode(methods: string): string {
  return hasMethods(methods) ? RUN_CODE + METHODS_HEADING + methods : RUN_CODE;
}

/** Returns the length of the brief catalog in a description of `run_code` with at most `units`. */
export function getCatalogUnits({ catalogTokens }: Pick<Runtime, "catalogTokens">, units: number): number {
  return Math.max(0, Math.min(catalogTokens * TOKEN_UNITS, units - RUN_CODE.length - METHODS_HEADING.length));
}

/** False for a part of the brief catalog that only counts methods. */
export function hasMethods(part: string): boolean {
  return part.includes("\n  ");
}
