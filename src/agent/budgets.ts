import type { ActiveMode, AgentMode, BudgetName, TokenUsage } from "./events.ts";

export const BUDGET_NAMES = ["turns", "seconds", "tokens", "calls"] as const satisfies readonly BudgetName[];

/** Limits of the work on one message. */
export interface Budgets {
  /** Replies that act. One further reply answers with what is known by then. */
  readonly turns: number;
  /** Time without that in which a person answers questions. */
  readonly seconds: number;
  /** Tokens of all requests and replies. */
  readonly tokens: number;
  /** Calls of methods. */
  readonly calls: number;
}

const DEFAULT_BUDGETS: Readonly<Record<ActiveMode, Budgets>> = {
  code: { turns: 5, seconds: 60, tokens: 500_000, calls: 1_000 },
  tools: { turns: 10, seconds: 300, tokens: 500_000, calls: 1_000 },
  native: { turns: 10, seconds: 300, tokens: 500_000, calls: 1_000 },
};

/** Returns the budgets of a message in a mode; `auto` begins with tools. */
export function getBudgetLimits({ mode = "auto", budgets }: BudgetSettings): Budgets {
  return { ...DEFAULT_BUDGETS[mode === "auto" ? "tools" : mode], ...budgets };
}

interface BudgetSettings {
  readonly mode?: AgentMode;
  readonly budgets?: Partial<Budgets>;
}

/** Counts what the work on one message has used. */
export class BudgetMeter {
  readonly #changes: Partial<Budgets>;
  readonly #getMode: () => ActiveMode;
  readonly #startedAt = performance.now();
  #pausedMs = 0;
  /** Questions that a person has not answered yet, and since when there are any. */
  #questions = 0;
  #pausedSince = 0;
  turns = 0;
  calls = 0;
  usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };

  /** Defaults follow the mode, which may change on the way. */
  constructor(changes: Partial<Budgets>, getMode: () => ActiveMode) {
    this.#changes = changes;
    this.#getMode = getMode;
  }

  get limits(): Budgets {
    return { ...DEFAULT_BUDGETS[this.#getMode()], ...this.#changes };
  }

  get durationMs(): number {
    return performance.now() - this.#startedAt;
  }

  get remainingMs(): number {
    const pauseMs = this.isPaused ? performance.now() - this.#pausedSince : 0;
    return this.limits.seconds * 1_000 - (this.durationMs - this.#pausedMs - pauseMs);
  }

  get isPaused(): boolean {
    return this.#questions > 0;
  }

  addUsage(reply: TokenUsage): void {
    const { inputTokens, outputTokens } = this.usage;
    this.usage = {
      inputTokens: inputTokens + reply.inputTokens,
      outputTokens: outputTokens + reply.outputTokens,
    };
  }

  /** Does not count the time in which a person is asked. */
  async pauseWhile<Value>(answer: Promise<Value>): Promise<Value> {
    if (!this.isPaused) this.#pausedSince = performance.now();
    this.#questions += 1;
    try {
      return await answer;
    } finally {
      this.#questions -= 1;
      if (!this.isPaused) this.#pausedMs += performance.now() - this.#pausedSince;
    }
  }

  /** Returns the budget that is used up; `undefined` while there is some of each. */
  findExceeded(): BudgetName | undefined {
    const { turns, tokens, calls } = this.limits;
    if (this.remainingMs <= 0) return "seconds";
    if (this.usage.inputTokens + this.usage.outputTokens >= tokens) return "tokens";
    if (this.calls >= calls) return "calls";
    return this.turns >= turns ? "turns" : undefined;
  }
}
