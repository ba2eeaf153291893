import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../../src/runtime.ts";
import { call, connected, fixture, ROOT } from "../../support/mcp/servers.ts";

test.each([[["resources"]], [["modern", "resources"]]])(
  "lists and reads resources and prompts (%j) [M7]",
  async (ways) => {
    const provider = await connected([fixture(ways)]);
    const names = provider.skills[0]?.methods.slice(-5).map(({ name }) => name);
    expect(names).toEqual(["resources_list", "resources_templates", "resources_read", "prompts_list", "prompts_get"]);
    expect(await call(provider, "resources_list")).toEqual([
      { uri: "note:///one", name: "one" },
      { uri: "note:///two", name: "two" },
    ]);
    expect(await call(provider, "resources_templates")).toEqual([{ uriTemplate: "note:///{name}", name: "note" }]);
    expect(await call(provider, "resources_read", { uri: "note:///one" })).toBe("text of note:///one");
    expect(await call(provider, "resources_read", { uri: "note:///{name}", values: { name: "a b" } })).toBe(
      "text of note:///a%20b",
    );
    expect(await call(provider, "resources_read", { uri: "note:///bytes" })).toEqual({
      type: "resource",
      uri: "note:///bytes",
      mimeType: "image/png",
      data: "iVBORw==",
    });
    expect(await call(provider, "resources_read", { uri: "note:///many" })).toEqual([
      { type: "resource", uri: "note:///many", text: "one" },
      { type: "resource", uri: "note:///many", text: "two" },
    ]);
    expect(await call(provider, "prompts_list")).toEqual([
      { name: "greet", arguments: [{ name: "who", required: true }] },
    ]);
    expect(await call(provider, "prompts_get", { name: "greet", values: { who: "Ada" } })).toEqual({
      description: "greet",
      messages: [{ role: "user", content: "Greet Ada" }],
    });
  },
);

test("fails for a missing resource with the message of the server [M7]", async () => {
  const provider = await connected([fixture(["resources"])]);
  await expect(call(provider, "resources_read", { uri: "note:///missing" })).rejects.toMatchObject({
    code: "CALL_FAILED",
    message: "no such note",
  });
});

test("adds no methods for resources and prompts of a server without them [M7]", async () => {
  const provider = await connected([fixture()]);
  const names = provider.skills[0]?.methods.map(({ name }) => name) ?? [];
  expect(names.filter((name) => /^(?:resources|prompts)_/.test(name))).toEqual([]);
});

test("reads a resource and a prompt by dotted names in a program [M7]", async () => {
  const mcpServers = { fixture: { command: process.execPath, args: ["test/fixtures/mcp/server.js", "resources"] } };
  const runtime = await createRuntime({ skillsDir: false, mcpServers, cwd: ROOT });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  const outcome = await runtime.run(`
    const { resources } = { resources: 1 };
    const one = await device.FixtureMCP.resources.read("note:///one");
    const list = await device.FixtureMCP.resources.list();
    const two = await device.FixtureMCP.resources.read("note:///{name}", { name: "x" });
    const prompt = await device.FixtureMCP.prompts.get("greet", { who: "Ada" });
    [one, list.length, two, prompt.messages[0].content, resources]
  `);
  expect(outcome).toMatchObject({
    kind: "completed",
    value: ["text of note:///one", 2, "text of note:///x", "Greet Ada", 1],
    notes: [],
  });
});

test("refuses an unsupported part like any unknown method [M7]", async () => {
  const mcpServers = { fixture: { command: process.execPath, args: ["test/fixtures/mcp/server.js", "resources"] } };
  const runtime = await createRuntime({ skillsDir: false, mcpServers, cwd: ROOT });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  const { violations } = runtime.check('await device.FixtureMCP.resources.write("x")');
  expect(violations).toMatchObject([{ code: "METHOD_UNKNOWN" }]);
});
