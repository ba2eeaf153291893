import { Cancellation } from "../../sandbox/index.ts";
import { createRegistry } from "../../src/registry/index.ts";
import { OWNER, type Caller } from "../../src/model/caller.ts";
import type { JsonSchema } from "../../src/model/json.ts";
import type { MethodMetadata, ProvidedSkill } from "../../src/model/skill.ts";
import type { AuditEntry, Call } from "../../src/router/index.ts";

export interface Setup {
  readonly run?: ProvidedSkill["invoke"];
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
  readonly metadata?: Partial<MethodMetadata>;
  readonly kind?: ProvidedSkill["kind"];
  readonly server?: string;
  readonly accounts?: readonly string[];
}

/** What was told about the calls of a bench. */
export interface Told {
  readonly notes: string[];
  readonly logs: string[];
  readonly progress: number[];
  readonly entries: AuditEntry[];
}

export interface Bench {
  readonly told: Told;
  /** A call of `TestSkill.try` with the given arguments. */
  readonly call: (
    args: readonly unknown[],
    by?: Partial<Pick<Call, "caller" | "cancellable" | "id" | "runId">>,
  ) => Call;
}

export const ADA: Caller = { id: "ada", permissions: ["call:TestSkill.*"] };
export const BOB: Caller = { id: "bob", permissions: ["call:TestSkill.*"] };

/** A skill with one method, as the registry makes it, that echoes its input unless told otherwise. */
export function benchWith(setup: Setup = {}): Bench {
  const registry = createRegistry();
  registry.register({
    name: "TestSkill",
    description: "",
    source: "test",
    kind: setup.kind ?? "code",
    ...(setup.server !== undefined && { server: setup.server }),
    methods: [
      {
        name: "try",
        wireName: "try-it",
        description: "",
        input: setup.input ?? { type: "object", properties: { value: {} } },
        ...(setup.output !== undefined && { output: setup.output }),
        ...(setup.accounts !== undefined && { accounts: setup.accounts }),
        ...(setup.metadata !== undefined && { metadata: setup.metadata }),
      },
    ],
    invoke: setup.run ?? ((_, input) => Promise.resolve(input)),
  });
  const skill = registry.catalog.skill("TestSkill");
  const method = registry.catalog.method("TestSkill.try");
  if (skill === undefined || method === undefined) throw new Error("the registry lost the skill");
  const told: Told = { notes: [], logs: [], progress: [], entries: [] };
  return {
    told,
    call: (args, by = {}) => ({
      id: 1,
      runId: "run-1",
      caller: OWNER,
      skill,
      method,
      args,
      cancellable: new Cancellation(),
      log: (_, text) => void told.logs.push(text),
      progress: (done) => void told.progress.push(done),
      addNote: (text) => void told.notes.push(text),
      onEnded: (entry) => void told.entries.push(entry),
      ...by,
    }),
  };
}

/** A promise, and what resolves it. */
export function promised<Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
