import { isRecord } from "../../../model/json.ts";

/** Maximum depth of what clients declare: `tasks.requests.sampling.createMessage` has four, and extensions have more. */
const MAX_DEPTH = 20;

/** The members of capabilities that are true or false; all others are objects. */
const SWITCHES: ReadonlySet<string> = new Set(["listChanged", "applyDefaults"]);

/** The members of capabilities whose members are objects of any content. */
const OPEN_MEMBERS: ReadonlySet<string> = new Set(["experimental", "extensions"]);

/** The members of `_meta` whose values the complete server checks. */
const CHECKED_MEMBERS: readonly string[] = ["io.modelcontextprotocol/related-task", "io.modelcontextprotocol/logLevel"];

/** The optional texts of a client about itself. */
const TEXTS: readonly string[] = ["title", "description", "websiteUrl"];

/** True for capabilities that the schema of the protocol surely accepts. */
export function isUsualCapabilities(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value) || !isShallow(value, MAX_DEPTH)) return false;
  return Object.entries(value).every(([name, part]) =>
    OPEN_MEMBERS.has(name) ? isRecord(part) && Object.values(part).every(isRecord) : isUsualCapability(part),
  );
}

function isUsualCapability(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(([name, part]) =>
    SWITCHES.has(name) ? typeof part === "boolean" : isUsualCapability(part),
  );
}

/** True for a value that recursive functions can read. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((part) => isShallow(part, depth - 1));
}

/** Returns the name of a client; `undefined` if the schema of the protocol may refuse what the client says about itself. */
export function getClientName(info: unknown): string | undefined {
  if (!isRecord(info) || typeof info["version"] !== "string" || info["icons"] !== undefined) return undefined;
  if (TEXTS.some((text) => info[text] !== undefined && typeof info[text] !== "string")) return undefined;
  return typeof info["name"] === "string" ? info["name"] : undefined;
}

/** True for a `_meta` of a request that the schema of the protocol surely accepts. */
export function isUsualMeta(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!isRecord(meta) || !isShallow(meta, MAX_DEPTH)) return false;
  if (CHECKED_MEMBERS.some((name) => meta[name] !== undefined)) return false;
  const { progressToken: token } = meta;
  return token === undefined || typeof token === "string" || Number.isSafeInteger(token);
}
