import { CATALOG_LEGEND } from "../../registry/index.ts";
import type { Runtime } from "../../runtime.ts";
import { formatRunCode, getCatalogUnits, hasMethods } from "../../runtime/builtin-tools/index.ts";
import type { Principal } from "./sessions/client-session.ts";
import type { ToolDefinition } from "../../model/tool-definition.ts";
import type { Expose } from "./tools/tool-exposure.ts";

/** Lengths in UTF-16 units up to which a client hands texts of a server to its model. */
interface ClientLimits {
  readonly instructions: number;
  readonly description: number;
}

/** The first part of every text is complete in itself up to this length, as clients may cut texts without a word. */
const COMPLETE_UNITS = 2_048;

/** Clients by the name in their `clientInfo`. */
const CLIENT_LIMITS: ReadonlyMap<unknown, ClientLimits> = new Map([
  ["claude-code", { instructions: COMPLETE_UNITS, description: COMPLETE_UNITS }],
]);

/** Some clients do not show instructions, so the description of `run_code` has the most useful methods as well. */
const OTHER_CLIENTS: ClientLimits = { instructions: Number.POSITIVE_INFINITY, description: COMPLETE_UNITS };

const OWN_TOOLS =
  "Every skill and MCP server of the user is behind three tools: run_code does a whole task in one short program, search_skills finds methods, describe_function shows how to call one.";

/** How to begin, with a catalog that shows methods and without. */
const WITH_CATALOG =
  "Call device.Skill.method(…) in run_code at once if the catalog below shows it clearly; search for other methods, and describe what is not clear. Write one program for the whole task.";
const WITHOUT_CATALOG =
  "Search first unless you know the method; describe it unless its signature is clear; then write one program for the task.";

/** Explains when to call a tool and when to write a program, by exposure. */
const BESIDE_TOOLS: Readonly<Record<Expose, string>> = {
  code: "",
  tools: "",
  both: " Every method is also a tool of its own: call that for a single step, and run_code for a task of several.",
  auto: " If a method is also listed as a tool of its own, call that for a single step, and run_code for a task of several.",
};

const ONLY_TOOLS =
  "Every method of the user's skills and MCP servers is a tool of its own. Call the tool that does the next step of the task; never invent one.";

const CATALOG_HEADING = `\n\n## Catalog\nBelow each skill its methods. ${CATALOG_LEGEND}.\n\n`;
const MORE_HEADING = "\n\n## More of the catalog\n\n";

/** The texts of a server for the model of a client. */
export interface ServerTexts {
  readonly instructions: string;
  /** The description of `run_code`. */
  readonly description: string;
}

/**
 * Formats the texts for a client. They mention only tools that are listed, and show the methods that are known now: a
 * change of the list announces the others.
 */
export function getServerTexts(runtime: Runtime, { caller, exposure }: Principal, clientName: unknown): ServerTexts {
  if (exposure.expose === "tools") return { instructions: ONLY_TOOLS, description: formatRunCode("") };
  const limits = CLIENT_LIMITS.get(clientName) ?? OTHER_CLIENTS;
  const total = runtime.catalogTokens * TOKEN_UNITS;
  const beside = BESIDE_TOOLS[exposure.expose];
  const start = `${OWN_TOOLS} ${WITH_CATALOG}${beside}${CATALOG_HEADING}`;
  const first = Math.min(total, COMPLETE_UNITS - start.length);
  const inDescription = getCatalogUnits(runtime, limits.description);
  const isCut = limits.instructions <= COMPLETE_UNITS;
  const [beginning = "", rest = ""] = runtime.briefCatalog({
    caller,
    parts: [first, isCut ? inDescription : Math.max(0, total - first)],
  });
  const methods = isCut ? rest : (runtime.briefCatalog({ caller, parts: [inDescription] })[0] ?? "");
  const isUseful = hasMethods(beginning);
  const without = `${OWN_TOOLS} ${WITHOUT_CATALOG}${beside}${beginning === "" ? "" : `\n\n${beginning}`}`;
  return {
    instructions: isUseful ? start + beginning + (isCut || !hasMethods(rest) ? "" : MORE_HEADING + rest) : without,
    description: formatRunCode(methods),
  };
}

/** A token is about four UTF-16 units. */
const TOKEN_UNITS = 4;

/** Replaces the description of `run_code` in a list of tools. */
export function withDescription(tools: readonly ToolDefinition[], description: string): ToolDefinition[] {
  return tools.map((tool) => (tool.name === "run_code" ? { ...tool, description } : tool));
}
