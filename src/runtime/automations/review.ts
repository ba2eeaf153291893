import type { AutomationFile, PlannedEffect } from "../../automations/index.ts";
import { createKeys } from "../../keys/index.ts";
import type { FindAccount, UsableAccounts } from "../../model/account.ts";
import { type Caller, listAdminRights } from "../../model/caller.ts";
import { type Catalog, getOriginal, type Method } from "../../model/catalog.ts";
import type { Violation } from "../../model/outcome.ts";
import type { Plan } from "../../model/plan.ts";
import type { AcceptedVersion, Database } from "../../store/index.ts";
import { hashValueFully } from "../../shared/digest.ts";
import { formatList } from "../../shared/format-text.ts";
import { hashDefinition } from "../execution/run-header.ts";
import type { CheckResult } from "../api/run.ts";

/** A call that the program of an automation may make. */
export interface AutomationCall {
  /** `Skill.method`, or `Skill.method:part`. */
  readonly path: string;
  readonly effect: PlannedEffect;
}

/** An automation as it would run now. */
export interface AutomationReview {
  /** The caller of its key; `undefined` without a valid key. */
  readonly caller: Caller | undefined;
  readonly calls: readonly AutomationCall[];
  /** Digest and declaration of each method of the plan. */
  readonly methods: AcceptedVersion["methods"];
  readonly violations: readonly Violation[];
  /** Why it cannot run, whatever was accepted; `undefined` if it can. */
  readonly flaw: string | undefined;
  /** True if the flaw may pass: a skill is not there at the moment. */
  readonly isPassing: boolean;
}

export interface ReviewParts {
  readonly open: () => Promise<Pick<Database, "keys">>;
  readonly check: (source: string, file: AutomationFile, caller: Caller) => Promise<CheckResult>;
  readonly getCatalog: (caller: Caller) => Catalog;
  readonly openAccounts: () => Promise<Pick<UsableAccounts, "find">>;
  /** False if no run is recorded, so that an interrupted one could repeat an effect. */
  readonly recordsRuns: boolean;
}

/** Checks an automation as it would run now: its key, its program, and the methods that it names. */
export async function reviewAutomation(file: AutomationFile, parts: ReviewParts): Promise<AutomationReview> {
  const nothing = { caller: undefined, calls: [], methods: {}, violations: [], isPassing: false };
  if (!parts.recordsRuns)
    return {
      ...nothing,
      flaw: "runs.record is off in the settings: an interrupted run could repeat an effect; write effects",
    };
  const key = await findCaller(file.key, parts);
  if ("flaw" in key) return { ...nothing, ...key };
  const { caller } = key;
  const { violations, plan } = await parts.check(file.source, file, caller);
  const catalog = parts.getCatalog(caller);
  const methods = listMethods(plan, catalog);
  const calls = methods.map(toPlannedCall);
  const { find } = await parts.openAccounts();
  const isPassing = violations.length > 0 && violations.every(({ code }) => PASSING.has(code));
  return {
    caller,
    calls,
    methods: Object.fromEntries(methods.map((method) => [method.path, describeMethod(method, catalog, find)])),
    violations,
    flaw: findProgramFlaw(violations) ?? findPlanFlaw(file, plan, calls),
    isPassing,
  };
}

/**
 * Describes a method as a person accepts it: its definition, where its calls go, and with which accounts. Of a saved skill, the
 * program counts, and not the description, which changes when the skill loses its mark.
 */
function describeMethod(method: Method, catalog: Catalog, find: FindAccount): AcceptedVersion["methods"][string] {
  const { definition } = getOriginal(method);
  const destination = catalog.skill(method.skill)?.provided.destination;
  const digest = definition.fileDigest ?? hashDefinition(getOriginal(method));
  const accounts = describeAccounts(method, catalog, find);
  if (destination === undefined && accounts === "") return { digest, declaration: method.declaration };
  const route = destination === undefined ? `calls are made${accounts}` : `calls go to ${destination}${accounts}`;
  return {
    digest: hashValueFully([digest, destination, accounts]),
    declaration: `${COMMENT}${route}\n${method.declaration}`,
  };
}

const COMMENT = "// ";

/** The accounts of a method. Those of a root field of GraphQL are the accounts of its method. */
function describeAccounts({ path, definition }: Method, catalog: Catalog, find: FindAccount): string {
  const [parent = ""] = path.split(":");
  const names = [definition, catalog.method(parent)?.definition].flatMap((each) => each?.accounts ?? []);
  const texts = [...new Set(names)].map((name) => {
    const digest = find(name)?.digest;
    return digest === undefined
      ? `${name} (not in the settings)`
      : `${name} (settings ${digest.slice(0, DIGEST_UNITS)})`;
  });
  return texts.length === 0 ? "" : ` with the account ${formatList(texts, MAX_NAMED)}`;
}

