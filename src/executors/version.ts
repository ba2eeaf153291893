import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { hostname } from "node:os";

import { isRecord } from "../model/json.ts";
import type { Catalog, Method } from "../model/catalog.ts";
import { hashValue } from "../shared/digest.ts";
import { VERSION } from "../shared/version.ts";
import type { StoreLocation } from "../store/index.ts";

/**
 * The parts that two processes must have in common so that one can execute the runs of the other: digests, except
 * `skillgate`.
 */
export interface RuntimeVersion {
  readonly skillgate: string;
  readonly methods: string;
  readonly settings: string;
  readonly policy: string;
  readonly store: string;
}

const NAMES: Readonly<Record<keyof RuntimeVersion, string>> = {
  skillgate: "another version of Skillgate",
  methods: "other skills or servers",
  settings: "other settings",
  policy: "another policy",
  store: "another store",
};

/** The parts of a runtime that its version depends on. */
export interface VersionedRuntime {
  readonly catalog: Catalog;
  readonly limits: unknown;
  readonly timeouts: unknown;
  readonly sections: Readonly<Record<string, unknown>>;
  readonly policy: { readonly version: number; readonly content: object };
}

/** Sections of the settings that change what a run does, beside its methods and limits. */
const SECTIONS = ["accounts", "approvals", "audit", "runs", "secrets", "skills", "typecheck"] as const;

/** Creates the function that returns the version of a runtime as it is now. */
export function createVersionReader(getRuntime: () => VersionedRuntime, location: StoreLocation): () => RuntimeVersion {
  const store = hashValue(describeStore(location));
  let last: { readonly catalog: Catalog; readonly policy: number; readonly version: RuntimeVersion } | undefined;
  return () => {
    const { catalog, limits, timeouts, sections, policy } = getRuntime();
    if (last?.catalog === catalog && last.policy === policy.version) return last.version;
    const chosen = Object.fromEntries(SECTIONS.map((name) => [name, sections[name] ?? null]));
    const version = {
      skillgate: VERSION,
      methods: hashMethods(catalog),
      settings: hashValue({ limits, timeouts, ...chosen }),
      policy: hashValue(toPlain(policy.content)),
      store,
    };
    last = { catalog, policy: policy.version, version };
    return version;
  };
}

/** Returns the short text of a version that is a part of subjects. */
export function getVersionToken(version: RuntimeVersion): string {
  return hashValue(version);
}

/** Parses a version that another process sent; `undefined` if it is not valid. */
export function parseVersion(value: unknown): RuntimeVersion | undefined {
  if (!isRecord(value)) return undefined;
  const parts = Object.keys(NAMES).map((name) => [name, value[name]] as const);
  const isValid = parts.every(([, part]) => typeof part === "string" && part.length <= 100);
  return isValid ? (Object.fromEntries(parts) as unknown as RuntimeVersion) : undefined;
}

/** Says in which parts another process differs: `another policy and other settings`; `undefined` if in none. */
export function describeDifference(own: RuntimeVersion, other: RuntimeVersion): string | undefined {
  const differences = Object.entries(NAMES).flatMap(([name, says]) =>
    own[name as keyof RuntimeVersion] === other[name as keyof RuntimeVersion] ? [] : [says],
  );
  return differences.length === 0 ? undefined : differences.join(" and ");
}

/** The methods of other devices come and go, and do not count. */
function hashMethods(catalog: Catalog): string {
  const hash = createHash("sha256");
  const digests = catalog.skills
    .filter(({ kind }) => kind !== "node")
    .flatMap(({ methods }) => methods.map(hashMethod))
    .toSorted();
  for (const digest of digests) hash.update(digest);
  return hash.digest("hex").slice(0, 16);
}

function hashMethod(method: Method): string {
  const cached = DIGESTS.get(method);
  if (cached !== undefined) return cached;
  const { path, description, input, output, metadata, definition } = method;
  const { accounts } = definition;
  const digest = hashValue({ path, description, input, output, metadata: toPlain({ ...metadata }), accounts });
  DIGESTS.set(method, digest);
  return digest;
}

const DIGESTS = new WeakMap<Method, string>();

/** Two processes share a store if it has one address, or is one folder of one machine. A password does not count. */
function describeStore({ url, folder }: StoreLocation): string {
  if (url === undefined)
    return folder === undefined ? `process ${process.pid}` : `${hostname()}:${resolvePath(folder)}`;
  try {
    const { protocol, host, pathname, search } = new URL(url);
    return `${protocol}//${host}${pathname}${search}`;
  } catch {
    return url;
  }
}

function resolvePath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder; // it is created at the first use
  }
}

/** Maps become lists, so that a digest covers their entries. */
function toPlain(value: object): unknown {
  return Object.fromEntries(
    Object.entries(value).map(([name, item]: [string, unknown]) => [
      name,
      item instanceof Map ? [...(item as ReadonlyMap<unknown, unknown>)] : item,
    ]),
  );
}
