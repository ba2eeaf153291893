import { getMessage } from "../../../errors.ts";
import { requireBounds } from "../../../shared/value-size.ts";
import type { CallContext } from "../../../model/skill.ts";
import type { AskResult, StoreQuestion } from "./messages.ts";

/** Answers a request of a running call; fails if the call has ended. */
export async function answerQuestion(question: StoreQuestion, context: CallContext | undefined): Promise<AskResult> {
  if (context === undefined) return { ok: false, message: "The call has already ended" };
  try {
    const value = await asked(question, context);
    requireBounds(value, `"${question.operation}"`);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, message: getMessage(error) };
  }
}

function asked(question: StoreQuestion, { store, client }: CallContext): Promise<unknown> {
  switch (question.operation) {
    case "get":
      return store.get(question.key);
    case "set":
      return store.set(question.key, question.value);
    case "delete":
      return store.delete(question.key);
    case "entries":
      return store.entries(question.prefix);
    case "client":
      if (client === undefined) return Promise.reject(new Error("The caller cannot answer requests"));
      return client.ask(question.request, question.params, question.key);
  }
}
