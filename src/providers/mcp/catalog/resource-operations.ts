import { inexactToText } from "../../../shared/json/exact-json.ts";
import { requireBounds } from "../../../shared/values/value-size.ts";
import { isRecord, type JsonSchema } from "../../../model/json.ts";
import type { ServerRequests } from "../connections/connection.ts";
import { listPages } from "./list-tools.ts";
import type { OperationInput, Operation } from "./operations.ts";
import type { ListedSkillFiles } from "./skill-files.ts";
import { itemToValue, KEEP_TEXT, resourceToValue } from "../results.ts";

/** The capabilities that a server announces. */
export type Capabilities = Readonly<Record<string, unknown>>;

/**
 * Creates the methods for resources and prompts that a server announces; `resources.read` is another spelling of a
 * name. A tool that already has one of the names keeps it, and the method is called `mcp_resources_read`.
 */
export function createResourceOperations(
  capabilities: Capabilities,
  usedNames: ReadonlySet<string>,
  files: ListedSkillFiles,
): readonly Operation[] {
  const offered = RESOURCE_OPERATIONS.filter(({ needs }) => hasCapability(capabilities, needs));
  return offered.map(({ name: plainName, protocolMethod, description, input, send, valueOf }) => {
    const name = findFreeName(plainName, usedNames);
    return {
      name,
      method: { name, description, input, metadata: { readOnly: true, idempotent: true }, protocolMethod },
      isRepeatable: true,
      async send(server, values, { caller, signal, wire, deferSkills }) {
        const result = await send(server, values, signal);
        requireBounds(result, `"${name}"`);
        if (protocolMethod === "resources/read")
          await files.check(caller.id, await expandTemplate(String(values["uri"]), values["values"]), result);
        if (protocolMethod === "skills/list") {
          const skills = (Array.isArray(result) ? result : []).filter(isRecord);
          if (deferSkills === undefined) files.keep(caller.id, skills);
          else
            deferSkills((uris) =>
              files.keep(
                caller.id,
                skills.filter(({ uri }) => uris.has(uri as string)),
              ),
            );
        }
        if (protocolMethod === "skills/get") files.keep(caller.id, isRecord(result) ? [result["skill"]] : []);
        wire?.(result);
        return result;
      },
      valueOf: (result) => valueOf(inexactToText(result).value),
    };
  });
}

function findFreeName(name: string, usedNames: ReadonlySet<string>): string {
  return usedNames.has(name) ? findFreeName(`mcp_${name}`, usedNames) : name;
}

function hasCapability(capabilities: Capabilities, name: ResourceOperation["needs"]): boolean {
  if (name === "resources" || name === "prompts") return isRecord(capabilities[name]);
  const { extensions } = capabilities;
  const settings = isRecord(extensions) ? extensions[SKILLS_EXTENSION] : undefined;
  return isRecord(settings) && (name === SKILLS_EXTENSION || settings[name] === true);
}

const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

interface ResourceOperation {
  readonly name: string;
  readonly protocolMethod: string;
  /** The capability, the extension, or the setting of the extension of skills that it requires. */
  readonly needs: "resources" | "prompts" | typeof SKILLS_EXTENSION | "directoryRead";
  readonly description: string;
  readonly input: JsonSchema;
  readonly send: (server: ServerRequests, input: OperationInput, signal: AbortSignal) => Promise<unknown>;
  readonly valueOf: (result: unknown) => unknown;
}

const NOTHING: JsonSchema = { type: "object", properties: {} };
const TEXTS: JsonSchema = { type: "object", additionalProperties: { type: "string" } };
const identity = (result: unknown): unknown => result;

