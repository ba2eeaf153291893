import { type Catalog, listEntries, type Skill } from "../../model/catalog.ts";
import { MAX_PATH_UNITS } from "../../shared/names/skill-names.ts";
import { didYouMean, suggestNames } from "../../shared/suggest.ts";
import { sanitizeText } from "../sanitize.ts";
import type { Description } from "./index.ts";

/** Maximum length of a path that is repeated in an answer. */
const SHOWN_UNITS = 80;

/** The names with which an unknown one is compared. */
interface ComparedNames {
  readonly catalog: Catalog;
  /** Maximum names compared with one unknown name. */
  readonly compared: number;
}

export function pathTooLong(path: string): Description {
  const says = `Error: Path '${shortenPath(path)}' is too long: a path has at most ${MAX_PATH_UNITS} characters. Use format 'SkillName.method_name'`;
  return unknown(shortenPath(path), says, []);
}

export function invalidPath(path: string, { catalog, compared }: ComparedNames): Description {
  const names = [
    ...catalog.skills.slice(0, compared).map((skill) => skill.name),
    ...catalog.methods.slice(0, compared).map((method) => method.path),
  ];
  const says = `Error: Invalid path '${shortenPath(path)}'. Use format 'SkillName.method_name'`;
  return unknown(path, says, suggestNames(path, names));
}

export function unknownSkill(path: string, name: string, { catalog, compared }: ComparedNames): Description {
  const names = catalog.skills.slice(0, compared).map((skill) => skill.name);
  return unknown(path, `Error: Skill '${shortenPath(name)}' not found`, suggestNames(name, names));
}

export function unknownMethod(
  path: string,
  { name, skill }: { readonly name: string; readonly skill: Skill },
  { compared }: ComparedNames,
): Description {
  const names = listEntries(skill)
    .slice(0, compared)
    .map((entry) => (entry.definition.partOf === undefined ? entry.name : entry.wireName));
  return unknown(path, `Error: Method '${shortenPath(name)}' not found in ${skill.name}`, suggestNames(name, names));
}

export function unknown(path: string, says: string, suggestions: readonly string[]): Description {
  const text = suggestions.length === 0 ? says : `${says}; ${didYouMean(suggestions)}`;
  return { kind: "unknown", path, methods: [], declaration: "", example: "", notes: [], suggestions, text };
}

export function shortenPath(path: string): string {
  return sanitizeText(path, SHOWN_UNITS);
}
