import { OWNER } from "../../../model/caller.ts";
import type { ListedAccount } from "../../../runtime/api/view.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { editSettings } from "../settings/edit-settings.ts";
import { listSettingProblems, readSection } from "../source/find-source.ts";
import type { CliSession } from "../session.ts";
import { lines } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";
import {
  describeAccounts,
  describeLeft,
  describeOwner,
  describeRotation,
  describeServerLogins,
  toAccountJson,
} from "./account-texts.ts";
import { addAccountOptions, readAccountFlags, type AccountFlags } from "./account-flags.ts";
import { connectAccount } from "./connect.ts";
import { type CallerFlag, findOwner, requireAccount } from "./find-account.ts";

export function addAccount(program: CliCommand): void {
  const account = program
    .command("account")
    .description("accounts at services, for APIs, MCP servers and skills: the section accounts of settings.yaml")
    .addHelpText("after", HELP);
  addAccountOptions(
    account
      .command("add")
      .description("write an account into settings.yaml; values only as the names of variables")
      .argument("<name>", "its name in the settings"),
  ).run(add);
  account
    .command("connect")
    .description("store the credential of an account, encrypted: of this user, of everyone, or of the caller of a key")
    .argument("<name>", "its name in the settings")
    .option("--caller <key>", CALLER)
    .option("--no-browser", "oauth: only print the address of the login")
    .option("--scopes <scopes...>", "oauth: scopes to ask for beside those of the settings")
    .option("--stdin", "read the values from the standard input, one a line, instead of asking for them")
    .run(connectAccount);
  account.command("list").alias("ls").description("list the accounts with their connections, without values").run(list);
  account
    .command("test")
    .description("make the request that the setting test names, or only read the credential")
    .argument("<name>", "its name in the settings")
    .option("--caller <key>", CALLER)
    .run(test);
  account
    .command("rotate")
    .description("encrypt all credentials with a new key, or with the first one of SKILLGATE_ACCOUNT_KEY")
    .run(rotate);
  account
    .command("revoke")
    .description(
      "delete the credential of an account, and revoke it at its provider if that is possible; or a login at an MCP server",
    )
    .argument("<name>", "its name in the settings, or the URL of an MCP server")
    .option("--caller <key>", CALLER)
    .run(revoke);
  account
    .command("remove")
    .description("remove an account from settings.yaml; its credentials stay until they are revoked")
    .argument("<name>", "its name in the settings")
    .run(remove);
}

const CALLER = "the name or id of the key whose caller it is for";

const HELP = `
Examples:
  skillgate account add stripe --type bearer --token '\${STRIPE_KEY}'
  skillgate account add notes --type apiKey --in header --name X-Api-Key --for everyone
  skillgate account add github --type oauth --issuer https://login.example.com --client-id app --scopes repo
  skillgate account connect notes
  printf %s "$KEY" | skillgate account connect notes --caller ada --stdin
  skillgate account revoke notes --caller ada`;

async function add(session: CliSession, name: string, flags: AccountFlags): Promise<CommandResult> {
  const settings = readAccountFlags(flags);
  const { findAccountMistakes } = await import("../../../runtime/settings/index.ts");
  if (Object.hasOwn(readSection(await session.openRuntime(), "accounts"), name))
    throw new UsageError(
      `settings.yaml has an account ${name} already; choose another name, or remove it: skillgate account remove ${name}`,
    );
  const [mistake] = await findAccountMistakes(name, settings);
  if (mistake !== undefined) throw new UsageError(mistake);
  await editSettings(session, { values: [{ path: ["accounts", name], value: settings }] });
  const runtime = await session.openRuntime({ which: "new" });
  const problems = listSettingProblems(runtime, "accounts", name);
  const added = (await runtime.accounts.list()).find((each) => each.name === name);
  return {
    json: { added: name, account: added === undefined ? null : toAccountJson(added), problems },
    text: `Added ${name} to settings.yaml`,
    remarks: lines([...problems.map(({ error }) => error), added === undefined ? "" : describeNext(added)]),
  };
}

function describeNext({ name, state }: ListedAccount): string {
  return state === "missing" ? `Connect it: skillgate account connect ${name}` : "";
}

