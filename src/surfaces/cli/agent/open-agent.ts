import { openSync, writeSync } from "node:fs";
import type { Command } from "commander";

import type { Agent, AgentEvent, AgentMode, AgentOptions, Budgets } from "../../../agent/index.ts";
import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import type { Runtime } from "../../../runtime.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import { errorToExit, type Exit } from "../exit-codes.ts";
import { wholeNumber } from "../input/option-values.ts";
import { openConfig } from "../mcp/files.ts";
import type { CliSession } from "../session.ts";
import { jsonText } from "../text/output.ts";
import { createUnknownValueError, UsageError } from "../usage-error.ts";

/** The options of commands that use a model. */
export interface AgentFlags {
  readonly model?: string;
  readonly mode?: string;
  readonly turns?: number;
  readonly seconds?: number;
  readonly tokens?: number;
  readonly calls?: number;
}

/** Adds the options of a command that uses a model. */
export function takesModel<Kind extends Command>(command: Kind): Kind {
  return command
    .option("--model <model>", "the model, as provider:name (default: agent.model in the settings, or the environment)")
    .option("--mode <mode>", "how the model acts: auto, tools, code or native (default: auto)")
    .option("--turns <n>", "the most replies that act", wholeNumber)
    .option("--seconds <n>", "the most seconds, without those in which you are asked", wholeNumber)
    .option("--tokens <n>", "the most tokens of all requests and replies", wholeNumber)
    .option("--calls <n>", "the most calls of methods", wholeNumber);
}

const MODES: readonly AgentMode[] = ["auto", "tools", "code", "native"];

/** Loads the module when a command needs it. */
export function loadAgentModule() {
  return import("../../../agent/index.ts");
}

interface OpenedAgent {
  readonly agent: Agent;
  readonly runtime: Runtime;
  /** `provider:name` */
  readonly model: string;
}

/** Opens the runtime and an agent with the model of the flags, else of the settings, else of the environment. */
export async function openAgent(
  session: CliSession,
  flags: AgentFlags,
  conversation: Pick<AgentOptions, "messages" | "systemPrompt" | "approve"> = {},
): Promise<OpenedAgent> {
  const mode = parseMode(flags.mode);
  const [{ createAgent, parseAgentSettings, chooseModel }, { settings, variables }] = await Promise.all([
    loadAgentModule(),
    openConfig(session),
  ]);
  const agentSettings = parseAgentSettings(settings["agent"]);
  const { provider, name } = chooseModel(flags.model, agentSettings, variables); // a missing model is reported before servers start
  const { approve = session.approve } = conversation;
  const canWait = approve === undefined && (mode ?? agentSettings.mode) !== "native" && hasRecords(settings["runs"]);
  await session.openRuntime(canWait ? { approvals: { wait: "programs", holdSeconds: HOLD_SECONDS } } : {});
  const runtime = await session.openRuntime({ until: "known" });
  const agent = createAgent({
    ...conversation,
    runtime,
    settings: agentSettings,
    readVariable: variables,
    budgets: getBudgets(flags),
    ...withoutGaps({ model: flags.model, mode, approve }),
  });
  return { agent, runtime, model: `${provider}:${name}` };
}

/**
 * Seconds for which a program waits for the answer of another process before the command continues without its result. The
 * program stays recorded, and continues after the answer.
 */
const HOLD_SECONDS = 1;

/** A program that waits must be recorded; a call outside of one would wait for as long as its question is open. */
function hasRecords(section: unknown): boolean {
  return !isRecord(section) || section["record"] !== "off";
}

/** Throws `UsageError` for an unknown mode. */
export function parseMode(text: string | undefined): AgentMode | undefined {
  const mode = MODES.find((each) => each === text);
  if (text !== undefined && mode === undefined) throw createUnknownValueError("mode", text, MODES);
  return mode;
}

/** Returns the budgets that flags state. */
export function getBudgets({ turns, seconds, tokens, calls }: AgentFlags): Partial<Budgets> {
  return withoutGaps({ turns, seconds, tokens, calls });
}

/** Returns the exit of a command that ends with these events. */
export function getExit(events: readonly AgentEvent[]): Exit {
  const done = events.at(-1);
  if (done?.type !== "done") return "failed";
  switch (done.reason) {
    case "answer":
      return "ok";
    case "cancelled":
      return "interrupted";
    case "waiting":
      return "approval";
    case "budget":
      return done.budget === "seconds" ? "timeLimit" : "failed";
    case "error": {
      const failure = events.findLast((event) => event.type === "error");
      return failure === undefined ? "failed" : errorToExit(failure.error.code);
    }
  }
}

/** Opens a transcript, and returns the function that adds an event to it. */
export async function openRecord(file: string | undefined): Promise<(event: AgentEvent) => void> {
  if (file === undefined) return () => {};
  const { formatTranscriptHeader } = await loadAgentModule();
  const descriptor = openNewFile(file);
  writeSync(descriptor, formatTranscriptHeader());
  return (event) => void writeSync(descriptor, `${jsonText(event, 0)}\n`);
}

/** A transcript holds what methods returned: only its owner may read it. */
function openNewFile(file: string): number {
  try {
    return openSync(file, "w", 0o600);
  } catch (thrown) {
    throw new UsageError(`Cannot write ${JSON.stringify(file)}: ${getMessage(thrown)}`);
  }
}
