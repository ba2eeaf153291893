import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { BIN, environment, FILESYSTEM_SERVER, HAS_TERMINAL, MCP_JSON, project, skillgate } from "./command.ts";

/** Runs the command in a terminal of its own, and types an answer at each question, in their order. */
async function inTerminal(
  args: string,
  cwd: string,
  answers: readonly (readonly [question: string, answer: string])[],
): Promise<{ exit: number; shown: string }> {
  const child = spawn("script", ["-qefc", `"${process.execPath}" "${BIN}" ${args}`, "/dev/null"], {
    cwd,
    env: environment(cwd, { TERM: "xterm", NO_COLOR: "1", SKILLGATE_TRUSTED_FOLDERS: "" }),
  });
  const open = [...answers];
  let shown = "";
  let read = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    shown += chunk;
    const [question, answer] = open[0] ?? [];
    if (question === undefined || answer === undefined || !shown.includes(question, read)) return;
    read = shown.length;
    open.shift();
    child.stdin.write(answer);
  });
  const exit = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? -1)));
  return { exit, shown: shown.replaceAll("\r\n", "\n") };
}

const CALL = "call FilesystemMCP.list_allowed_directories";

describe.skipIf(!HAS_TERMINAL)("a user at a terminal", () => {
  test(
    "is asked once before anything of a project is used, and again when it has changed [P12]",
    { tags: "rest" },
    async () => {
      const side = join(project(), "side-effect");
      const skill = `require("fs").writeFileSync(${JSON.stringify(side)}, ""); exports.greet = () => "hello";`;
      const cwd = project({ ".mcp.json": MCP_JSON, "skills/greeter.cjs": skill });
      const question = `${cwd} is not trusted yet. With your permissions, it would use or start:
  skills/greeter.cjs
  MCP server filesystem (.mcp.json): ${process.execPath} ${FILESYSTEM_SERVER} .
Trust it until others change it? [y/N] `;
      const refused = await inTerminal(CALL, cwd, [["[y/N]", "n\n"]]);
      expect(refused.shown).toContain(question);
      expect(refused.shown.split("[y/N]")).toHaveLength(2);
      expect(refused).toMatchObject({ exit: 6, shown: expect.stringContaining("as this folder is not trusted yet") });
      expect(existsSync(side)).toBe(false);
      const allowed = await inTerminal(CALL, cwd, [["[y/N]", "y\n"]]);
      expect(allowed).toMatchObject({ exit: 0, shown: expect.stringContaining("Allowed directories") });
      const again = await inTerminal(CALL, cwd, []);
      expect(again.exit).toBe(0);
      expect(again.shown).not.toContain("[y/N]");
      writeFileSync(join(cwd, ".mcp.json"), MCP_JSON.replace('"."', '"..", "."'));
      const changed = await inTerminal("trust", cwd, [["[y/N]", "y\n"]]);
      expect(changed.shown).toContain(`${cwd} has changed since you trusted it.`);
      expect(changed.shown).toContain("MCP server filesystem (.mcp.json) (changed): ");
      expect(changed.shown).toContain(`Trusted ${cwd} until others change it\n`);
    },
  );

  test("is not asked for a program that needs no server [M8]", { tags: "rest" }, async () => {
    const cwd = project({ ".mcp.json": MCP_JSON });
    expect(await inTerminal('run -e "1 + 1"', cwd, [])).toEqual({ exit: 0, shown: "2\n" });
  });

  test("answers the inputs of a VS Code file, without echo of a secret [M1]", { tags: "rest" }, async () => {
    const servers = {
      inputs: [
        { id: "where", type: "pickString", description: "Which folder", options: [".", "skills"], default: "." },
        { id: "key", type: "promptString", description: "API key", password: true },
      ],
      servers: {
        filesystem: {
          command: process.execPath,
          args: [FILESYSTEM_SERVER, "${input:where}"],
          env: { KEY: "${input:key}" },
        },
      },
    };
    const cwd = project({ "servers.json": JSON.stringify(servers) });
    const { exit, shown } = await inTerminal(`${CALL} --mcp-config servers.json`, cwd, [
      ["Which folder (., skills) [.]: ", "elsewhere\n"],
      ["Which folder", "skills\n"],
      ["API key: ", "typed-secret\n"],
    ]);
    expect(exit).toBe(0);
    expect(shown).toContain("elsewhere is not one of the choices\n");
    expect(shown).toContain(join(cwd, "skills"));
    expect(shown).not.toContain("typed-secret");
  });

  test("confirms the removal of a server [M10]", { tags: "rest" }, async () => {
    const cwd = project({ ".mcp.json": MCP_JSON });
    const refused = await inTerminal("mcp remove filesystem", cwd, [["[y/N]", "n\n"]]);
    expect(refused).toMatchObject({ exit: 4, shown: expect.stringContaining("it was not confirmed") });
    expect(readFileSync(join(cwd, ".mcp.json"), "utf8")).toBe(MCP_JSON);
    const removed = await inTerminal("mcp remove filesystem", cwd, [["[y/N]", "yes\n"]]);
    expect(removed).toMatchObject({ exit: 0, shown: expect.stringContaining("Removed filesystem from .mcp.json\n") });
    expect((await skillgate(["mcp", "list"], { cwd })).stdout).toBe("No MCP servers are configured\n");
  });

  test("ends the command with Ctrl-C at a question [O1]", async () => {
    const cwd = project({ ".mcp.json": MCP_JSON });
    expect((await inTerminal(CALL, cwd, [["[y/N]", "\u0003"]])).exit).toBe(130);
  });
});
