import type { Catalog, Method, Skill } from "../model/catalog.ts";
import { isRecord } from "../model/json.ts";
import { CATALOG_LEGEND } from "./brief-catalog.ts";
import { byName } from "./catalog-lines.ts";
import { briefSignature } from "./declarations/signature.ts";
import { flattened } from "./declarations/text.ts";
import { exampleCall } from "./examples/index.ts";
import { toolName } from "./function-calling.ts";
import { firstSentence, shortened, estimateTokens } from "./token-count.ts";
import { formatSkillAccess } from "../shared/names/method-paths.ts";

/** A catalog of up to this many methods is embedded in the prompt, with the first skills and methods in full. */
const EMBEDDED_METHODS = 30;
const FULL_SKILLS = 8;
const FULL_METHODS = 3;

/** Default token budget of a prompt, with an embedded catalog and with a listed one. */
const EMBEDDED_TOKENS = 3_000;
const LISTED_TOKENS = 1_150;

const SIGNATURE_UNITS = 240;
const DESCRIPTION_UNITS = 300;

/** Number of method names in the line of a skill. */
const SAMPLES = 3;

const PLACEHOLDER = "{skill_descriptions}";

export interface PromptOptions {
  /**
   * How the model acts: it answers with programs (`code`), it calls three tools, one of which runs programs (`tools`), or
   * it calls one tool per method (`native`).
   */
  readonly mode?: "code" | "tools" | "native";
  /** Approximate maximum length of the prompt; skills that do not fit are left out, with a hint on how to find them. */
  readonly budgetTokens?: number;
  /** A custom prompt; the catalog replaces `{skill_descriptions}`, or follows the prompt if the placeholder is missing. */
  readonly template?: string;
  /** The mark behind the backticks of a program, such as `js run-k3f9xw`, for a loop that runs no other block. */
  readonly fence?: string;
}

/** The brief catalog of a prompt. */
export interface PromptCatalog {
  /** Formats the catalog within the given number of tokens; empty if it is switched off or nothing fits. */
  readonly format: (tokens: number) => string;
  readonly hasResult: (method: Method) => boolean;
}

const NO_CATALOG: PromptCatalog = { format: () => "", hasResult: () => false };

/**
 * Returns the system prompt for a catalog. The same skills give the same text, whatever their order; the parts that
 * depend on them come last, so that the rest stays in a provider's cache.
 */
export function systemPrompt(catalog: Catalog, options: PromptOptions = {}, brief = NO_CATALOG): string {
  const { mode = "code", budgetTokens, template, fence } = options;
  const start = template ?? INTRODUCTIONS[mode];
  const skills = catalog.skills.toSorted(byName);
  const remaining = (tokens: number): number => (budgetTokens ?? tokens) - estimateTokens(start);
  const embedded = catalog.methods.length <= EMBEDDED_METHODS ? embeddedCatalog(skills, options) : undefined;
  const fits = embedded !== undefined && estimateTokens(embedded) <= remaining(EMBEDDED_TOKENS);
  const forBrief =
    remaining(Number.POSITIVE_INFINITY) - (fits ? estimateTokens(embedded) : 0) - estimateTokens(CATALOG_HEADING);
  const wantsBrief = mode !== "native" && !(fits && isInFull(skills, brief));
  const lines = wantsBrief ? brief.format(Math.max(0, forBrief)) : "";
  const details = lines === "" ? [] : [`${CATALOG_HEADING}${lines}`];
  const skillTexts = fits
    ? [embedded, ...details].join("\n\n")
    : (details[0] ?? listedCatalog(catalog, skills, remaining(LISTED_TOKENS), mode));
  return withSkills(start, skillTexts) + (fence === undefined ? "" : fenceRule(mode, fence));
}

/** The rule about fences is new in each conversation, so it comes last. */
function fenceRule(mode: PromptOptions["mode"], fence: string): string {
  const start = mode === "code" ? "Write each program" : "If you cannot call tools, write the program";
  return `\n${start} in a block that begins with the line \`\`\`${fence} and ends with \`\`\`. No other block is run.\n`;
}

const CATALOG_HEADING = `## Catalog\n\nBelow each skill its methods. ${CATALOG_LEGEND}.\n\n`;

