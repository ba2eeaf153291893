import { createError, getMessage, SkillgateError } from "../../errors.ts";
import { UNANSWERED } from "./postgres-driver.ts";

/** Codes of Postgres: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES: Readonly<Record<string, "STORE_FULL" | "STORE_READ_ONLY" | "STORE_CONFLICT" | "STORE_DAMAGED">> = {
  "53100": "STORE_FULL",
  "25006": "STORE_READ_ONLY",
  "42501": "STORE_READ_ONLY",
  "23505": "STORE_CONFLICT",
  XX001: "STORE_DAMAGED",
  XX002: "STORE_DAMAGED",
};

const LOCK_NOT_AVAILABLE = "55P03";
const QUERY_CANCELED = "57014";

/** Codes of a connection that was not opened: no statement was sent. The numbers are those of a server that starts or is full. */
const UNOPENED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "CONNECT_TIMEOUT",
  UNANSWERED,
  "57P03",
  "53300",
]);

/** Codes of a connection that ended. The numbers are those of a server that stops, and of a transaction that was idle. */
const ENDED: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "57P01",
  "57P02",
  "25P03",
]);

/** True if the statement did not reach the server. */
export function isUnsent(error: unknown): boolean {
  return UNOPENED.has(getCode(error));
}

/** True if the connection was lost after the statement was sent: it may have been carried out. */
export function isLost(error: unknown): boolean {
  return ENDED.has(getCode(error));
}

export function isConflict(error: unknown): boolean {
  return CODES[getCode(error)] === "STORE_CONFLICT";
}

/** The place of a store, and the times that its statements may take. */
export interface ErrorPlace {
  /** The URL without its password. */
  readonly location: string;
  readonly lockMs: number;
  readonly statementMs: number;
  /** True for work that changes nothing, of which nothing is unknown when its connection ends. */
  readonly isRead?: boolean;
}

/** Converts an error of the driver; an error of the work in a transaction stays as it is. */
export function toStoreError(error: unknown, { location, lockMs, statementMs, isRead }: ErrorPlace): unknown {
  const code = getCode(error);
  if (code === "" || error instanceof SkillgateError) return error;
  const fail = (
    storeCode: ConstructorParameters<typeof SkillgateError>[0],
    values: string,
    timeoutMs?: number,
  ): SkillgateError =>
    createError(storeCode, values, timeoutMs === undefined ? {} : { timeoutMs }, {
      cause: error,
    });
  if (code === LOCK_NOT_AVAILABLE)
    return fail("LOCK_TIMEOUT", `another process has been writing to it for ${lockMs} ms`, lockMs);
  if (code === QUERY_CANCELED)
    return fail("STORE_TIMEOUT", `${location} took more than ${statementMs} ms`, statementMs);
  if (isLost(error) && isRead !== true)
    return fail(
      "STORE_UNAVAILABLE",
      `${location}: the connection ended, and whether the change was stored is not known`,
    );
  return fail(CODES[code] ?? "STORE_UNAVAILABLE", `${location}: ${getMessage(error) || code}`);
}

function getCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
