import { connect, type Socket } from "node:net";

import { createPackageRequire } from "../../../sandbox/package-files.ts";
import { explainMissing } from "../../shared/package/optional-package.ts";
import type { SqlRow, SqlValue } from "./sql.ts";

const MAX_CONNECTIONS = 4;
/** Seconds that the opening of a connection may take. */
const CONNECT_SECONDS = 10;
/** Milliseconds that a statement may take. */
const STATEMENT_MS = 30_000;
/** Milliseconds after which the server ends a transaction whose process sends nothing, and with it its locks. */
const IDLE_TRANSACTION_MS = 10_000;
/** Seconds before a connection that was lost is opened again. */
const REOPEN_SECONDS = 0.05;
const DEFAULT_SCHEMA = "skillgate";

/** The part of the package `postgres` that is used. */
export interface Sql extends Queries {
  <Row = SqlRow>(text: TemplateStringsArray, ...values: readonly unknown[]): Promise<readonly Row[]>;
  /** Quotes a name. */
  (name: string): unknown;
  begin<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  notify(channel: string, payload: string): Promise<unknown>;
  end(options: { readonly timeout: number }): Promise<void>;
}

export interface Queries {
  unsafe(
    text: string,
    parameters?: readonly SqlValue[],
    options?: { readonly prepare: boolean },
  ): Promise<readonly SqlRow[] & { readonly count: number }>;
}

/** Options of the driver for the connections of one purpose. */
export interface DriverOptions {
  readonly max?: number;
  /** Seconds after which a connection is replaced; `null` for never. */
  readonly max_lifetime?: null;
  readonly onclose?: () => void;
  readonly onnotify?: () => void;
  readonly connection?: Readonly<Record<string, unknown>>;
}

/** A database of Postgres, and the settings of its connections. Each one is a default that the URL can replace. */
export interface PostgresTarget {
  readonly url: string;
  /** The URL without its password. */
  readonly location: string;
  readonly database: string;
  readonly schema: string;
  readonly lockMs: number;
  readonly statementMs: number;
}

/**
 * Reads the settings of the connections from a URL, such as `?search_path=name&statement_timeout=60000`. Returns `undefined` for a
 * text that is not the URL of a database of Postgres.
 */
export function parseTarget(text: string, defaultLockMs: number): PostgresTarget | undefined {
  if (!URL.canParse(text) || !canDecode(text)) return undefined;
  const url = new URL(text);
  const { protocol, username, host, pathname, searchParams } = url;
  if (protocol !== "postgres:" && protocol !== "postgresql:") return undefined;
  const readMs = (name: string, otherwise: number): number => Number(searchParams.get(name) ?? otherwise);
  const schema = searchParams.get("search_path") ?? DEFAULT_SCHEMA;
  searchParams.delete("search_path");
  return {
    url: url.href,
    location: `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`,
    database: decodeURIComponent(pathname.slice(1)),
    schema,
    lockMs: readMs("lock_timeout", defaultLockMs),
    statementMs: readMs("statement_timeout", STATEMENT_MS),
  };
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false; // a "%" that is not the start of an escape
  }
}

/** Reads 64-bit integers as numbers: the store has no number beyond 2^53. The numbers are object ids of `pg_type`. */
const BIGINT = { to: 20, from: [20], parse: Number, serialize: String };

function loadDriver(): (url: string, options: object) => Sql {
  try {
    return createPackageRequire()("postgres") as ReturnType<typeof loadDriver>;
  } catch (error) {
    return explainMissing("a store in PostgreSQL", "postgres")(error);
  }
}

/** Creates connections, which open when they are needed. What the URL says replaces these options. */
export function openDriver({ url, database, schema, lockMs }: PostgresTarget, options: DriverOptions = {}): Sql {
  const postgres = loadDriver();
  const { searchParams, host } = new URL(url);
  return postgres(url, {
    database,
    max: MAX_CONNECTIONS,
    ...(!searchParams.has("connect_timeout") && { connect_timeout: CONNECT_SECONDS }),
    backoff: () => REOPEN_SECONDS,
    // The driver tries the hosts of a list one after the other by itself.
    ...(!host.includes(",") && { socket: openSocket }),
    onnotice: () => {},
    types: { bigint: BIGINT },
    // The driver would ask for the types of arrays, which no table has. If the connection is closed meanwhile, it handles no error.
    fetch_types: false,
    ...options,
    connection: {
      application_name: "skillgate",
      search_path: `"${schema.replaceAll('"', '""')}"`,
      lock_timeout: lockMs,
      statement_timeout: STATEMENT_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      ...options.connection,
    },
  });
}

/** Where the driver connects to. */
interface DriverAddress {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** A socket of Unix. */
  readonly path: string | false;
}

/**
 * Opens a socket that fails if it is closed before the server has answered, as by a proxy whose server is gone: the driver would
 * connect again at once, without end.
 */
function openSocket({ host: [host = ""], port: [port = 0], path }: DriverAddress): Socket {
  const socket = path === false ? connect(port, host) : connect(path);
  socket.once("end", () => {
    if (socket.bytesRead > 0) return;
    const error = new Error(`${path === false ? `${host}:${port}` : path} closed the connection without an answer`);
    socket.destroy(Object.assign(error, { code: UNANSWERED }));
  });
  // The driver has these in its messages, and compares the certificate of the server with the host.
  return Object.assign(socket, { host, port });
}

/** The code of a connection that was closed before the server answered. */
export const UNANSWERED = "CONNECTION_UNANSWERED";

/** Closes the connections at once: after one was lost, the driver would wait for a statement that has failed. */
export function endDriver(sql: Sql): Promise<void> {
  return sql.end({ timeout: 0 });
}

/** Milliseconds between two attempts to subscribe. */
const RESUBSCRIBE_MS = 100;

/** Calls `onChange` when a process announces a change, and after each subscription, as changes may have been missed. */
export function subscribe(target: PostgresTarget, channel: string, onChange: () => void): { close(): Promise<void> } {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  // A subscription of the driver itself ends if its first attempt to connect again fails.
  const sql = openDriver(target, { max: 1, max_lifetime: null, onnotify: onChange, onclose: () => later() });
  function later(): void {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(() => void listen(), RESUBSCRIBE_MS).unref();
  }
  async function listen(): Promise<void> {
    try {
      await sql`LISTEN ${sql(channel)}`;
      onChange();
    } catch {
      later(); // the operations of the store report why it cannot be reached
    }
  }
  void listen();
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await endDriver(sql);
    },
  };
}
