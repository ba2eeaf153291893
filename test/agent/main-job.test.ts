import { expect, test } from "vitest";

import { callCode, callTool, sayText, serveReplies } from "../support/agent.ts";
import { project, skillgate } from "../surfaces/cli/command.ts";

const ISSUES = [
  { id: 1, assignee: "ada", state: "open" },
  { id: 2, assignee: "bob", state: "closed" },
  { id: 3, assignee: "ada", state: "open" },
  { id: 4, assignee: "bob", state: "open" },
];

const SKILL = `
/** Keeps the issues of a project. */
export class TrackerSkill {
  /**
   * List issues.
   * @param {"open" | "closed"} state Which issues
   * @returns {{ id: number, assignee: string }[]}
   */
  listIssues(state) { return ${JSON.stringify(ISSUES)}.filter((issue) => issue.state === state); }
}
`;

const PROGRAM = `const issues = await device.TrackerSkill.listIssues({ state: "open" });
const counts = {};
for (const { assignee } of issues) counts[assignee] = (counts[assignee] ?? 0) + 1;
counts`;

test("finds the method for a question, runs one program and answers [G1, G7]", async () => {
  await using server = await serveReplies([
    callTool("search_skills", '{"query": "list issues"}'),
    callCode(PROGRAM),
    sayText("Open issues: ada 2, bob 1."),
  ]);
  const cwd = project({ "skills/tracker.js": SKILL });
  const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "sk-own-key-of-the-owner", OPENAI_MODEL: "test" };
  const { exit, stdout, stderr } = await skillgate(["ask", "How many issues are open per person?"], { cwd, env });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: "Open issues: ada 2, bob 1.\n" });
  const results = server.requests().map(({ messages }) => messages.at(-1)?.content);
  expect(results).toEqual([
    "How many issues are open per person?",
    expect.stringContaining("TrackerSkill.listIssues(state"),
    '{"ada":2,"bob":1}',
  ]);
  expect(stderr.replaceAll(/\d[\d.]* ms/g, "1 ms")).toBe(`  search_skills …
  search_skills ok 1 ms
Program s2
  1  const issues = await device.TrackerSkill.listIssues({ state: "open" });
  2  const counts = {};
  3  for (const { assignee } of issues) counts[assignee] = (counts[assignee] ?? 0) + 1;
  4  counts
Plan
  line 1  TrackerSkill.listIssues({ "state": "open" })
  TrackerSkill.listIssues …
  TrackerSkill.listIssues ok 1 ms
`);
});
