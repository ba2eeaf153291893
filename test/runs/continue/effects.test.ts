import { expect, test } from "vitest";

import { getEffectKnowledge } from "../../../src/model/tools/effects.ts";
import { type MethodMetadata, METADATA_DEFAULTS } from "../../../src/model/skill.ts";

function getEffect(name: string, stated: Partial<MethodMetadata> = {}): string {
  const definition = { name, description: "", input: {}, metadata: stated };
  return getEffectKnowledge({ name, metadata: { ...METADATA_DEFAULTS, ...stated }, definition });
}

test.each([
  ["list_orders", "unlikely"],
  ["listOrders", "unlikely"],
  ["get", "unlikely"],
  ["search_mail", "unlikely"],
  ["getter", "possible"],
  ["listen", "possible"],
  ["get_or_create_user", "possible"],
  ["getOrCreateUser", "possible"],
  ["findAndModify", "possible"],
  ["search_and_replace", "possible"],
  ["fetchNextJob", "possible"],
  ["readAndDeleteMessage", "possible"],
  ["getAndIncrement", "possible"],
  ["query", "possible"],
  ["order", "possible"],
])("the effect of a method %s without annotations is %s [R4]", (name, effect) => {
  expect(getEffect(name)).toBe(effect);
});

test("what the author states counts before the name [R4]", () => {
  expect(getEffect("order", { readOnly: true })).toBe("none");
  expect(getEffect("list_orders", { readOnly: false })).toBe("stated");
  expect(getEffect("list_orders", { destructive: true })).toBe("stated");
});
