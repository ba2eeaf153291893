// The page docs/configuration.md, from the JSON Schema of settings.yaml.

const INTRODUCTION = `# Configuration

\`settings.yaml\` in the folder of a project has the settings of Skillgate. Every setting is optional. \`skillgate init\` writes the
file with a first line that names the JSON Schema, so that editors with the YAML language server complete and check settings:

\`\`\`yaml
# yaml-language-server: $schema=node_modules/skillgate/docs/settings.schema.json
limits:
  wallMs: 30000
server:
  port: 3333
\`\`\`

\`skillgate settings schema\` prints the same schema. Commands report a mistake in the file and say what to write instead. Texts of
\`skills\`, \`mcp\`, \`nodes\`, \`executors\` and \`store.url\` may have variables, such as \`\${NAME}\`, of the environment and of
\`.env\`. The file of a project that is not [trusted](permissions.md#trust-of-a-project) can only tighten settings. \`npm run docs\` generates this page.
`;

/** The pages that describe a section in detail. */
const PAGES = {
  skills: "skills.md",
  mcp: "mcp-servers.md",
  mcpServers: "mcp-servers.md",
  limits: "limits.md",
  timeouts: "limits.md",
  observe: "search.md",
  store: "store.md",
  audit: "store.md",
  approvals: "permissions.md#approvals",
  runs: "runs.md",
  nodes: "machines.md#skills-of-other-machines",
  server: "serving.md",
  agent: "agents.md",
};

export function configurationPage({ properties }) {
  const sections = Object.entries(properties).map(([name, schema]) => sectionText(name, schema));
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

function sectionText(name, { description, default: value, anyOf: [schema] }) {
  const page = PAGES[name] === undefined ? "" : ` See [${PAGES[name].replace(/^\.\.\/|#.*/g, "")}](${PAGES[name]}).`;
  const lines = [`## ${name}`, "", `${description}${page}`];
  const members = schema.anyOf?.find(({ properties }) => properties !== undefined) ?? schema;
  const rows = toRows(members, "");
  if (rows.length === 0)
    lines.push("", `The value is ${typeText(schema)}${value === undefined ? "" : `, by default ${code(value)}`}.`);
  else
    lines.push(
      "",
      "| setting | type | default | meaning |",
      "| --- | --- | --- | --- |",
      ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`),
    );
  return `${lines.join("\n")}\n`;
}

/** The settings of a section and of the sections in it. */
function toRows(schema, prefix) {
  const entry = findEntry(schema);
  if (entry !== undefined) return toRows(entry, `${prefix}NAME.`);
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, setting]) => {
    const value = setting.default === undefined ? "" : code(setting.default);
    const row = [`\`${prefix}${name}\``, typeText(setting), value, setting.description ?? ""];
    const members = setting.anyOf?.find(({ properties }) => properties !== undefined) ?? setting;
    return [row, ...toRows(members, `${prefix}${name}.`)];
  });
  const { additionalProperties: others } = schema;
  return others?.properties === undefined ? own : [...own, ...toRows(others, `${prefix}NAME.`)];
}

/** The entry of a list of servers that may be a map, too. */
function findEntry({ anyOf = [] }) {
  return anyOf.map(({ additionalProperties }) => additionalProperties).find((each) => each?.properties !== undefined);
}

function typeText({ type, enum: values, anyOf, minimum, maximum, exclusiveMinimum, items }) {
  if (values !== undefined) return values.map(code).join(", ");
  if (anyOf !== undefined)
    return anyOf
      .filter((each) => each.type !== "null")
      .map(typeText)
      .join(" or ");
  if (Array.isArray(type)) return type.map((each) => TYPES[each]).join(" or ");
  if (type === "array" && items?.type === "string") return "texts";
  const least =
    minimum === undefined ? (exclusiveMinimum === undefined ? "" : ` above ${exclusiveMinimum}`) : ` from ${minimum}`;
  const most = maximum === undefined ? "" : minimum === undefined ? ` and up to ${maximum}` : ` to ${maximum}`;
  return `${TYPES[type] ?? "text or section"}${least}${most}`;
}

const TYPES = {
  string: "text",
  number: "number",
  integer: "whole number",
  boolean: "true or false",
  object: "section",
  array: "list",
  null: "nothing",
};

function code(value) {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
