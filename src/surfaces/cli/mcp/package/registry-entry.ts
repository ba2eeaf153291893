import { isRecord } from "../../../../model/json.ts";
import { UsageError } from "../../usage-error.ts";
import { PACKAGE_KINDS, type PackageKind } from "./forms.ts";
import {
  findFormMistake,
  type InputValues,
  type PackageFields,
  type PackageInput,
  readList,
  readText,
  requirePlain,
} from "./inputs.ts";

/** A server that a registry entry describes, before its inputs have values. */
export interface RegistryServer {
  /** The last part of the name: `weather` of `io.github.ada/weather`. */
  readonly name: string;
  /** `npm @ada/weather@1.2.3`, or the address of a remote server. */
  readonly origin: string;
  readonly inputs: readonly PackageInput[];
  /** Creates the entry of a configuration file. For a bundle, it is what the bundle adds: arguments and variables. */
  readonly createEntry: (values: InputValues) => PackageFields;
  /** The bundle to fetch; absent for other packages. */
  readonly bundle?: { readonly url: string; readonly sha256: string };
}

/**
 * Reads a `server.json` of the MCP registry, or the answer of a registry that contains one. Of several packages and remote servers,
 * the first of the wanted kind is used. Throws a `UsageError` for what it cannot start.
 */
export function readRegistryEntry(value: unknown, kind?: PackageKind): RegistryServer {
  const entry = isRecord(value) && isRecord(value["server"]) ? value["server"] : value;
  if (!isRecord(entry)) throw new UsageError("Cannot read server.json: it is not a JSON object");
  const name = readText(entry["name"], "name", 200).split("/").at(-1) ?? "";
  const packages = readList(entry["packages"], "packages").map((each) => [readKind(each), each] as const);
  const remotes = readList(entry["remotes"], "remotes").map((each) => ["remote", each] as const);
  const all = [...packages, ...remotes];
  const found = all.find(([each]) => kind === undefined || each === kind);
  if (found === undefined) {
    const offered = [...new Set(all.map(([each]) => each))].join(", ") || "nothing to start";
    throw new UsageError(`Cannot add ${name}: it offers ${offered}${kind === undefined ? "" : `, and no ${kind}`}`);
  }
  const [foundKind, fields] = found;
  return { name, ...(foundKind === "remote" ? readRemote(fields) : readPackage(foundKind, fields)) };
}

function readKind(fields: PackageFields): Exclude<PackageKind, "remote"> {
  const kind = fields["registryType"];
  const packageKind = PACKAGE_KINDS.find((each) => each === kind);
  if (packageKind !== undefined && packageKind !== "remote") return packageKind;
  const older = fields["registry_type"] === undefined ? "" : "; registry_type is of a schema before 2025-09-29";
  throw new UsageError(`registryType must be one of npm, pypi, oci, nuget, mcpb${older}`);
}

type Described = Omit<RegistryServer, "name">;

function readRemote(fields: PackageFields): Described {
  const { type } = fields;
  if (type !== "streamable-http" && type !== "sse")
    throw new UsageError("The type of a remote server must be streamable-http or sse");
  const url = readTemplate({ value: fields["url"], variables: fields["variables"] }, "url of remotes");
  const headers = readKeyValues(fields["headers"], "headers of remotes");
  return {
    origin: readText(fields["url"], "url of remotes"),
    inputs: [...url.inputs, ...headers.inputs],
    createEntry: (values) => ({
      type: type === "sse" ? "sse" : "http",
      url: url.fill(values) ?? "",
      ...headers.create("headers", values),
    }),
  };
}

function readPackage(kind: Exclude<PackageKind, "remote">, fields: PackageFields): Described {
  const transport = isRecord(fields["transport"]) ? fields["transport"]["type"] : undefined;
  if (transport !== "stdio")
    throw new UsageError(`The ${kind} package starts a server over HTTP itself: start it, and add its address`);
  const identifier = readIdentifier(kind, fields);
  const runtime = readArguments(fields["runtimeArguments"], "runtimeArguments");
  const own = readArguments(fields["packageArguments"], "packageArguments");
  const variables = readKeyValues(fields["environmentVariables"], "environmentVariables");
  const inputs = [...runtime.inputs, ...own.inputs, ...variables.inputs];
  const createEntry = (values: InputValues): PackageFields => {
    const env = variables.create("env", values);
    const words = { runtime: runtime.fill(values), own: own.fill(values), env: Object.keys(env["env"] ?? {}) };
    return { ...createCommand(kind, { ...fields, identifier }, words), ...env };
  };
  if (kind !== "mcpb") return { origin: `${kind} ${identifier}`, inputs, createEntry };
  const sha256 = fields["fileSha256"];
  if (typeof sha256 !== "string" || !/^[a-f0-9]{64}$/.test(sha256))
    throw new UsageError("fileSha256 of an mcpb package must be the SHA-256 of its file, in hexadecimal digits");
  return { origin: identifier, inputs, createEntry, bundle: { url: identifier, sha256 } };
}

