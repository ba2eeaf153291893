import type { Catalog } from "../../../model/catalog.ts";
import { COMMANDS } from "./commands.ts";

/** A completion: the texts that may follow, and the part of the line that they replace. */
type Completion = readonly [choices: readonly string[], part: string];

/** The end of a line that may be the path of a method. */
const PATH = /(?:\bdevices?\.)?([A-Za-z_][\w]*(?:\.\w*)?)$/;

/** Completes commands at the start of a line, and names of skills and paths of methods everywhere. */
export function completeLine(line: string, catalog: Catalog): Completion {
  const command = /^\/\w*$/.exec(line)?.[0];
  if (command !== undefined) {
    const names = COMMANDS.map(({ name }) => `/${name} `);
    return [names.filter((name) => name.startsWith(command.toLowerCase())), command];
  }
  const part = PATH.exec(line)?.[1];
  if (part === undefined) return [[], line];
  return [listPaths(part, catalog), part];
}

function listPaths(part: string, { skills, methods }: Catalog): readonly string[] {
  const start = part.toLowerCase();
  const names = part.includes(".") ? methods.map(({ path }) => path) : skills.map(({ name }) => `${name}.`);
  return names.filter((name) => name.toLowerCase().startsWith(start));
}
