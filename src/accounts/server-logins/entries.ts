/** The encrypted logins at MCP servers: texts by key, which all processes of the same place share. */
export interface LoginEntries {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string): Promise<void>;
  /** Replaces a text if it is still `before`; returns false otherwise. */
  replace(key: string, before: string, text: string): Promise<boolean>;
  /** Returns false if there is no such entry. */
  delete(key: string): Promise<boolean>;
  list(): Promise<ReadonlyMap<string, string>>;
  /** Runs work under the lock of a key. */
  exclusively<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

/** Encrypts the value of a key. */
export type SealValue = (key: string, value: unknown) => Promise<string>;
