import type { SkillgateError } from "../../../errors.ts";
import type { Catalog, Method } from "../../../model/catalog.ts";
import { isRecord } from "../../../model/json.ts";
import { toolName } from "../../../registry/index.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { CALL_TOOLS, isBuiltinTool, listBuiltinTools } from "../../../runtime/builtin-tools/index.ts";
import type { ToolDefinition } from "../../../model/tools/tool-definition.ts";
import type { Expose, ToolNames } from "../../../model/tools/exposure.ts";
import { methodTool } from "./method-tool.ts";

export { EXPOSES, type Expose } from "../../../model/tools/exposure.ts";

export interface Exposure {
  readonly expose: Expose;
  readonly names: ToolNames;
  /** With `auto`, methods are tools only if their definitions fit into this many tokens. */
  readonly budgetTokens: number;
}

/** The conditions of a list of tools, in addition to the catalog. */
interface OfferOptions extends Exposure {
  /** True if runs of the caller can wait for a person, so that there is a tool to wait for them. */
  readonly canWait: boolean;
  /** True if the caller can propose automations. */
  readonly canPropose: boolean;
}

/** The tools of one caller. The same catalog and exposure give the same list in the same order. */
export interface Offered {
  readonly tools: readonly ToolDefinition[];
  /** Finds a tool by its name. */
  find(name: string): OfferedTool | undefined;
}

/** A listed tool and its method; the built-in tools have none. */
export interface OfferedTool {
  readonly tool: ToolDefinition;
  readonly method?: Method;
}

/** Caches tool lists per catalog, which is frozen. */
const cache = new WeakMap<Catalog, Map<string, Offered>>();

export function getOfferedTools(view: RuntimeView, exposure: Exposure): Offered {
  const canWait = hasPrograms(exposure) && view.runs.canWait();
  const canPropose = hasPrograms(exposure) && view.automations.acceptsProposals;
  return getOffered(view.catalog, { ...exposure, canWait, canPropose });
}

function getOffered(catalog: Catalog, options: OfferOptions): Offered {
  const byCaller = cache.get(catalog) ?? new Map<string, Offered>();
  cache.set(catalog, byCaller);
  const key = JSON.stringify(options);
  const offered = byCaller.get(key) ?? offer(catalog, options);
  byCaller.set(key, offered);
  return offered;
}

/** True if clients can send programs. */
export function hasPrograms({ expose }: Pick<Exposure, "expose">): boolean {
  return expose !== "tools" && expose !== "calls";
}

/** True if methods may be tools of their own. */
function hasMethodTools({ expose }: Pick<Exposure, "expose">): boolean {
  return expose !== "code" && expose !== "calls";
}

/** True if no further method changes the list: with `auto`, the definitions of the methods exceed the budget already. */
export function isListDecided(view: RuntimeView, exposure: Exposure): boolean {
  return !hasMethodTools(exposure) || hasNoMethodTools(view, exposure);
}

/** True if the methods are too many to be tools of their own. */
export function hasNoMethodTools(view: RuntimeView, exposure: Exposure): boolean {
  if (exposure.expose !== "auto" || view.catalog.methods.length === 0) return false;
  return getOfferedTools(view, exposure).tools.every(({ name }) => isBuiltinTool(name));
}

/** A call of a method. */
interface MethodCall {
  readonly method: Method;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Finds the method that a call of a tool calls; `undefined` for built-in and unknown tools. */
export function findMethodCall(
  catalog: Catalog,
  exposure: Exposure,
  { name, args }: { readonly name: string; readonly args: MethodCall["args"] },
): MethodCall | undefined {
  const offered = getOffered(catalog, { ...exposure, canWait: false, canPropose: false }).find(name);
  if (offered?.method !== undefined) return { method: offered.method, args };
  if (offered?.tool.name !== "call_method") return undefined;
  const { path, arguments: input = {} } = args;
  const method = typeof path === "string" ? catalog.method(path) : undefined;
  return method && isRecord(input) ? { method, args: input } : undefined;
}

/** Returns the error for a tool of a skill that is disabled or held; `undefined` if no such skill has the tool. */
export function unavailableToolError(name: string, { unavailableSkills }: RuntimeView): SkillgateError | undefined {
  return unavailableSkills.find((each) => belongsTo(name, each))?.error;
}

function belongsTo(name: string, skill: RuntimeView["unavailableSkills"][number]): boolean {
  if (name.startsWith(`${skill.name}.`) || name.startsWith(`${skill.name}__`)) return true;
  return skill.methods.some((method) => {
    const path = `${skill.name}.${method.name}`;
    return (
      name === (method.toolName ?? method.wireName ?? method.name) ||
      name === toolName({ skill: skill.name, name: method.name, path })
    );
  });
}

function offer(catalog: Catalog, { expose, names, budgetTokens, canWait, canPropose }: OfferOptions): Offered {
  if (expose === "calls") return listed(CALL_TOOLS.map((tool) => ({ tool })));
  const own = listBuiltinTools(canWait, canPropose).map((tool): OfferedTool => ({ tool }));
  const unlisted = canWait ? [] : listBuiltinTools(true).map((tool) => ({ tool }));
  if (expose === "code") return listed(own, unlisted);
  const methods = [...namedMethods(catalog, names)].map(([name, method]) => ({
    tool: methodTool(method, name),
    method,
  }));
  if (expose === "tools") return listed(methods);
  const isTooMuch = expose === "auto" && estimateTokens(methods.map(({ tool }) => tool)) > budgetTokens;
  return listed(isTooMuch ? own : [...own, ...methods], unlisted);
}

/** An unlisted tool can be called nevertheless. */
function listed(offered: readonly OfferedTool[], unlisted: readonly OfferedTool[] = []): Offered {
  const byName = new Map([...unlisted, ...offered].map((each) => [each.tool.name, each]));
  return { tools: offered.map(({ tool }) => tool), find: (name) => byName.get(name) };
}

/** Returns methods by tool name, sorted by path. A raw name that two methods share is used for neither. */
function namedMethods(catalog: Catalog, names: ToolNames): ReadonlyMap<string, Method> {
  const all = catalog.methods.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  // With raw names, clients reach resources and prompts through the protocol, not through tools.
  const methods = names === "raw" ? all.filter((method) => !isReading(method)) : all;
  const counts = new Map<string, number>(listBuiltinTools(true).map(({ name }) => [name, 1]));
  for (const method of methods) counts.set(getRawName(method), (counts.get(getRawName(method)) ?? 0) + 1);
  return new Map(
    methods.map((method) => {
      const rawName = getRawName(method);
      const isPlain = names === "raw" && counts.get(rawName) === 1 && PLAIN_NAME.test(rawName);
      return [isPlain ? rawName : toolName(method), method];
    }),
  );
}

function getRawName({ wireName, definition }: Method): string {
  return definition.toolName ?? wireName;
}

function isReading({ definition: { protocolMethod = "" } }: Method): boolean {
  return /^(?:resources|prompts)\/(?!directory)/.test(protocolMethod);
}

/** The names that the protocol permits since 2025-11-25; names at servers were never restricted before. */
const PLAIN_NAME = /^[a-zA-Z0-9_.-]{1,128}$/;

/** Estimates a token as four characters. */
function estimateTokens(tools: readonly ToolDefinition[]): number {
  return Math.ceil(JSON.stringify(tools).length / 4);
}
