import { ERRORS } from "../errors.ts";
import { askModel, ModelRequestFailed } from "./ask-model.ts";
import type { BudgetMeter } from "./budgets.ts";
import type { Conversation } from "./conversation.ts";
import type { AgentDone, AgentEvent, BudgetName, DoneReason } from "./events.ts";
import { type ChatMessage, type ChatToolCall, getCallKey } from "./messages.ts";
import type { ModelFailure } from "./models/model-errors.ts";
import type { OpenedModel } from "./models/open-model.ts";
import { formatFenceLesson } from "./reply/fences.ts";
import type { Reply } from "./reply/read-reply.ts";
import { callTool } from "./steps/call-tool.ts";
import { findSteps, type ReplySteps } from "./steps/parse-tool-calls.ts";
import { resumeProgram, runProgram } from "./steps/run-program.ts";
import { formatToolResult, type StepContext, type StepResult } from "./steps/step-context.ts";
import { createToolset } from "./steps/toolset.ts";

/** The parts that work on one message. */
export interface LoopParts {
  readonly opened: OpenedModel;
  readonly conversation: Conversation;
  readonly context: StepContext;
  readonly meter: BudgetMeter;
  readonly emit: (event: AgentEvent) => void;
  readonly getSystemPrompt: (mode: Conversation["mode"]) => string;
}

/** Says why a reply ended before the model was finished. */
const INCOMPLETE: Readonly<Record<Reply["finish"], string>> = {
  complete: "",
  length: "it reached its maximum length",
  filtered: "a filter of the server ended it",
};

const EMPTY_REPLY = "Your reply was empty. Answer the user, or act.";
const FINISH_NOW = "No more steps are possible. Answer the user now with what you know, and say what is missing.";
const REPEATED = "Note: exactly this was done before in this conversation; it was done again.";
const DUPLICATE = "This call is identical to an earlier one of the same reply; it ran once, with the result above.";

const SKIPPED_BY_WAIT =
  "Error: this was not run, because the program before it waits for a person. Send it again if needed";

const QUOTE = "The text occurs in a result; its calls that have an effect need an approval";

const LEFT = "It still waits. The user has sent a new message; the result of the program will not be shown.";

