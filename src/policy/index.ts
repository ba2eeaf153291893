import { getMessage, SkillgateError } from "../errors.ts";
import type { Problem } from "../model/provider.ts";
import { type PolicyFiles, readPolicyFiles, watchPolicyFiles } from "./files.ts";
import { createPolicy, type ExplainedPolicy, type PolicyContent } from "./rules.ts";

export { POLICY_SCHEMA } from "./fields.ts";
export { POLICY_FILE, readPolicyFiles } from "./files.ts";
export { listPatterns, matchPatterns, type PatternMatches } from "./patterns.ts";
export { createPolicy, type ExplainedPolicy } from "./rules.ts";
export { checkAgainstCatalog } from "./check.ts";
export { explainDecision, type Explanation } from "./explain.ts";
export { STARTER_POLICY } from "./starter.ts";
export { type PolicyTestResult, runPolicyTests } from "./test-table.ts";

/** Settings of a policy that are not in its files. */
export type PolicySettings = Pick<PolicyContent, "asksDestructive" | "onlyTightens">;

/** Receives what became of a change of the files. */
export interface PolicyListener {
  readonly onApplied: () => void;
  /** Receives why a change is not used. */
  readonly onBroken: (why: string) => void;
  /** Says why a change must not be used now: it came from elsewhere. */
  readonly whyHeld?: () => Promise<string | undefined>;
}

/** The policy of a runtime, which follows its files. */
export interface LivePolicy {
  /** The newest policy without mistakes. */
  readonly current: ExplainedPolicy;
  /** The mistakes of the files as they are now; the policy before them stays in force. */
  readonly problems: readonly Problem[];
  /** Applies changed settings at once. */
  configure(settings: Partial<PolicySettings>): void;
  /** Follows changes of the files. */
  watch(listener: PolicyListener): void;
  /** Reads the files again that are watched. */
  reload(): void;
  close(): void;
}

/**
 * Reads the policy of a project; without files only the settings apply. Throws `CONFIG_INVALID` for files with mistakes:
 * without their rules more would be allowed than their owner wants.
 */
export async function openPolicy(files: PolicyFiles | undefined, settings: PolicySettings): Promise<LivePolicy> {
  const content = files === undefined ? NO_FILES : await readPolicyFiles(files);
  requireCorrect(content.problems);
  let current = createPolicy({ ...content, ...settings });
  let problems: readonly Problem[] = [];
  let exists = content.exists;
  let stop = (): void => {};
  let reloadOnce = (): void => {};

  /** A file that was removed is a mistake, too: its rules would end silently. */
  async function reload(files: PolicyFiles, { onApplied, onBroken, whyHeld }: PolicyListener): Promise<void> {
    const read = await readPolicyFiles({ ...files, isNamed: exists || files.isNamed === true });
    const why = await whyHeld?.();
    if (why !== undefined) return onBroken(`${why}. ${STAYS}`);
    ({ problems } = read);
    const [first] = problems;
    if (first !== undefined) return onBroken(`${first.error}. ${STAYS}`);
    exists = read.exists;
    current = createPolicy({ ...current.content, ...read });
    onApplied();
  }

  return {
    get current() {
      return current;
    },
    get problems() {
      return problems;
    },
    configure(changes) {
      current = createPolicy({ ...current.content, ...changes });
    },
    watch(listener) {
      if (files === undefined) return;
      const warn = (error: unknown): void => listener.onBroken(getMessage(error));
      let last = Promise.resolve();
      reloadOnce = (): void => {
        last = last.then(() => reload(files, listener)).catch(warn);
      };
      stop = watchPolicyFiles(files, reloadOnce, warn);
    },
    reload: () => reloadOnce(),
    close: () => stop(),
  };
}

const STAYS = "The policy before the change stays in force";

const NO_FILES = { rows: [], flows: [], roles: new Map<string, readonly string[]>(), problems: [], exists: false };

function requireCorrect(problems: readonly Problem[]): void {
  const [first, ...more] = problems;
  if (first === undefined) return;
  const others = more.length === 0 ? "" : `; ${more.length} more ${more.length === 1 ? "mistake" : "mistakes"}`;
  const fix = "Correct the file; to see every mistake, run: skillgate policy check";
  throw new SkillgateError("CONFIG_INVALID", first.error + others, { file: first.source, fix });
}
