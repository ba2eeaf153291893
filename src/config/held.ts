import { sep } from "node:path";

import { isRecord, toList, toRecord } from "../model/json.ts";
import { type ConfigFolders, formatPathLabel } from "./read-file.ts";
import { variablesReadBy } from "./reads.ts";
import { type DeclaredServer, type ReadServers, serverKey } from "./servers/read-servers.ts";
import { quoted } from "./shown.ts";
import { findCommands } from "./servers/command-placeholders.ts";
import { describeStart } from "./servers/approval-summary.ts";
import {
  type HeldPart,
  POLICY_FILES,
  PROJECT_FILES,
  type ProjectTrust,
  RESTRICTIONS,
  whyPartHeld,
} from "./trust/index.ts";
import type { ProjectVariables } from "./variables.ts";

interface Project {
  readonly trust: ProjectTrust;
  /** `undefined` if its skills are not used. */
  readonly skillsDir: string | undefined;
  readonly settings: readonly (readonly [path: string, value: unknown])[];
  readonly read: Pick<ReadServers, "declared">;
  /** The same servers, with the variables of the project. */
  readonly filled: readonly DeclaredServer[];
  readonly project: ProjectVariables;
  readonly folders: ConfigFolders;
}

/** Lists what an untrusted project would do, for the question to its owner. */
export function heldParts({
  trust,
  skillsDir,
  settings,
  read,
  filled,
  project,
  folders,
}: Project): readonly HeldPart[] {
  if (trust.isTrusted) return [];
  const { isWhole } = trust.record;
  const isChanged = (part: string): boolean => trust.changed.includes(part);
  const isHeld = (part: string): boolean => trust.parts.has(part) && whyPartHeld(trust, part) !== undefined;
  const code = skillsDir === undefined ? [] : listCode(trust, formatPathLabel(skillsDir, folders).split(sep).join("/"));
  const servers = read.declared.filter(({ isHeld, config }) => isHeld && config?.enabled === true);
  const parts: readonly HeldPart[] = [
    ...code.map((name) => ({ name, detail: "", isChanged: isChanged(name) })),
    ...servers.map((server) => ({
      name: `MCP server ${server.name} (${server.file.label})`,
      detail: serverDetail(filled.find((each) => serverKey(each) === serverKey(server)) ?? server, project),
      isChanged: isWhole && isServerChanged(server, trust),
    })),
    ...settings.map(([path, value]) => ({
      name: `settings ${path}`,
      detail: JSON.stringify(value),
      isChanged: isChanged("settings.yaml"),
    })),
    ...settings
      .flatMap(([path, value]) => listLoosened(path, value))
      .map((part) => ({ ...part, isChanged: isChanged("settings.yaml") })),
    ...POLICY_FILES.filter(isHeld).map((name) => ({
      name,
      detail: "permits calls; until then it only restricts them",
      isChanged: isChanged(name),
    })),
  ];
  const further = parts.length > 0 && restrictsOtherwise(trust) ? [CHANGED_RESTRICTIONS] : [];
  // Alone it does nothing in a project that was never trusted.
  if (!isHeld(".env") || project.names.length === 0 || (parts.length === 0 && !isWhole)) return [...parts, ...further];
  const detail = `sets ${project.names.join(", ")}`;
  return [...parts, ...further, { name: ".env", detail, isChanged: isChanged(".env") }];
}

/** Tests whether the entry of a server, the values that it receives or the files that it starts have changed. */
function isServerChanged(server: DeclaredServer, trust: ProjectTrust): boolean {
  const isSame = trust.record.servers.get(serverKey(server)) === server.digest;
  return !isSame || server.started.some((path) => trust.changed.includes(trust.getPart(path)));
}

/** Tests whether the whole project is held because its settings restrict something else than before. */
function restrictsOtherwise({ record, values, changed }: ProjectTrust): boolean {
  return (
    record.isWhole && changed.includes("settings.yaml") && record.values.get(RESTRICTIONS) !== values.get(RESTRICTIONS)
  );
}

const CHANGED_RESTRICTIONS: HeldPart = {
  name: "settings.yaml",
  detail: "restricts something else than before",
  isChanged: true,
};

/** Lists the operations of an API that a setting makes harmless by its word: what changes the state behind it would not ask. */
function listLoosened(path: string, value: unknown): readonly Pick<HeldPart, "name" | "detail">[] {
  if (path.startsWith("accounts."))
    return describeAccount(value).map((detail) => ({ name: `settings ${path}`, detail }));
  if (!path.startsWith("sources.") || !isRecord(value)) return [];
  const reads = Object.entries(toRecord(value["effects"])).filter(([, effect]) => effect === "read");
  return reads.map(([pattern]) => ({ name: `settings ${path}`, detail: `treats ${quoted(pattern)} as reading only` }));
}

/** Says where the credential of an account may go. */
function describeAccount(value: unknown): readonly string[] {
  const { servers, reveal, issuer, tokenUrl, deviceUrl, revocationUrl, test } = toRecord(value);
  const urls = [...toList(servers), issuer, tokenUrl, deviceUrl, revocationUrl, test];
  const addresses = new Set(urls.filter((each) => typeof each === "string").map(toHost));
  const skills = toList(reveal).map((name) => quoted(String(name)));
  return [
    ...(addresses.size === 0 ? [] : [`sends credentials to ${[...addresses].join(", ")}`]),
    ...(skills.length === 0 ? [] : [`lets ${skills.join(", ")} read the credential itself`]),
  ];
}

/** Lists the code that is held; of a project that was never trusted, a folder of skills counts as one. */
function listCode(trust: ProjectTrust, label: string): readonly string[] {
  if (trust.excess !== undefined) return [label];
  const names = [...trust.reasons.keys()].filter((name) => trust.parts.has(name) && !PROJECT_FILES.includes(name));
  if (trust.record.isWhole) return names;
  const depth = label.split("/").length + 1;
  const shorten = (name: string): string =>
    name.startsWith(`${label}/`) ? name.split("/").slice(0, depth).join("/") : name;
  return [...new Set(names.map(shorten))];
}

/** Describes what a server starts, its relevant placeholder values, and the user's variables that it receives. */
function serverDetail(server: DeclaredServer, project: ProjectVariables): string {
  const commands = [...new Set(findCommands(server.entry))].map((line) => `; runs ${quoted(line)} to get a secret`);
  return `${startDetail(server, project)}${commands.join("")}`;
}

function startDetail({ entry, config }: DeclaredServer, { ofUser }: ProjectVariables): string {
  const reads = variablesReadBy(entry).filter((variable) => ofUser(variable) !== undefined);
  const secrets = reads.length === 0 ? "" : `${reads.join(", ")} of your environment`;
  const declared = config?.declared ?? {};
  if (config === undefined || config.transport === "stdio") {
    const isFilled = typeof declared["command"] === "string" && declared["command"].includes("${");
    const command = isFilled && config !== undefined ? `; starts ${quoted(config.command)}` : "";
    return `${describeStart(entry)}${command}${secrets === "" ? "" : `; reads ${secrets}`}`;
  }
  const { issuer, tokenEndpoint } = (config.oauth !== false && config.oauth?.identityProvider) || {};
  const addresses = [config.url, issuer, tokenEndpoint].filter((address) => address !== undefined);
  const hosts = [...new Set(addresses.map(toHost))].join(" and ");
  return `${describeStart(entry)}${secrets === "" ? `; goes to ${hosts}` : `; sends ${secrets} to ${hosts}`}`;
}

function toHost(address: string): string {
  return URL.canParse(address) ? new URL(address).host : quoted(address);
}