const RESOURCE_OPERATIONS: readonly ResourceOperation[] = [
  {
    ...createListing("resources/list", "resources"),
    name: "resources_list",
    needs: "resources",
    description: "Lists the resources of the server: uri, name, description, mimeType",
  },
  {
    ...createListing("resources/templates/list", "resourceTemplates"),
    name: "resources_templates",
    needs: "resources",
    description: "Lists the resource templates; pass one to resources.read with its values",
  },
  {
    name: "resources_read",
    protocolMethod: "resources/read",
    needs: "resources",
    description: "Reads a resource: its text, or a descriptor with its bytes in base64; several parts are a list",
    input: {
      type: "object",
      properties: {
        uri: { type: "string", description: "URI of the resource, or a template" },
        values: { ...TEXTS, description: "Values of the variables in the template, by name" },
      },
      required: ["uri"],
    },
    send: async (server, { uri, values }, signal) =>
      server.request("resources/read", { uri: await expandTemplate(String(uri), values) }, signal),
    valueOf: readContents,
  },
  {
    ...createListing("prompts/list", "prompts"),
    name: "prompts_list",
    needs: "prompts",
    description: "Lists the prompts of the server: name, description, arguments",
  },
  {
    name: "prompts_get",
    protocolMethod: "prompts/get",
    needs: "prompts",
    description: "Fills in a prompt: description and messages, each with role and content",
    input: {
      type: "object",
      properties: {
        name: { type: "string", description: "Name of the prompt" },
        values: { ...TEXTS, description: "Arguments of the prompt, by name" },
      },
      required: ["name"],
    },
    send: (server, { name, values }, signal) =>
      server.request("prompts/get", { name, ...(isRecord(values) && { arguments: values }) }, signal),
    valueOf: readPrompt,
  },
  {
    ...createListing("skills/list", "skills"),
    name: "skills_list",
    needs: SKILLS_EXTENSION,
    description: "Lists the skills of the server, which are instructions: uri, frontmatter with name and description",
  },
  {
    name: "skills_get",
    protocolMethod: "skills/get",
    needs: SKILLS_EXTENSION,
    description: "Returns one skill of the server, with the URIs of its files for resources.read",
    input: {
      type: "object",
      properties: { uri: { type: "string", description: "URI of the skill" } },
      required: ["uri"],
    },
    send: (server, { uri }, signal) => server.request("skills/get", { uri }, signal),
    valueOf: (result) => (isRecord(result) ? (result["skill"] ?? null) : (result ?? null)),
  },
  {
    name: "resources_directory",
    protocolMethod: "resources/directory/read",
    needs: "directoryRead",
    description: "Lists the files and folders of a folder: uri, name, mimeType, which is inode/directory for a folder",
    input: {
      type: "object",
      properties: { uri: { type: "string", description: "URI of the folder, without a slash at its end" } },
      required: ["uri"],
    },
    send: async (server, { uri }, signal) => {
      const list = { method: "resources/directory/read", key: "resources", identity: "uri", params: { uri } };
      return (await listPages(server, list, signal)).items;
    },
    valueOf: identity,
  },
];

/** Completes an argument of a prompt or a template. No method: its values are for people who fill in a form. */
export const COMPLETION: Operation = {
  name: "completion/complete",
  method: { name: "complete", description: "Completes an argument of a prompt or a template", input: NOTHING },
  isRepeatable: true,
  async send(server, params, { signal }) {
    const result = await server.request("completion/complete", params, signal);
    requireBounds(result, '"completion/complete"');
    return result;
  },
  valueOf: identity,
};

/** Creates what the methods that list something share. */
function createListing(
  protocolMethod: string,
  key: string,
): Pick<ResourceOperation, "protocolMethod" | "input" | "send" | "valueOf"> {
  const list = { method: protocolMethod, key, identity: key === "prompts" ? "name" : "uri" };
  return {
    protocolMethod,
    input: NOTHING,
    send: async (server, _input, signal) => (await listPages(server, list, signal)).items,
    valueOf: identity,
  };
}

/** Returns the URI; fills in the variables of a template. */
async function expandTemplate(uri: string, values: unknown): Promise<string> {
  if (!isRecord(values)) return uri;
  const { UriTemplate } = await import("@modelcontextprotocol/client");
  const texts = Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]);
  return new UriTemplate(uri).expand(Object.fromEntries(texts));
}

function readContents(result: unknown): unknown {
  const contents = isRecord(result) ? result["contents"] : undefined;
  if (!Array.isArray(contents)) return result ?? null;
  const [only] = contents;
  if (contents.length === 1 && isRecord(only) && typeof only["text"] === "string") return only["text"];
  const values = contents.map(resourceToValue);
  return values.length === 1 ? values[0] : values;
}

function readPrompt(result: unknown): unknown {
  if (!isRecord(result)) return result ?? null;
  const { description, messages } = result;
  return {
    ...(typeof description === "string" && { description }),
    messages: (Array.isArray(messages) ? messages : []).map((message: unknown) =>
      isRecord(message) ? { role: message["role"], content: itemToValue(message["content"], KEEP_TEXT) } : message,
    ),
  };
}
