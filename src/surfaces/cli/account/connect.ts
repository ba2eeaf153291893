import type { AccountForm } from "../../../runtime/api/view.ts";
import type { CommandResult } from "../command.ts";
import { readText } from "../input/read-text.ts";
import type { CliSession } from "../session.ts";
import { listSettingProblems } from "../source/find-source.ts";
import { askLine, askSecret, isAtTerminal } from "../terminal/ask.ts";
import { UsageError } from "../usage-error.ts";
import { describeOwner } from "./account-texts.ts";
import { type CallerFlag, findOwner, requireAccount } from "./find-account.ts";

interface AccountConnectFlags extends CallerFlag {
  readonly stdin?: true;
}

/** Stores the credential of an account, which is read from the terminal without an echo, or from the standard input. */
export async function connectAccount(
  session: CliSession,
  name: string,
  flags: AccountConnectFlags,
): Promise<CommandResult> {
  const form = await requireAccount(session, name);
  const { owner } = await findOwner(session, flags);
  const runtime = await session.openRuntime();
  if (form.isFromSettings) {
    const [problem] = listSettingProblems(runtime, "accounts", name);
    throw new UsageError(problem?.error ?? `The settings have the credential of ${name}, so it is not connected`);
  }
  await requireLasting(session);
  const values = await readValues(session, form, flags);
  await runtime.accounts.connect({ name, owner }, values);
  const whose = describeOwner(owner);
  return {
    json: { connected: name, owner: owner ?? null },
    text: `Connected ${name}${whose}`,
    remarks: `Try it: skillgate account test ${name}${flags.caller === undefined ? "" : ` --caller ${flags.caller}`}`,
  };
}

/** A store in memory would end with the command. */
async function requireLasting({ database }: CliSession): Promise<void> {
  if ((await database()).kind !== "memory") return;
  throw new UsageError(
    "The store is in memory, and a connection in it would end with this command; set store.dir or store.url",
  );
}

async function readValues(
  { signal }: CliSession,
  { name, values, type }: AccountForm,
  { stdin }: AccountConnectFlags,
): Promise<readonly string[]> {
  if (values.length === 0) return [];
  if (stdin) return splitValues(values, await readText(process.stdin, "the standard input"));
  if (!isAtTerminal())
    throw new UsageError(
      `There is no terminal to ask for the credential; write: printf %s "$VALUE" | skillgate account connect ${name} --stdin`,
    );
  const entered: string[] = [];
  for (const value of values) {
    const isSecret = type !== "basic" || value === "password";
    entered.push(await (isSecret ? askSecret : askLine)(`${value}: `, signal));
    signal.throwIfAborted();
  }
  return entered;
}

/** One line for each value; a line break at the end does not count. */
function splitValues(names: readonly string[], text: string): readonly string[] {
  const found = text.replace(/\r?\n$/, "").split(/\r?\n/);
  if (found.length === names.length) return found;
  throw new UsageError(
    `The standard input must have ${names.length === 1 ? "one line" : `${names.length} lines`}: ${names.join(", ")}`,
  );
}
