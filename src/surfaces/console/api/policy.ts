import { type Caller, OWNER } from "../../../model/caller.ts";
import { explainDecision, POLICY_FILE, runPolicyTests } from "../../../policy/index.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { createUnknownNameError } from "../../../shared/suggest.ts";
import { type Endpoints, readSource } from "../endpoints.ts";
import type { PolicyExplanation, PolicySummary, PolicyTestSummary } from "../messages.ts";

/** Tables are YAML, which takes about 5 ms for a KB of nothing but brackets. */
const MAX_TABLE_BYTES = 32 << 10;

/** The policy, the explanation of a decision, and the test of a table. All are for administrators, and change nothing. */
export function createPolicyEndpoints(): Endpoints {
  return {
    "GET /policy": ({ view }) => summarizePolicy(view),
    "GET /policy/explain": ({ c, view }) => {
      const { path = "", caller = OWNER.id, scopes, roles } = c.req.query();
      return explain(view, { path, name: caller, scopes, roles });
    },
    "POST /policy/test": async ({ view, readBody }): Promise<PolicyTestSummary> => {
      const facts = { policy: view.admin("Read").policy, catalog: view.catalog };
      return { results: runPolicyTests(readSource(await readBody(), "text", MAX_TABLE_BYTES), "the table", facts) };
    },
  };
}

function summarizePolicy(view: RuntimeView): PolicySummary {
  const { policy, problems } = view.admin("Read");
  const { rows, flows, roles, asksDestructive, onlyTightens } = policy.content;
  const { methods } = view.catalog;
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
    problems: problems.filter(({ source }) => isPolicyFile(source)).map(({ error }) => error),
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
  /** The name or id of a key, or the id of a caller with `call:*`. */
  readonly name: string;
  /** Separated by commas; replaces that of the key. */
  readonly scopes: string | undefined;
  readonly roles: string | undefined;
}

async function explain(view: RuntimeView, { path, name, scopes, roles }: DecisionQuestion): Promise<PolicyExplanation> {
  const { openKeys, policy } = view.admin("Read");
  const { catalog } = view;
  const method = catalog.entry(path);
  if (method === undefined) {
    const paths = catalog.entries.map((each) => each.path);
    throw createUnknownNameError("METHOD_UNKNOWN", path, paths);
  }
  const key = name === OWNER.id ? undefined : await (await openKeys()).findCaller(name);
  const caller: Caller = {
    ...(name === OWNER.id ? OWNER : (key?.caller ?? { id: name, permissions: ["call:*"] })),
    ...(scopes !== undefined && { scopes: splitWords(scopes) }),
    ...(roles !== undefined && { roles: splitWords(roles) }),
  };
  const explanation = explainDecision(policy, method, caller);
  const isEnded = key !== undefined && key.state !== "active";
  const isUnknown = key === undefined && name !== OWNER.id;
  return {
    ...explanation,
    decision: isEnded ? "deny" : explanation.decision,
    reasons: [
      ...(isEnded ? [`The key is ${key.state}, so it calls nothing`] : []),
      ...explanation.reasons,
      ...(isUnknown ? ["No key has this name: it is taken as a caller with call:*"] : []),
    ],
  };
}

function splitWords(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