const DIGEST_UNITS = 12;

/** Says how an automation differs from the version that was accepted; `undefined` if it does not. */
export function findChange(
  { caller, methods }: Pick<AutomationReview, "caller" | "methods">,
  digest: string,
  accepted: AcceptedVersion & { readonly digest: string },
): string | undefined {
  if (digest !== accepted.digest) return "its file has changed since it was accepted";
  if (caller !== undefined && caller.id !== accepted.caller) return "its key is another one than when it was accepted";
  const changed = Object.entries(accepted.methods).filter(([path, before]) => {
    const now = methods[path];
    return now !== undefined && now.digest !== before.digest;
  });
  if (changed.length === 0) return undefined;
  const paths = changed.map(([path]) => path);
  const [path = "", before] = changed[0] ?? [];
  const route = describeRouteChange(before?.declaration, methods[path]?.declaration);
  return `${formatList(paths, MAX_NAMED)} ${paths.length === 1 ? "has" : "have"} changed since it was accepted${route}`;
}

/** Says that only the calls of a method go elsewhere, or are made with another account. */
function describeRouteChange(before = "", now = ""): string {
  const [[old, ...oldLines], [fresh, ...freshLines]] = [before, now].map((text) => text.split("\n")) as [
    string[],
    string[],
  ];
  const isRoute = [old, fresh].every((line) => line?.startsWith(COMMENT)) && old !== fresh;
  if (!isRoute || oldLines.join("\n") !== freshLines.join("\n")) return "";
  return `: before, ${old?.slice(COMMENT.length)}; now, ${fresh?.slice(COMMENT.length)}`;
}

/** The skill may come back: its server is starting, or cannot be reached. */
const PASSING: ReadonlySet<string> = new Set(["SKILL_UNKNOWN"]);

const MAX_NAMED = 4;

async function findCaller(
  name: string,
  { open }: ReviewParts,
): Promise<{ readonly caller: Caller } | { readonly flaw: string }> {
  const key = await createKeys(await open()).findCaller(name);
  if (key === undefined)
    return { flaw: `there is no key ${name}; create it: skillgate keys create ${name} --call 'Skill.method'` };
  if (key.state !== "active")
    return { flaw: `the key ${name} ${key.state === "revoked" ? "was revoked" : "has expired"}` };
  const rights = listAdminRights(key.caller).filter((right) => right !== "Read");
  if (rights.length > 0) {
    const list = rights.map((right) => `admin:${right}`).join(", ");
    return { flaw: `the key ${name} has ${list}; the key of an automation must not administer` };
  }
  return { caller: key.caller };
}

/** Lists the calls that a program may make, each once, by path. */
export function listPlannedCalls(plan: Plan, catalog: Catalog): readonly AutomationCall[] {
  return listMethods(plan, catalog).map(toPlannedCall);
}

/** The methods that a program calls, with the parts of queries in place of their methods, each once, by path. */
function listMethods(plan: Plan, catalog: Catalog): readonly Method[] {
  const paths = plan.flatMap(({ path, parts = [] }) => {
    const skill = path.split(".")[0] ?? "";
    return parts.length > 0 ? parts.map((part) => `${skill}.${part}`) : [path];
  });
  return [...new Set(paths)].toSorted().flatMap((path) => catalog.entry(path) ?? []);
}

function toPlannedCall({ path, metadata }: Method): AutomationCall {
  return { path, effect: metadata.readOnly ? "read" : metadata.destructive ? "destructive" : "write" };
}

function findProgramFlaw(violations: readonly Violation[]): string | undefined {
  const [first] = violations;
  return first && `its program is refused at line ${first.line}: ${first.message}`;
}

function findPlanFlaw(
  { plan: written }: AutomationFile,
  plan: Plan,
  calls: readonly AutomationCall[],
): string | undefined {
  const computed = plan.find(({ path }) => path === "*" || path.endsWith(".*"));
  if (computed !== undefined)
    return `line ${computed.line} of its program calls a method that is known only when it runs: name the method`;
  if (written === undefined) return undefined;
  const other = calls.find(({ path, effect }) => written[path] !== effect);
  if (other === undefined) return undefined;
  const before = written[other.path];
  const what = before === undefined ? "is not in its plan" : `is ${before} in its plan, and now ${other.effect}`;
  return `${other.path} ${what}; correct plan in its file, or leave plan out`;
}