/** Names that cannot be read as an option of the command that gets them, with their exact versions. */
const IDENTIFIERS: Readonly<Record<Exclude<PackageKind, "remote">, RegExp>> = {
  npm: /^(?:@[a-z0-9][\w.~-]*\/)?[a-z0-9][\w.~-]*$/i,
  pypi: /^[a-z0-9][\w.-]*$/i,
  nuget: /^[a-z0-9][\w.-]*$/i,
  oci: /^[a-z0-9][\w./:@-]*$/i,
  mcpb: /^https:\/\/[^\s]+$/i,
};

const VERSION = /^[a-z0-9][\w.+!-]*$/i;

const REGISTRIES: Readonly<Record<string, RegExp>> = {
  npm: /^https:\/\/registry\.npmjs\.org\/?$/,
  pypi: /^https:\/\/pypi\.org\/?$/,
  nuget: /^https:\/\/api\.nuget\.org\/v3\/index\.json$/,
};

/** Returns the name with its version, as the command takes it. */
function readIdentifier(kind: Exclude<PackageKind, "remote">, fields: PackageFields): string {
  const { version, registryBaseUrl } = fields;
  const identifier = readText(fields["identifier"], "identifier", 512);
  if (!IDENTIFIERS[kind].test(identifier))
    throw new UsageError(`identifier is not one of an ${kind} package: ${JSON.stringify(identifier)}`);
  const isUsual =
    typeof registryBaseUrl === "string" ? REGISTRIES[kind]?.test(registryBaseUrl) : registryBaseUrl == null;
  if (isUsual === false) throw new UsageError("registryBaseUrl must be the usual registry: another one cannot be used");
  if (kind === "oci" || kind === "mcpb") return identifier;
  if (typeof version !== "string" || version === "latest" || version.length > 128 || !VERSION.test(version))
    throw new UsageError("version of a package must be one version, such as 1.2.3");
  return `${identifier}@${version}`;
}

interface Words {
  readonly runtime: readonly string[];
  readonly own: readonly string[];
  /** The names of the variables. */
  readonly env: readonly string[];
}

/** The commands of each kind, the usual one first. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  npm: ["npx", "bunx"],
  pypi: ["uvx"],
  oci: ["docker", "podman"],
  nuget: ["dnx"],
};

function createCommand(kind: PackageKind, fields: PackageFields, { runtime, own, env }: Words): PackageFields {
  const { identifier, runtimeHint } = fields;
  const commands = COMMANDS[kind] ?? [];
  const command = runtimeHint === undefined ? commands[0] : commands.find((each) => each === runtimeHint);
  if (kind === "mcpb") return { args: own };
  if (command === undefined)
    throw new UsageError(`runtimeHint of an ${kind} package must be one of ${commands.join(", ")}`);
  if (kind === "oci") {
    const runArguments = runtime[0] === "run" ? runtime.slice(1) : runtime;
    const passed = env.flatMap((name) => ["-e", name]);
    return { command, args: ["run", "-i", "--rm", ...passed, ...runArguments, identifier, ...own] };
  }
  const yes = { npx: ["-y"], dnx: ["--yes"] }[command] ?? [];
  const before = kind === "nuget" ? [] : [...yes.filter((word) => !runtime.includes(word)), ...runtime];
  const after = kind === "nuget" ? [...yes, ...runtime, ...(own.length === 0 ? [] : ["--"])] : [];
  return { command, args: [...before, identifier, ...after, ...own] };
}

/** A text with inputs in it. */
interface Template {
  readonly inputs: readonly PackageInput[];
  /** Returns the text; `undefined` if an input has no value. */
  fill(values: InputValues): string | undefined;
}