/** True if an embedded catalog shows everything that is known of its methods. */
function isInFull(skills: readonly Skill[], { hasResult }: PromptCatalog): boolean {
  const areShort = skills.length <= FULL_SKILLS && skills.every(({ methods }) => methods.length <= FULL_METHODS);
  return (
    areShort && !skills.some(({ methods }) => methods.some((method) => hasResult(method) || hasConstraint(method)))
  );
}

/** True if a signature in TypeScript does not show all that the schema of a parameter requires. */
function hasConstraint({ parameters }: Method): boolean {
  return parameters.some(
    ({ schema }) => isRecord(schema) && CONSTRAINTS.some((keyword) => schema[keyword] !== undefined),
  );
}

const CONSTRAINTS = ["minimum", "maximum", "pattern", "format", "maxLength", "maxItems"];

/** Fills the first placeholder only; a second one would double the catalog. */
function withSkills(start: string, skills: string): string {
  const [before = "", ...after] = start.split(PLACEHOLDER);
  return after.length === 0 ? `${before.trimEnd()}\n\n${skills}\n` : `${before}${skills}${after.join("")}`;
}

const RULES = `- Only what is on device exists: no import, require, fetch, process or files. Never invent a skill or a method.
- Arguments go by position or as one object: device.S.m("a", 5) or device.S.m({ query: "a", count: 5 }).
- Use await. Put independent calls in one Promise.all. Put loops, filters and arithmetic in the program.
- The value of the last expression is the result; print(…) shows intermediate values. Return only what you need.
- A failed call throws; error.message says why. Catch it where the program can continue without the result.
- A result that is too large to show gets a name: device.result("r1") is its value in a later program.
- device.budget() gives the time and calls left.`;

const AFTERWARDS = `After a result:
- completed: answer from the value; run again only if something is missing.
- refused: nothing has run. Fix every listed line and send the whole program again.
- failed: completed calls are not undone. Correct the program, and continue as the result says.
- approval or permission missing: tell the user what is needed, and stop.`;

const INTRODUCTIONS = {
  code: `You act by writing short JavaScript programs. Each runs in a sandbox whose only way out is the object device: device.SkillName.method_name(…).
Answer with one fenced js block to act. Answer in plain words, without a block, when you are done.

Inside a program, search and describe cost nothing:
- await device.search_skills("words", limit): methods for a task, as a list that reads as a text: found[0].path, .signature, .call({ … }). Use words that the author of a tool would use: "send email", not the user's whole sentence.
- await device.describe("SkillName.method_name"): types, every parameter, an example.
- Both take a list of up to 8 texts.

Rules:
${RULES}

${AFTERWARDS}`,
  tools: `You act through three tools:
- search_skills(query, limit): methods for a task, or for each of a list. Use words that the author of a tool would use: "send email", not the user's whole sentence.
- describe_function(path): types, every parameter and an example of SkillName.method_name, or of each of a list.
- run_code(code): runs one short JavaScript program in a sandbox whose only way out is the object device: device.SkillName.method_name(…).
Call a method at once if its signature below is clear; search for the others, and describe what is not clear. Do the whole task in one program.

Rules:
${RULES}

${AFTERWARDS}`,
  native: `You act by calling tools. A tool is named Skill__method and takes one object with named arguments.
Only the tools that you are given exist; never invent one.

After a result:
- success: answer from it, or call the next tool.
- error: read why. Correct the arguments, or tell the user; never repeat the same call unchanged.
- approval or permission missing: tell the user what is needed, and stop.`,
} as const;

/** Lists every skill: the first skills and methods in full, the others by name. */
function embeddedCatalog(skills: readonly Skill[], { mode = "code", fence }: PromptOptions): string {
  const full = skills.slice(0, FULL_SKILLS).map((skill) => skillInFull(skill, mode));
  const others = skills.slice(FULL_SKILLS).map((skill) => skill.name);
  return [
    ...exampleLines(skills, mode, fence),
    "## Skills",
    ...(full.length === 0 ? ["No skills are available."] : full),
    ...(others.length === 0 ? [] : [`More skills: ${others.join(", ")}`]),
  ].join("\n\n");
}

