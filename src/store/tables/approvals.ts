import type { Json } from "../../model/json.ts";
import type { StoreEngine, Table, Where } from "../database/table.ts";

export type ApprovalState = "pending" | "approved" | "denied" | "expired";

/** The question whether one call may be made. Times are in milliseconds since 1970. */
export interface ApprovalRow {
  readonly id: string;
  readonly runId: string;
  /** Id of the caller. */
  readonly caller: string;
  /** `Skill.method` */
  readonly path: string;
  /** The arguments as a person sees them, with secrets masked. */
  readonly arguments: Json;
  /** Digest of the arguments without masks. */
  readonly digest: string;
  readonly plan: Json;
  readonly provenance: Json;
  readonly state: ApprovalState;
  readonly created: number;
  readonly expires: number;
  readonly answeredBy: string | null;
  readonly answeredAt: number | null;
  readonly usedAt: number | null;
}

/** All questions, open and answered. Every change makes the watchers of the database run, in all processes. */
export interface ApprovalTable {
  add(approval: Omit<ApprovalRow, "state" | "answeredBy" | "answeredAt" | "usedAt">): Promise<void>;
  get(id: string): Promise<ApprovalRow | undefined>;
  /** The oldest first. */
  list(state?: ApprovalState): Promise<readonly ApprovalRow[]>;
  /** Answers a pending question. Returns false if it does not exist, has an answer, or has expired by `time`. */
  answer(
    id: string,
    answer: { readonly state: "approved" | "denied"; readonly by: string; readonly time: number },
  ): Promise<boolean>;
  /** Uses an approval. Returns true once; false if it is not approved, was used, or has expired by `time`. */
  use(id: string, time: number): Promise<boolean>;
  /** Marks pending questions whose time is over by `time`, and returns how many these were. */
  expire(time: number): Promise<number>;
}

export const APPROVALS: Table<ApprovalRow> = {
  name: "approvals",
  key: ["id"],
  columns: {
    id: "text",
    runId: "text",
    caller: "text",
    path: "text",
    arguments: "json",
    digest: "text",
    plan: "json",
    provenance: "json",
    state: "text",
    created: "integer",
    expires: "integer",
    answeredBy: "text",
    answeredAt: "integer",
    usedAt: "integer",
  },
};

export function createApprovalTable(engine: StoreEngine): ApprovalTable {
  /** One statement, so that of two changes at once only the first matches. */
  async function change(where: Where<ApprovalRow>, changes: Partial<ApprovalRow>): Promise<number> {
    const count = await engine.update(APPROVALS, where, changes);
    if (count > 0) await engine.announce();
    return count;
  }
  return {
    async add(approval) {
      const open = { state: "pending", answeredBy: null, answeredAt: null, usedAt: null } as const;
      await engine.insert(APPROVALS, [{ ...approval, ...open }]);
      await engine.announce();
    },
    get: async (id) => (await engine.select(APPROVALS, { id }))[0],
    list: (state) => engine.select(APPROVALS, state === undefined ? {} : { state }, { order: "created" }),
    answer: async (id, { state, by, time }) =>
      (await change({ id, state: "pending", expires: { gt: time } }, { state, answeredBy: by, answeredAt: time })) > 0,
    use: async (id, time) =>
      (await change({ id, state: "approved", usedAt: null, expires: { gt: time } }, { usedAt: time })) > 0,
    expire: (time) => change({ state: "pending", expires: { lt: time + 1 } }, { state: "expired" }),
  };
}