async function list(session: CliSession): Promise<CommandResult> {
  const runtime = await session.openRuntime({ until: "known" });
  const accounts = await runtime.accounts.list();
  const logins = await runtime.accounts.listServerLogins();
  const problems = listSettingProblems(runtime, "accounts");
  const none = "No account is in the section accounts of settings.yaml. Add one: skillgate account add NAME --type …";
  return {
    json: { accounts: accounts.map(toAccountJson), logins, problems },
    text: lines([
      ...describeAccounts(accounts, session.paint.out),
      ...problems.map(({ error }) => `${session.paint.out.red("✗")} ${error}`),
      ...(accounts.length + problems.length === 0 ? [none] : []),
      ...describeServerLogins(logins),
    ]),
  };
}

const TEST_EXITS = {
  accepted: "ok",
  readable: "ok",
  unclear: "failed",
  refused: "unreachable",
  failed: "unreachable",
} as const;

async function test(session: CliSession, name: string, flags: CallerFlag): Promise<CommandResult> {
  const runtime = await session.openRuntime();
  await requireAccount(session, name);
  const { result, detail } = await runtime.accounts.test({ name, ...(await findOwner(session, flags)) });
  const exit = TEST_EXITS[result];
  const { out } = session.paint;
  return {
    exit,
    json: { account: name, result, detail },
    text: `${exit === "ok" ? out.green("✓") : out.red("✗")} ${name}: ${detail}`,
  };
}

async function rotate(session: CliSession): Promise<CommandResult> {
  const runtime = await session.openRuntime();
  const rotation = await runtime.accounts.rotate();
  return {
    ...(rotation.unreadable.length > 0 && { exit: "failed" as const }),
    json: rotation,
    ...describeRotation(rotation),
  };
}

async function revoke(session: CliSession, name: string, flags: CallerFlag): Promise<CommandResult> {
  if (/^https?:/.test(name)) return removeLogin(session, name, flags);
  const runtime = await session.openRuntime();
  const { owner = await findOrphan(session, name) } = await findOwner(session, flags);
  const target = { name, ...(owner !== undefined && { owner }) };
  const { isRevoked, left } = await runtime.accounts.revoke(target);
  const whose = describeOwner(owner);
  const json = { account: name, owner: owner ?? null, changed: isRevoked, left: left ?? null };
  if (!isRevoked) return { exit: "notFound", json, text: "", remarks: `There is no connection of ${name}${whose}` };
  return {
    json,
    text: `Revoked the connection of ${name}${whose}`,
    remarks: left === undefined ? "" : describeLeft(left),
  };
}

/** Deletes a login at an MCP server, of this user or of the caller of a key. */
async function removeLogin(session: CliSession, server: string, flags: CallerFlag): Promise<CommandResult> {
  const runtime = await session.openRuntime();
  const { owner } = await findOwner(session, flags);
  const isRemoved = await runtime.accounts.removeServerLogin({ server, owner: owner ?? OWNER.id });
  const whose = describeOwner(owner);
  return {
    ...(!isRemoved && { exit: "notFound" as const }),
    json: { login: server, owner: owner ?? OWNER.id, changed: isRemoved },
    text: isRemoved ? `Removed the login at ${server}${whose}` : "",
    remarks: isRemoved
      ? "Its tokens may still be valid at the server until they end"
      : `There is no login at ${server}${whose}; see: skillgate account list`,
  };
}

/** Finds the owner of the one connection of an account that the settings do not have any more. */
async function findOrphan(session: CliSession, name: string): Promise<string | null | undefined> {
  const runtime = await session.openRuntime();
  const found = (await runtime.accounts.list()).filter((each) => each.name === name);
  if (found.length === 0) await requireAccount(session, name);
  const [only, another] = found.filter(({ state }) => state === "unknown");
  if (another === undefined) return only?.owner;
  const callers = found.map(({ owner }) => owner ?? "everyone").join(", ");
  throw new UsageError(`Several callers have connected ${name}: ${callers}. Name one with --caller`);
}

async function remove(session: CliSession, name: string): Promise<CommandResult> {
  if (!Object.hasOwn(readSection(await session.openRuntime(), "accounts"), name)) await requireAccount(session, name);
  const runtime = await session.openRuntime();
  const stored = (await runtime.accounts.list()).filter(
    (each) => each.name === name && (each.state === "connected" || each.state === "reconnect"),
  );
  await editSettings(session, { values: [{ path: ["accounts", name], value: undefined }] });
  return {
    json: { removed: name, connections: stored.length },
    text: `Removed ${name} from settings.yaml`,
    remarks:
      stored.length === 0
        ? ""
        : `Its stored credentials stay: ${stored.length}. Delete each with: skillgate account revoke ${name} --caller KEY`,
  };
}
