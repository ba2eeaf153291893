import { APPS_EXTENSION } from "../../../model/client-requests.ts";
import { isRecord } from "../../../model/json.ts";
import type { Problem } from "../../../model/provider.ts";
import type { MissingMethod, ProvidedSkill } from "../../../model/skill.ts";
import { NO_CAPABLE_TOOLS } from "./capable-tools.ts";
import { findDescription, listingKey, type ServerListing } from "./server-listing.ts";
import { type Operation, toolOperation } from "./operations.ts";
import {
  type ChangePolicy,
  type DefinitionChange,
  describeChange,
  describeHeldChange,
} from "../../../shared/changes/definition-changes.ts";
import { type AcceptedTools, findToolChanges, type ToolChange } from "./accepted-tools.ts";
import { formatList, quote } from "../../../shared/format-text.ts";
import { createResourceOperations } from "./resource-operations.ts";
import { ListedSkillFiles } from "./skill-files.ts";
import { dependsOnCaller, getAccountName, getTextForm, type ServerConfig } from "../server-config.ts";
import { importTools, type QuarantinedTool, type ImportedTool } from "./import-tools.ts";

/** The skill of a server, made from its latest listing. */
export interface ServerSkill {
  readonly skill: ProvidedSkill;
  /** By protocol name. */
  readonly tools: ReadonlyMap<string, ImportedTool>;
  /** Tools, resource methods and prompt methods, by protocol name. */
  readonly operations: ReadonlyMap<string, Operation>;
  readonly quarantined: readonly QuarantinedTool[];
  /** Protocol names of the tools that the entry leaves out. */
  readonly disabled: readonly string[];
  /** Tools that differ from the accepted definitions. */
  readonly changes: readonly ToolChange[];
  readonly problems: readonly Problem[];
  /** The files of its skills that callers have got in lists. */
  readonly files: ListedSkillFiles;
  /** When the listing expires, in milliseconds since 1970. */
  readonly staleAt: number;
  readonly protocolVersion: string;
}

/** The inputs of a server skill other than the configuration and the listing. */
export interface ServerSkillOptions {
  readonly name: string;
  readonly invoke: ProvidedSkill["invoke"];
  readonly complete: NonNullable<ProvidedSkill["complete"]>;
  readonly subscribe: NonNullable<ProvidedSkill["subscribe"]>;
  readonly getRequestKey: NonNullable<ProvidedSkill["getRequestKey"]>;
  /** The accepted definitions; `undefined` if none are accepted yet. */
  readonly pins: AcceptedTools | undefined;
  readonly changePolicy: ChangePolicy;
  readonly last: ServerSkill | undefined;
}

/** Makes a skill of a server's tools. Returns the same skill object until something in it changes. */
export function createServerSkill(
  config: ServerConfig,
  listing: ServerListing,
  options: ServerSkillOptions,
): ServerSkill {
  const { name, invoke, complete, subscribe, getRequestKey, pins, changePolicy, last } = options;
  const account = getAccountName(config);
  const hasHeaders = config.transport !== "stdio" && listing.era.kind === "modern";
  const { tools: capableTools, needs } = listing.capable ?? NO_CAPABLE_TOOLS;
  const imported = importTools([...listing.tools, ...capableTools], { ...config, hasHeaders });
  const changes = pins === undefined ? [] : findToolChanges(pins, imported.tools, changePolicy);
  const heldChanges = new Map(changePolicy === "hold" ? changes.map((change) => [change.name, change]) : []);
  const tools = imported.tools.filter((tool) => !heldChanges.has(tool.name));
  const usedNames = new Set(tools.flatMap(({ name, method }) => [name, method.name]));
  const files = last?.files ?? new ListedSkillFiles();
  const readings = createResourceOperations(listing.capabilities, usedNames, files);
  const skill: ProvidedSkill = {
    name,
    description: findDescription(config, listing) ?? `MCP server: ${config.name}`,
    source: config.name,
    kind: "mcp",
    server: config.name,
    destination: listingKey(config),
    origin: `${listingKey(config)}@${listing.server.version}`,
    ...(listing.instructions !== "" && { guidance: listing.instructions }),
    methods: [
      ...tools.map(({ name, method }) =>
        Object.hasOwn(needs, name) ? { ...method, needsClient: needs[name] ?? [] } : method,
      ),
      ...readings.map(({ method }) => method),
    ].map((method) => (account === undefined ? method : { ...method, accounts: [account] })),
    invoke,
    whyMissing: (name) => whyToolMissing(name, { name: config.name, tools: imported.tools, heldChanges }),
    ...(hasApps(listing) && { hasApps: true as const }),
    ...(dependsOnCaller(config) && { getRequestKey }),
    ...(isRecord(listing.capabilities["completions"]) && { complete }),
    ...(canSubscribe(listing) && { subscribe }),
  };
  return {
    skill: last !== undefined && isSame(last.skill, skill) ? last.skill : skill,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    operations: new Map(
      [
        ...readings,
        ...tools.map((tool) => toolOperation(tool, listingKey(config), getTextForm(config, tool.name))),
      ].map((operation) => [operation.name, operation]),
    ),
    files,
    quarantined: [
      ...imported.quarantined,
      ...[...heldChanges.values()].map((change) => ({
        tool: change.name,
        reason: `it ${describeChange(change, "tools")}`,
      })),
    ],
    disabled: imported.disabled,
    changes: changes.map(({ name, differences }) => ({ tool: name, differences })),
    problems: [
      ...findProblems(listing, imported.quarantined, changes, changePolicy),
      ...tools.flatMap(describeForeignPatterns),
      ...findUnusedOverrides(config, listing).map(
        (tool) => `toolOverrides names "${tool}", which the server does not list`,
      ),
    ].map((error) => ({ source: config.name, error })),
    staleAt: listing.ttlMs === 0 ? Number.POSITIVE_INFINITY : listing.listedAt + listing.ttlMs,
    protocolVersion: listing.protocolVersion,
  };
}

