/** Entry of the thread: keeps schemas, and checks one text after the other. */
import { type MessagePort, parentPort } from "node:worker_threads";

import type { GraphQLSchema } from "graphql";

import { getMessage } from "../../../../errors.ts";
import { deleteOldest } from "../../../../shared/lru.ts";
import type { CheckedText } from "./check-document.ts";
import type { ThreadModules } from "./check-in-thread.ts";
import { decodeVariables } from "./encode-variables.ts";
import type { CheckAnswer, CheckOrder } from "./protocol.ts";

/** UTF-16 units of the texts of one schema that are kept; the tree of a text takes about fifty bytes for each. */
const MAX_TEXT_UNITS = 256 << 10;

interface ThreadSchema {
  readonly schema: GraphQLSchema;
  /** Parsed texts by kind and text. */
  readonly texts: Map<string, CheckedText>;
  units: number;
}

const port = parentPort as MessagePort;
const schemas = new Map<number, ThreadSchema>();
void serve();

/** No `await` at the top: V8 aborts the process where a thread is ended while such a module is evaluated (Node 20). */
async function serve(): Promise<void> {
  process.env["NODE_ENV"] = "production"; // the package tests each object for a second copy of itself otherwise
  const { THREAD_MODULES } = await import("./check-in-thread.ts");
  port.on("message", (order: CheckOrder) => port.postMessage(answer(order, THREAD_MODULES)));
  port.postMessage({ kind: "ready" });
}

function answer(order: CheckOrder, modules: ThreadModules): CheckAnswer {
  for (const each of order.remove) schemas.delete(each);
  try {
    return check(order, modules);
  } catch (error) {
    return { kind: "failed", error: getMessage(error), hasSchema: schemas.has(order.schema) };
  }
}

function check(order: CheckOrder, modules: ThreadModules): CheckAnswer {
  const { sdl, variables } = order;
  if (sdl !== undefined) schemas.set(order.schema, { schema: modules.readSchema(sdl), texts: new Map(), units: 0 });
  const loaded = schemas.get(order.schema);
  if (loaded === undefined) throw new Error("the schema is missing");
  const { checked, operation } = getText(order, loaded, modules);
  const hasVariables = (operation?.variableDefinitions ?? []).length > 0;
  const problems =
    operation === undefined || variables === undefined
      ? []
      : modules.checkVariables(loaded.schema, operation, decodeVariables(variables));
  return { kind: "checked", ...(order.needsText && { checked }), hasVariables, problems };
}

function getText({ kind, text }: CheckOrder, loaded: ThreadSchema, { checkText }: ThreadModules): CheckedText {
  const key = `${kind} ${text}`;
  const before = loaded.texts.get(key);
  if (before !== undefined) return before;
  const checked = checkText(loaded.schema, kind, text);
  loaded.texts.set(key, checked);
  loaded.units += key.length;
  deleteOldest(
    loaded.texts,
    () => loaded.units > MAX_TEXT_UNITS,
    (oldest) => {
      loaded.texts.delete(oldest);
      loaded.units -= oldest.length;
    },
  );
  return checked;
}