/** Reads an input of the registry: a fixed value, one with `{variables}`, or one that the user gives. */
function readTemplate(fields: PackageFields, where: string, id = ""): Template & { readonly isRepeated: boolean } {
  const isRepeated = fields["isRepeated"] === true;
  if (fields["value"] === undefined || fields["value"] === null) {
    const input = readInput(fields, id, where);
    return { isRepeated, inputs: [input], fill: (values) => values.get(id)?.[0] };
  }
  const text = requirePlain(readText(fields["value"], where), where);
  const variables = isRecord(fields["variables"]) ? fields["variables"] : {};
  const names = new Set(
    [...text.matchAll(VARIABLE)].flatMap(([, name = ""]) => (Object.hasOwn(variables, name) ? name : [])),
  );
  const fixed = new Map<string, string>();
  const inputs = [...names].flatMap((name) => {
    const variable = variables[name];
    if (!isRecord(variable)) throw new UsageError(`variables of ${where} must be objects`);
    if (typeof variable["value"] !== "string") return readInput({ ...variable, isRequired: true }, name, where);
    fixed.set(name, requirePlain(variable["value"], where));
    return [];
  });
  const fill = (values: InputValues): string | undefined => {
    const valueOf = (name: string): string | undefined => fixed.get(name) ?? values.get(name)?.[0];
    if ([...names].some((name) => valueOf(name) === undefined)) return undefined;
    return text.replaceAll(VARIABLE, (all, name: string) => (names.has(name) ? (valueOf(name) ?? all) : all));
  };
  return { isRepeated, inputs, fill };
}

const VARIABLE = /\{([A-Za-z_][\w-]{0,100})\}/g;

function readInput(fields: PackageFields, id: string, where: string): PackageInput {
  const { description, isSecret, isRequired, isRepeated, choices, default: orElse, format } = fields;
  const offered = Array.isArray(choices) ? choices.map(String).slice(0, 200) : [];
  return {
    id,
    description: typeof description === "string" ? description.slice(0, 500) : where,
    isSecret: isSecret === true,
    isRequired: isRequired === true,
    isRepeated: isRepeated === true,
    choices: offered,
    defaults: typeof orElse === "string" && orElse !== "" ? [requirePlain(orElse, where)] : [],
    findMistake: findFormMistake(format),
  };
}

interface Arguments {
  readonly inputs: readonly PackageInput[];
  fill(values: InputValues): readonly string[];
}

function readArguments(value: unknown, where: string): Arguments {
  const all = readList(value, where).map((fields, index) => {
    const { type, valueHint } = fields;
    if (type !== "positional" && type !== "named")
      throw new UsageError(`The type of ${where} must be positional or named`);
    const name = type === "named" ? requirePlain(readText(fields["name"], `name of ${where}`), where) : "";
    const id = typeof valueHint === "string" ? valueHint : name.replace(/^-+/, "") || `argument${index + 1}`;
    const template = readTemplate(fields, where, id);
    const isOwn = fields["value"] === undefined || fields["value"] === null;
    const fill = (values: InputValues): readonly string[] => {
      const texts = isOwn ? (values.get(id) ?? []) : [template.fill(values) ?? []].flat();
      return texts.flatMap((text) =>
        name === "" ? [text] : name.startsWith("--") ? [`${name}=${text}`] : [name, text],
      );
    };
    return { inputs: template.inputs, fill };
  });
  return {
    inputs: all.flatMap(({ inputs }) => inputs),
    fill: (values) => all.flatMap(({ fill }) => fill(values)),
  };
}

interface KeyValues {
  readonly inputs: readonly PackageInput[];
  create(member: "env" | "headers", values: InputValues): Readonly<Record<string, Readonly<Record<string, string>>>>;
}

function readKeyValues(value: unknown, where: string): KeyValues {
  const all = readList(value, where).map((fields) => {
    const name = readText(fields["name"], `name of ${where}`, 200);
    if (!/^[\w-]+$/.test(name)) throw new UsageError(`name of ${where} is not a name: ${JSON.stringify(name)}`);
    return [name, readTemplate(fields, where, name)] as const;
  });
  return {
    inputs: all.flatMap(([, { inputs }]) => inputs),
    create(member, values) {
      const entries = all.flatMap(([name, template]) => {
        const text = template.fill(values);
        return text === undefined ? [] : [[name, text] as const];
      });
      return entries.length === 0 ? {} : { [member]: Object.fromEntries(entries) };
    },
  };
}
