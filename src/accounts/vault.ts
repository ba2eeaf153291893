import type { AccountFlowRow, AccountRow } from "../store/index.ts";
import { createCipher } from "./cipher.ts";
import type { KeySource } from "./key-source.ts";

/** The columns of a row to which its value is bound: in a row with others it cannot be decrypted. They never change. */
export type ConnectionPlace = Pick<AccountRow, "id" | "name" | "owner" | "definition">;
type FlowPlace = Pick<AccountFlowRow, "id" | "name" | "owner" | "browser">;

/** Encrypts the values of the tables of accounts, as JSON. Each function rejects with `ACCOUNT_UNAVAILABLE`. */
export interface Vault {
  /** Encrypts a value for a row. */
  seal(location: ConnectionPlace | FlowPlace, value: object): Promise<string>;
  /** Decrypts the value of a row. */
  open(row: (ConnectionPlace | FlowPlace) & { readonly value: string }): Promise<unknown>;
  /** True for a row whose value was encrypted with the first key. */
  isCurrent(row: { readonly value: string }): Promise<boolean>;
}

export function createVault(keys: KeySource): Vault {
  const cipher = createCipher(keys);
  return {
    seal: (location, value) => cipher.encrypt(JSON.stringify(value), toText(location)),
    open: async (row) => JSON.parse(await cipher.decrypt(row.value, toText(row))) as unknown,
    isCurrent: ({ value }) => cipher.isCurrent(value),
  };
}

function toText(location: ConnectionPlace | FlowPlace): string {
  const { id, name, owner } = location;
  return JSON.stringify([id, name, owner, "browser" in location ? location.browser : location.definition]);
}
