import { expect, test } from "vitest";

import { parsePastedServers } from "../../src/config/index.ts";

const FILES = { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] };

test.each([
  ["the block of a README", JSON.stringify({ mcpServers: { files: FILES } }), [["files", FILES]]],
  [
    "a block with its fence",
    '```json\n{ "mcpServers": { "a": { "url": "https://a.example/mcp" } } }\n```\n',
    [["a", { url: "https://a.example/mcp" }]],
  ],
  [
    "comments and commas at the end",
    '{ "mcpServers": { // mine\n "a": { "command": "a", }, } }',
    [["a", { command: "a" }]],
  ],
  ["the part of a block", `"files": ${JSON.stringify(FILES)},`, [["files", FILES]]],
  ["the key of a block without its braces", `"mcpServers": { "files": ${JSON.stringify(FILES)} }`, [["files", FILES]]],
  [
    "the file of VS Code",
    JSON.stringify({ servers: { b: { type: "stdio", command: "b" } } }),
    [["b", { type: "stdio", command: "b" }]],
  ],
  [
    "the file of Codex",
    '[mcp_servers.docs]\nurl = "https://d.example/mcp"\n',
    [["docs", { url: "https://d.example/mcp" }]],
  ],
  ["the entry of one server", JSON.stringify(FILES), [["filesystem", FILES]]],
  ["an address", "https://mcp.context7.com/mcp", [["context7", { type: "http", url: "https://mcp.context7.com/mcp" }]]],
  [
    "an address of the older transport",
    "https://x.example/sse",
    [["x", { type: "sse", url: "https://x.example/sse" }]],
  ],
  ["a command", "npx -y @modelcontextprotocol/server-filesystem .", [["filesystem", FILES]]],
  [
    "a command with a prompt, variables and quotes",
    "$ TOKEN=abc uvx mcp-server-git --repository 'my repo'",
    [["git", { command: "uvx", args: ["mcp-server-git", "--repository", "my repo"], env: { TOKEN: "abc" } }]],
  ],
  [
    "a command of several lines",
    "docker run -i --rm \\\n  mcp/time",
    [["time", { command: "docker", args: ["run", "-i", "--rm", "mcp/time"] }]],
  ],
  [
    "the command of another client",
    "claude mcp add -s user weather -e KEY=v --env B=1 -- npx -y weather-mcp@1.2.0",
    [["weather", { command: "npx", args: ["-y", "weather-mcp@1.2.0"], env: { KEY: "v", B: "1" } }]],
  ],
  [
    "such a command with an address",
    'skillgate mcp add --transport http c7 https://c7.example/mcp -H "Authorization: Bearer ${KEY}"',
    [["c7", { type: "http", url: "https://c7.example/mcp", headers: { Authorization: "Bearer ${KEY}" } }]],
  ],
])("reads %s [M10]", (_name, text, expected) => {
  expect(parsePastedServers(text).map(({ name, entry }) => [name, entry])).toEqual(expected);
});

test.each([
  ["", "it is empty"],
  ["{", "Cannot read"],
  ['{ "mcpServers": {} }', "it names no server"],
  ['{ "a": 1 }', "it names no server"],
  ["npx 'a", "a quote is not closed"],
  ["claude mcp add weather", "the command or address is missing"],
  ["x".repeat(300_000), "it has more than 256 KB"],
])("says what is wrong with %j [M10]", (text, message) => {
  expect(() => parsePastedServers(text)).toThrow(message);
});

/** No form of a hostile text may take more than a text of its length: a search for each position would take minutes. */
test.each([
  ["a fence that is not closed", `\`\`\`\n${" ".repeat(250_000)}x`],
  ["lines after a fence that is not closed", `\`\`\`x\n${" \n".repeat(120_000)}`],
  ["many options", `claude mcp add ${"-e A=1 ".repeat(35_000)}a -- b`],
])("reads %s in time [V6]", (_name, text) => {
  const before = process.cpuUsage();
  try {
    parsePastedServers(text);
  } catch {
    // what it says does not matter
  }
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});
