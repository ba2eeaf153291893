import type { AccountTest, LoginBrowser, Revocation, Rotation, ServerLogin } from "../../accounts/index.ts";
import type { Approval, GivenAnswer, ListedApproval } from "../../approvals/index.ts";
import { createKeys, type Keys, type KeyUsage, readKeyUsage, toCaller } from "../../keys/index.ts";
import type { ArgumentProblem } from "../../model/arguments.ts";
import { type AdminRight, type Caller, mayAdminister, mayRead, requireAdmin } from "../../model/caller.ts";
import type { Catalog, Method } from "../../model/catalog.ts";
import type { ResultPart } from "../../model/kept-results.ts";
import type { Outcome } from "../../model/outcome.ts";
import { findRefusal, hasMissingScopes } from "../../model/policy.ts";
import { type Explanation, explainDecision } from "../../policy/index.ts";
import type { Description, PromptOptions, SearchAnswer, SearchOptions } from "../../registry/index.ts";
import type { Statistics, UnrecordedRequest } from "../../router/index.ts";
import type { RunDifference } from "../../runs/index.ts";
import type { DirectCallOptions, RunOptions, Runtime } from "../../runtime.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import type { ApprovalState, Database, DatabaseInfo } from "../../store/index.ts";
import type { AccountForm, AccountLoginTarget, AccountTarget, ListedAccount } from "./accounts.ts";
import { type AutomationView, createAutomationView } from "../automations/view.ts";
import { limitReplays } from "./replay-limit.ts";
import type { CheckResult } from "./run.ts";
import type { RuntimeTool, RuntimeToolOptions } from "../builtin-tools/runtime-tools.ts";
import { listUnavailable, type UnavailableSkill } from "../unavailable-skills.ts";
import type { ReadTime } from "../discovery.ts";
import type { ListOptions, RecordedRunFacts, RunFilter, RunNeighbours } from "../execution/run-lists.ts";
import type { ResumeRunOptions, Runs } from "../execution/runs.ts";
import { maySeeRun, requireMayChange, type ShownRun } from "../execution/rights/view-run.ts";
import type { RefusalReport } from "../refusals/report.ts";
import { type SkillToWrite, type WrittenSkill, writeSavedSkill } from "../saved/write-skill.ts";

export type { AccountForm, AccountLoginTarget, AccountTest, ListedAccount, Revocation, Rotation, ServerLogin };
export type { AutomationTest, AutomationToSave, SavedAutomation } from "../automations/authoring/index.ts";
export type {
  AutomationApi,
  AutomationFacts,
  AutomationOffer,
  AutomationState,
  DescribedAutomation,
  UpcomingSlots,
} from "../automations/index.ts";

/** A runtime as it is for every caller: facts about the process, and views for callers. It answers and reads nothing itself. */
export type SharedRuntime = Pick<
  Runtime,
  | "catalogTokens"
  | "heldProblem"
  | "known"
  | "limits"
  | "profiles"
  | "reachServers"
  | "secrets"
  | "storeFailure"
  | "timeouts"
  | "viewFor"
> & {
  /** Ends the logins of browsers: the login itself says for whom. */
  readonly accounts: Pick<Runtime["accounts"], "finishLogin">;
  /** Takes deliveries to webhooks, which prove by their signatures who sent them. */
  readonly automations: Pick<Runtime["automations"], "receive">;
};

/** The parts of a runtime that a right to administer opens. */
export interface Administration {
  readonly Read: Pick<
    Runtime,
    | "disabled"
    | "executors"
    | "listApis"
    | "listOperations"
    | "nodes"
    | "policy"
    | "problems"
    | "sections"
    | "servers"
    | "settingsOf"
  > & {
    readonly readStoreInfo: () => Promise<DatabaseInfo>;
    readonly openAudit: () => Promise<AuditReader>;
    /** The keys, and the callers that they stand for. */
    readonly openKeys: () => Promise<
      Pick<Keys, "list" | "findCaller"> &
        Pick<Database, "kind"> & {
          /** Reads what a key used, with the methods that the caller may see. Throws `KEY_UNKNOWN`. */
          readonly readUsage: (idOrName: string) => Promise<KeyUsage>;
        }
    >;
  };
  readonly ManageServers: Pick<
    Runtime,
    | "acceptApi"
    | "connectAlone"
    | "disable"
    | "enable"
    | "listApis"
    | "refreshApi"
    | "reloadServers"
    | "reloadSettings"
    | "settingsOf"
  > & {
    /** Makes a saved skill of a run. Throws as `runs.record` and `writeSavedSkill` do. */
    readonly saveSkill: (run: string, skill: SkillToWrite) => Promise<WrittenSkill>;
  };
  readonly ManageKeys: { readonly openKeys: () => Promise<Keys> };
}

