import { isRecord } from "../../../model/json.ts";

/** The schema keyword that names the HTTP header in which a parameter is repeated, for gateways. */
const KEYWORD = "x-mcp-header";

/** A valid header name (RFC 9110, token). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/**
 * Returns why the headers of a tool are invalid; `undefined` if they are valid, or if the tool has none. Since 2026-07-28
 * a client must not offer such a tool over HTTP: gateways would trust headers that differ from the arguments.
 */
export function findHeaderFlaw(inputSchema: unknown): string | undefined {
  const names = new Set<string>();
  const problems: string[] = [];
  visit(inputSchema, "root", (name, schema, isParameter) => {
    const lower = String(name).toLowerCase();
    if (!isParameter) problems.push(`${KEYWORD} is not on a parameter`);
    else if (typeof name !== "string" || !TOKEN.test(name))
      problems.push(`${KEYWORD} ${JSON.stringify(name)} is not a valid header name`);
    else if (!TYPES.has(schema["type"]))
      problems.push(`${KEYWORD} "${name}" is on a parameter that is not a string, integer or boolean`);
    else if (names.has(lower)) problems.push(`${KEYWORD} "${name}" appears twice`);
    names.add(lower);
  });
  return problems[0];
}

/** Whether a tool requires headers; cached, because each call needs it. */
export function mayUseHeaders(inputSchema: Readonly<Record<string, unknown>>): boolean {
  const cached = wanting.get(inputSchema) ?? JSON.stringify(inputSchema).includes(`"${KEYWORD}"`);
  wanting.set(inputSchema, cached);
  return cached;
}

const wanting = new WeakMap<object, boolean>();

type SchemaVisitor = (name: unknown, schema: Readonly<Record<string, unknown>>, isParameter: boolean) => void;

/** `position`: `root` is the schema itself, `parameter` a schema that `properties` reaches from the root. */
function visit(node: unknown, position: "root" | "parameter" | "elsewhere", found: SchemaVisitor): void {
  if (Array.isArray(node)) for (const item of node) visit(item, "elsewhere", found);
  if (!isRecord(node)) return;
  if (Object.hasOwn(node, KEYWORD)) found(node[KEYWORD], node, position === "parameter");
  const inside = position === "elsewhere" ? "elsewhere" : "parameter";
  for (const [key, value] of Object.entries(node)) {
    if (key !== "properties" || !isRecord(value)) visit(value, "elsewhere", found);
    else for (const property of Object.values(value)) visit(property, inside, found);
  }
}
