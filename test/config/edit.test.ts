import { array, assert, constantFrom, dictionary, integer, property, string } from "../support/fuzz.ts";
import { expect, test } from "vitest";

import { type DocumentEdit, editText } from "../../src/config/documents/edit.ts";
import type { Format, Path } from "../../src/config/documents/index.ts";

const set = (path: Path, value: unknown): DocumentEdit => ({ kind: "set", path, value });
const remove = (path: Path): DocumentEdit => ({ kind: "remove", path });
const edit =
  (format: Format) =>
  (text: string, ...edits: readonly DocumentEdit[]): string =>
    editText(text, edits, { label: "file", format });
const [json, yaml, toml] = [edit("json"), edit("yaml"), edit("toml")];

const COMMENTED = `{
  // mine
  "mcpServers": {
    "a": { "command": "x" }, // about a
    "b": { "command": "y" } // about b
  }
}
`;

test("adds a server at the end, and keeps every comment in its place [M10]", () => {
  expect(json(COMMENTED, set(["mcpServers", "c"], { command: "z", args: ["1", "2"], env: { K: "v" } }))).toBe(`{
  // mine
  "mcpServers": {
    "a": { "command": "x" }, // about a
    "b": { "command": "y" }, // about b
    "c": {
      "command": "z",
      "args": ["1", "2"],
      "env": {
        "K": "v"
      }
    }
  }
}
`);
});

test("removes a server with the comment on its line, and nothing else [M10]", () => {
  expect(json(COMMENTED, remove(["mcpServers", "a"]))).toBe(`{
  // mine
  "mcpServers": {
    "b": { "command": "y" } // about b
  }
}
`);
  expect(json(COMMENTED, remove(["mcpServers", "b"]))).toBe(`{
  // mine
  "mcpServers": {
    "a": { "command": "x" } // about a
  }
}
`);
  expect(json(COMMENTED, remove(["mcpServers", "a"]), remove(["mcpServers", "b"]))).toBe(`{
  // mine
  "mcpServers": {}
}
`);
});

test("keeps indentation by tabs, line ends, a byte order mark and a trailing comma [M10]", () => {
  const text = '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t},\r\n\t},\r\n}\r\n';
  expect(json(text, set(["mcpServers", "b"], { command: "y" }))).toBe(
    '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t},\r\n\t\t"b": {\r\n\t\t\t"command": "y"\r\n\t\t},\r\n\t},\r\n}\r\n',
  );
  expect(json(text, remove(["mcpServers", "a"]))).toBe('\uFEFF{\r\n\t"mcpServers": {},\r\n}\r\n');
});

test.each([
  [
    "",
    set(["mcpServers", "a"], { command: "x" }),
    '{\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    }\n  }\n}\n',
  ],
  [
    '{"mcpServers":{"a":{"command":"x"}}}',
    set(["mcpServers", "b"], {}),
    '{"mcpServers":{"a":{"command":"x"}, "b": {}}}',
  ],
  [
    '{"mcpServers":{"a":{"command":"x"}}}',
    set(["mcpServers", "a", "enabled"], false),
    '{"mcpServers":{"a":{"command":"x", "enabled": false}}}',
  ],
  ['{"mcpServers":{"a":{},"b":{}}}', remove(["mcpServers", "a"]), '{"mcpServers":{"b":{}}}'],
  ['{"mcpServers":{"a":{},"b":{}}}', remove(["mcpServers", "b"]), '{"mcpServers":{"a":{}}}'],
  ['{"mcpServers":{"a":{}}}', remove(["mcpServers", "nothing"]), '{"mcpServers":{"a":{}}}'],
  ['{"a": 1, }', set(["b"], 2), '{"a": 1, "b": 2 }'],
  ['{"a": 1 /* one */}', set(["b"], 2), '{"a": 1, /* one */\n"b": 2}'],
])("changes as little text as possible for an edit of %j [M10]", (before, change, after) => {
  const result = json(before, change);
  expect(result.replaceAll(/\s/g, "")).toBe(after.replaceAll(/\s/g, ""));
});

test.each([
  ["json", '{ "mcpServers": { "a": }', "file line 1, column 24: value expected"],
  ["json", "[]", "file line 1, column 1: an object is expected"],
  [
    "yaml",
    "a: [",
    "file line 1, column 5: Flow sequence in block collection must be sufficiently indented and end with a ]",
  ],
  ["toml", "a = \n", "file line 1, column 5: invalid value"],
] as const)("leaves a %s file that cannot be parsed unchanged (%s) [M10]", (format, text, wrong) => {
  expect(() => edit(format)(text, set(["b"], 1))).toThrow(wrong);
});

