import { sentence, SkillgateError } from "../../src/errors.ts";
import type { Account, ConnectionEnd, CredentialPlace, OpenAccount, UsableAccounts } from "../../src/model/account.ts";
import type { Caller } from "../../src/model/caller.ts";

interface TestConnection {
  readonly id: string;
  readonly value: string;
}

/** What a test says of an account. */
export interface TestAccount extends Partial<Pick<Account, "places" | "servers" | "isRevealed">> {
  /** The value of each caller's connection, by the id of the caller. */
  readonly values: Readonly<Record<string, string>>;
  /** Returns the value in place of one that was refused. */
  readonly renew?: (value: string) => string | undefined | Promise<string | undefined>;
}

const BEARER: CredentialPlace = { in: "header", name: "authorization" };

/** Accounts in memory, of callers that the test connects. */
export class TestAccounts implements UsableAccounts {
  readonly #accounts: ReadonlyMap<string, Account>;
  readonly #connections = new Map<string, TestConnection>();
  readonly #listeners = new Map<string, Set<(end: ConnectionEnd) => void>>();
  #ids = 0;
  /** What `refresh` reads: connections of another process. */
  readonly elsewhere: (() => void)[] = [];

  constructor(accounts: Readonly<Record<string, TestAccount>>) {
    this.#accounts = new Map(Object.entries(accounts).map(([name, account]) => [name, this.#create(name, account)]));
    for (const [name, { values }] of Object.entries(accounts))
      for (const [caller, value] of Object.entries(values)) this.connect(name, caller, value);
  }

  readonly find = (name: string): Account | undefined => this.#accounts.get(name);

  readonly refresh = async (): Promise<void> => {
    for (const change of this.elsewhere.splice(0)) change();
  };

  /** Connects an account of a caller, in place of an earlier connection. */
  connect(name: string, caller: string, value: string): void {
    this.#end(name, caller, "was replaced");
    this.#connections.set(`${name} ${caller}`, { id: `connection-${++this.#ids}`, value });
  }

  revoke(name: string, caller: string): void {
    this.#end(name, caller, "was revoked");
  }

  #end(name: string, caller: string, end: ConnectionEnd): void {
    const connection = this.#connections.get(`${name} ${caller}`);
    this.#connections.delete(`${name} ${caller}`);
    for (const listener of this.#listeners.get(connection?.id ?? "") ?? []) listener(end);
  }

  #create(name: string, { places = [BEARER], servers = [], isRevealed = () => false, renew }: TestAccount): Account {
    const get = ({ id }: Caller): TestConnection => {
      const connection = this.#connections.get(`${name} ${id}`);
      if (connection !== undefined) return connection;
      const says = `${name} is not connected; connect it with: skillgate account connect ${name} --caller ${id}`;
      throw new SkillgateError("ACCOUNT_MISSING", sentence("ACCOUNT_MISSING", says));
    };
    const open = (caller: Caller): OpenAccount => {
      const { id, value } = get(caller);
      return {
        id,
        title: `${name} (${caller.id})`,
        credential: places.map((place) => ({ ...place, value: place.in === "header" ? `Bearer ${value}` : value })),
        renew: async () => {
          const next = await renew?.(value);
          if (next !== undefined) this.#connections.set(`${name} ${caller.id}`, { id, value: next });
          return next === undefined ? undefined : open(caller);
        },
      };
    };
    return {
      name,
      digest: name,
      places,
      servers,
      isPerCaller: true,
      isPrivate: true,
      isRevealed,
      getId: (caller) => get(caller).id,
      getTitle: (caller) => open(caller).title,
      open: async (caller) => open(caller),
      describeConnect: ({ id }) => `connect it with: skillgate account connect ${name} --caller ${id}`,
      onEnd: (id, listener) => {
        const listeners = this.#listeners.get(id) ?? new Set();
        this.#listeners.set(id, listeners.add(listener));
        return () => listeners.delete(listener);
      },
    };
  }
}
