import { homedir } from "node:os";
import { join, sep } from "node:path";

import { isRecord } from "../../../../model/json.ts";
import { UsageError } from "../../usage-error.ts";
import { findFormMistake, type InputValues, type PackageFields, type PackageInput, readText } from "./inputs.ts";

/** A server that the manifest of a bundle describes, before its inputs have values. */
export interface BundledServer {
  readonly name: string;
  readonly version: string;
  readonly inputs: readonly PackageInput[];
  /** Creates the entry of a configuration file for the folder into which the bundle is unpacked. */
  readonly createEntry: (folder: string, values: InputValues) => PackageFields;
}

/** Versions of the manifest whose fields are known; `dxt_version` is the older name of the field. */
const VERSIONS: ReadonlySet<unknown> = new Set(["0.1", "0.2", "0.3", "0.4"]);

/** Reads the `manifest.json` of a bundle. `paths` are its files. Throws a `UsageError` for one that cannot start here. */
export function readManifest(text: string, paths: ReadonlySet<string>): BundledServer {
  const manifest = parseObject(text);
  if (!VERSIONS.has(manifest["manifest_version"] ?? manifest["dxt_version"]))
    throw new UsageError(`manifest_version of the bundle must be one of ${[...VERSIONS].join(", ")}`);
  const [name, version] = [readText(manifest["name"], "name", 200), readText(manifest["version"], "version", 100)];
  requirePlatform(manifest["compatibility"]);
  const server = readObject(manifest["server"], "server");
  const inputs = readUserConfig(manifest["user_config"]);
  const command = readCommand(server, paths);
  return {
    name,
    version,
    inputs,
    createEntry: (folder, values) => {
      const fill = createFill(folder, inputs, values);
      const env = Object.fromEntries(
        Object.entries(command.env).flatMap(([key, value]) => {
          const filled = fill(value);
          return filled.length === 0 ? [] : [[key, filled.join(",")]];
        }),
      );
      return {
        command: command.isOwn ? join(folder, command.command) : (fill(command.command)[0] ?? ""),
        args: command.args.flatMap(fill),
        cwd: folder,
        ...(Object.keys(env).length > 0 && { env }),
      };
    },
  };
}

function parseObject(text: string): PackageFields {
  try {
    return readObject(JSON.parse(text), "manifest.json");
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    throw new UsageError("Cannot read manifest.json of the bundle: it is not JSON");
  }
}

function readObject(value: unknown, where: string): PackageFields {
  if (isRecord(value)) return value;
  throw new UsageError(`${where} of the bundle must be an object`);
}

function requirePlatform(compatibility: unknown): void {
  const platforms = isRecord(compatibility) ? compatibility["platforms"] : undefined;
  if (Array.isArray(platforms) && !platforms.includes(process.platform))
    throw new UsageError(`The bundle is for ${platforms.map(String).join(", ")}, and this is ${process.platform}`);
}

interface BundleCommand {
  readonly command: string;
  /** The command is a file of the bundle. */
  readonly isOwn: boolean;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Reads the command, as the platform overrides it. */
function readCommand({ type, entry_point, mcp_config }: PackageFields, paths: ReadonlySet<string>): BundleCommand {
  if (type !== "node" && type !== "python" && type !== "binary" && type !== "uv")
    throw new UsageError("server.type of the bundle must be node, python, binary or uv");
  if (type === "uv" && mcp_config === undefined) {
    const args = ["run", "--directory", "${__dirname}", readText(entry_point, "server.entry_point")];
    return { command: "uv", isOwn: false, args, env: {} };
  }
  const config = readObject(mcp_config, "server.mcp_config");
  const overrides = isRecord(config["platform_overrides"]) ? config["platform_overrides"][process.platform] : undefined;
  const { command, args = [], env = {} } = { ...config, ...(isRecord(overrides) ? overrides : {}) };
  const text = readText(command, "server.mcp_config.command");
  const own = [text, `${text}.exe`]
    .map((each) => each.replace(/^(?:\$\{__dirname\}|\.)[\\/]/, ""))
    .find((each) => paths.has(each));
  if (!Array.isArray(args) || args.length > 200 || !args.every((each) => typeof each === "string"))
    throw new UsageError("server.mcp_config.args of the bundle must be a list of texts");
  if (!isRecord(env) || !Object.values(env).every((each) => typeof each === "string"))
    throw new UsageError("server.mcp_config.env of the bundle must have texts");
  const base = isRecord(config["env"]) ? config["env"] : {};
  return { command: own ?? text, isOwn: own !== undefined, args, env: { ...base, ...env } as Record<string, string> };
}

function readUserConfig(value: unknown): readonly PackageInput[] {
  if (value === undefined) return [];
  return Object.entries(readObject(value, "user_config")).map(([id, fields]): PackageInput => {
    const {
      type,
      title,
      description,
      required,
      default: orElse,
      multiple,
      sensitive,
      min,
      max,
    } = readObject(fields, `user_config.${id}`);
    const texts = [title, description].filter((each) => typeof each === "string");
    return {
      id,
      description: texts.join(": ").slice(0, 500),
      isSecret: sensitive === true,
      isRequired: required === true,
      isRepeated: multiple === true,
      choices: [],
      defaults: (Array.isArray(orElse) ? orElse : [orElse ?? []].flat()).map((each) => fillFolders(String(each))),
      findMistake: findFormMistake(type, { min, max }),
    };
  });
}

const FOLDERS: Readonly<Record<string, () => string>> = {
  HOME: homedir,
  DESKTOP: () => join(homedir(), "Desktop"),
  DOCUMENTS: () => join(homedir(), "Documents"),
  DOWNLOADS: () => join(homedir(), "Downloads"),
  pathSeparator: () => sep,
  "/": () => sep,
};

const VARIABLE = /\$\{([\w./]{1,200})\}/g;

/** Throws a `UsageError` for another variable: the configuration would fill it in with the user's own. */
function fillFolders(text: string): string {
  return requireFilled(text.replaceAll(VARIABLE, (all, name: string) => getFolder(name) ?? all));
}

function getFolder(name: string): string | undefined {
  return Object.hasOwn(FOLDERS, name) ? FOLDERS[name]?.() : undefined;
}

function requireFilled(text: string): string {
  const [found] = /\$\{[^}]{0,100}\}?|\{env:[^}]{0,100}\}?/i.exec(text) ?? [];
  if (found === undefined) return text;
  throw new UsageError(`The bundle names a variable that is not known: ${found}`);
}

/** Returns a function that fills in a text; it returns none for a text whose input has no value, and several for several values. */
function createFill(folder: string, inputs: readonly PackageInput[], values: InputValues) {
  const ids = new Set(inputs.map(({ id }) => id));
  return (text: string): readonly string[] => {
    const [whole, only] = /^\$\{user_config\.([\w.-]+)\}$/.exec(text) ?? [];
    if (whole !== undefined && only !== undefined && ids.has(only)) return values.get(only) ?? [];
    let isMissing = false;
    const parts = text.split(/\$\{user_config\.([\w.-]+)\}/);
    const filled = parts.map((part, index) => {
      if (index % 2 === 0)
        return requireFilled(
          part.replaceAll("${__dirname}", folder).replaceAll(VARIABLE, (all, name: string) => getFolder(name) ?? all),
        );
      if (!ids.has(part)) throw new UsageError(`The bundle names an input that it does not have: ${part}`);
      const found = values.get(part);
      if (found === undefined) isMissing = true;
      return found?.join(",") ?? "";
    });
    return isMissing ? [] : [filled.join("")];
  };
}
