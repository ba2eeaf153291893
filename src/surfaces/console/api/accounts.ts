import { findKeyName, OWNER } from "../../../model/caller.ts";
import type { ListedAccount, RuntimeView } from "../../../runtime/api/view.ts";
import { type ConsoleRequest, type Endpoints, type JsonObject, readText, readTexts } from "../endpoints.ts";
import type { AccountConnect, AccountSummary } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleServices } from "../services.ts";

/** The accounts whose connections the caller may see, and what the caller may do with them. No answer has a credential. */
export function createAccountEndpoints({ http }: ConsoleServices): Endpoints {
  return {
    "GET /accounts": async ({ view }) => {
      const listed = await view.accounts.list();
      const logins = await view.accounts.listServerLogins();
      return {
        accounts: await Promise.all(listed.map((account) => summarize(account, view, http.publicUrl()))),
        logins: logins.map((login) => ({ ...login, ownerName: getOwnerName(login.owner) })),
      };
    },
    "POST /logins/remove": async ({ view, readBody }) => {
      const body = await readBody();
      const login = { server: readText(body, "server"), owner: readText(body, "owner") };
      if (!(await view.accounts.removeServerLogin(login))) throw invalidRequest("this login does not exist any more");
    },
    "POST /accounts/:name/connect": async (request) => {
      const body = await request.readBody();
      const target = body["key"] === undefined ? await findConnection(request, body) : await findForKey(request, body);
      await request.view.accounts.connect(target, readTexts(body, "values"));
    },
    "POST /accounts/:name/test": async (request) =>
      request.view.accounts.test(await findConnection(request, await request.readBody())),
    "POST /accounts/:name/revoke": async (request) => {
      const target = await findConnection(request, await request.readBody());
      const { isRevoked, left = null } = await request.view.accounts.revoke(target);
      if (!isRevoked) throw invalidRequest("this connection does not exist any more");
      return { left };
    },
  };
}

async function summarize(account: ListedAccount, view: RuntimeView, baseUrl: string): Promise<AccountSummary> {
  const { owner } = account;
  const isOwn = owner === null || owner === view.caller.id;
  const ownerName = owner === null ? "everyone" : getOwnerName(owner);
  return { ...account, ownerName, isOwn, connect: await describeConnect({ ...account, isOwn }, view, baseUrl) };
}

function getOwnerName(owner: string): string {
  return findKeyName(owner) ?? owner;
}

/** A login at a provider is for the person who logs in, so no one begins it for another caller. */
async function describeConnect(
  { name, type, isOwn }: Pick<AccountSummary, "name" | "type" | "isOwn">,
  view: RuntimeView,
  baseUrl: string,
): Promise<AccountConnect | null> {
  if (type === null) return null;
  const { isFromSettings, values, grant } = await view.accounts.describe(name);
  if (isFromSettings) return null;
  if (type !== "oauth") return { kind: "values", names: values };
  if (!isOwn) return null;
  const isOwner = view.caller.id === OWNER.id;
  if (grant === "device") return isOwner ? { kind: "command", command: `skillgate account connect ${name}` } : null;
  return { kind: "link", url: `${baseUrl}/connect/${encodeURIComponent(name)}` };
}

interface ConnectionTarget {
  readonly name: string;
  readonly owner: string | null;
}

/** Finds the account and the owner of a request among the connections that the caller may see. */
async function findConnection({ view, getPart }: ConsoleRequest, { owner }: JsonObject): Promise<ConnectionTarget> {
  const name = getPart("name");
  if (owner !== null && typeof owner !== "string") throw invalidRequest("owner must be the id of a caller, or null");
  const accounts = await view.accounts.list();
  if (accounts.some((each) => each.name === name && each.owner === owner)) return { name, owner };
  // Callers that may not see all do not learn which accounts exist.
  view.require("ManageServers");
  throw invalidRequest(`there is no account ${JSON.stringify(name)} of this owner`);
}

/** Finds the caller of a key that may have no connection yet. */
async function findForKey({ view, getPart }: ConsoleRequest, body: JsonObject): Promise<ConnectionTarget> {
  view.require("ManageServers");
  const { findCaller } = await view.admin("Read").openKeys();
  const found = await findCaller(readText(body, "key"));
  if (found?.state !== "active") throw invalidRequest("there is no valid key of this name or id");
  return { name: getPart("name"), owner: found.caller.id };
}
