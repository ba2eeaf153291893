import type { UnreadableConnection } from "../../../accounts/index.ts";
import type { ListedAccount } from "../../../runtime/api/view.ts";
import type { Runtime } from "../../../runtime.ts";
import { escaped, lines } from "../text/layout.ts";
import type { DoctorCheck } from "../text/output.ts";
import { describeConnection } from "./account-texts.ts";

/** Checks the accounts of the settings: those that must be connected, that no skill uses, and whose keys are missing. */
export async function checkAccounts(runtime: Runtime): Promise<readonly DoctorCheck[]> {
  const logins = (await runtime.accounts.listUnreadableLogins()).map(describeLogin);
  if (runtime.sections["accounts"] === undefined) return logins;
  const accounts = await runtime.accounts.list();
  const unreadable = await runtime.accounts.listUnreadable();
  const names = [...new Set(accounts.map(({ name }) => name))];
  const checks = names.map((name): DoctorCheck => {
    const own = accounts.filter((each) => each.name === name);
    const lost = unreadable.filter((each) => each.name === name);
    const notes = own.flatMap((account) => describeTrouble(account) ?? []);
    const isUnused = own.every(({ skills }) => skills.length === 0);
    return {
      kind: "account",
      subject: `Account ${name}`,
      status: notes.length + lost.length > 0 || isUnused ? "warning" : "ok",
      says: isUnused
        ? "no API, MCP server or skill uses it"
        : `used by ${[...new Set(own.flatMap(({ skills }) => skills))].join(", ")}`,
      details: lines([...notes, ...lost.map(({ title, why }) => `${escaped(title)}: ${why}`)]),
    };
  });
  return [...checks, ...logins];
}

function describeLogin({ name, why }: UnreadableConnection): DoctorCheck {
  return {
    kind: "account",
    subject: `Login at ${escaped(name)}`,
    status: "warning",
    says: "it cannot be read",
    details: why,
  };
}

/** Callers that have not connected an account of theirs may not need it. */
function describeTrouble(account: ListedAccount): string | undefined {
  const { name, state, reason, owner } = account;
  const title = describeConnection(account);
  if (state === "reconnect") return `${title} must be connected again: ${reason ?? ""}`;
  if (state === "settings" && reason !== null) return reason;
  if (state === "unknown")
    return `${title} is stored, but the settings have no such account: skillgate account revoke ${name}`;
  return state === "missing" && owner === null ? `it is not connected: skillgate account connect ${name}` : undefined;
}