/** Works on the newest message of the conversation: asks the model, runs its steps, and returns how it ended. */
export class MessageLoop {
  readonly #parts: LoopParts;
  #isNudged = false;
  #isTaught = false;
  #text = "";

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  async run(): Promise<AgentDone> {
    const { meter, emit } = this.#parts;
    for (;;) {
      const exceeded = meter.findExceeded();
      if (exceeded !== undefined) return this.endByBudget(exceeded);
      const reply = await this.#ask(true);
      if ("error" in reply) return this.#fail(reply);
      const steps = this.#findSteps(reply);
      this.#text = reply.text === "" ? this.#text : reply.text;
      this.#addReply(reply, steps);
      if (reply.isCut) emit({ type: "notice", code: "cut", text: "The reply was ended behind its program" });
      if (steps.kind === "unmarked" && this.#teachFence()) continue;
      if (steps.kind === "none" || steps.kind === "unmarked") {
        const why = INCOMPLETE[reply.finish];
        if (why !== "") emit({ type: "notice", code: "incomplete", text: `The reply is not complete: ${why}` });
        if (reply.text !== "") return this.#end("answer");
        const next = this.#isNudged ? "the model gave no answer" : "the model is asked again";
        emit({ type: "notice", code: "empty", text: `The reply was empty; ${next}` });
        if (this.#isNudged) return this.#end("answer");
        this.#isNudged = true;
        this.#add({ role: "user", content: EMPTY_REPLY });
        continue;
      }
      meter.turns += 1;
      await (steps.kind === "tools" ? this.#runTools(steps, reply) : this.#runPrograms(steps));
      this.#parts.context.signal.throwIfAborted();
      if (this.#parts.conversation.waiting !== undefined) return this.#end("waiting");
    }
  }

  /** Continues with the result of the program that waits for a person, or ends again if it still does. */
  async resume(): Promise<AgentDone> {
    const { conversation, context } = this.#parts;
    const { waiting } = conversation;
    if (waiting === undefined) return this.#end("answer");
    const result = await resumeProgram(waiting, context);
    context.signal.throwIfAborted();
    conversation.waiting = undefined;
    this.#endStep(waiting.call, result);
    return result.waiting === undefined ? this.run() : this.#end("waiting");
  }

  /** Answers the program that waits for a person, because the conversation continues without its result. */
  leaveWaiting(): void {
    const { conversation } = this.#parts;
    const { waiting } = conversation;
    conversation.waiting = undefined;
    if (waiting === undefined) return;
    const text = `Run ${waiting.runId} waits for an approval. ${LEFT}`;
    this.#addResult(waiting.call, { name: "run_code", text, isError: true });
  }

  /** Ends early, with the text so far. */
  cancel(): AgentDone {
    return this.#end("cancelled");
  }

  /** Ends the work because a budget is used up. Asks for an answer without further steps, if there is time and money for it. */
  async endByBudget(budget: BudgetName): Promise<AgentDone> {
    const { meter, emit } = this.#parts;
    emit({ type: "notice", code: "budget", text: `The budget of ${meter.limits[budget]} ${budget} is used up` });
    if (budget === "seconds" || budget === "tokens") return this.#end("budget", budget);
    const reply = await this.#ask(false);
    if ("error" in reply) return this.#fail(reply);
    if (reply.text !== "") {
      this.#text = reply.text;
      this.#add({ role: "assistant", content: reply.text });
    }
    return this.#end("budget", budget);
  }

  /** Says to the model, once for each message, how a program begins. Returns false after that. */
  #teachFence(): boolean {
    if (this.#isTaught) return false;
    this.#isTaught = true;
    const { conversation, emit } = this.#parts;
    emit({ type: "notice", code: "fence", text: "A block without the word of the conversation was not run" });
    this.#add({ role: "user", content: formatFenceLesson(conversation.fenceWord) });
    return true;
  }

  async #ask(mayAct: boolean): Promise<Reply | ModelFailure> {
    const { opened, conversation, context, meter, emit, getSystemPrompt } = this.#parts;
    const { mode, isUndecided, messages, readsPrograms, fenceWord } = conversation;
    emit({ type: "turn", turn: meter.turns + 1, model: opened.label, mode });
    const tools = mayAct ? createToolset(mode, context, conversation.recent) : [];
    const request = {
      system: getSystemPrompt(mode),
      messages: mayAct ? messages : [...messages, { role: "user" as const, content: FINISH_NOW }],
      tools,
      fenceWord: mayAct && readsPrograms ? fenceWord : undefined,
    };
    try {
      const reply = await askModel(request, { opened, signal: context.signal, meter, emit });
      meter.addUsage(reply.usage);
      emit({ type: "usage", reply: reply.usage, total: meter.usage });
      return reply;
    } catch (thrown) {
      if (!(thrown instanceof ModelRequestFailed)) throw thrown;
      if (!thrown.failure.lacksTools || !isUndecided || tools.length === 0) return thrown.failure;
      this.#changeToPrograms("The server offers no tools for this model");
      return this.#ask(mayAct);
    }
  }

  #findSteps(reply: Reply): ReplySteps {
    const { conversation } = this.#parts;
    const { isUndecided, readsPrograms, fenceWord } = conversation;
    const steps = findSteps(reply, {
      fenceWord: readsPrograms ? fenceWord : undefined,
      isQuote: (text) => conversation.isQuote(text),
    });
    if (isUndecided && steps.kind === "tools" && !steps.areInText) conversation.isUndecided = false;
    if (isUndecided && (steps.kind === "programs" || steps.kind === "unmarked"))
      this.#changeToPrograms("The model writes programs instead of tool calls");
    return steps;
  }

  #changeToPrograms(why: string): void {
    const { conversation, emit } = this.#parts;
    conversation.mode = "code";
    conversation.isUndecided = false;
    emit({ type: "notice", code: "mode", text: `${why}; it answers with programs in fences from now on` });
  }

  #addReply({ text, thinking, toolCalls }: Reply, steps: ReplySteps): void {
    if (text === "" && toolCalls.length === 0) return;
    const calls = steps.kind === "tools" && !steps.areInText ? steps.calls : [];
    this.#add({
      role: "assistant",
      content: text,
      ...(thinking !== "" && calls.length > 0 && { reasoning: thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    });
  }

