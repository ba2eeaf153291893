import type { Context } from "hono";

import {
  type AgentOptions,
  type AgentSettings,
  chooseModel,
  getBudgetLimits,
  parseAgentSettings,
} from "../../../agent/index.ts";
import { loadConfig, lookUp } from "../../../config/index.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { setBounded } from "../../../shared/lru.ts";
import { answerLines } from "../follow-run.ts";
import { type ConsoleConversation, createConsoleConversation } from "../chat-conversation.ts";
import { type Endpoints, type JsonObject, readNumber, readText } from "../endpoints.ts";
import type { ChatInfo, ChatLine } from "../program-messages.ts";
import { invalidRequest, toProblem } from "../problem.ts";
import type { ConsoleEnvironment, ConsoleServices } from "../services.ts";

const MAX_CONVERSATIONS = 256;

/** UTF-16 units of a message. */
const MAX_MESSAGE_UNITS = 100_000;

/**
 * The chat: one conversation for each login. It is for administrators with the right `ManageRuns`, because the model is
 * paid by the owner. Programs run with the rights of the caller.
 */
export function createChatEndpoints(services: ConsoleServices): Endpoints {
  const conversations = new Map<unknown, ConsoleConversation>();

  /** The conversation ends at the logout, and with the credential. */
  async function open(c: Context<ConsoleEnvironment>, view: RuntimeView): Promise<ConsoleConversation> {
    view.require("ManageRuns");
    const key = getKey(c);
    const existing = conversations.get(key);
    if (existing !== undefined) return existing;
    const options = await readModelSettings(services, view);
    const begunMeanwhile = conversations.get(key);
    if (begunMeanwhile !== undefined) return begunMeanwhile;
    const conversation = createConsoleConversation({ view, questions: services.questions }, options);
    setBounded(conversations, [key, conversation], MAX_CONVERSATIONS);
    const end = (): void => {
      conversation.stop();
      if (conversations.get(key) === conversation) conversations.delete(key);
    };
    c.get("ended")?.addEventListener("abort", end, { once: true });
    if (c.get("ended")?.aborted === true) end(); // the logout came meanwhile
    c.get("life")?.onEnd(end);
    return conversation;
  }

  return {
    "GET /chat/info": ({ view }) => describeModel(services, view),
    "GET /chat": async ({ c, view }) => answerEntries(c, await open(c, view), readNumber(c, "after", FROM_START)),
    "POST /chat": async ({ c, view, readBody }) => {
      const body = await readBody();
      const text = body["resume"] === true ? undefined : readMessage(body);
      const after = readNumber(c, "after", FROM_START);
      const conversation = await open(c, view);
      conversation.send(text);
      return answerEntries(c, conversation, after);
    },
    "POST /chat/stop": ({ c, view }) => {
      view.require("ManageRuns");
      conversations.get(getKey(c))?.stop();
    },
    "DELETE /chat": ({ c, view }) => {
      view.require("ManageRuns");
      conversations.get(getKey(c))?.stop();
      conversations.delete(getKey(c));
    },
  };
}

const FROM_START = { fallback: 0 };

function readMessage(body: JsonObject): string {
  const text = readText(body, "text");
  if (text.length > MAX_MESSAGE_UNITS) throw invalidRequest(`text must have at most ${MAX_MESSAGE_UNITS} characters`);
  return text;
}

/** A login, or the caller of requests that have none. */
function getKey(c: Context<ConsoleEnvironment>): unknown {
  return c.get("ended") ?? c.get("caller").id;
}

/** Answers with the entries after a number until no work is under way. The work continues if the browser leaves. */
function answerEntries(c: Context<ConsoleEnvironment>, conversation: ConsoleConversation, after: number): Response {
  return answerLines<ChatLine>(c, (send, signal) => {
    const sendState = (): void =>
      send({ kind: "state", isRunning: conversation.isRunning, conversation: conversation.id });
    sendState();
    return new Promise((resolve) => {
      const onIdle = (): void => {
        sendState();
        resolve();
      };
      const stop = conversation.follow(after, { onEntry: send, onIdle });
      signal.addEventListener(
        "abort",
        () => {
          stop();
          resolve();
        },
        { once: true },
      );
    });
  });
}

type ModelSettings = Required<Pick<AgentOptions, "readVariable">> & { readonly settings: AgentSettings };

/** Reads the section `agent` and the variables as the files of the project are now. */
async function readModelSettings({ config }: ConsoleServices, view: RuntimeView): Promise<ModelSettings> {
  if (config === undefined)
    return { settings: parseAgentSettings(view.admin("Read").sections["agent"]), readVariable: lookUp([process.env]) };
  const { settings, variables } = await loadConfig(config.options);
  return { settings: parseAgentSettings(settings["agent"]), readVariable: variables };
}

async function describeModel(services: ConsoleServices, view: RuntimeView): Promise<ChatInfo> {
  view.require("ManageRuns");
  try {
    const { settings, readVariable } = await readModelSettings(services, view);
    const budgets = Object.entries(getBudgetLimits(settings)).map(([name, limit]) => ({ name, limit }));
    const { provider, name } = chooseModel(undefined, settings, readVariable);
    return { model: `${provider}:${name}`, problem: null, budgets, price: settings.price ?? null };
  } catch (thrown) {
    return { model: null, problem: toProblem(thrown), budgets: [], price: null };
  }
}
