import { createError } from "../../../../errors.ts";
import { isRecord } from "../../../../model/json.ts";
import { deleteOldest } from "../../../../shared/lru.ts";
import { addProblems, type CheckedDocument, type QueryKind } from "./checked-document.ts";
import { CheckThreads, type SchemaSource } from "./check-threads.ts";
import { encodeVariables } from "./encode-variables.ts";

export type { CheckedDocument, ConnectionPages, QueryKind } from "./checked-document.ts";

/** Checks texts against the schema of one API. */
export interface QueryChecker {
  /**
   * Checks a text, and the values of its variables, with `UNKNOWN` in place of those that are not known; `undefined` stands for
   * variables that are not known at all. Rejects with `QUERY_UNCHECKED` if the text takes too long, the thread has ended, or too
   * many texts wait.
   */
  check(kind: QueryKind, text: string, variables?: unknown): Promise<CheckedDocument>;
  close(): Promise<void>;
}

/** The schema of one API. */
export type ApiSchema = Omit<SchemaSource, "number">;

/** UTF-16 units of the texts of one API whose facts are kept, with the facts as JSON. */
const MAX_CACHE_UNITS = 2 << 20;

/** The threads of this process, and how many checkers use them. */
let shared: { readonly threads: CheckThreads; users: number } | undefined;
let lastNumber = 0;

/**
 * Creates the checker of one API. Its schema, in the language of GraphQL, is read when the first text is checked. One thread serves all APIs of the process; it ends when it is idle.
 */
export function createQueryChecker(schema: ApiSchema): QueryChecker {
  const used = (shared ??= { threads: new CheckThreads(), users: 0 });
  used.users++;
  const checker = createCheckerWith(used.threads, schema);
  let isClosed = false;
  return {
    ...checker,
    async close() {
      if (isClosed) return;
      isClosed = true;
      await checker.close();
      if (--used.users > 0) return;
      if (shared === used) shared = undefined;
      await used.threads.close();
    },
  };
}

/** Creates the checker of one API with threads of its own. */
export function createCheckerWith(threads: CheckThreads, schema: ApiSchema): QueryChecker {
  const source: SchemaSource = { ...schema, number: ++lastNumber };
  const cache = new TextCache();
  let isClosed = false;
  return {
    async check(kind, text, variables) {
      if (isClosed) throw createError("QUERY_UNCHECKED", "its API is closed");
      const before = cache.get(kind, text);
      if (before !== undefined && isSettled(before, variables)) return before.checked;
      const answer = await threads.check(source, {
        kind,
        text,
        needsText: before === undefined,
        ...(variables !== undefined && { variables: encodeVariables(variables) }),
      });
      const checked = before?.checked ?? answer.checked;
      if (checked === undefined) throw new TypeError("The facts of the text are missing");
      if (before === undefined) cache.set(kind, text, { checked, hasVariables: answer.hasVariables });
      return addProblems(checked, answer.problems);
    },
    async close() {
      isClosed = true;
      threads.remove(source);
    },
  };
}

interface CachedText {
  readonly checked: CheckedDocument;
  readonly hasVariables: boolean;
}

/** True if the values of the variables change nothing. */
function isSettled({ checked, hasVariables }: CachedText, variables: unknown): boolean {
  if (variables === undefined || checked.problems.length > 0) return true;
  return !hasVariables && isRecord(variables) && Object.keys(variables).length === 0;
}

/** Keeps the facts of the texts that were used last. */
class TextCache {
  readonly #texts = new Map<string, CachedText & { readonly units: number }>();
  #units = 0;

  get(kind: QueryKind, text: string): CachedText | undefined {
    const key = `${kind} ${text}`;
    const found = this.#texts.get(key);
    if (found === undefined) return undefined;
    this.#texts.delete(key);
    this.#texts.set(key, found);
    return found;
  }

  set(kind: QueryKind, text: string, facts: CachedText): void {
    const key = `${kind} ${text}`;
    if (this.#texts.has(key)) return; // another check of it was faster
    const units = key.length + JSON.stringify(facts.checked).length;
    this.#texts.set(key, { ...facts, units });
    this.#units += units;
    deleteOldest(
      this.#texts,
      () => this.#units > MAX_CACHE_UNITS,
      (oldest) => {
        this.#units -= this.#texts.get(oldest)?.units ?? 0;
        this.#texts.delete(oldest);
      },
    );
  }
}
