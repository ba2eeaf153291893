import { findConnectionFlaw } from "./account.ts";
import type { StoredConnection } from "./connections.ts";
import { type AccountDefinition, isFromSettings } from "./definition.ts";

/** `settings`: the settings have the credential. `unknown`: a connection of an account that the settings do not have. */
export type AccountStatusState = "connected" | "missing" | "reconnect" | "settings" | "unknown";

/** An account with the connection of one owner. It has no value. */
export interface AccountStatus {
  readonly name: string;
  readonly type: AccountDefinition["type"] | null;
  /** `caller`: each caller has a connection of its own. */
  readonly for: "caller" | "everyone";
  /** The id of the caller; `null` for everyone. */
  readonly owner: string | null;
  readonly state: AccountStatusState;
  /** Why the state is `reconnect`, or what of the secrets in the settings is not set. */
  readonly reason: string | null;
  /** The user at the service, if it is known. */
  readonly label: string | null;
  readonly scopes: readonly string[];
  /** Times in milliseconds since 1970. */
  readonly expires: number | null;
  readonly connected: number | null;
  readonly lastUsed: number | null;
}

/** The caller that looks at the accounts. */
export interface AccountViewer {
  /** The id of the caller. */
  readonly id: string;
  /** Sees the connections of everyone and of all callers. */
  readonly seesAll: boolean;
}

/** Lists the accounts with the connections that a viewer may see, in the order of the settings. */
export function listStatuses(
  definitions: ReadonlyMap<string, AccountDefinition>,
  connections: readonly StoredConnection[],
  { id, seesAll }: AccountViewer,
): readonly AccountStatus[] {
  const visible = connections.filter(({ owner }) => seesAll || owner === id);
  const current = [...definitions.values()].flatMap((definition) => {
    const { isPerCaller } = definition;
    const mine = isPerCaller ? id : null;
    const own = visible.filter((connection) => belongsTo(connection, definition));
    const isAbsent = (seesAll || isPerCaller) && !own.some(({ owner }) => owner === mine);
    return [
      ...(isAbsent ? [describeAbsent(definition, mine)] : []),
      ...own.map((connection) => describeConnection(connection, definition)),
    ];
  });
  // The settings do not have the account any more, or it is for others now.
  const others = visible.filter((connection) => !belongsTo(connection, definitions.get(connection.name)));
  return [...current, ...others.map((connection) => describeConnection(connection, definitions.get(connection.name)))];
}

function belongsTo({ name, owner }: StoredConnection, definition: AccountDefinition | undefined): boolean {
  return definition?.name === name && definition.isPerCaller === (owner !== null);
}

function describeAbsent(definition: AccountDefinition, owner: string | null): AccountStatus {
  const { name, type, isPerCaller } = definition;
  const state = isFromSettings(definition) ? "settings" : "missing";
  const none = {
    reason: definition.unset ?? null,
    label: null,
    scopes: [],
    expires: null,
    connected: null,
    lastUsed: null,
  };
  return { name, type, for: isPerCaller ? "caller" : "everyone", owner, state, ...none };
}

function describeConnection(connection: StoredConnection, definition: AccountDefinition | undefined): AccountStatus {
  const { name, owner, label, scopes, expires, created, lastUsed } = connection;
  const flaw = findConnectionFlaw(connection, definition);
  const state = definition === undefined ? "unknown" : flaw === undefined ? "connected" : "reconnect";
  return {
    name,
    type: definition?.type ?? null,
    for: owner === null ? "everyone" : "caller",
    owner,
    state,
    reason: flaw ?? null,
    label,
    scopes,
    expires,
    connected: created,
    lastUsed,
  };
}
