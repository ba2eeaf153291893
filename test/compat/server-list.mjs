/**
 * The servers of the table: the package, the words that start it after its script, its environment, and one call. FOLDER is an
 * empty folder. Servers of services with accounts get a key that they refuse, and the refusal is the answer.
 */
export const SERVERS = [
  {
    package: "@modelcontextprotocol/server-everything@2026.8.31",
    args: ["stdio"],
    call: ["echo", { message: "hello" }],
  },
  {
    package: "@modelcontextprotocol/server-filesystem@2026.8.31",
    args: ["FOLDER"],
    call: ["list_directory", { path: "." }],
  },
  {
    package: "@modelcontextprotocol/server-memory@2026.8.31",
    env: { MEMORY_FILE_PATH: "FOLDER/memory.json" },
    call: ["read_graph", {}],
  },
  {
    package: "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
    call: ["sequentialthinking", { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }],
  },
  { package: "@modelcontextprotocol/server-github@2025.4.8", call: ["search_repositories", { query: "mcp" }] },
  {
    package: "@modelcontextprotocol/server-brave-search@0.6.2",
    env: { BRAVE_API_KEY: "none" },
    call: ["brave_web_search", { query: "mcp" }],
  },
  {
    package: "@modelcontextprotocol/server-google-maps@0.6.2",
    env: { GOOGLE_MAPS_API_KEY: "none" },
    call: ["maps_geocode", { address: "Athens" }],
  },
  {
    package: "@modelcontextprotocol/server-slack@2025.4.25",
    env: { SLACK_BOT_TOKEN: "none", SLACK_TEAM_ID: "none" },
    call: ["slack_list_channels", {}],
  },
  { package: "@modelcontextprotocol/server-everart@0.6.2", env: { EVERART_API_KEY: "none" } },
  { package: "@modelcontextprotocol/server-basic-vanillajs@2.0.3", args: ["--stdio"] },
  { package: "@modelcontextprotocol/server-basic-react@2.0.3", args: ["--stdio"] },
  { package: "@modelcontextprotocol/server-budget-allocator@2.0.3", args: ["--stdio"] },
  { package: "@modelcontextprotocol/server-cohort-heatmap@2.0.3", args: ["--stdio"] },
  { package: "@modelcontextprotocol/server-scenario-modeler@2.0.3", args: ["--stdio"] },
  { package: "@modelcontextprotocol/server-system-monitor@2.0.3", args: ["--stdio"] },
  { package: "@modelcontextprotocol/server-pdf@2.0.4", args: ["--stdio"] },
  { package: "mcp-hello-world@1.1.2" },
  { package: "@upstash/context7-mcp@4.1.1" },
  { package: "@eslint/mcp@0.3.13", call: ["lint-files", { filePaths: ["FOLDER/none.js"] }] },
  {
    package: "@antv/mcp-server-chart@0.9.10",
    call: ["generate_pie_chart", { data: [{ category: "one", value: 1 }] }],
  },
  { package: "@openbnb/mcp-server-airbnb@0.3.0", call: ["airbnb_search", { location: "Athens" }] },
  { package: "@cyanheads/git-mcp-server@2.15.3", call: ["git_init", { path: "FOLDER" }] },
  { package: "exa-mcp-server@3.4.1" },
  { package: "@drawio/mcp@1.6.1" },
  {
    package: "mcp-server-code-runner@0.1.8",
    call: ["run-code", { code: "console.log(6 * 7)", languageId: "javascript" }],
  },
  { package: "chrome-devtools-mcp@1.11.0" },
  { package: "@browsermcp/mcp@0.1.3" },
  { package: "tavily-mcp@0.2.22", env: { TAVILY_API_KEY: "none" } },
  { package: "@agent-infra/mcp-server-filesystem@1.2.29", args: ["--allowed-directories", "FOLDER"] },
  { package: "@notionhq/notion-mcp-server@2.5.2", env: { NOTION_TOKEN: "none" } },
];
