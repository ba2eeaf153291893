import type { Context } from "hono";

import {
  type AgentOptions,
  type AgentSettings,
  chooseModel,
  getBudgetLimits,
  parseAgentSettings,
} from "../../../agent/index.ts";
import { loadConfig, lookUp } from "../../../config/index.ts";
import { setBounded } from "../../../shared/lru.ts";
import { answerLines } from "../answer-lines.ts";
import { type ConsoleConversation, createConsoleConversation } from "../chat-conversation.ts";
import type { ChatInfo, ChatLine } from "../chat-messages.ts";
import { invalidRequest, toProblem } from "../problem.ts";
import { type JsonObject, readNumber, readObject, readText } from "../read-body.ts";
import { requireAdmin } from "../security/guard.ts";
import type { AddConsoleApi, ConsoleEnvironment, ConsoleServices } from "../services.ts";

const MAX_CONVERSATIONS = 256;

/** UTF-16 units of a message. */
const MAX_MESSAGE_UNITS = 100_000;

/**
 * Adds the chat: one conversation for each login. It is for administrators with the right to write, because the model is
 * paid by the owner. Programs run with the rights of the caller.
 */
export const addChatApi: AddConsoleApi = (api, services) => {
  const { runtime, http } = services;
  const conversations = new Map<unknown, ConsoleConversation>();

  /** The conversation ends at the logout, and with the credential. */
  async function open(c: Context<ConsoleEnvironment>): Promise<ConsoleConversation> {
    const key = getKey(c);
    const existing = conversations.get(key);
    if (existing !== undefined) return existing;
    const { settings, readVariable } = await readModelSettings(services);
    const conversation = createConsoleConversation(runtime, c.get("caller"), { settings, readVariable });
    setBounded(conversations, [key, conversation], MAX_CONVERSATIONS);
    const end = (): void => {
      conversation.stop();
      if (conversations.get(key) === conversation) conversations.delete(key);
    };
    c.get("ended")?.addEventListener("abort", end, { once: true });
    c.get("life")?.onEnd(end);
    return conversation;
  }

  api.get("/chat/info", async (c) => {
    requireAdmin(c.get("caller"), "write");
    return c.json(await describeModel(services));
  });
  api.get("/chat", async (c) => {
    requireAdmin(c.get("caller"), "write");
    const after = readNumber(c, "after", { fallback: 0, max: 999_999_999 });
    return answerEntries(c, await open(c), after);
  });
  api.post("/chat", async (c) => {
    requireAdmin(c.get("caller"), "write");
    const body = await readObject(c, http);
    const text = body["resume"] === true ? undefined : readMessage(body);
    const after = readNumber(c, "after", { fallback: 0, max: 999_999_999 });
    const conversation = await open(c);
    conversation.send(text);
    return answerEntries(c, conversation, after);
  });
  api.post("/chat/stop", (c) => {
    requireAdmin(c.get("caller"), "write");
    conversations.get(getKey(c))?.stop();
    return c.body(null, 204);
  });
  api.delete("/chat", (c) => {
    requireAdmin(c.get("caller"), "write");
    conversations.get(getKey(c))?.stop();
    conversations.delete(getKey(c));
    return c.body(null, 204);
  });
};

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
async function readModelSettings({ config, runtime }: ConsoleServices): Promise<ModelSettings> {
  if (config === undefined)
    return { settings: parseAgentSettings(runtime.sections["agent"]), readVariable: lookUp([process.env]) };
  const { settings, variables } = await loadConfig(config.options);
  return { settings: parseAgentSettings(settings["agent"]), readVariable: variables };
}

async function describeModel(services: ConsoleServices): Promise<ChatInfo> {
  try {
    const { settings, readVariable } = await readModelSettings(services);
    const budgets = Object.entries(getBudgetLimits(settings)).map(([name, limit]) => ({ name, limit }));
    const { provider, name } = chooseModel(undefined, settings, readVariable);
    return { model: `${provider}:${name}`, problem: null, budgets };
  } catch (thrown) {
    return { model: null, problem: toProblem(thrown), budgets: [] };
  }
}
