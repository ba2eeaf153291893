// Skills with the names that the conformance suite calls. Each method does what the suite's own page says of it.

import { join } from "node:path";

import { ProtocolError } from "@modelcontextprotocol/server";

import { defineSkill } from "../../dist/src/authoring/define-skill.js";
import { createRuntime } from "../../dist/src/runtime.js";
import { OFFERS } from "./offers.mjs";

/** One red pixel, and a moment of silence. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

const image = { type: "image", data: PNG, mimeType: "image/png" };
const text = (words) => ({ type: "text", text: words });
const embedded = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });

const CONTENT = {
  test_simple_text: () => "This is a simple text response for testing.",
  test_image_content: () => image,
  test_audio_content: () => ({ type: "audio", data: WAV, mimeType: "audio/wav" }),
  test_embedded_resource: () =>
    embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  test_multiple_content_types: () => [
    text("Multiple content types test:"),
    image,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ],
  test_error_handling: () => {
    throw new Error("This tool intentionally returns an error for testing");
  },
};

const NEWS = {
  test_tool_with_logging: async (_input, { log }) => {
    log("info", "Tool execution started");
    await pause();
    log("info", "Tool processing data");
    await pause();
    log("info", "Tool execution completed");
    return "done";
  },
  test_tool_with_progress: async (_input, { progress }) => {
    progress(0, 100);
    await pause();
    progress(50, 100);
    await pause();
    progress(100, 100);
    return "done";
  },
  test_logging_tool: (_input, { log }) => {
    log("info", "said only to who asked for it");
    return "done";
  },
};

/** What a form asks for: every property is text unless it says otherwise. */
const form = (message, properties, required = Object.keys(properties)) => ({
  message,
  requestedSchema: { type: "object", properties, required },
});
const TEXT = { type: "string" };
const elicit = (client, params, key) => client.ask("elicitation/create", params, key);
const sample = (client, words, maxTokens, key) =>
  client.ask("sampling/createMessage", { messages: [{ role: "user", content: text(words) }], maxTokens }, key);
const told = ({ action, content }) => `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`;

const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const titled = (words) => words.map((title, at) => ({ const: `value${at + 1}`, title }));
const OPTIONS = ["option1", "option2", "option3"];
const ENUMS = {
  untitledSingle: { type: "string", enum: OPTIONS },
  titledSingle: { type: "string", oneOf: titled(["First Option", "Second Option", "Third Option"]) },
  legacyEnum: {
    type: "string",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
  titledMulti: { type: "array", items: { anyOf: titled(["First Choice", "Second Choice", "Third Choice"]) } },
};

const ASKS = {
  test_sampling: async ({ prompt }, { client }) => `LLM response: ${(await sample(client, prompt, 100)).content.text}`,
  test_elicitation: async ({ message }, { client }) => {
    const fields = {
      username: { ...TEXT, description: "User's response" },
      email: { ...TEXT, description: "User's email address" },
    };
    const { action, content } = await elicit(client, form(message, fields));
    return `User response: action: ${action}, content: ${JSON.stringify(content)}`;
  },
  test_elicitation_sep1034_defaults: async (_input, { client }) =>
    told(await elicit(client, form("Please review the defaults", DEFAULTS, []))),
  test_elicitation_sep1330_enums: async (_input, { client }) =>
    told(await elicit(client, form("Please choose", ENUMS, []))),
  test_missing_capability: async (_input, { client }) => (await sample(client, "anything", 10)).content.text,
  test_streaming_elicitation: async (_input, { client, progress }) => {
    progress(1, 2);
    return told(await elicit(client, form("Go on?", { ok: { type: "boolean" } })));
  },
  test_input_required_result_elicitation: async (_input, { client }) => {
    const { content } = await elicit(client, form("What is your name?", { name: TEXT }), "user_name");
    return `Hello, ${content.name}!`;
  },
  test_input_required_result_sampling: async (_input, { client }) =>
    (await sample(client, "What is the capital of France?", 100, "capital_question")).content.text,
  test_input_required_result_list_roots: async (_input, { client }) =>
    JSON.stringify((await client.ask("roots/list", {}, "client_roots")).roots),
  test_input_required_result_request_state: async (_input, { client }) => {
    await elicit(client, form("Please confirm", { ok: { type: "boolean" } }), "confirm");
    return "state-ok";
  },
  test_input_required_result_tampered_state: async (_input, { client }) => {
    await elicit(client, form("Please confirm", { ok: { type: "boolean" } }), "confirm");
    return "state-ok";
  },
  test_input_required_result_multiple_inputs: async (_input, { client }) => {
    const answers = await Promise.all([
      elicit(client, form("What is your name?", { name: TEXT }), "user_name"),
      sample(client, "Generate a greeting", 50, "greeting"),
      client.ask("roots/list", {}, "client_roots"),
    ]);
    return JSON.stringify(answers);
  },
  test_input_required_result_multi_round: async (_input, { client }) => {
    const name = await elicit(client, form("Step 1: What is your name?", { name: TEXT }), "step1");
    const color = await elicit(client, form("Step 2: What is your favorite color?", { color: TEXT }), "step2");
    return `${name.content.name} likes ${color.content.color}`;
  },
  test_input_required_result_capabilities: async (_input, { client }) => {
    if (client.can("sampling/createMessage")) return (await sample(client, "Anything", 10, "sampled")).content.text;
    return told(await elicit(client, form("Anything?", { ok: { type: "boolean" } }), "asked"));
  },
};

/** A second is longer than a call may last before it becomes a task. */
const waitOneSecond = () => new Promise((resolve) => setTimeout(resolve, 1_000));

const TASKS = {
  greet: ({ name }) => `Hello, ${name}!`,
  slow_compute: async ({ seconds }, { signal }) => {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, seconds * 1_000);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(new Error("stopped"));
      });
    });
    return `computed for ${seconds} s`;
  },
  failing_job: async () => {
    await waitOneSecond();
    throw new Error("The job has failed");
  },
  protocol_error_job: async () => {
    await waitOneSecond();
    throw new ProtocolError(-32_603, "The job has broken");
  },
  confirm_delete: async ({ filename }, { client }) => {
    await waitOneSecond();
    return `${filename}: ${told(await elicit(client, form("Delete it?", { confirm: { type: "boolean" } }), "confirm"))}`;
  },
  multi_input: async (_input, { client }) => {
    await waitOneSecond();
    const ask = (key) => elicit(client, form("Go on?", { confirm: { type: "boolean" } }), key);
    return JSON.stringify(await Promise.all([ask("first"), ask("second")]));
  },
  test_tool_with_task: async (_input, { client }) => {
    const { content } = await elicit(client, form("What is your name?", { name: TEXT }), "user_name");
    return `Hello, ${content.name}!`;
  },
};

