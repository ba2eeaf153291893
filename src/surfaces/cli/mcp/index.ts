import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { addMcpAdd } from "./add.ts";
import { addMcpAddJson } from "./add-json.ts";
import { addMcpEdit } from "./edit.ts";
import { addMcpEnable } from "./enable.ts";
import { addMcpGet } from "./get.ts";
import { addMcpImport } from "./import.ts";
import { addMcpObserve } from "./observe.ts";
import { addMcpList } from "./list.ts";
import { addMcpLogin } from "./login.ts";
import { addMcpLogs } from "./logs.ts";
import { addMcpRemove } from "./remove.ts";
import { addMcpTest } from "./test.ts";
import { addMcpTools } from "./tools.ts";

/** Adds `skillgate mcp …`, with the names of commands that other clients use. */
export function addMcp(program: Command, act: CommandAction): void {
  const mcp = program.command("mcp").description("add, show, test and change MCP servers");
  for (const add of COMMANDS) add(mcp, act);
}

const COMMANDS = [
  addMcpAdd,
  addMcpAddJson,
  addMcpImport,
  addMcpList,
  addMcpGet,
  addMcpTools,
  addMcpTest,
  addMcpLogs,
  addMcpObserve,
  addMcpEdit,
  addMcpRemove,
  addMcpEnable,
  addMcpLogin,
];
