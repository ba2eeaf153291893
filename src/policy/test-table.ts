import { isDecision } from "./rows.ts";
import { configError, parseDocument } from "../config/index.ts";
import type { SkillgateError } from "../errors.ts";
import { type Caller, OWNER } from "../model/caller.ts";
import { findPermissionFlaw, toNotation } from "../keys/index.ts";
import type { Catalog } from "../model/catalog.ts";
import { isRecord } from "../model/json.ts";
import type { Decision, RuledMethod } from "../model/policy.ts";
import { METADATA_DEFAULTS } from "../model/skill.ts";
import { explainDecision } from "./explain.ts";
import { isTextList } from "./fields.ts";
import type { ExplainedPolicy } from "./rules.ts";

/** One expected decision, and the decision of the policy. */
export interface PolicyTestResult {
  readonly line: number;
  readonly path: string;
  readonly caller: string;
  readonly expected: Decision;
  readonly decision: Decision;
  readonly passed: boolean;
  readonly reasons: readonly string[];
}

/**
 * Runs a table of expected decisions, `tests: [{ path, caller?, decision }]`. A method that the catalog does not have is
 * taken to have default metadata, so the table needs no servers. Throws `CONFIG_INVALID` for a table with a mistake.
 */
export function runPolicyTests(
  text: string,
  label: string,
  { policy, catalog }: { readonly policy: ExplainedPolicy; readonly catalog: Catalog },
): readonly PolicyTestResult[] {
  const { value, locate } = parseDocument(text, label, "yaml");
  const { tests } = value;
  if (!Array.isArray(tests)) throw configError(label, `"tests" must be a list, as in ${EXAMPLE}`, locate(["tests"]));
  return tests.map((test: unknown, index) => {
    const location = locate(["tests", index]);
    const wrong = (what: string): SkillgateError => configError(label, `${what}, as in ${EXAMPLE}`, location);
    const { path, caller, decision: expected } = isRecord(test) ? test : {};
    if (typeof path !== "string" || !/^[^.\s]+\.[^.\s]+$/.test(path))
      throw wrong("a test must have the path of a method");
    if (!isDecision(expected)) throw wrong("the decision of a test must be allow, ask or deny");
    const method = catalog.entry(path) ?? createUnknownMethod(path);
    const { decision, reasons, caller: id } = explainDecision(policy, method, parseCaller(caller, wrong));
    return { line: location.line, path, caller: id, expected, decision, passed: decision === expected, reasons };
  });
}

const EXAMPLE = "tests: [{ path: MailSkill.send, caller: { scopes: [mail:send] }, decision: ask }]";

/** Without a caller, the owner; a caller may call every method unless it lists permissions. */
function parseCaller(value: unknown, wrong: (what: string) => SkillgateError): Caller {
  if (value === undefined) return OWNER;
  if (!isRecord(value)) throw wrong("the caller of a test must have permissions, scopes or roles");
  const { id = "caller", scopes = [], roles = [], permissions = ["call:*"] } = value;
  if (typeof id !== "string" || !isTextList(scopes) || !isTextList(roles) || !isTextList(permissions))
    throw wrong("permissions, scopes and roles of a caller must be lists of texts");
  const flaw = findPermissionFlaw(permissions);
  if (flaw !== undefined) throw wrong(flaw);
  return { id, scopes, roles, permissions: permissions.flatMap(toNotation) };
}

function createUnknownMethod(path: string): RuledMethod {
  const [, name = ""] = path.split(".");
  return { path, name, wireName: name, metadata: METADATA_DEFAULTS };
}
