import { scryptSync } from "node:crypto";

import { createError } from "../errors.ts";
import type { Account, Credential, OpenAccount } from "../model/account.ts";
import type { Caller } from "../model/caller.ts";
import type { AccountRow } from "../store/index.ts";
import type { StoredConnection } from "./connections.ts";
import { toCredential } from "./credential.ts";
import {
  type AccountDefinition,
  digestDefinition,
  isFromSettings,
  listDefinedSecrets,
  listPlaces,
  type OAuthDefinition,
  type StaticDefinition,
} from "./definition.ts";
import { type DescribeConnect, getConnectionTitle } from "./failures.ts";

/** Opens an account of the type `oauth`: requests a new token if the stored one ends. */
export type OpenOAuth = (definition: OAuthDefinition, use: OpenedUse) => Promise<OpenAccount>;

/** A connection for the requests of one owner. */
export interface OpenedUse {
  readonly owner: string | null;
  readonly id: string;
  readonly title: string;
  /** How the caller connects it: `connect it: skillgate account connect github`. */
  readonly connect: string;
  /** The stored connection; `undefined` for an account whose settings have all that it needs. */
  readonly row?: AccountRow;
}

export interface AccountContext {
  readonly findConnection: (name: string, owner: string | null) => StoredConnection | undefined;
  /** Reads the stored connection of an owner afresh. */
  readonly readRow: (name: string, owner: string | null) => Promise<AccountRow | undefined>;
  /** Decrypts the values of a connection, which become known secrets. */
  readonly readValues: (definition: StaticDefinition, row: AccountRow) => Promise<readonly string[]>;
  /** Calls back once when a connection was revoked or replaced. */
  readonly onEnd: Account["onEnd"];
  readonly noteUse: (row: AccountRow) => void;
  readonly openOAuth: OpenOAuth;
  readonly describeConnect: DescribeConnect;
}

/** Creates an account for the providers that make requests with it. */
export function createAccount(definition: AccountDefinition, context: AccountContext): Account {
  const { name, isPerCaller, servers, reveal } = definition;
  const findOwner = ({ id }: Caller): string | null => (isPerCaller ? id : null);
  const getId = (caller: Caller): string => {
    if (isFromSettings(definition)) return getSettingsId(definition);
    return requireUsable(context.findConnection(name, findOwner(caller)), definition, { caller, context }).id;
  };
  const getTitle = (caller: Caller): string => getConnectionTitle(name, findOwner(caller));
  return {
    name,
    digest: digestDefinition(definition),
    places: listPlaces(definition),
    servers,
    isPerCaller,
    isPrivate: definition.isPrivate,
    isRevealed: (skill) => reveal.includes(skill),
    getId,
    getTitle,
    describeConnect: (caller) =>
      isFromSettings(definition)
        ? `the owner corrects its value in the settings: accounts.${name}`
        : context.describeConnect(caller, definition),
    onEnd: (id, listener) => context.onEnd(id, listener),
    async open(caller) {
      const owner = findOwner(caller);
      const title = getTitle(caller);
      const connect = context.describeConnect(caller, definition);
      if (definition.unset !== undefined) throw createError("ACCOUNT_UNAVAILABLE", `${title}: ${definition.unset}`);
      if (isFromSettings(definition)) {
        const id = getSettingsId(definition);
        if (definition.type === "oauth") return context.openOAuth(definition, { owner, id, title, connect });
        return openStatic(toCredential(definition, definition.values ?? []), { id, title });
      }
      const found = await context.readRow(name, owner);
      const row = requireUsable(found, definition, { caller, context });
      if (definition.type === "oauth") {
        context.noteUse(row);
        return context.openOAuth(definition, { owner, id: row.id, title, connect, row });
      }
      const values = await context.readValues(definition, row);
      context.noteUse(row);
      return openStatic(toCredential(definition, values), { id: row.id, title });
    },
  };
}

/** A credential that does not change by itself: a service that refuses it gets no other one. */
function openStatic(credential: Credential, { id, title }: Pick<OpenAccount, "id" | "title">): OpenAccount {
  return { id, title, credential, renew: async () => undefined };
}

/** Says why a stored connection cannot be used; `undefined` if it can. */
export function findConnectionFlaw(
  { definition: connected, state, reason }: StoredConnection,
  definition: AccountDefinition | undefined,
): string | undefined {
  if (definition === undefined) return "it is no longer in the settings";
  if (connected !== digestDefinition(definition)) return "its settings have changed since it was connected";
  return state === "reconnect" ? (reason ?? "the service does not accept it any more") : undefined;
}

/** Throws `ACCOUNT_MISSING` and `ACCOUNT_RECONNECT`, with what to do. */
function requireUsable<Row extends StoredConnection>(
  row: Row | undefined,
  definition: AccountDefinition,
  { caller, context }: { readonly caller: Caller; readonly context: AccountContext },
): Row {
  const flaw = row === undefined ? undefined : findConnectionFlaw(row, definition);
  if (row !== undefined && flaw === undefined) return row;
  const { name, isPerCaller } = definition;
  const title = getConnectionTitle(name, isPerCaller ? caller.id : null);
  const connect = context.describeConnect(caller, definition);
  const facts = { account: name, connect };
  if (flaw === undefined) throw createError("ACCOUNT_MISSING", `${title} is not connected; ${connect}`, facts);
  throw createError("ACCOUNT_RECONNECT", `${title}: ${flaw}; ${connect}`, facts);
}

/** The work of the digest below: enough that a short password cannot be guessed from an id quickly. */
const SCRYPT = { N: 4_096, r: 8, p: 1 };
const ID_BYTES = 12;

const settingsIds = new WeakMap<AccountDefinition, string>();

/** Returns the id of an account whose credential is in the settings; with another credential, it is another one. */
function getSettingsId(definition: AccountDefinition): string {
  const cached = settingsIds.get(definition);
  if (cached !== undefined) return cached;
  const values = JSON.stringify(listDefinedSecrets(definition));
  const id = `settings-${scryptSync(values, digestDefinition(definition), ID_BYTES, SCRYPT).toString("hex")}`;
  settingsIds.set(definition, id);
  return id;
}
