import type { Command, CommanderError } from "commander";

import { VERSION } from "../../shared/version.ts";
import { addAsk } from "./agent/ask.ts";
import { addApprovals } from "./approvals.ts";
import { addAudit } from "./audit.ts";
import { addAutomation } from "./automation/index.ts";
import { addSave } from "./automation/save.ts";
import { addChat } from "./chat/index.ts";
import { CliCommand, type CommandAction } from "./command.ts";
import { addDescribe, addSearch, addTypes } from "./commands/catalog.ts";
import { addCompletion } from "./commands/completion.ts";
import { addConsole } from "./commands/console.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addExecutor } from "./commands/executor.ts";
import { addInit } from "./commands/init.ts";
import { addCall, addCheck, addRun } from "./commands/run.ts";
import { addServe } from "./commands/serve.ts";
import { addConnect } from "./connect/index.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { addKeys } from "./keys.ts";
import { addMcp } from "./mcp/index.ts";
import { addNode } from "./node.ts";
import { addPolicy } from "./policy.ts";
import { addRuns } from "./runs/index.ts";
import { addSettings } from "./settings/index.ts";
import { addSkills } from "./skills/index.ts";
import { addAccount } from "./account/index.ts";
import { addSource } from "./source/index.ts";
import { addStore } from "./store.ts";
import { addTrust } from "./trust.ts";
import { addTry } from "./try/index.ts";
import { toUsageError } from "./usage-error.ts";

/** Creates all commands and options. The program throws where commander would print an error and exit. */
export function createProgram(act: CommandAction): CliCommand {
  const program = new CliCommand("skillgate", act)
    .description(
      "Runs the programs that language models write: checked, in a sandbox, with your skills and MCP servers.",
    )
    .version(VERSION)
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => {} })
    .addHelpText("after", exitCodesText);
  addCommonOptions(program);
  for (const add of [addRun, addCheck, addSearch, addDescribe, addTypes, addCall]) add(program);
  addAsk(program);
  addChat(program);
  addTry(program);
  addMcp(program);
  addSource(program);
  addAccount(program);
  addAutomation(program);
  addSave(program);
  addSkills(program.command("skills").description("create, check, test and configure skills"));
  for (const add of [
    addServe,
    addConsole,
    addConnect,
    addDoctor,
    addInit,
    addSettings,
    addTrust,
    addKeys,
    addPolicy,
    addApprovals,
    addRuns,
    addAudit,
    addStore,
    addNode,
    addExecutor,
  ])
    add(program);
  addCompletion(program);
  throwFrom(program);
  return program;
}

/** Adds the options that may stand before and after the name of the command. */
function addCommonOptions(program: Command): void {
  program
    .option(
      "--skills <folder>",
      "the skills folder (default: the one in the settings, else ./skills, else the bundled skills)",
    )
    .option("--settings <file>", "the settings file (default: ./settings.yaml)")
    .option("--mcp-config <file>", "a file of MCP servers, read before the default files")
    .option("--json", "print one JSON object on stdout, for errors too")
    .option("--verbose", "show all configuration warnings and the log")
    .option("--inspect-skills", "let a debugger attach to the skills, which then have no time limits")
    .option("--debug", "show stack traces");
}

function exitCodesText(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, says }) => `  ${String(code).padStart(3)}  ${says}`);
  return `\nExit codes:\n${rows.join("\n")}`;
}

function throwFrom(command: Command): void {
  command.exitOverride((error: CommanderError) => {
    throw error.exitCode === 0 ? error : toUsageError(error, command);
  });
  for (const child of command.commands) throwFrom(child);
}
