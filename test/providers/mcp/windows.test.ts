import { expect, test } from "vitest";

import { windowsSpelling } from "../../../src/providers/mcp/stdio/windows.ts";

const FILES = new Set([
  String.raw`C:\node\node.EXE`,
  String.raw`C:\node\npx.CMD`,
  String.raw`C:\work\run.bat`,
  String.raw`C:\Program Files\x\tool.CMD`,
]);

const place = {
  cwd: String.raw`C:\work`,
  env: { Path: String.raw`C:\other;C:\node;C:\Program Files\x`, PATHEXT: ".EXE;.CMD", COMSPEC: String.raw`C:\cmd.exe` },
  exists: (file: string) => FILES.has(file),
};

const spelled = (command: string, ...args: readonly string[]) => windowsSpelling(command, args, place);

test("finds a program by its extension on Windows [M3]", () => {
  expect(spelled("node", "a b")).toEqual({ command: String.raw`C:\node\node.EXE`, args: ["a b"], isVerbatim: false });
});

test("starts a script with the command interpreter on Windows [M3]", () => {
  expect(spelled("npx", "-y", "@acme/server")).toEqual({
    command: String.raw`C:\cmd.exe`,
    args: ["/d", "/s", "/c", String.raw`"C:\node\npx.CMD ^^^"-y^^^" ^^^"@acme/server^^^""`],
    isVerbatim: true,
  });
});

test.each([
  ["a b", '^^^"a^^^ b^^^"'],
  ["%PATH%", '^^^"^^^%PATH^^^%^^^"'],
  ["a&calc", '^^^"a^^^&calc^^^"'],
  ['say "hi"', String.raw`^^^"say^^^ \^^^"hi\^^^"^^^"`],
  [String.raw`C:\dir` + "\\", String.raw`^^^"C:\dir\\^^^"`],
  [String.raw`\"`, String.raw`^^^"\\\^^^"^^^"`],
])("escapes the argument %j unambiguously on Windows [M3]", (arg, escaped) => {
  expect(spelled(String.raw`.\run.bat`, arg).args.at(-1)).toBe(String.raw`"C:\work\run.bat ${escaped}"`);
});

test("quotes a script in a folder with a space on Windows [M3]", () => {
  expect(spelled("tool").args.at(-1)).toBe(String.raw`"C:\Program^ Files\x\tool.CMD"`);
});

test("keeps the name of a missing program for the error on Windows [M3]", () => {
  expect(spelled("missing", "x")).toEqual({ command: "missing", args: ["x"], isVerbatim: false });
});
