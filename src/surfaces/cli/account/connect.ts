import type { AccountForm } from "../../../runtime/api/view.ts";
import { describeMissingScopes } from "../../../shared/http/missing-scopes.ts";
import type { CommandResult } from "../command.ts";
import { readText } from "../input/read-text.ts";
import type { CliSession } from "../session.ts";
import { listSettingProblems } from "../source/find-source.ts";
import { askLine, askSecret, isAtTerminal } from "../terminal/ask.ts";
import { escaped } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";
import { describeOwner } from "./account-texts.ts";
import { type CallerFlag, findOwner, requireAccount } from "./find-account.ts";

interface AccountConnectFlags extends CallerFlag {
  readonly stdin?: true;
  readonly browser?: boolean;
  readonly scopes?: readonly string[];
}

/** Stores the credential of an account, which is read from the terminal without an echo, or from the standard input. */
export async function connectAccount(
  session: CliSession,
  name: string,
  flags: AccountConnectFlags,
): Promise<CommandResult> {
  const form = await requireAccount(session, name);
  const { owner } = await findOwner(session, flags);
  if (form.isFromSettings) {
    const [problem] = listSettingProblems(await session.openRuntime(), "accounts", name);
    throw new UsageError(problem?.error ?? `The settings have the credential of ${name}, so it is not connected`);
  }
  await requireLasting(session);
  const { text, missingScopes = [] } = await connect(session, form, { ...flags, owner });
  const test = `Try it: skillgate account test ${name}${flags.caller === undefined ? "" : ` --caller ${flags.caller}`}`;
  const isPart = missingScopes.length > 0;
  return {
    json: { connected: name, owner: owner ?? null, ...(isPart && { missingScopes }) },
    text: `${text}${describeOwner(owner)}`,
    remarks: [...(isPart ? [escaped(describeMissingScopes(missingScopes))] : []), test].join("\n"),
  };
}

interface Connected {
  /** `Connected github as ada@example.com` */
  readonly text: string;
  readonly missingScopes?: readonly string[];
}

async function connect(
  session: CliSession,
  form: AccountForm,
  flags: AccountConnectFlags & { readonly owner: string | null | undefined },
): Promise<Connected> {
  const { name } = form;
  const { owner, scopes, browser = true } = flags;
  const runtime = await session.openRuntime();
  if (form.grant !== undefined && form.grant !== "client") {
    const { connectOAuth, describeConnection } = await import("./connect-oauth.ts");
    const { signal } = session;
    const target = { name, owner, ...(scopes !== undefined && { scopes }) };
    const connection = await connectOAuth({ runtime, form, target, isBrowserOpened: browser, signal });
    return { text: describeConnection(connection), missingScopes: connection.missingScopes };
  }
  await runtime.accounts.connect({ name, owner }, await readValues(session, form, flags));
  return { text: `Connected ${name}` };
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
