import { isRecord } from "../../../../model/json.ts";
import { MASK } from "../../../../config/index.ts";
import { UsageError } from "../../usage-error.ts";
import type { PackageFields } from "./inputs.ts";

/** The schema of the entries that are written. */
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/**
 * Creates the registry entry of a server that a configuration file declares. The values of variables and headers become inputs:
 * they may be secrets. The secrets of the entry are masked. Throws a `UsageError` for a command that starts no package of a registry.
 */
export function createRegistryEntry(id: string, entry: PackageFields): PackageFields {
  if (!/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(id))
    throw new UsageError(`${JSON.stringify(id)} is not a name of the registry; write --id io.github.ada/weather`);
  const { description } = entry;
  const text = typeof description === "string" && description !== "" ? description.slice(0, 100) : `MCP server ${id}`;
  const url = entry["url"] ?? entry["serverUrl"] ?? entry["httpUrl"];
  const server = { $schema: SCHEMA, name: id, description: text };
  if (typeof url === "string")
    return { ...server, version: "1.0.0", remotes: [createRemote(requirePublic(url), entry)] };
  const created = createPackage(entry);
  return { ...server, version: created["version"], packages: [created] };
}

/** Throws a `UsageError` for a word with a secret, which is masked, or with a variable, which a registry entry cannot have. */
function requirePublic(word: string): string {
  if (!word.includes(MASK) && !word.includes("${")) return word;
  throw new UsageError(
    "An argument or the address has a secret or a variable: write it in env or headers of the server",
  );
}

function createRemote(url: string, { type, headers }: PackageFields): PackageFields {
  const inputs = createInputs(headers);
  return { type: type === "sse" ? "sse" : "streamable-http", url, ...(inputs.length > 0 && { headers: inputs }) };
}

function createPackage({ command, args, env }: PackageFields): PackageFields {
  const words = Array.isArray(args) ? args.filter((word) => typeof word === "string") : [];
  const found = typeof command === "string" ? findPackage(command, words) : undefined;
  if (found === undefined)
    throw new UsageError(
      "Only servers at an address, and commands such as npx package@1.2.3 or uvx package@1.2.3, have a registry entry",
    );
  const { rest, ...fields } = found;
  const variables = createInputs(env);
  return {
    ...fields,
    transport: { type: "stdio" },
    ...(rest.length > 0 && { packageArguments: rest.map((value) => ({ type: "positional", value })) }),
    ...(variables.length > 0 && { environmentVariables: variables }),
  };
}

const REGISTRY_TYPES: Readonly<Record<string, string>> = { npx: "npm", bunx: "npm", uvx: "pypi", dnx: "nuget" };

interface NamedPackage {
  readonly registryType: string;
  readonly identifier: string;
  readonly version: string;
  readonly runtimeHint: string;
  readonly rest: readonly string[];
}

/** Reads `npx -y name@1.2.3 …`; a package without an exact version has no entry. */
function findPackage(command: string, words: readonly string[]): NamedPackage | undefined {
  const registryType = Object.hasOwn(REGISTRY_TYPES, command) ? REGISTRY_TYPES[command] : undefined;
  const own = words.filter((word) => word !== "-y" && word !== "--yes");
  const [, identifier, version] = /^(.[^@]*)@(\d[\w.+!-]*)$/.exec(own[0] ?? "") ?? [];
  if (registryType === undefined || identifier === undefined || version === undefined) return undefined;
  const rest = own.slice(1).filter((word, index) => !(command === "dnx" && index === 0 && word === "--"));
  return { registryType, identifier, version, runtimeHint: command, rest: rest.map(requirePublic) };
}

/** Creates an input for each member; what it holds is not exported. */
function createInputs(record: unknown): readonly PackageFields[] {
  if (!isRecord(record)) return [];
  return Object.keys(record).map((name) => ({ name, description: name, isRequired: true, isSecret: true }));
}
