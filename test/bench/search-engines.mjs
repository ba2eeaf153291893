// The search engines that are compared: each opens over a list of tools to `find(text, limit)`, which gives ids.

import { build } from "esbuild";
import { join } from "node:path";

import { loadPeer } from "./peers.mjs";

const ROOT = join(import.meta.dirname, "../..");

/** Our registry from its sources, so that nothing has to be built first. */
export async function loadRegistry() {
  const contents = `export * from "./src/registry/index.ts"; export * from "./src/shared/names/skill-names.ts";
    export { createSearchFeedback } from "./src/observed/search-feedback.ts";`;
  const options = { bundle: true, write: false, format: "esm", platform: "node" };
  const { outputFiles } = await build({ stdin: { contents, resolveDir: ROOT }, ...options });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
}

export function openOurs({ createRegistry, createSearchFeedback, search, toMethodNames, toSkillName }) {
  /** Each server is a skill; a path leads back to the tool. `find.used(text, id)`: after a search, the tool was called. */
  function openSkillgate(tools, examples = new Map()) {
    const registry = createRegistry();
    const idByPath = new Map();
    const names = new Set();
    for (const [server, own] of groupedByServer(tools)) {
      let name = toSkillName(server);
      while (names.has(name)) name += "x";
      names.add(name);
      const methodNames = toMethodNames(own.map((tool) => tool.name));
      registry.register({
        name,
        description: "",
        source: server,
        kind: "mcp",
        server,
        methods: own.map((tool, at) => createMethod(tool, methodNames[at], examples.get(tool.id) ?? [])),
        invoke: () => Promise.reject(new Error("Cannot call a sample")),
      });
      for (const [at, { id }] of own.entries()) idByPath.set(`${name}.${methodNames[at]}`, id);
    }
    const requests = createSearchFeedback();
    const ask = (text, limit) => search(registry.catalog, text, { limit, saved: requests.getWords("ada") });
    const find = (text, limit) => ask(text, limit).results.map(({ path }) => idByPath.get(path));
    find.used = (text, id) => {
      requests.searched("ada", text, ask(text));
      requests.called("ada", [...idByPath].find(([, each]) => each === id)[0]);
    };
    return find;
  }

  /** A recorded answer of a server as a skill. */
  function createServerSkill({ server, tools }) {
    const names = toMethodNames(tools.map(({ name }) => name));
    return {
      name: toSkillName(server),
      description: "",
      source: server,
      kind: "mcp",
      server,
      methods: tools.map(({ name, description, inputSchema, outputSchema }, at) => ({
        name: names[at],
        wireName: name,
        description,
        input: inputSchema,
        output: outputSchema,
      })),
      invoke: () => Promise.reject(new Error("Cannot call a sample")),
    };
  }

  return { openSkillgate, createServerSkill };
}

function groupedByServer(tools) {
  const groups = new Map();
  for (const tool of tools) {
    const server = tool.server || tool.skill || "tools";
    if (!groups.has(server)) groups.set(server, []);
    groups.get(server).push(tool);
  }
  return groups;
}

function createMethod(tool, name, examples) {
  const properties = tool.parameters.map(({ name, description }) => [name, { type: "string", description }]);
  return {
    name,
    wireName: tool.name,
    description: tool.description,
    input: { type: "object", properties: Object.fromEntries(properties) },
    examples,
  };
}

/** Those that are installed. */
export async function openPeers() {
  const peers = { MiniSearch: openMiniSearch, Orama: openOrama, FlexSearch: openFlexSearch };
  const found = [];
  for (const [name, open] of Object.entries(peers)) {
    try {
      found.push({ name, open: await open() });
    } catch {
      console.error(`${name} is not installed in .cache/peers`);
    }
  }
  return found;
}

/** With camel case and separators apart, which peers do not do by themselves. */
function createDocument(tool) {
  const parted = (text) => text.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_.\-/]/g, " ");
  return {
    id: tool.id,
    name: parted(tool.name),
    server: parted(tool.server ?? ""),
    description: tool.description ?? "",
    parameters: tool.parameters.map(({ name, description }) => `${parted(name)} ${description ?? ""}`).join(" "),
  };
}

const FIELDS = ["name", "server", "description", "parameters"];

/** Without the words of every request, which helps all of them more than anything else. */
const STOP_WORDS = new Set(
  `a an the and or but if of to in on at by for from with about into as is are was were be been being am do does did
  have has had can could would should will may might must i me my we us our you your he him his she her it its they
  them their this that these those what which who how when where why there here please want need like help`.split(
    /\s+/,
  ),
);

async function openMiniSearch() {
  const { default: MiniSearch } = await loadPeer("minisearch");
  return (tools) => {
    const processTerm = (term) => (STOP_WORDS.has(term.toLowerCase()) ? null : term.toLowerCase());
    const index = new MiniSearch({ fields: FIELDS, processTerm });
    index.addAll(tools.map(createDocument));
    const options = { boost: { name: 2 }, prefix: (term) => term.length > 3, fuzzy: 0.1 };
    return (text, limit) =>
      index
        .search(text, options)
        .slice(0, limit)
        .map(({ id }) => id);
  };
}

async function openOrama() {
  const { create, insertMultiple, search } = await loadPeer("@orama/orama");
  return async (tools) => {
    const schema = { id: "string", name: "string", server: "string", description: "string", parameters: "string" };
    const tokenizer = { stemming: true, language: "english", stopWords: [...STOP_WORDS] };
    const index = create({ schema, components: { tokenizer } });
    const seen = new Set();
    await insertMultiple(
      index,
      tools.map(createDocument).filter(({ id }) => !seen.has(id) && seen.add(id)),
    );
    return async (text, limit) => {
      const { hits } = await search(index, { term: text, properties: FIELDS, boost: { name: 2 }, limit });
      return hits.map(({ document }) => document.id);
    };
  };
}

/** All in one text, with the English words of the package: its documents of several fields find half as much. */
async function openFlexSearch() {
  const { default: FlexSearch } = await loadPeer("flexsearch");
  const { default: english } = await loadPeer("flexsearch/lang/en");
  return (tools) => {
    const encoder = new FlexSearch.Encoder(FlexSearch.Charset.LatinBalance, english);
    const index = new FlexSearch.Index({ tokenize: "strict", encoder });
    for (const [at, tool] of tools.entries()) {
      const { name, server, description, parameters } = createDocument(tool);
      index.add(at, [name, name, server, description, parameters].join(" "));
    }
    return (text, limit) => index.search(text, { limit, suggest: true }).map((at) => tools[at].id);
  };
}