interface HeldTools extends Pick<ServerConfig, "name"> {
  readonly tools: readonly ImportedTool[];
  readonly heldChanges: ReadonlyMap<string, DefinitionChange>;
}

function whyToolMissing(method: string, { name: server, tools, heldChanges }: HeldTools): MissingMethod | undefined {
  const found = tools.find((tool) => tool.method.name === method);
  const change = found && heldChanges.get(found.name);
  return change && describeHeldChange(change, "tools", `skillgate mcp accept ${server}`);
}

/** True if the server announces the extension of MCP Apps. */
function hasApps({ capabilities }: ServerListing): boolean {
  const { extensions } = capabilities;
  return isRecord(extensions) && Object.hasOwn(extensions, APPS_EXTENSION);
}

function findProblems(
  { incomplete }: ServerListing,
  quarantined: readonly QuarantinedTool[],
  changes: readonly DefinitionChange[],
  policy: ChangePolicy,
): readonly string[] {
  return [
    ...(incomplete === undefined ? [] : [incomplete]),
    ...quarantined.map(({ tool, reason }) => `the tool "${tool}" is left out, ${reason}`),
    ...changes.map((change) => {
      const words = describeChange(change, "tools");
      return policy === "hold"
        ? `the tool "${change.name}" is held back until it is accepted, it ${words}`
        : `the tool "${change.name}" ${words}`;
    }),
  ];
}

function describeForeignPatterns({ name, foreignPatterns }: ImportedTool): readonly string[] {
  if (foreignPatterns.size === 0) return [];
  const patterns = formatList(
    [...foreignPatterns].map((pattern) => quote(pattern, 80)),
    MAX_NAMED_PATTERNS,
  );
  return [`the tool "${name}" has patterns that are not regular expressions; they are left out: ${patterns}`];
}

const MAX_NAMED_PATTERNS = 3;

function findUnusedOverrides({ toolOverrides = {} }: ServerConfig, listing: ServerListing): readonly string[] {
  const tools = [...listing.tools, ...(listing.capable?.tools ?? [])];
  const names = new Set(tools.map((tool) => (isRecord(tool) ? tool["name"] : undefined)));
  return Object.keys(toolOverrides).filter((tool) => !names.has(tool));
}

function canSubscribe({ capabilities: { resources } }: ServerListing): boolean {
  return isRecord(resources) && resources["subscribe"] === true;
}

function isSame(a: ProvidedSkill, b: ProvidedSkill): boolean {
  const abilities = ({ complete, subscribe }: ProvidedSkill): string => `${Boolean(complete)} ${Boolean(subscribe)}`;
  return JSON.stringify(a) === JSON.stringify(b) && abilities(a) === abilities(b);
}
