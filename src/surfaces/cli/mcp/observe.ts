import { getMessage } from "../../../errors.ts";
import type { Method } from "../../../model/catalog.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CliCommand } from "../command.ts";
import type { CliSession } from "../session.ts";
import { askYesNo, isAtTerminal, requireYes } from "../terminal/ask.ts";
import { escaped, lines } from "../text/layout.ts";
import { startServers } from "./start-servers.ts";

/** Maximum methods of one server that a command calls. */
const MAX_CALLS = 20;

/** The longest time of one call. */
const CALL_MS = 10_000;

interface HarmlessCall {
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A call that was made: the type of its result, or why it failed. */
interface MadeCall extends HarmlessCall {
  readonly result?: string;
  readonly error?: string;
}

/** Adds the command, also by its earlier name. */
export function addMcpObserve(mcp: CliCommand): void {
  for (const command of [mcp.command("observe"), mcp.command("learn", { hidden: true })]) define(command);
}

function define(command: CliCommand): void {
  command
    .description("call methods that only read, once each, to observe the types of their results")
    .argument("[name]", "name of the server (default: all enabled servers)")
    .option("-y, --yes", "skip the confirmation")
    .addHelpText("after", "\nExample:\n  skillgate mcp observe filesystem --yes")
    .run(async (session, name: string | undefined, { yes }: { readonly yes?: true }) => {
      const { runtime } = await startServers(session, name);
      const calls = findCalls(runtime);
      if (calls.length === 0) return { json: { calls: [] }, text: NOTHING_TO_CALL };
      if (yes !== true) await confirm(calls, session);
      const results = await callEach(calls, runtime, session);
      return { json: { calls: results }, text: formatCalls(results) };
    });
}

/** Calls that were made after an offer, or how to make them. */
export interface ObservedCalls {
  readonly calls: readonly MadeCall[];
  readonly remark?: string;
}

/** Offers at a terminal to observe results whose types are not known yet; elsewhere, says how. `isSure` is a yes in advance. */
export async function offerToObserve(
  runtime: Runtime,
  { name, isSure }: { readonly name: string | undefined; readonly isSure: boolean },
  session: CliSession,
): Promise<ObservedCalls> {
  const calls = findCalls(runtime).filter(({ path }) => getResultType(runtime, path) === "any");
  if (calls.length === 0) return { calls: [] };
  const isAsked = !isSure && isAtTerminal() && !session.flags.json;
  if (isSure || (isAsked && (await askYesNo(`${listCalls(calls)} [y/N] `, session.signal))))
    return { calls: await callEach(calls, runtime, session) };
  const command = ["skillgate mcp observe", ...(name === undefined ? [] : [name])].join(" ");
  const methods = calls.length === 1 ? "1 method that only reads does" : `${calls.length} methods that only read do`;
  return { calls: [], remark: `${methods} not say what the result is like. To call each once and see: ${command}` };
}

async function callEach(
  calls: readonly HarmlessCall[],
  runtime: Runtime,
  { signal }: CliSession,
): Promise<readonly MadeCall[]> {
  const results: MadeCall[] = [];
  for (const call of calls) {
    signal.throwIfAborted();
    results.push(await callOnce(runtime, call));
  }
  return results;
}

const NOTHING_TO_CALL =
  "No method to call: every method declares its result, has effects, or needs arguments without an example";

/** Finds the methods of servers that say that they only read, and whose arguments are known. */
function findCalls(runtime: Runtime): readonly HarmlessCall[] {
  const skills = runtime.catalog.skills.filter(({ kind }) => kind === "mcp");
  return skills.flatMap(({ methods }) =>
    methods
      .filter(isHarmless)
      .flatMap((method): HarmlessCall[] => {
        const input = findArguments(method);
        const isUsable = input !== undefined && runtime.validate(method.path, input).length === 0;
        return isUsable ? [{ path: method.path, input }] : [];
      })
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .slice(0, MAX_CALLS),
  );
}

function isHarmless({ output, metadata, definition }: Method): boolean {
  const { readOnly, destructive } = definition.metadata ?? {};
  return output === undefined && readOnly === true && destructive !== true && metadata.approval === "none";
}

/** The examples or defaults of all required arguments; `undefined` if one of them has none. */
function findArguments({ parameters }: Method): HarmlessCall["input"] | undefined {
  const entries = parameters
    .filter(({ required }) => required)
    .map(({ name, schema }) => [name, findExample(schema)] as const);
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries);
}

function findExample({ examples, example, default: standard }: Method["input"]): unknown {
  return (Array.isArray(examples) ? (examples as unknown[])[0] : undefined) ?? example ?? standard;
}

function confirm(calls: readonly HarmlessCall[], { signal }: CliSession): Promise<void> {
  return requireYes(listCalls(calls), signal, {
    refusal: (why) => `Cannot call ${calls.length} methods: ${why}`,
    facts: { fix: "Add --yes: skillgate mcp observe --yes" },
  });
}

function listCalls(calls: readonly HarmlessCall[]): string {
  const list = calls.map(({ path, input }) => `  ${path}(${escaped(JSON.stringify(input))})`);
  return lines([
    "These methods say that they only read, and not what their results are like:",
    ...list,
    "Call each of them once, so that programs know?",
  ]);
}

async function callOnce(runtime: Runtime, call: HarmlessCall): Promise<MadeCall> {
  try {
    await runtime.call(call.path, call.input, { signal: AbortSignal.timeout(CALL_MS) });
  } catch (error) {
    return { ...call, error: getMessage(error) };
  }
  return { ...call, result: getResultType(runtime, call.path) };
}

function getResultType(runtime: Runtime, path: string): string {
  const result = /\): Promise<([^]*?)>;/.exec(runtime.describe(path).declaration)?.[1];
  return (result ?? "any").replace(/\s+/g, " ");
}

export function formatCalls(calls: readonly MadeCall[]): string {
  return lines(calls.map(formatCall));
}

function formatCall({ path, input, result, error }: MadeCall): string {
  const call = Object.keys(input).length === 0 ? path : `${path}(${escaped(JSON.stringify(input))})`;
  return error === undefined ? `${call}: ${result}` : `${call} failed: ${escaped(error)}`;
}
