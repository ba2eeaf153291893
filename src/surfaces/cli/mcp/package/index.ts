import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { makeFolder } from "../../../../shared/files/make-folder.ts";
import type { ConfigModule, WritableScope } from "../files.ts";
import { requireYes } from "../../terminal/ask.ts";
import { escaped, lines } from "../../text/layout.ts";
import { UsageError } from "../../usage-error.ts";
import { readManifest } from "./bundle-manifest.ts";
import { findValues, type InputValues, type PackageFields, type PackageInput } from "./inputs.ts";
import type { PackageForm, PackageKind } from "./forms.ts";
import { readRegistryEntry } from "./registry-entry.ts";
import { readPackageFile, requireDigest } from "./source.ts";
import { type ArchivedFile, listArchive } from "./zip-archive.ts";

export { parseInputFlags } from "./inputs.ts";

export interface PackageRequest {
  /** A path or an address. */
  readonly source: string;
  readonly form: PackageForm;
  readonly kind?: PackageKind | undefined;
  /** The values of `--input`. */
  readonly given: InputValues;
  /** The expected SHA-256 of a bundle. */
  readonly sha256?: string | undefined;
  readonly scope: WritableScope;
  /** The variables of the environment, and those of the project's `.env`. */
  readonly existing: readonly Readonly<Record<string, string | undefined>>[];
  /** The folder into which bundles are unpacked. Absolute. */
  readonly bundles: string;
  readonly isSure: boolean;
  readonly signal: AbortSignal;
  readonly configModule: ConfigModule;
}

/** A server to be written, and what the user should know of it. */
export interface PackagedServer {
  readonly name: string;
  readonly entry: PackageFields;
  /** The secrets that the `.env` of the project gets: the file of servers is shared. */
  readonly variables: readonly { readonly name: string; readonly value: string }[];
}

/** A package whose inputs have no values yet. */
interface FoundPackage {
  readonly name: string;
  readonly origin: string;
  readonly inputs: readonly PackageInput[];
  readonly createEntry: (values: InputValues) => PackageFields;
  /** Unpacks the files of a bundle. */
  readonly install?: () => Promise<void>;
}

/** Reads a package, asks for what it needs, and unpacks it after the user has confirmed what will be started. */
export async function preparePackage(request: PackageRequest): Promise<PackagedServer> {
  const found = await findPackage(request);
  const values = await findValues(found.inputs, request.given, request.signal);
  const { publicValues, variables } = hideSecrets(found, values, request);
  const entry = found.createEntry(publicValues);
  await confirm(found, entry, request);
  await found.install?.();
  return { name: found.name.replaceAll(/[^\w.-]+/g, "-"), entry, variables };
}

async function findPackage(request: PackageRequest): Promise<FoundPackage> {
  const { source, form, kind, sha256, signal } = request;
  const bytes = await readPackageFile(source, form, signal);
  if (form === "bundle") return openBundle(bytes, source, { ...request, digest: requireDigest(bytes, sha256) });
  const server = readRegistryEntry(parseEntry(bytes), kind);
  if (server.bundle === undefined) return server;
  const bundle = await readPackageFile(server.bundle.url, "bundle", signal);
  const digest = requireDigest(bundle, server.bundle.sha256);
  return addToBundle(openBundle(bundle, server.origin, { ...request, digest }), server);
}

/** A registry entry gives further arguments and variables to its bundle. */
function addToBundle(
  bundle: FoundPackage,
  { inputs, createEntry }: Pick<FoundPackage, "inputs" | "createEntry">,
): FoundPackage {
  return {
    ...bundle,
    inputs: [...bundle.inputs, ...inputs],
    createEntry(values) {
      const [own, more] = [bundle.createEntry(values), createEntry(values)];
      const env = { ...(own["env"] as object | undefined), ...(more["env"] as object | undefined) };
      const args = [...(own["args"] as readonly string[]), ...(more["args"] as readonly string[])];
      return { ...own, args, ...(Object.keys(env).length > 0 && { env }) };
    },
  };
}

