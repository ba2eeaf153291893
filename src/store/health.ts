import { type ErrorCode, getMessage, SkillgateError } from "../errors.ts";
import { guardRows, type RowOperation, type StoreEngine } from "./database/table.ts";

/** Why the store cannot be used at the moment. */
export interface StoreFailure {
  readonly code: ErrorCode;
  /** Names the place of the store. */
  readonly message: string;
}

/** Whether the store works: it fails from an operation that failed until the next commit. */
export interface StoreHealth {
  /** `undefined` while the store works. */
  readonly failure: StoreFailure | undefined;
  /** Calls `listener` when the store begins to fail, for another reason too, and when it works again. */
  onChange(listener: (failure: StoreFailure | undefined) => void): void;
}

/** The health of a store, as the operations report it. */
export interface HealthRecord extends StoreHealth {
  /** Reports an operation that failed. A conflict, and an error of another module, say nothing about the store and are ignored. */
  fail(error: unknown): void;
  /** Reports a commit. */
  succeed(): void;
  close(): void;
}

/** Milliseconds until a store that failed is tried again, so that it is found to work without another request. */
const TRY_AGAIN_MS = 2_000;

/** `tryCommit` commits something: while the store fails, it is called again and again. */
export function createHealth(tryCommit: () => Promise<unknown>): HealthRecord {
  const listeners: ((failure: StoreFailure | undefined) => void)[] = [];
  let failure: StoreFailure | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function set(next: StoreFailure | undefined): void {
    if (next?.message === failure?.message) return;
    failure = next;
    for (const listener of listeners) listener(next);
  }

  function tryLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      tryCommit().catch(() => {}); // reported by the operation itself
    }, TRY_AGAIN_MS).unref();
  }

  return {
    get failure() {
      return failure;
    },
    onChange: (listener) => void listeners.push(listener),
    fail(error) {
      const code = error instanceof SkillgateError ? error.code : "STORE_UNAVAILABLE";
      const isOfStore = code === "LOCK_TIMEOUT" || (code.startsWith("STORE_") && code !== "STORE_CONFLICT");
      if (isClosed || !isOfStore) return;
      set({ code, message: getMessage(error) });
      tryLater();
    },
    succeed() {
      // A file stays damaged, also when a commit that does not touch the damage succeeds.
      if (failure?.code !== "STORE_DAMAGED") set(undefined);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Returns the engine; all of its operations report how they end. */
export function reportHealth(engine: StoreEngine, health: HealthRecord): StoreEngine {
  const report = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      health.fail(error);
      throw error;
    }
  };
  const commit = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = await report(work);
    health.succeed();
    return result;
  };
  const read: RowOperation = (work) => report(() => work(engine));
  const write: RowOperation = (work) => commit(() => work(engine));
  return {
    ...engine,
    ...guardRows(read, write),
    transaction: (locks, work) => commit(() => engine.transaction(locks, work)),
  };
}
