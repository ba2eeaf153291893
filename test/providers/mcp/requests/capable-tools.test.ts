import { expect, test } from "vitest";

import type { ClientRequest } from "../../../../src/model/client-requests.ts";
import { findCapableTools } from "../../../../src/providers/mcp/catalog/capable-tools.ts";
import { connected, createContext, fixture, temporaryFolder } from "../../../support/mcp/servers.ts";

const BASE = [{ name: "echo" }];

/** A server whose tools depend on what the client answers; counts how often it is asked. */
function listing(offer: (requests: readonly ClientRequest[], count: number) => readonly string[]) {
  const asked: (readonly ClientRequest[])[] = [];
  const listFor = async (requests: readonly ClientRequest[]) => {
    asked.push(requests);
    return [...BASE, ...offer(requests, asked.length).map((name) => ({ name }))];
  };
  return { asked, listFor };
}

test("asks a server without such tools once [M7]", async () => {
  const { asked, listFor } = listing(() => []);
  expect(await findCapableTools(BASE, listFor)).toEqual({ tools: [], needs: {} });
  expect(asked).toEqual([["elicitation/create", "sampling/createMessage", "roots/list"]]);
});

test("finds which requests a client must answer for each tool [M7]", async () => {
  const { listFor } = listing((requests) => [
    ...(requests.includes("roots/list") ? ["tree"] : []),
    ...(requests.includes("elicitation/create") && requests.includes("roots/list") ? ["form"] : []),
  ]);
  expect(await findCapableTools(BASE, listFor)).toEqual({
    tools: [{ name: "tree" }, { name: "form" }],
    needs: { tree: ["roots/list"], form: ["elicitation/create", "sampling/createMessage", "roots/list"] },
  });
});

test("does not take a tool that comes and goes for one that needs a capability [M7]", async () => {
  const { listFor } = listing((_requests, count) => [`list_${count}`]);
  expect(await findCapableTools(BASE, listFor)).toEqual({ tools: [], needs: {} });
});

test("asks an old server over another process once, and stores the answer [M7]", { tags: "rest" }, async () => {
  const stateDir = await temporaryFolder();
  const client = { can: () => true, ask: () => Promise.reject(new Error("not asked")) };
  const asker = createContext({ client });
  const first = await connected([fixture()], { stateDir });
  expect(first.listWith(createContext())).toBeUndefined();
  await first.listWith(asker);
  expect(first.listWith(asker)).toBeUndefined();
  await first.close();
  const second = await connected([fixture()], { stateDir });
  expect(second.listWith(asker)).toBeUndefined();
});
