// @module-tag rest

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import type { Client } from "../../../src/model/client-requests.ts";
import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import { ROOT, temporaryFolder } from "../../support/mcp/servers.ts";

/** A runtime with one real server, ready. */
async function withServer(
  name: string,
  entry: { readonly args?: readonly string[]; readonly env?: object } = {},
  client?: Client,
): Promise<Runtime> {
  const main = `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
  const server = { ...entry, command: process.execPath, args: [main, ...(entry.args ?? [])] };
  const runtime = await createRuntime({
    skillsDir: false,
    mcpServers: { [name]: server },
    cwd: ROOT,
    ...(client !== undefined && { mcp: { client } }),
  });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  expect(runtime.servers.map(({ status }) => status)).toEqual(["connected"]);
  return runtime;
}

async function getValue(runtime: Runtime, source: string): Promise<unknown> {
  const outcome = await runtime.run(source);
  if (outcome.kind !== "completed") throw new Error(outcome.text);
  return outcome.value;
}

test("reads and writes files with the filesystem server, and catches its errors [M5]", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "notes"));
  await writeFile(join(folder, "notes", "a.txt"), "one\ntwo\n");
  await writeFile(join(folder, "dot.png"), Buffer.from("iVBORw==", "base64"));
  const runtime = await withServer("filesystem", { args: [folder] });
  const value = await getValue(
    runtime,
    `
    const folder = ${JSON.stringify(folder)};
    const found = await device.FilesystemMCP.search_files(folder, "**/*.txt");
    const text = (await device.FilesystemMCP.read_text_file(found.content)).content;
    await device.FilesystemMCP.write_file(folder + "/b.txt", text.toUpperCase());
    const copies = await Promise.all(["notes/a.txt", "b.txt"].map(
      (name) => device.FilesystemMCP.read_text_file({ path: folder + "/" + name })));
    const picture = await device.FilesystemMCP.read_media_file(folder + "/dot.png");
    let refused;
    try { await device.FilesystemMCP.read_text_file("/etc/hostname"); } catch (error) { refused = error.code; }
    ({ copies: copies.map((copy) => copy.content), picture: picture.content[0], refused })
  `,
  );
  expect(value).toEqual({
    copies: ["one\ntwo\n", "ONE\nTWO\n"],
    picture: { type: "image", data: "iVBORw==", mimeType: "image/png" },
    refused: "CALL_FAILED",
  });
});

test("stores knowledge in the memory server [M5]", async () => {
  const folder = await temporaryFolder();
  const runtime = await withServer("memory", { env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } });
  await getValue(
    runtime,
    `
    await device.MemoryMCP.create_entities([
      { name: "Ada", entityType: "person", observations: ["wrote a program"] },
      { name: "Engine", entityType: "machine", observations: [] },
    ]);
    await device.MemoryMCP.create_relations([{ from: "Ada", to: "Engine", relationType: "programs" }]);
    await device.MemoryMCP.add_observations([{ entityName: "Engine", contents: ["made of brass"] }]);
  `,
  );
  const value = await getValue(
    runtime,
    `
    const { entities, relations } = await device.MemoryMCP.read_graph();
    const brass = await device.MemoryMCP.search_nodes("brass");
    await device.MemoryMCP.delete_entities(["Ada"]);
    const left = (await device.MemoryMCP.open_nodes(["Ada", "Engine"])).entities;
    [entities.length, relations[0].relationType, brass.entities[0].name, left.map((each) => each.name)]
  `,
  );
  expect(value).toEqual([2, "programs", "Engine", ["Engine"]]);
});

test("uses the sequential-thinking server step by step [M5]", async () => {
  const runtime = await withServer("sequential-thinking");
  const value = await getValue(
    runtime,
    `
    const steps = [];
    for (const [index, thought] of ["guess", "test", "conclude"].entries()) {
      steps.push(await device.SequentialThinkingMCP.sequentialthinking({
        thought, thoughtNumber: index + 1, totalThoughts: 3, nextThoughtNeeded: index < 2 }));
    }
    steps.map((step) => [step.thoughtNumber, step.nextThoughtNeeded, step.thoughtHistoryLength])
  `,
  );
  expect(value).toEqual([
    [1, true, 1],
    [2, true, 2],
    [3, false, 3],
  ]);
});

test("uses all features of the reference server for everything [M7]", async () => {
  const answers: Record<string, unknown> = {
    "elicitation/create": { action: "accept", content: { name: "Ada" } },
    "sampling/createMessage": { role: "assistant", model: "m", content: { type: "text", text: "four" } },
    "roots/list": { roots: [{ uri: "file:///home/ada", name: "home" }] },
  };
  const runtime = await withServer("everything", {}, { can: () => true, ask: async (request) => answers[request] });
  const value = await getValue(
    runtime,
    `
    const sum = await device.EverythingMCP.get_sum(2, 3);
    const weather = await device.EverythingMCP.get_structured_content("Chicago");
    const image = (await device.EverythingMCP.get_tiny_image())[1];
    const link = (await device.EverythingMCP.get_resource_links(1))[1];
    const slow = await device.EverythingMCP.trigger_long_running_operation({ duration: 0.1, steps: 2 });
    const sampled = await device.EverythingMCP.trigger_sampling_request("2+2?");
    const asked = await device.EverythingMCP.trigger_elicitation_request();
    const roots = await device.EverythingMCP.get_roots_list();
    const resource = await device.EverythingMCP.resources.read("demo://resource/dynamic/text/{resourceId}", { resourceId: "7" });
    const prompt = await device.EverythingMCP.prompts.get("args-prompt", { city: "Oslo" });
    ({ sum, keys: Object.keys(weather), image: image.mimeType, link: link.type, slow, sampled: sampled.includes("four"),
       asked: asked[0], roots: roots.includes("file:///home/ada"), resource: resource.slice(0, 10),
       prompt: prompt.messages[0].content })
  `,
  );
  expect(value).toEqual({
    sum: "The sum of 2 and 3 is 5.",
    keys: ["temperature", "conditions", "humidity"],
    image: "image/png",
    link: "resource_link",
    slow: "Long running operation completed. Duration: 0.1 seconds, Steps: 2.",
    sampled: true,
    asked: "✅ User provided the requested information!",
    roots: true,
    resource: "Resource 7",
    prompt: "What's weather in Oslo?",
  });
});