  async #runTools(
    { calls, areInText, areQuoted: isQuote }: Extract<ReplySteps, { kind: "tools" }>,
    { finish }: Reply,
  ): Promise<void> {
    const { conversation, context } = this.#parts;
    if (isQuote) this.#noticeQuote();
    const toolNames = createToolset(conversation.mode, context, conversation.recent).map(({ name }) => name);
    const inReply = new Set<string>();
    for (const call of calls) {
      if (conversation.waiting !== undefined) {
        if (!areInText) this.#addResult(call, { name: call.function.name, text: SKIPPED_BY_WAIT, isError: true });
        continue;
      }
      const key = getCallKey(call);
      const isDuplicate = inReply.has(key);
      inReply.add(key);
      const result = isDuplicate
        ? { name: call.function.name, text: DUPLICATE, isError: false }
        : await this.#runOnce(key, () =>
            callTool({ call, isCutOff: finish === "length", isQuote, toolNames }, context),
          );
      if (isDuplicate) this.#skip(`${call.function.name} was called twice in one reply; it ran once`);
      this.#endStep(areInText ? undefined : call, result);
    }
  }

  /** Adds a result; that of a program which waits for a person is added later. */
  #endStep(call: ChatToolCall | undefined, { waiting, ...result }: StepResult): void {
    if (waiting === undefined) this.#addResult(call, result);
    else this.#parts.conversation.waiting = { ...waiting, call };
  }

  async #runPrograms({ programs, skipped }: Extract<ReplySteps, { kind: "programs" }>): Promise<void> {
    const { conversation } = this.#parts;
    const inReply = new Set<string>();
    for (const code of programs) {
      if (conversation.waiting !== undefined) break;
      const key = `run_code ${code.trim()}`;
      if (inReply.has(key)) this.#skip("A program stood twice in one reply; it ran once");
      else this.#endStep(undefined, await this.#runOnce(key, () => this.#runProgram(code)));
      inReply.add(key);
    }
    if (skipped > 0)
      this.#skip(`${skipped} further programs of the reply were not run; one reply has at most ${programs.length}`);
  }

  #runProgram(code: string): Promise<StepResult> {
    const { conversation, context } = this.#parts;
    const isQuote = conversation.isQuote(code);
    if (isQuote) this.#noticeQuote();
    else conversation.addProgram(code);
    return runProgram({ code }, context, isQuote);
  }

  #noticeQuote(): void {
    this.#parts.emit({ type: "notice", code: "quote", text: QUOTE });
  }

  #skip(text: string): void {
    this.#parts.emit({ type: "notice", code: "skipped", text });
  }

  /** Runs a step; the model and the user are reminded if the same step ran before. */
  async #runOnce(key: string, run: () => Promise<StepResult>): Promise<StepResult> {
    const { conversation, emit } = this.#parts;
    const isRepeated = conversation.recordRun(key);
    if (isRepeated) emit({ type: "notice", code: "repeated", text: "The model repeats what it did before" });
    const result = await run();
    return isRepeated ? { ...result, text: `${result.text}\n\n${REPEATED}` } : result;
  }

  /** A result answers its call, or is a message of its own where the model wrote text. */
  #addResult(call: ChatToolCall | undefined, { name, text: result, isError }: StepResult): void {
    const text = this.#parts.conversation.readResult(result);
    if (call === undefined) {
      this.#add({ role: "user", content: formatToolResult(name, { text, isError }) });
      return;
    }
    this.#add({ role: "tool", tool_call_id: call.id, name, content: text, ...(isError && { is_error: true }) });
  }

  #add(message: ChatMessage): void {
    this.#parts.conversation.messages.push(message);
    this.#parts.emit({ type: "message", message });
  }

  #fail({ error }: ModelFailure): AgentDone {
    const { message, code } = error;
    this.#parts.emit({ type: "error", error: { code, message, fix: ERRORS[code].fix } });
    return this.#end("error");
  }

  #end(reason: DoneReason, budget?: BudgetName): AgentDone {
    const { turns, calls, usage, durationMs } = this.#parts.meter;
    return { type: "done", reason, ...(budget && { budget }), text: this.#text, turns, calls, usage, durationMs };
  }
}
