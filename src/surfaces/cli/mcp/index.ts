import type { CliCommand } from "../command.ts";
import { addMcpAdd, addMcpAddJson } from "./add.ts";
import { addMcpEnable, addMcpGet, addMcpRemove } from "./declared-servers.ts";
import { addMcpEdit } from "./edit.ts";
import { addMcpExport } from "./export.ts";
import { addMcpImport } from "./import.ts";
import { addMcpAccept, addMcpList, addMcpLogin, addMcpLogs, addMcpTest, addMcpTools } from "./live-servers.ts";
import { addMcpObserve } from "./observe.ts";

/** Adds `skillgate mcp …`, with the names of commands that other clients use. */
export function addMcp(program: CliCommand): void {
  const mcp = program.command("mcp").description("add, show, test and change MCP servers");
  for (const add of COMMANDS) add(mcp);
}

const COMMANDS = [
  addMcpAdd,
  addMcpAddJson,
  addMcpImport,
  addMcpExport,
  addMcpList,
  addMcpGet,
  addMcpTools,
  addMcpTest,
  addMcpAccept,
  addMcpLogs,
  addMcpObserve,
  addMcpEdit,
  addMcpRemove,
  addMcpEnable,
  addMcpLogin,
];
