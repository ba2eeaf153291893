import { describe, expect, test } from "vitest";

import { childEnvironment } from "../../../src/shared/process/child-environment.ts";
import { createLineReader } from "../../../src/providers/mcp/stdio/line-reader.ts";
import { findOverlongId, parseLine } from "../../../src/providers/mcp/stdio/messages.ts";
import { KnownSecrets } from "../../../src/shared/secrets.ts";
import { createOutputTail } from "../../../src/providers/mcp/stdio/output-tail.ts";
import { call, connected, createContext, fixture, installed, ROOT } from "../../support/mcp/servers.ts";

describe("reads lines", () => {
  const read = (chunks: readonly string[], maxBytes = 1_000): readonly unknown[] => {
    const out: unknown[] = [];
    const reader = createLineReader(maxBytes, {
      line: (text) => out.push(text),
      overlong: (...ends) => out.push(ends),
    });
    for (const chunk of chunks) reader.push(Buffer.from(chunk));
    reader.end();
    return out;
  };

  test.each([
    [["a\nb\n"], ["a", "b"]],
    [
      ["a", "b", "\nc"],
      ["ab", "c"],
    ],
    [["\n\n", "a\n\n"], ["a"]],
    [["a\r\nb"], ["a\r", "b"]],
    [[], []],
  ])("reads %j as %j [M9]", (chunks, lines) => {
    expect(read(chunks)).toEqual(lines);
  });

  test("joins characters that are split between chunks [M9]", () => {
    const out: string[] = [];
    const reader = createLineReader(100, { line: (text) => out.push(text), overlong: () => {} });
    for (const byte of Buffer.from("é😀\n")) reader.push(Buffer.of(byte));
    expect(out).toEqual(["é😀"]);
  });

  test("keeps both ends of a line that is too long, and the whole next line [M9]", () => {
    const long = `{"id":1,${"x".repeat(5_000)},"end":true}`;
    const ends = [long.slice(0, 256), long.slice(-256)];
    expect(read([`${long}\nnext\n`])).toEqual([ends, "next"]);
    expect(read(`${long}\nnext\n`.split(""))).toEqual([ends, "next"]);
  });

  test("reads a line of 32 MB in small chunks [M9]", () => {
    const chunk = Buffer.alloc(1 << 10, "x");
    let lines = 0;
    const reader = createLineReader(64 << 20, { line: () => (lines += 1), overlong: () => {} });
    for (let n = 0; n < 32 << 10; n++) reader.push(chunk);
    reader.end();
    expect(lines).toBe(1);
  });
});

test.each([
  ['{"a":1}', { a: 1 }],
  ['[{"a":1}]', [{ a: 1 }]],
  ['> {"jsonrpc":"2.0"}', { jsonrpc: "2.0" }],
  ['12:00 {"level":1} {"id":3}', { id: 3 }],
  ["", undefined],
  ["text", undefined],
  ["3", undefined],
  ["null", undefined],
  ['{"jsonrpc":', undefined],
  ['log: {"level":1}', undefined],
])("parses the line %j as %j [M9]", (line, message) => {
  expect(parseLine(line)).toEqual(message);
});

test.each([
  ['{"jsonrpc":"2.0","id":7,"result":{"a', 'a"}}', 7],
  ['{"id" : "a-1" , "result":[', '{"id":3}]}', "a-1"],
  ['{"result":{"content":[', ']},"jsonrpc":"2.0","id":8}', 8],
  ['{"result":{"content":[', ']},"id":9,"jsonrpc":"2.0"}\r', 9],
  ['{"result":{"content":[', ',"id":3}}', undefined],
  ['{"result":{"id":3,', '"x"]}', undefined],
  ["noise", "noise", undefined],
])("finds that the overlong message %j … %j answers %j [M9]", (start, end, id) => {
  expect(findOverlongId(start, end)).toBe(id);
});

test("keeps the end of a stream in whole lines, without terminal controls [M9]", () => {
  const secrets = new KnownSecrets();
  const tail = createOutputTail(20);
  tail.push(Buffer.from("first line\nsecond line\r\n"));
  tail.push(Buffer.from("\u001b[31mthird\u001b[0m\u0007\n"));
  expect(tail.text(secrets)).toBe("second line\nthird");
  tail.push(Buffer.alloc(100, "x"));
  expect(tail.text(secrets)).toBe("x".repeat(20));
  expect(createOutputTail(20).text(secrets)).toBe("");
});

