import type { ApprovalScope, Approver } from "../../model/approval.ts";
import type { Json } from "../../model/json.ts";
import {
  defineTable,
  integer,
  json,
  optional,
  type RowOf,
  type Rows,
  type StoreEngine,
  text,
  type Where,
} from "../database/table.ts";

/**
 * `cancelled`: the run of the call has ended before the answer; `orphaned`: the process that waited has ended.
 */
export const APPROVAL_STATES = ["pending", "approved", "denied", "expired", "cancelled", "orphaned"] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

const CLOSED_STATES = APPROVAL_STATES.filter((state) => state !== "pending");

/** The call that a question is about, and its state. Times are in milliseconds since 1970. */
export type ApprovalFacts = RowOf<typeof FACTS>;

const FACTS = defineTable({
  name: "approvals",
  key: ["id"],
  columns: {
    id: text(),
    runId: text(),
    /** The number of the call in its run; `null` for a record of an earlier version. */
    callId: optional(integer()),
    /** Id of the caller. */
    caller: text(),
    /** `Skill.method` */
    path: text(),
    /** Properties of the method that matter for the answer, such as `destructive`. */
    marks: json<readonly string[]>(),
    /** The person who must answer. */
    approver: text<Approver>(),
    /** Digest of the arguments without masks, of full length. */
    digest: text(),
    /** The scopes that a yes can have. */
    scopes: json<readonly ApprovalScope[]>(),
    /** The process whose call waits for the answer, or `run:ID` for a run with a record; `null` if no call waits. */
    waiter: optional(text()),
    state: text<ApprovalState>(),
    /** The scope of the yes. */
    scope: optional(text<ApprovalScope>()),
    created: integer(),
    expires: integer(),
    answeredBy: optional(text()),
    answeredAs: optional(text<Approver>()),
    answeredAt: optional(integer()),
    usedAt: optional(integer()),
    /** When the question left the state `pending`; `null` also for a record of an earlier version. */
    closedAt: optional(integer()),
  },
});

/** The question whether one call may be made. */
export type ApprovalRow = RowOf<typeof APPROVALS>;

export const APPROVALS = defineTable({
  name: FACTS.name,
  key: ["id"],
  columns: {
    ...FACTS.columns,
    /** The description of the method. */
    description: text(),
    /** The arguments as a person sees them, with secrets masked. */
    arguments: json<Json>(),
    plan: json<Json>(),
    provenance: json<Json>(),
  },
  indexes: [["state", "created"], ["state", "expires"], ["runId"], ["closedAt"]],
});

/**
 * All questions, open and answered. Every change makes the watchers of the database run, in all processes. A thousand questions
 * can wait, with 64 Ki characters of arguments each, so only `get` returns these and the other texts of a question.
 */
export interface ApprovalTable {
  /** Returns the time by which questions expire, in milliseconds since 1970: the same for all processes. */
  now(): Promise<number>;
  add(approval: NewApproval): Promise<void>;
  /**
   * Adds a question for which no call waits. Returns it; the open question about the same call, or the unused yes to it, in its place
   * if there is one; `undefined` beside `maxPending` open ones of the caller. Of questions at the same moment, in whatever process, one after the other.
   */
  leave(approval: NewApproval, maxPending: number): Promise<ApprovalRow | undefined>;
  get(id: string): Promise<ApprovalRow | undefined>;
  /** Lists the questions in one state, the oldest first. */
  list(state: ApprovalState): Promise<readonly ApprovalFacts[]>;
  countPending(): Promise<number>;
  /** Lists the questions that were closed last, the last one first. */
  listClosed(limit: number): Promise<readonly ApprovalFacts[]>;
  /** Returns the questions about one call in one state, the oldest first. */
  find(call: Pick<ApprovalRow, "caller" | "path" | "digest" | "state">): Promise<readonly ApprovalFacts[]>;
  /** Returns the questions of a run, the oldest first. */
  listOfRun(runId: string): Promise<readonly ApprovalFacts[]>;
  /** Returns the questions that were closed after `time`. */
  listClosedAfter(time: number): Promise<readonly ApprovalFacts[]>;
  /** Returns the time at which the first of the pending questions expires. */
  findNextExpiry(): Promise<number | undefined>;
  /** Answers a pending question. Returns false if it does not exist, has an answer, or has expired by `time`. */
  answer(
    id: string,
    answer: {
      readonly state: "approved" | "denied";
      readonly scope: ApprovalScope | null;
      readonly by: string;
      readonly as: Approver;
      readonly time: number;
    },
  ): Promise<boolean>;
  /** Closes a pending question without an answer. Returns false if it is not pending. */
  close(id: string, state: "cancelled" | "orphaned"): Promise<boolean>;
  /** Records that no call waits for the answer any more. */
  detach(id: string): Promise<void>;
  /** Uses an approval. Returns true once; false if it is not approved, was used, or has expired by `time`. */
  use(id: string, time: number): Promise<boolean>;
  /** Marks pending questions whose time is over by `time`, and returns how many these were. */
  expire(time: number): Promise<number>;
  /** Deletes closed questions that were asked before `time`, and returns how many these were. */
  prune(time: number): Promise<number>;
}