function parseEntry(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new UsageError("Cannot read server.json: it is not JSON");
  }
}

const MAX_MANIFEST_BYTES = 1 << 20;

function openBundle(
  bytes: Buffer,
  origin: string,
  { digest, bundles }: Pick<PackageRequest, "bundles"> & { readonly digest: string },
): FoundPackage {
  const files = listArchive(bytes);
  const manifest = files.find(({ path }) => path === "manifest.json")?.read();
  if (manifest === undefined) throw new UsageError(`${origin} is not a bundle: it has no manifest.json`);
  if (manifest.length > MAX_MANIFEST_BYTES) throw new UsageError("manifest.json of the bundle has more than 1 MB");
  const server = readManifest(manifest.toString("utf8"), new Set(files.map(({ path }) => path)));
  const folder = join(bundles, `${server.name.replaceAll(/[^\w-]+/g, "-").slice(0, 60)}-${digest.slice(0, 16)}`);
  return {
    name: server.name,
    origin: `${origin} ${server.version}, SHA-256 ${digest}`,
    inputs: server.inputs,
    createEntry: (values) => server.createEntry(folder, values),
    install: () => unpackInto(folder, files),
  };
}

/** Unpacks all files, or none. A folder that is there has the same content: its name contains the digest. */
async function unpackInto(folder: string, files: readonly ArchivedFile[]): Promise<void> {
  if (existsSync(folder)) return;
  await makeFolder(dirname(folder), 0o700);
  const draft = await mkdtemp(`${folder}.`);
  try {
    for (const file of files) {
      const target = join(draft, file.path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, file.read(), { flag: "wx", mode: file.isExecutable ? 0o755 : 0o644 });
    }
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * In a file that others read, the secrets are variables. Their names begin with `MCP_` and the name of the package, and are of no
 * variable that there is with another value: the package names its inputs, and would get that one.
 */
function hideSecrets(
  { name: packageName, inputs }: Pick<FoundPackage, "name" | "inputs">,
  values: InputValues,
  { scope, existing }: Pick<PackageRequest, "scope" | "existing">,
): { readonly publicValues: InputValues; readonly variables: PackagedServer["variables"] } {
  if (scope !== "project") return { publicValues: values, variables: [] };
  const publicValues = new Map(values);
  const variables = new Map<string, string>();
  const isOther = (name: string, value: string): boolean =>
    variables.has(name) || existing.some((names) => names[name] !== undefined && names[name] !== value);
  const hide = (id: string, value: string): string => {
    const plainName = `MCP_${packageName}_${id}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
    let name = plainName;
    for (let number = 2; isOther(name, value); number++) name = `${plainName}_${number}`;
    variables.set(name, value);
    return `\${${name}}`;
  };
  for (const id of new Set(inputs.flatMap(({ id: secret, isSecret }) => (isSecret ? [secret] : []))))
    publicValues.set(
      id,
      (values.get(id) ?? []).map((value) => hide(id, value)),
    );
  return { publicValues, variables: [...variables].map(([name, value]) => ({ name, value })) };
}

async function confirm(
  { origin }: FoundPackage,
  entry: PackageFields,
  { isSure, signal, configModule }: PackageRequest,
): Promise<void> {
  if (isSure) return;
  const names = Object.keys({ ...(entry["env"] as object | undefined), ...(entry["headers"] as object | undefined) });
  const rows = [
    `From ${origin}, this server is started with your rights:`,
    `  ${configModule.shownServer(entry)}`,
    ...(names.length > 0 ? [`  with ${names.join(", ")}`] : []),
  ];
  const about = lines(rows.map(escaped));
  await requireYes(`${about}\nAdd it?`, signal, {
    refusal: (why) => `Cannot add this server: ${why}.\n${about}`,
    facts: { fix: "Review it, then run the command again with --yes" },
  });
}