const TASK_SUPPORT = { failing_job: "required", test_tool_with_task: "required" };

const SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const INPUTS = {
  test_sampling: { type: "object", properties: { prompt: TEXT }, required: ["prompt"] },
  test_elicitation: { type: "object", properties: { message: TEXT }, required: ["message"] },
  json_schema_2020_12_tool: SCHEMA_2020_12,
  greet: { type: "object", properties: { name: TEXT }, required: ["name"] },
  slow_compute: { type: "object", properties: { seconds: { type: "number" }, label: TEXT }, required: ["seconds"] },
  confirm_delete: { type: "object", properties: { filename: TEXT }, required: ["filename"] },
  test_headers: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  },
};

/** A runtime with the skills of the suite. */
export async function fixtureRuntime() {
  let changes = 0;
  const runtime = await createRuntime({
    skillsDir: join(import.meta.dirname, "skills"),
    skills: [conformanceSkill(change)],
  });
  return runtime;

  /** Gives the catalog a skill that it did not have, so that clients hear of it. */
  function change() {
    runtime.unregister(`Change${changes}Skill`);
    changes++;
    runtime.register({
      name: `Change${changes}Skill`,
      description: "Has just been added",
      source: "code",
      kind: "code",
      methods: [{ name: `added_${changes}`, description: "Does nothing", input: { type: "object" } }],
      offers: {
        resources: [],
        templates: [],
        prompts: [{ name: `prompt_${changes}`, description: "Says nothing" }],
        read: async () => ({ contents: [] }),
        prompt: async () => ({ messages: [] }),
      },
      invoke: async () => "nothing",
    });
    return "changed";
  }
}

/** The methods that the suites call, by their names. */
export function conformanceMethods(change) {
  const methods = {
    ...CONTENT,
    ...NEWS,
    ...ASKS,
    ...TASKS,
    json_schema_2020_12_tool: () => "fits",
    test_headers: ({ region }) => region,
    test_trigger_tool_change: () => change(),
    test_trigger_prompt_change: () => change(),
  };
  return Object.fromEntries(
    Object.entries(methods).map(([name, run]) => [
      name,
      {
        description: `Does what the suite wants of ${name}`,
        ...(INPUTS[name] && { input: INPUTS[name] }),
        ...(TASK_SUPPORT[name] && { taskSupport: TASK_SUPPORT[name] }),
        timeoutMs: 120_000,
        run,
      },
    ]),
  );
}

function conformanceSkill(change) {
  const skill = defineSkill({
    name: "ConformanceSkill",
    description: "What the conformance suite calls",
    methods: conformanceMethods(change),
  });
  return { ...skill, offers: OFFERS };
}
