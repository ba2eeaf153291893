import { randomUUID } from "node:crypto";

import { getMessage, SkillgateError } from "../errors.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import type { AccountRow, AccountTable } from "../store/index.ts";
import { findValueFlaw } from "./credential.ts";
import {
  type AccountDefinition,
  digestDefinition,
  isFromSettings,
  listSecrets,
  type StaticDefinition,
} from "./definition.ts";
import { getConnectionTitle, requestError } from "./failures.ts";
import type { KeySource } from "./key-source.ts";
import type { Vault } from "./vault.ts";

/** How many credentials were encrypted again. */
export interface Rotation {
  /** True if a new key was made; otherwise the owner of the variable or the setting writes a new first key. */
  readonly isKeyNew: boolean;
  /** Where the keys are. */
  readonly keys: string;
  /** The number of values that were encrypted again. */
  readonly changed: number;
  /** Titles of connections whose values cannot be read. */
  readonly unreadable: readonly string[];
}

interface StoredValues {
  readonly openTable: () => Promise<AccountTable>;
  readonly vault: Vault;
  /** Takes every value before it is used. */
  readonly secrets: Pick<KnownSecrets, "addPassing">;
  readonly now: () => number;
}

/** The columns of a new connection, whatever its credential. */
export const NEW_ROW = {
  label: null,
  scopes: [],
  state: "connected",
  reason: null,
  expires: null,
  lastUsed: null,
  version: 1,
  claimedBy: null,
  claimedUntil: null,
} as const satisfies Partial<AccountRow>;

/** Stores the values of an owner in place of those before; returns the id of the connection. Throws `OPTION_INVALID`. */
export async function connectValues(
  written: AccountDefinition,
  owner: string | null,
  values: readonly string[],
  { openTable, vault, secrets, now }: StoredValues,
): Promise<string> {
  const definition = requireConnectable(written, owner, values);
  secrets.addPassing(listSecrets(definition, values));
  const location = { id: randomUUID(), name: definition.name, owner, definition: digestDefinition(definition) };
  const value = await vault.seal(location, values);
  await (await openTable()).replace({ ...NEW_ROW, ...location, value, created: now() });
  return location.id;
}

/** Throws `OPTION_INVALID` for an owner that cannot have such a connection, and for values that cannot be its credential. */
function requireConnectable(
  definition: AccountDefinition,
  owner: string | null,
  values: readonly string[],
): StaticDefinition {
  const { name } = definition;
  requireOwnable(definition, owner);
  if (definition.type === "oauth")
    throw requestError(`the account ${name} is connected by its provider, not with a value`);
  const flaw = findValueFlaw(definition, values);
  if (flaw !== undefined) throw requestError(`the credential of the account ${name}: ${flaw}`);
  return definition;
}

/** Throws `OPTION_INVALID` for an account that this owner does not connect. */
export function requireOwnable(definition: AccountDefinition, owner: string | null): void {
  const { name, isPerCaller } = definition;
  if (isFromSettings(definition)) throw requestError(`the settings have the credential of the account ${name}`);
  if (isPerCaller === (owner !== null)) return;
  const whom = isPerCaller ? "each caller, not for everyone" : "everyone, not for a caller";
  throw requestError(`the account ${name} is for ${whom}`);
}

/**
 * Encrypts each value that has another key than the first one, which is a new one if a file has the keys. A value that another process
 * changes meanwhile has the first key already.
 */
export async function rotateValues(
  keys: KeySource,
  { openTable, vault }: Pick<StoredValues, "openTable" | "vault">,
): Promise<Rotation> {
  const isKeyNew = await keys.renew();
  const table = await openTable();
  const unreadable: string[] = [];
  let changed = 0;
  for (const row of await table.list()) {
    if (await vault.isCurrent(row)) continue;
    const value = await vault.open(row).catch((error: unknown) => {
      if (error instanceof SkillgateError) return undefined;
      throw error;
    });
    if (typeof value !== "object" || value === null) unreadable.push(getConnectionTitle(row.name, row.owner));
    else if (await table.update(row, { value: await vault.seal(row, value) })) changed++;
  }
  return { isKeyNew, keys: await keys.describe(), changed, unreadable };
}

/** A connection whose value cannot be decrypted. */
export interface UnreadableConnection {
  readonly name: string;
  readonly title: string;
  readonly why: string;
}

/** Lists the connections whose values cannot be decrypted, because of a missing key or a change outside of Skillgate. */
export async function listUnreadable({
  openTable,
  vault,
}: Pick<StoredValues, "openTable" | "vault">): Promise<readonly UnreadableConnection[]> {
  const found: UnreadableConnection[] = [];
  for (const row of await (await openTable()).list()) {
    const error = await vault.open(row).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) continue;
    found.push({ name: row.name, title: getConnectionTitle(row.name, row.owner), why: getMessage(error) });
  }
  return found;
}
