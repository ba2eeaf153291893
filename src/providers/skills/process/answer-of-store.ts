import { messageOf } from "../../../errors.ts";
import type { CallContext, SkillStore } from "../../../model/skill.ts";
import type { StoreAnswer, StoreRequest } from "./messages.ts";

/** Does what a call wants of the store of its skill; without a call, as it is over, nothing. */
export async function answerOfStore(request: StoreRequest, context: CallContext | undefined): Promise<StoreAnswer> {
  if (context === undefined) return { ok: false, message: "The call that asks for the store is over" };
  try {
    return { ok: true, value: await asked(request, context.store) };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

function asked(request: StoreRequest, store: SkillStore): Promise<unknown> {
  switch (request.operation) {
    case "get":
      return store.get(request.key);
    case "set":
      return store.set(request.key, request.value);
    case "delete":
      return store.delete(request.key);
    case "entries":
      return store.entries(request.prefix);
  }
}
