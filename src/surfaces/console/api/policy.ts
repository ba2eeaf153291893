import { createKeys } from "../../../keys/index.ts";
import { type Caller, OWNER } from "../../../model/caller.ts";
import { type ExplainedPolicy, explainDecision, POLICY_FILE, runPolicyTests } from "../../../policy/index.ts";
import type { Runtime } from "../../../runtime.ts";
import { createUnknownNameError } from "../../../shared/suggest.ts";
import { type Endpoints, forAdmin, readText } from "../endpoints.ts";
import type { PolicyExplanation, PolicySummary, PolicyTestSummary } from "../messages.ts";
import type { ConsoleServices } from "../services.ts";

/** The policy, the explanation of a decision, and the test of a table. All are for administrators, and change nothing. */
export function createPolicyEndpoints({ runtime }: ConsoleServices): Endpoints {
  return {
    "GET /policy": forAdmin("read", ({ caller }) => summarizePolicy(runtime, caller)),
    "GET /policy/explain": forAdmin("read", ({ c, caller: viewer }) => {
      const { path = "", caller = OWNER.id, scopes, roles } = c.req.query();
      return explain(runtime, { path, name: caller, scopes, roles }, viewer);
    }),
    "POST /policy/test": forAdmin("read", async ({ caller, readBody }): Promise<PolicyTestSummary> => {
      const facts = { policy: runtime.policy, catalog: runtime.catalogFor(caller) };
      return { results: runPolicyTests(readText(await readBody(), "text"), "the table", facts) };
    }),
  };
}

function summarizePolicy(runtime: Runtime, viewer: Caller): PolicySummary {
  const { rows, flows, roles, asksDestructive, onlyTightens } = runtime.policy.content;
  const { methods } = runtime.catalogFor(viewer);
  return {
    file: POLICY_FILE,
    rows: rows.map(({ key, line, fields }) => ({
      key: key.text,
      line,
      fields: { ...fields },
      methods: methods.filter((method) => key.match(method) !== undefined).length,
    })),
    flows,
    roles: [...roles].map(([name, scopes]) => ({ name, scopes })),
    problems: runtime.problems.filter(({ source }) => isPolicyFile(source)).map(({ error }) => error),
    asksDestructive,
    onlyTightens,
  };
}

/** The files of a policy are labelled with their folder and name, whatever the folder is. */
function isPolicyFile(source: string): boolean {
  return /(?:^|\/)(?:tools|roles|approved)\.ya?ml$/.test(source);
}

interface DecisionQuestion {
  readonly path: string;
  /** The name or id of a key, or the id of a caller with every grant. */
  readonly name: string;
  /** Separated by commas; replaces that of the key. */
  readonly scopes: string | undefined;
  readonly roles: string | undefined;
}

async function explain(
  runtime: Pick<Runtime, "database" | "catalogFor"> & { readonly policy: ExplainedPolicy },
  { path, name, scopes, roles }: DecisionQuestion,
  viewer: Caller,
): Promise<PolicyExplanation> {
  const catalog = runtime.catalogFor(viewer);
  const method = catalog.method(path);
  if (method === undefined) {
    const paths = catalog.methods.map((each) => each.path);
    throw createUnknownNameError("METHOD_UNKNOWN", path, paths);
  }
  const key = name === OWNER.id ? undefined : await createKeys(await runtime.database()).findCaller(name);
  const caller: Caller = {
    ...(name === OWNER.id ? OWNER : (key?.caller ?? { id: name, grants: ["*"] })),
    ...(scopes !== undefined && { scopes: splitWords(scopes) }),
    ...(roles !== undefined && { roles: splitWords(roles) }),
  };
  const explanation = explainDecision(runtime.policy, method, caller);
  const isEnded = key !== undefined && key.state !== "active";
  const isUnknown = key === undefined && name !== OWNER.id;
  return {
    ...explanation,
    decision: isEnded ? "deny" : explanation.decision,
    reasons: [
      ...(isEnded ? [`The key is ${key.state}, so it calls nothing`] : []),
      ...explanation.reasons,
      ...(isUnknown ? ["No key has this name: it is taken as a caller with every grant"] : []),
    ],
  };
}

function splitWords(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