test("refuses to change a value whose notation cannot be edited separately [M10]", () => {
  expect(() => json('{ "mcpServers": "none" }', set(["mcpServers", "a"], {}))).toThrow(
    "file: the file cannot be edited without changing other parts of it; edit it by hand",
  );
  expect(() => toml('mcp_servers = { a = { command = "x" } }\n', set(["mcp_servers", "b"], { command: "y" }))).toThrow(
    "edit it by hand",
  );
});

test("keeps the comments, the order and the style of settings in YAML [M10]", () => {
  const text = `# top
mcp:
    # servers
    servers:
        - name: a # the a
          command: x

        - { name: b, command: y }
limits:
    cpuMs: 5
`;
  expect(yaml(text, set(["mcp", "servers", 0, "enabled"], false))).toBe(
    text.replace("command: x\n", "command: x\n          enabled: false\n"),
  );
  expect(yaml(text, remove(["mcp", "servers", 1]))).toBe(text.replace("\n        - { name: b, command: y }\n", ""));
  const windows = text.replaceAll("\n", "\r\n");
  expect(yaml(windows, set(["mcp", "servers", 1, "command"], "z"))).toBe(windows.replace("command: y", "command: z"));
});

const CODEX = `# top
model = "gpt-5" # best

[mcp_servers.a]
command = "npx" # run
args = ["-y",
  "p"] # [not a table]

[mcp_servers.a.env]
K = """v
[mcp_servers.c]
"""

# about b
[mcp_servers."b b"]
command = 'x'
[other]
y = 2026-01-01
`;

test("keeps the parts of Codex's TOML that do not belong to the server [M10]", () => {
  expect(toml(CODEX, set(["mcp_servers", "new one"], { command: "z", args: ["1"], env: { "A-B": "1" } }))).toBe(
    `${CODEX}\n[mcp_servers."new one"]\ncommand = "z"\nargs = ["1"]\nenv = { A-B = "1" }\n`,
  );
  expect(toml(CODEX, set(["mcp_servers", "a", "enabled"], false), set(["mcp_servers", "a", "command"], 'q"'))).toBe(
    CODEX.replace('command = "npx" # run', 'command = "q\\"" # run').replace(
      '"p"] # [not a table]\n',
      '"p"] # [not a table]\nenabled = false\n',
    ),
  );
  expect(toml(CODEX, remove(["mcp_servers", "a"]))).toBe(`# top
model = "gpt-5" # best

# about b
[mcp_servers."b b"]
command = 'x'
[other]
y = 2026-01-01
`);
  expect(toml(CODEX, set(["mcp_servers", "a", "env", "K"], "w"))).toBe(CODEX.replace(/"""[^]*?"""/, '"w"'));
  const only = '[mcp_servers.a]\ncommand = "x"\n';
  expect(toml("", set(["mcp_servers", "a"], { command: "x" }))).toBe(only);
  expect(toml(only, remove(["mcp_servers", "a"]))).toBe("");
  expect(toml(`model = "m"\n\n${only}`, remove(["mcp_servers", "a"]))).toBe('model = "m"\n');
  expect(toml(`[mcp_servers]\n${only}`, remove(["mcp_servers", "a"]))).toBe("[mcp_servers]\n");
});

test("changes only the edited value of any object in any layout [M10]", { tags: "rest" }, () => {
  const key = string({ maxLength: 6 });
  const member = dictionary(key, integer(), { maxKeys: 3 });
  const change = property(
    dictionary(key, member, { maxKeys: 4 }),
    constantFrom("", "  ", "\t"),
    array(key, { minLength: 1, maxLength: 2 }),
    (object, indent, fresh) => {
      const text = JSON.stringify(object, null, indent);
      const paths: Path[] = [
        fresh,
        ...Object.entries(object).flatMap(([a, inner]) => [[a], ...Object.keys(inner).map((b) => [a, b])]),
      ];
      for (const path of paths) {
        const there = json(text, set(path, { new: 1 }));
        json(there, remove(path));
        json(text, remove(path));
      }
    },
  );
  assert(change, { numRuns: 200 });
});
