import { findKeyName } from "../../../model/caller.ts";
import type { ListedAccount, Rotation, ServerLogin } from "../../../runtime/api/view.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, escaped, formatMinute, lines, table, toIso } from "../text/layout.ts";

/** Lines for accounts with their connections. */
export function describeAccounts(accounts: readonly ListedAccount[], paint: Paint): readonly string[] {
  const rows = accounts.map((account) => [
    account.name,
    account.type ?? "",
    account.label === null
      ? describeName(account.owner)
      : `${describeName(account.owner)} as ${escaped(account.label)}`,
    describeState(account, paint),
    escaped(account.scopes.join(" ")),
    account.expires === null ? "" : `token until ${formatMinute(account.expires)}`,
    account.lastUsed === null ? "" : `used ${formatMinute(account.lastUsed)}`,
    account.skills.join(" "),
  ]);
  const reasons = accounts.flatMap((account) =>
    account.reason === null ? [] : [`${describeConnection(account)}: ${account.reason}`],
  );
  return [...table(rows), ...reasons];
}

/** Lines for the logins at MCP servers. */
export function describeServerLogins(logins: readonly ServerLogin[]): readonly string[] {
  if (logins.length === 0) return [];
  const rows = logins.map(({ server, owner, kind }) => [`  ${escaped(server)}`, describeName(owner), kind]);
  return ["Logins at MCP servers:", ...table(rows)];
}

/** `github (ada)` */
export function describeConnection({ name, owner }: Pick<ListedAccount, "name" | "owner">): string {
  return `${name} (${describeName(owner)})`;
}

function describeName(owner: string | null): string {
  return owner === null ? "everyone" : escaped(findKeyName(owner) ?? owner);
}

function describeState({ state, reason }: ListedAccount, paint: Paint): string {
  if (state === "settings" && reason !== null) return paint.red("not set");
  if (state === "connected" || state === "settings") return paint.green(state);
  return state === "missing" ? paint.yellow("not connected") : paint.red(state);
}

/** ` for ada`; empty for the owner of a command without `--caller`. */
export function describeOwner(owner: string | null | undefined): string {
  return owner === undefined ? "" : ` for ${describeName(owner)}`;
}

/** The facts of a connection for `--json`: times in RFC 3339. */
export function toAccountJson({ expires, connected, lastUsed, ...account }: ListedAccount): object {
  return { ...account, expires: toIso(expires), connected: toIso(connected), lastUsed: toIso(lastUsed) };
}

/** Says that a deleted credential may still be valid at the service. */
export function describeLeft(left: string): string {
  return `It is deleted here, and may still be valid at the service: ${escaped(left)}. End it in the settings of the service`;
}

export function describeRotation({ isKeyNew, keys, changed, unreadable }: Rotation): {
  readonly text: string;
  readonly remarks: string;
} {
  const with_ = isKeyNew ? `a new key in ${keys}` : `the first key of ${keys}`;
  return {
    text: `Encrypted ${count(changed, "credential")} with ${with_}`,
    remarks: lines([
      isKeyNew ? "The old keys stay in the file: older backups of the store need them" : "",
      unreadable.length === 0
        ? ""
        : `Not encrypted, because the keys of ${keys} do not decrypt them: ${unreadable.map((title) => escaped(title)).join(", ")}`,
    ]),
  };
}