test("passes a child the harmless part of the environment, and the declared variables [M2]", () => {
  const ours = {
    PATH: "/bin",
    HOME: "/home/ada",
    API_KEY: "s3cret",
    SHELL: "() { :; }",
    LANG: undefined,
    AWS_SECRET: "x",
  };
  expect(childEnvironment(ours, { API_KEY: "declared", HOME: "/elsewhere" })).toEqual({
    PATH: "/bin",
    HOME: "/elsewhere",
    API_KEY: "declared",
  });
});

test("gives a real child only declared variables [M2]", async () => {
  const env = { ...process.env, SECRET_OF_PARENT: "s3cret" };
  const provider = await connected([fixture([], { env: { DECLARED: "yes" } })], { env });
  const seen = (await call(provider, "environment")) as Readonly<Record<string, string>>;
  expect(seen["DECLARED"]).toBe("yes");
  expect(seen).not.toHaveProperty("SECRET_OF_PARENT");
});

test("runs a server in the folder of its entry [M1]", async () => {
  const provider = await connected([
    fixture([], { command: process.execPath, args: ["../fixtures/mcp/server.js"], cwd: "test/config" }),
  ]);
  expect(await call(provider, "folder")).toBe(`${ROOT}/test/config`);
});

test.each([
  [{ command: "no-such-command" }, 'cannot be started, the command "no-such-command" does not exist'],
  [{ cwd: "no/such/folder" }, `cannot be started, the folder "${ROOT}/no/such/folder" does not exist`],
  [{ command: ROOT }, `cannot be started: spawn ${ROOT} EACCES`],
])("reports why a server cannot be started (%j) [X8]", async (entry, words) => {
  const provider = await connected([fixture([], entry)]);
  expect(provider.servers[0]?.error).toBe(`Cannot start the MCP server: "fixture" ${words} (SERVER_FAILED)`);
});

test("calls the reference server for files, structured content first [M3]", async () => {
  const provider = await connected([installed("filesystem", ["."])]);
  expect(provider.servers[0]).toMatchObject({
    name: "filesystem",
    skill: "FilesystemMCP",
    status: "connected",
    toolCount: 14,
  });
  const [skill] = provider.skills;
  const method = skill?.methods.find(({ name }) => name === "list_directory");
  expect(method?.metadata).toEqual({ readOnly: true, openWorld: false });
  expect(method?.output).toMatchObject({ type: "object", properties: { content: { type: "string" } } });
  const listing = (await provider.call("filesystem", "list_directory", { path: "." }, createContext())) as {
    readonly content: string;
  };
  expect(Object.keys(listing)).toEqual(["content"]);
  expect(listing.content.split("\n")).toContain("[FILE] package.json");
  await expect(
    provider.call("filesystem", "read_text_file", { path: "/etc/hostname" }, createContext()),
  ).rejects.toMatchObject({
    code: "CALL_FAILED",
    message: `Access denied - path outside allowed directories: /etc/hostname not in ${ROOT}`,
  });
});

test("calls the reference server for everything [M3]", { tags: "rest" }, async () => {
  const provider = await connected([installed("everything")]);
  const tell = (tool: string, input = {}, context = {}): Promise<unknown> =>
    provider.call("everything", tool, input, createContext(context));
  expect(provider.skills[0]?.methods.map(({ name, wireName }) => [name, wireName])).toContainEqual([
    "get_sum",
    "get-sum",
  ]);
  expect(await tell("get-sum", { a: 2, b: 3 })).toBe("The sum of 2 and 3 is 5.");
  expect(await tell("get-structured-content", { location: "New York" })).toEqual({
    temperature: 33,
    conditions: "Cloudy",
    humidity: 82,
  });
  expect(await tell("get-tiny-image")).toMatchObject([
    "Here's the image you requested:",
    { type: "image", mimeType: "image/png" },
    expect.any(String),
  ]);
  const steps: unknown[] = [];
  const progress = (...step: readonly unknown[]): void => void steps.push(step.slice(0, 2));
  await tell("trigger-long-running-operation", { duration: 0.1, steps: 2 }, { progress });
  expect(steps).toEqual([
    [1, 2],
    [2, 2],
  ]);
});
