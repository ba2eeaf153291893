import type { Catalog } from "../../model/catalog.ts";
import { truncateText } from "../../shared/format-text.ts";
import { CATALOG_LEGEND } from "../../registry/index.ts";
import type { SharedRuntime } from "../../runtime/api/view.ts";
import { formatRunCode, getCatalogUnits, hasMethods } from "../../runtime/builtin-tools/index.ts";
import type { Principal } from "./sessions/client-session.ts";
import type { ToolDefinition } from "../../model/tools/tool-definition.ts";
import { COMPLETE_UNITS, getClientLimits } from "./opening/client-limits.ts";
import { hasNoMethodTools } from "./tools/tool-exposure.ts";
import { BESIDE_TOOLS, CALL_TOOLS_INTRODUCTION, formatInstructions, OWN_TOOLS } from "./opening/sentences.ts";

/** How to begin, with a catalog that shows methods. */
const WITH_CATALOG =
  "Call device.Skill.method(…) in run_code at once if the catalog below shows it clearly; search for other methods, and describe what is not clear. Write one program for the whole task.";
const WITH_CATALOG_AND_CALLS =
  "Call a method with call_method at once if the catalog below shows it clearly; search for other methods, and describe what is not clear.";
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
export function getServerTexts(
  runtime: SharedRuntime,
  { caller, exposure, instructions: ownInstructions }: Principal,
  clientName: unknown,
): ServerTexts {
  const own = ownInstructions === undefined ? "" : `${ownInstructions}\n\n`;
  if (exposure.expose === "tools") {
    const start = own + formatInstructions("tools");
    const guidance = formatGuidance(runtime.viewFor(caller).catalog, COMPLETE_UNITS - start.length);
    return { instructions: start + guidance, description: formatRunCode("") };
  }
  const limits = getClientLimits(clientName);
  const total = runtime.catalogTokens * TOKEN_UNITS;
  const view = runtime.viewFor(caller);
  const beside = hasNoMethodTools(view, exposure) ? "" : BESIDE_TOOLS[exposure.expose];
  const introduction =
    exposure.expose === "calls"
      ? `${CALL_TOOLS_INTRODUCTION} ${WITH_CATALOG_AND_CALLS}`
      : `${OWN_TOOLS} ${WITH_CATALOG}${beside}`;
  const start = `${own}${introduction}${CATALOG_HEADING}`;
  const first = Math.min(total, Math.max(0, COMPLETE_UNITS - start.length));
  const inDescription = getCatalogUnits(runtime, limits.description);
  const isCut = limits.instructions <= COMPLETE_UNITS;
  const [beginning = "", rest = ""] = view.briefCatalog({
    parts: [first, isCut ? inDescription : Math.max(0, total - first)],
  });
  const isUseful = hasMethods(beginning);
  const methods = isCut ? rest : (view.briefCatalog({ parts: [inDescription], hasOtherTexts: isUseful })[0] ?? "");
  const without = `${own}${formatInstructions(exposure.expose, beside)}${beginning === "" ? "" : `\n\n${beginning}`}`;
  return {
    instructions: isUseful ? start + beginning + (isCut || !hasMethods(rest) ? "" : MORE_HEADING + rest) : without,
    description: formatRunCode(methods),
  };
}

/** Formats what servers say about their use, within a number of characters, of which each gets the same share. */
function formatGuidance({ skills }: Catalog, units: number): string {
  const guides = skills.filter(({ kind, guidance = "" }) => kind === "mcp" && guidance !== "");
  const share = Math.floor(units / guides.length);
  return guides
    .map(({ name, server = name, guidance = "" }) => {
      const heading = `\n\n## ${server}\n`;
      const left = share - heading.length;
      return left < MIN_GUIDANCE ? "" : heading + truncateText(guidance, left);
    })
    .join("");
}

/** The fewest characters of the instructions of a server that are of use. */
const MIN_GUIDANCE = 40;

/** A token is about four UTF-16 units. */
const TOKEN_UNITS = 4;

/** Replaces the description of `run_code` in a list of tools. */
export function withDescription(tools: readonly ToolDefinition[], description: string): ToolDefinition[] {
  return tools.map((tool) => (tool.name === "run_code" ? { ...tool, description } : tool));
}