function skillInFull(skill: Skill, mode: PromptOptions["mode"]): string {
  const others = skill.methods.slice(FULL_METHODS).map((method) => nameIn(mode, method));
  return [
    `### ${skill.name}`,
    ...summaryLines(skill),
    ...skill.methods.slice(0, FULL_METHODS).map((method) => methodInFull(method, skill, mode)),
    ...(others.length === 0 ? [] : [`- and ${others.join(", ")}`]),
  ].join("\n");
}

function methodInFull(method: Method, skill: Skill, mode: PromptOptions["mode"]): string {
  const description = shortened(flattened(method.description), DESCRIPTION_UNITS);
  const summary = description === "" && skill.kind === "mcp" ? `MCP tool: ${method.wireName}` : description;
  const deprecated = method.metadata.deprecated === false ? "" : ` (deprecated: ${method.metadata.deprecated})`;
  const call = parametersOnly(method);
  const form =
    mode === "native"
      ? `${toolName(method)}${call.slice(method.name.length)}`
      : `${formatSkillAccess(skill.name)}.${call}`;
  const line = `- \`${form}\`${deprecated}`;
  return summary === "" ? line : `${line}\n  ${summary}`;
}

/** Returns the name under the heading of a skill: the tool name in `native` mode, else the method name. */
function nameIn(mode: PromptOptions["mode"], method: Method): string {
  return mode === "native" ? toolName(method) : method.name;
}

/** Returns the signature without the result type. */
function parametersOnly(method: Method): string {
  const brief = briefSignature(method, SIGNATURE_UNITS);
  const end = brief.lastIndexOf("): Promise<");
  return end < 0 ? brief : brief.slice(0, end + 1);
}

function summaryLines(skill: Skill): readonly string[] {
  const summary = firstSentence(skill.description, DESCRIPTION_UNITS);
  if (summary !== "") return [summary];
  return skill.server === undefined ? [] : [`MCP server: ${skill.server}`];
}

function exampleLines(skills: readonly Skill[], mode: PromptOptions["mode"], fence = "js"): readonly string[] {
  const methods = skills.flatMap((skill) => skill.methods);
  const method = methods.find(({ metadata }) => metadata.readOnly) ?? methods[0];
  if (method === undefined || mode === "native") return [];
  return [`The form of a program:\n\`\`\`${fence}\nconst result = ${exampleCall(method)};\nresult\n\`\`\``];
}

/** Lists categories and skills, each on a line, up to the token budget. */
function listedCatalog(
  catalog: Catalog,
  skills: readonly Skill[],
  budget: number,
  mode: PromptOptions["mode"],
): string {
  const hint = mode === "native" ? "" : "; search_skills finds their methods";
  const heading = `## ${catalog.skills.length} skills, ${catalog.methods.length} methods${hint}`;
  const lines = [heading, ...categoryLines(catalog)];
  let remaining = budget - estimateTokens(lines.join("\n")) - estimateTokens("... and 10000 more skills");
  let listed = 0;
  for (const skill of skills) {
    const line = skillLine(skill, mode);
    remaining -= estimateTokens(`${line}\n`);
    if (remaining < 0) break;
    lines.push(line);
    listed += 1;
  }
  const more = catalog.skills.length - listed;
  return [...lines, ...(more > 0 ? [`... and ${more} more skills`] : [])].join("\n");
}

function skillLine(skill: Skill, mode: PromptOptions["mode"]): string {
  const names = skill.methods.slice(0, SAMPLES).map((method) => nameIn(mode, method));
  const dots = skill.methods.length > SAMPLES ? ", …" : "";
  const summary = shortened(summaryLines(skill)[0] ?? "", 120);
  return `- ${skill.name} (${skill.methods.length}: ${names.join(", ")}${dots})${summary === "" ? "" : `: ${summary}`}`;
}

/** Lists the categories; empty if all methods have the same one. */
function categoryLines(catalog: Catalog): readonly string[] {
  const counts = new Map<string, number>();
  for (const { metadata } of catalog.methods) counts.set(metadata.category, (counts.get(metadata.category) ?? 0) + 1);
  if (counts.size < 2) return [];
  const categories = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, 40);
  return [`Categories: ${categories.map(([name, count]) => `${name} (${count})`).join(", ")}`];
}
