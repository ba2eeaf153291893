import type { Runtime } from "../../../runtime.ts";
import { count, DESCRIPTION_UNITS, indented, lines, shortened, table } from "./layout.ts";
import type { Paint } from "../terminal/terminal.ts";

type ShownServer = Runtime["servers"][number];

/** Returns a function that formats a server as a row of a table of all of them. */
export function createServerRow(servers: readonly ShownServer[], paint: Paint): (server: ShownServer) => string {
  const heads = servers.map(({ name, skill, transport }) => [`✓ ${name}`, skill, transport, WIDE_STATUS]);
  return (server) => {
    const { name, skill, transport, status, error = "" } = server;
    const says = status === "connected" ? countTools(server) : shortened(error, ERROR_UNITS);
    return table([[`${serverMark(status, paint)} ${name}`, skill, transport, status, says], ...heads])[0] ?? "";
  };
}

const WIDE_STATUS: ShownServer["status"] = "connecting";

/** `3 tools, 2 left out` */
export function countTools({
  toolCount,
  quarantined,
  disabledTools,
}: Pick<ShownServer, "toolCount" | "quarantined" | "disabledTools">): string {
  const leftOut = quarantined.length + disabledTools.length;
  return `${count(toolCount, "tool")}${leftOut === 0 ? "" : `, ${leftOut} left out`}`;
}

const ERROR_UNITS = 160;

/** A server with all its tools, or with the details of its failure. */
export function serverText(server: ShownServer, paint: Paint): string {
  const { name, skill, status, error, protocolVersion, tools, quarantined, disabledTools, stderrTail } = server;
  const protocolText = protocolVersion === undefined ? "" : `, protocol ${protocolVersion}`;
  return lines([
    `${serverMark(status, paint)} ${name}: ${status === "connected" ? `connected as ${skill}, ${countTools(server)}${protocolText}` : status}`,
    indented(error ?? ""),
    ...tools.map(({ name, method }) => `  ${skill}.${method}${name === method ? "" : paint.dim(` (${name})`)}`),
    ...quarantined.map(({ tool, reason }) => paint.yellow(`  "${tool}" is left out: ${reason}`)),
    ...disabledTools.map((tool) => paint.dim(`  "${tool}" is left out by the entry of the server`)),
    status === "connected" ? "" : indented(stderrTail),
  ]);
}

/** A server with its tools and their descriptions. */
export function toolsText(
  server: {
    readonly name: string;
    readonly skill: string;
    readonly status: ShownServer["status"];
    readonly error?: string;
    readonly tools: readonly { readonly tool: string; readonly path: string; readonly description: string }[];
    readonly quarantined: ShownServer["quarantined"];
  },
  paint: Paint,
): string {
  const { name, skill, status, error, tools, quarantined } = server;
  const state = status === "connected" ? count(tools.length, "tool") : status;
  return lines([
    `${serverMark(status, paint)} ${name} (${skill}): ${state}`,
    indented(error ?? ""),
    ...table(tools.map(({ path, description }) => [`  ${path}`, paint.dim(shortened(description, DESCRIPTION_UNITS))])),
    ...quarantined.map(({ tool, reason }) => paint.yellow(`  "${tool}" is left out: ${reason}`)),
  ]);
}

export function serverMark(status: ShownServer["status"], paint: Paint): string {
  switch (status) {
    case "connected":
      return paint.green("✓");
    case "connecting":
    case "disabled":
      return paint.dim("–");
    case "disconnected":
    case "error":
      return paint.red("✗");
  }
}
