// The JSON of keys, the policy and the audit log. Times are in milliseconds since 1970.

import type { AuditItem } from "../../shared/audit/items.ts";
import type { Decision, Flow } from "../../model/policy.ts";

/** An API key without its secret. */
export interface KeySummary {
  readonly id: string;
  readonly name: string;
  /** The beginning of the key. */
  readonly prefix: string;
  readonly state: "active" | "expired" | "revoked";
  readonly permissions: readonly string[];
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly limits: { readonly perMinute?: number; readonly perHour?: number };
  readonly created: number;
  readonly lastUsed: number | null;
  readonly expires: number | null;
  readonly revoked: number | null;
  /** The time until which the secret before the rotation is valid. */
  readonly previousExpires: number | null;
}

export interface KeyList {
  readonly keys: readonly KeySummary[];
  /** False if keys end with the process, because the store is in memory. */
  readonly isLasting: boolean;
}

/** A key that was created or rotated, with its text, which is sent this once. */
export interface IssuedKey {
  readonly text: string;
  readonly key: KeySummary;
}

/** The policy that is in force, with the mistakes of its files. */
export interface PolicySummary {
  /** The file of the rows, relative to the project. */
  readonly file: string;
  readonly rows: readonly PolicyRowSummary[];
  readonly flows: readonly Flow[];
  readonly roles: readonly { readonly name: string; readonly scopes: readonly string[] }[];
  readonly problems: readonly string[];
  readonly asksDestructive: boolean;
  readonly onlyTightens: boolean;
}

export interface PolicyRowSummary {
  readonly key: string;
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The number of methods that the row matches. */
  readonly methods: number;
}

/** The decision on calls of a method by a caller, and the reasons, the decisive one first. */
export interface PolicyExplanation {
  readonly path: string;
  readonly caller: string;
  readonly decision: Decision;
  readonly reasons: readonly string[];
  readonly rule: Readonly<Record<string, unknown>>;
  /** The rows that match the method, the one that applies first. */
  readonly rows: readonly { readonly key: string; readonly line: number; readonly why: string }[];
}

export interface PolicyTestSummary {
  readonly results: readonly {
    readonly line: number;
    readonly path: string;
    readonly caller: string;
    readonly expected: Decision;
    readonly decision: Decision;
    readonly passed: boolean;
    readonly reasons: readonly string[];
  }[];
}

/** Records that match a filter, the newest first. */
export interface AuditPage {
  readonly rows: readonly AuditItem[];
  /** The number before which the next part begins; `null` if there are no older records. */
  readonly next: number | null;
  /** False if the runtime stores no records. */
  readonly isStored: boolean;
}

/** The result of checking the chain of records. */
export type AuditCheck =
  | { readonly kind: "intact"; readonly records: number; readonly heads: number; readonly lastSeq: number }
  | { readonly kind: "broken"; readonly problem: string; readonly seq: number; readonly says: string };
