import { extname } from "node:path";

import { configError, type FileLocation } from "../read-file.ts";
import { parseJson } from "./json.ts";
import { parseToml } from "./toml.ts";
import { parseYaml } from "./yaml.ts";

/** Keys from the outside in; an item of a list by its index. */
export type Path = readonly (string | number)[];

export type Format = "json" | "yaml" | "toml";

/** A parsed configuration file of any format, with positions. */
export interface ConfigDocument {
  readonly value: Readonly<Record<string, unknown>>;
  /** Returns the position of the key or item at a path; if it is missing, that of the nearest parent. */
  readonly locate: (path: Path) => FileLocation;
  /** Keys that are there twice, where the format lets that pass; the first counts. */
  readonly repeated: readonly { readonly path: Path; readonly location: FileLocation }[];
}

/** Reads a file of any format. Throws a `CONFIG_INVALID` with the place of the mistake. */
export function parseDocument(text: string, label: string, format: Format = detectFormat(label)): ConfigDocument {
  try {
    return PARSERS[format](text, label);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw configError(label, "it nests too deeply");
    throw thrown;
  }
}

const PARSERS: Readonly<Record<Format, (text: string, label: string) => ConfigDocument>> = {
  json: parseJson,
  yaml: parseYaml,
  toml: parseToml,
};

/** By its ending; what has none that is known is JSON, with or without comments. */
export function detectFormat(path: string): Format {
  return FORMATS.get(extname(path).toLowerCase()) ?? "json";
}

const FORMATS: ReadonlyMap<string, Format> = new Map([
  [".toml", "toml"],
  [".yaml", "yaml"],
  [".yml", "yaml"],
]);