export interface AuditReader extends Pick<Database, "kind"> {
  readonly audit: Pick<Database["audit"], "read" | "signLines" | "tail" | "verify">;
}

/**
 * A runtime as one caller may use it, and the only way in which surfaces use a runtime. Each function asks for the rights of the
 * caller, so none answers or reads without asking.
 */
export class RuntimeView {
  readonly caller: Caller;
  readonly #runtime: Runtime;

  constructor(runtime: Runtime, caller: Caller) {
    this.#runtime = runtime;
    this.caller = caller;
  }

  /** The facts that are the same for every caller. */
  get shared(): SharedRuntime {
    return this.#runtime;
  }

  get secrets(): KnownSecrets {
    return this.#runtime.secrets;
  }

  may(right: AdminRight): boolean {
    return mayAdminister(this.caller, right);
  }

  /** Throws `ADMIN_MISSING`. */
  require(right: AdminRight): void {
    requireAdmin(this.caller, right);
  }

  /** Returns what a right opens. Throws `ADMIN_MISSING`. */
  admin<Right extends keyof Administration>(right: Right): Administration[Right] {
    this.require(right);
    return ADMINISTRATION[right](this.#runtime, this.caller);
  }

  /** True for the runs of the caller, and for all if it may see those of others. */
  seesRun(run: { readonly caller: string }): boolean {
    return maySeeRun(this.caller, run);
  }

  /** The same for calls; those of methods that the caller may not read do not exist for it. */
  seesCall(call: { readonly caller: string; readonly path: string }): boolean {
    return this.seesRun(call) && mayRead(this.caller, call.path);
  }

  /** The methods that the caller may read. */
  get catalog(): Catalog {
    return this.#runtime.catalogFor(this.caller);
  }

  /** The servers whose skills the caller may read; an administrator sees all. */
  get servers(): Runtime["servers"] {
    const { servers } = this.#runtime;
    if (this.may("Read")) return servers;
    const { catalog } = this;
    return servers.filter(({ skill }) => catalog.skill(skill) !== undefined);
  }

  /** The disabled and the held skills of which the caller may read a method. */
  get unavailableSkills(): readonly UnavailableSkill[] {
    return listUnavailable({ disabled: this.#runtime.disabled(), held: this.#runtime.listHeldSkills() }, this.caller);
  }

  /** True if further scopes are all that the caller needs to call a method. */
  lacksScopes(method: Method): boolean {
    const { policy } = this.#runtime;
    return hasMissingScopes(findRefusal(this.caller, method, { rule: policy.getRule(method), roles: policy.roles }));
  }

  /** True if the rights of the caller and the policy permit calls of a method; a person may still be asked for each. */
  mayCall(path: string): boolean {
    const method = this.catalog.method(path);
    if (method === undefined) return false;
    const { policy } = this.#runtime;
    return findRefusal(this.caller, method, { rule: policy.getRule(method), roles: policy.roles }) === undefined;
  }

  /** Explains the decision on the caller's own calls of a method. */
  explain(method: Method): Explanation {
    return explainDecision(this.#runtime.policy, method, this.caller);
  }

  /** Statistics of the methods that the caller may read, by path. */
  statistics(): readonly (readonly [path: string, statistics: Statistics])[] {
    return [...this.#runtime.statistics()].filter(([path]) => mayRead(this.caller, path));
  }

  search(query: string, options?: Omit<SearchOptions, "words" | "deadline"> & ReadTime): SearchAnswer {
    return this.#runtime.search(query, { ...options, caller: this.caller });
  }

  index(): Promise<void> {
    return this.#runtime.index({ caller: this.caller });
  }

  describe(path: string): Description {
    return this.#runtime.describe(path, { caller: this.caller });
  }

  declarations(skills?: readonly string[]): string {
    return this.#runtime.declarations(skills, { caller: this.caller });
  }

  systemPrompt(options?: PromptOptions): string {
    return this.#runtime.systemPrompt({ ...options, caller: this.caller });
  }

  briefCatalog(options?: Parameters<Runtime["briefCatalog"]>[0]): readonly string[] {
    return this.#runtime.briefCatalog({ ...options, caller: this.caller });
  }

  validate(path: string, input: unknown): readonly ArgumentProblem[] {
    return this.#runtime.validate(path, input, { caller: this.caller });
  }

  listServersWith(asker: Omit<Parameters<Runtime["listServersWith"]>[0], "caller">): Promise<void> | undefined {
    return this.#runtime.listServersWith({ ...asker, caller: this.caller });
  }

  tools(options?: Of<RuntimeToolOptions>): readonly RuntimeTool[] {
    return this.#runtime.tools({ ...options, caller: this.caller });
  }

  /** Keeps a large result; returns the name under which the caller can read it in parts. */
  keepResult(runId: string, text: string): string {
    return this.#runtime.results.keep(runId, text, this.caller);
  }

  /** Returns a part of a kept result, in UTF-16 units. */
  readResult(uri: string, offset: number, length: number): ResultPart | undefined {
    return this.#runtime.results.read(uri, offset, length, this.caller);
  }

  /** Counts a request that calls no method. Rejects with `RATE_LIMIT`. */
  countRequest(what?: UnrecordedRequest): Promise<void> {
    return this.#runtime.countRequest(this.caller, what);
  }

  call(path: string, input: Readonly<Record<string, unknown>>, options?: Of<DirectCallOptions>): Promise<unknown> {
    return this.#runtime.call(path, input, { ...options, caller: this.caller });
  }

  run(source: string, options?: Of<RunOptions>): Promise<Outcome> {
    return this.#runtime.run(source, { ...options, caller: this.caller });
  }

  /** Checks a program without running it; counts as a request. Rejects with `RATE_LIMIT`. */
  async check(source: string): Promise<CheckResult> {
    await this.countRequest("check");
    return this.#runtime.checkTexts(source, { caller: this.caller });
  }

  /** Checks a program that is about to run, which counts then. */
  plan(source: string): Promise<CheckResult> {
    return this.#runtime.checkTexts(source, { caller: this.caller });
  }

  /** The caller's own connections; with `admin:ManageServers` those of all. */
  readonly accounts = {
    list: (): Promise<readonly ListedAccount[]> => this.#runtime.accounts.list({ caller: this.caller }),
    describe: (name: string): Promise<AccountForm> => this.#runtime.accounts.describe(name),
    connect: (target: Of<AccountTarget>, values: readonly string[]): Promise<void> =>
      this.#runtime.accounts.connect({ ...target, caller: this.caller }, values),
    beginLogin: (target: Of<AccountLoginTarget>, browser: Of<LoginBrowser>): Promise<URL> =>
      this.#runtime.accounts.beginLogin({ ...target, caller: this.caller }, browser),
    test: (target: Of<AccountTarget>): Promise<AccountTest> =>
      this.#runtime.accounts.test({ ...target, caller: this.caller }),
    revoke: (target: Of<AccountTarget>): Promise<Revocation> =>
      this.#runtime.accounts.revoke({ ...target, caller: this.caller }),
    rotate: (): Promise<Rotation> => this.#runtime.accounts.rotate({ caller: this.caller }),
    listServerLogins: (): Promise<readonly ServerLogin[]> =>
      this.#runtime.accounts.listServerLogins({ caller: this.caller }),
    removeServerLogin: (login: Pick<ServerLogin, "server" | "owner">): Promise<boolean> =>
      this.#runtime.accounts.removeServerLogin({ ...login, caller: this.caller }),
  };

  get automations(): AutomationView {
    return createAutomationView(this.#runtime.automations, this.caller);
  }

  readonly approvals = {
    list: (state?: ApprovalState): Promise<readonly ListedApproval[]> =>
      this.#runtime.approvals.list(state, this.caller),
    get: (id: string): Promise<Approval | undefined> => this.#runtime.approvals.get(id, this.caller),
    answer: (id: string, answer: GivenAnswer): Promise<Approval> =>
      this.#runtime.approvals.answer(id, answer, this.caller),
  };

  readonly runs = {
    list: (options?: Of<ListOptions>): Promise<readonly RecordedRunFacts[]> =>
      this.#runs.list({ ...options, caller: this.caller }),
    neighbours: (id: string, options?: Omit<ListOptions, "caller" | "limit" | "offset">): Promise<RunNeighbours> =>
      this.#runs.neighbours(id, { ...options, caller: this.caller }),
    count: (filter?: RunFilter): Promise<number> => this.#runs.count({ ...filter, caller: this.caller }),
    refusals: (): Promise<RefusalReport> => this.#runs.refusals({ caller: this.caller }),
    get: (id: string): Promise<RecordedRunFacts> => this.#runs.get(id, { caller: this.caller }),
    show: (id: string, options?: Pick<RunFilter, "withUnrecorded">): Promise<ShownRun> =>
      this.#runs.show(id, { ...options, caller: this.caller }),
    compare: (first: string, second: string): Promise<readonly RunDifference[]> =>
      this.#runs.compare(first, second, { caller: this.caller }),
    outcome: (id: string): Promise<Outcome | undefined> => this.#runs.outcome(id, { caller: this.caller }),
    /** Counts as a request; two at once. Rejects with `RATE_LIMIT`. */
    replay: async (id: string): Promise<Outcome | undefined> => {
      await this.countRequest("replay");
      const { caller } = this;
      return limitReplays(this.#runs, caller.id, () => this.#runs.replay(id, { caller }));
    },
    resume: (id: string, options?: Of<ResumeRunOptions>): Promise<Outcome> =>
      this.#runs.resume(id, { ...options, caller: this.caller }),
    cancel: (id: string): Promise<void> => this.#runs.cancel(id, { caller: this.caller }),
    /** Throws `ADMIN_MISSING` for a run of another caller without `ManageRuns`. */
    requireMayChange: async (id: string): Promise<void> =>
      requireMayChange(this.caller, await this.#runs.get(id, { caller: this.caller })),
    canWait: (): boolean => this.#runs.canWait(this.caller),
  };

  get #runs(): Runs {
    return this.#runtime.runs;
  }
}

/** Options without the caller, which is that of the view. */
type Of<Options> = Omit<Options, "caller">;

type OpenAdministration = {
  readonly [Right in keyof Administration]: (runtime: Runtime, caller: Caller) => Administration[Right];
};

const ADMINISTRATION: OpenAdministration = {
  Read: (runtime, caller) => ({
    disabled: () => runtime.disabled(),
    settingsOf: (skill) => runtime.settingsOf(skill),
    policy: runtime.policy,
    problems: runtime.problems,
    sections: runtime.sections,
    servers: runtime.servers,
    executors: runtime.executors,
    nodes: runtime.nodes,
    listApis: () =>
      runtime.listApis().map((api) => ({
        ...api,
        changes: api.changes.filter(({ name }) => mayRead(caller, `${api.skill}.${name}`)),
      })),
    listOperations(name) {
      const skill = runtime.listApis().find((api) => api.name === name)?.skill;
      return runtime.listOperations(name).filter(({ method }) => mayRead(caller, `${skill}.${method}`));
    },
    readStoreInfo: async () => (await runtime.database()).info(),
    openAudit: () => runtime.database(),
    async openKeys() {
      const database = await runtime.database();
      const keys = createKeys(database);
      const readUsage = async (idOrName: string): Promise<KeyUsage> => {
        const usage = await readKeyUsage(database, toCaller(await keys.get(idOrName)));
        return { ...usage, methods: usage.methods.filter(({ path }) => mayRead(caller, path)) };
      };
      return { ...keys, kind: database.kind, readUsage };
    },
  }),
  ManageServers: (runtime, caller) => ({
    enable: (name) => runtime.enable(name),
    disable: (name) => runtime.disable(name),
    settingsOf: (skill) => runtime.settingsOf(skill),
    reloadServers: () => runtime.reloadServers(),
    connectAlone: (config, options) => runtime.connectAlone(config, options),
    reloadSettings: () => runtime.reloadSettings(),
    listApis: () => runtime.listApis(),
    refreshApi: (name) => runtime.refreshApi(name),
    acceptApi: (name) => runtime.acceptApi(name),
    async saveSkill(run, skill) {
      await runtime.runs.record(run, { caller });
      return writeSavedSkill(runtime, run, skill);
    },
  }),
  ManageKeys: (runtime) => ({ openKeys: async () => createKeys(await runtime.database()) }),
};
