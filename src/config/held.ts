import { sep } from "node:path";

import { type ConfigFolders, formatPathLabel } from "./read-file.ts";
import { variablesReadBy } from "./reads.ts";
import type { DeclaredServer, ReadServers } from "./servers/read-servers.ts";
import { quoted } from "./shown.ts";
import { findCommands } from "./servers/command-placeholders.ts";
import { describeStart } from "./servers/approval-summary.ts";
import { type HeldPart, POLICY_FILES, PROJECT_FILES, type ProjectTrust } from "./trust/index.ts";
import type { ProjectVariables } from "./variables.ts";

interface Project {
  readonly trust: ProjectTrust;
  /** `undefined` if its skills are not used. */
  readonly skillsDir: string | undefined;
  readonly settings: readonly (readonly [path: string, value: unknown])[];
  readonly read: ReadServers;
  readonly project: ProjectVariables;
  readonly folders: ConfigFolders;
}

/** Lists what an untrusted project would do, for the question to its owner. */
export function heldParts({ trust, skillsDir, settings, read, project, folders }: Project): readonly HeldPart[] {
  if (trust.isTrusted) return [];
  const isChanged = (part: string): boolean => trust.changed.includes(part);
  const skills =
    skillsDir === undefined ? [] : skillParts(trust, formatPathLabel(skillsDir, folders).split(sep).join("/"));
  const servers = read.declared.filter(({ isHeld, config }) => isHeld && config?.enabled === true);
  const parts: readonly HeldPart[] = [
    ...skills.map((name) => ({ name, detail: "", isChanged: isChanged(name) })),
    ...servers.map((server) => ({
      name: `MCP server ${server.name} (${server.file.label})`,
      detail: serverDetail(server, project),
      isChanged:
        isChanged(server.file.label) || trust.changed.some((part) => part.endsWith(` of MCP server ${server.name}`)),
    })),
    ...settings.map(([path, value]) => ({
      name: `settings ${path}`,
      detail: JSON.stringify(value),
      isChanged: isChanged("settings.yaml"),
    })),
    ...POLICY_FILES.filter((name) => trust.parts.has(name)).map((name) => ({
      name,
      detail: "permits calls; until then it only restricts them",
      isChanged: isChanged(name),
    })),
  ];
  // Alone it does nothing.
  if (parts.length === 0 || project.names.length === 0) return parts;
  return [...parts, { name: ".env", detail: `sets ${project.names.join(", ")}`, isChanged: isChanged(".env") }];
}

function skillParts({ parts, excess }: ProjectTrust, label: string): readonly string[] {
  if (excess !== undefined) return [label];
  return [...parts.keys()].filter((name) => name.startsWith(`${label}/`) || !PROJECT_FILES.includes(name));
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
  const host = URL.canParse(config.url) ? new URL(config.url).host : quoted(config.url);
  return `${describeStart(entry)}${secrets === "" ? `; goes to ${host}` : `; sends ${secrets} to ${host}`}`;
}