/** A question without an answer. */
export type NewApproval = Omit<ApprovalRow, keyof typeof UNANSWERED>;

/** The answer of a question that has none yet. */
export const UNANSWERED = {
  state: "pending",
  scope: null,
  answeredBy: null,
  answeredAs: null,
  answeredAt: null,
  usedAt: null,
  closedAt: null,
} as const;

export function createApprovalTable(engine: StoreEngine): ApprovalTable {
  /** One statement, so that of two changes at once only the first matches. */
  async function change(where: Where<ApprovalRow>, changes: Partial<ApprovalRow>): Promise<number> {
    const count = await engine.update(APPROVALS, where, changes);
    if (count > 0) await engine.announce();
    return count;
  }
  return {
    now: () => engine.now(),
    async add(approval) {
      await engine.insert(APPROVALS, [{ ...approval, ...UNANSWERED }]);
      await engine.announce();
    },
    async leave(approval, maxPending) {
      const row = { ...approval, ...UNANSWERED };
      const now = await engine.now();
      const left = await engine.transaction("approvals", async (rows) => {
        const earlier = await findLeft(rows, approval, now);
        const open = { state: "pending", caller: approval.caller } as const;
        if (earlier !== undefined || (await rows.total(APPROVALS, open)) >= maxPending) return earlier;
        await rows.insert(APPROVALS, [row]);
        return row;
      });
      if (left === row) await engine.announce();
      return left;
    },
    get: async (id) => (await engine.select(APPROVALS, { id }))[0],
    list: (state) => engine.select(FACTS, { state }, { order: "created" }),
    countPending: () => engine.total(APPROVALS, { state: "pending" }),
    listClosed: (limit) =>
      engine.select(FACTS, { closedAt: { gt: 0 } }, { order: "closedAt", descending: true, limit }),
    find: (call) => engine.select(FACTS, call, { order: "created" }),
    listOfRun: (runId) => engine.select(FACTS, { runId }, { order: "created" }),
    // In this order it reads the index; in the order of the key, SQLite would read every row.
    listClosedAfter: (time) => engine.select(FACTS, { closedAt: { gt: time } }, { order: "closedAt" }),
    async findNextExpiry() {
      const [first] = await engine.select(FACTS, { state: "pending" }, { order: "expires", limit: 1 });
      return first?.expires;
    },
    async answer(id, { state, scope, by, as, time }) {
      const answer = { state, scope, answeredBy: by, answeredAs: as, answeredAt: time, closedAt: time };
      return (await change({ id, state: "pending", expires: { gt: time } }, answer)) > 0;
    },
    close: async (id, state) => (await change({ id, state: "pending" }, { state, closedAt: await engine.now() })) > 0,
    detach: async (id) => void (await change({ id, state: "pending" }, { waiter: null })),
    use: async (id, time) =>
      (await change({ id, state: "approved", usedAt: null, expires: { gt: time } }, { usedAt: time })) > 0,
    expire: (time) => change({ state: "pending", expires: { lt: time + 1 } }, { state: "expired", closedAt: time }),
    prune: (time) => engine.delete(APPROVALS, { created: { lt: time }, state: { in: CLOSED_STATES } }),
  };
}

/** Returns the open question about a call for which no call waits, else the yes to it that is unused. */
async function findLeft(
  rows: Rows,
  { caller, path, digest }: NewApproval,
  now: number,
): Promise<ApprovalRow | undefined> {
  const left = { caller, path, digest, waiter: null };
  const [open] = await rows.select(APPROVALS, { ...left, state: "pending" }, { order: "created", limit: 1 });
  if (open !== undefined) return open;
  const unused = { ...left, state: "approved", usedAt: null, expires: { gt: now } } as const;
  return (await rows.select(APPROVALS, unused, { order: "created", limit: 1 }))[0];
}
