import type { Server } from "@modelcontextprotocol/server";

import { mayCall } from "../../../model/caller.ts";
import { findProtocolMethod, type Skill } from "../../../model/catalog.ts";
import { LIST_NAMES, type ListName } from "../../../model/mcp-features.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { hashValueFully } from "../../../shared/digest.ts";
import { getServerTexts } from "../instructions.ts";
import { getOfferedTools, hasPrograms, type Offered } from "../tools/tool-exposure.ts";
import { withClient } from "./client-answers.ts";
import type { ConnectedClient, GatewayContext } from "./client-session.ts";

/** Changes that come within this time are announced together: many servers connect at once when a server starts. */
const TOGETHER_MS = 50;

/** The client whose lists are followed, as far as it is known when they change. */
export interface ListClient {
  readonly mcpClient: ConnectedClient;
  /** Returns the capabilities that it has declared. */
  readonly getDeclared: () => unknown;
  readonly getName: () => unknown;
}

/** The client of a server of the SDK, which learns about it in the handshake. */
export function describeClient(server: Server, mcpClient: ConnectedClient): ListClient {
  return {
    mcpClient,
    getDeclared: () => server.getClientCapabilities(),
    getName: () => server.getClientVersion()?.name,
  };
}

/** Notifies the client of a server of the SDK; nothing is sent before its handshake. */
export function sendListChanged(server: Server, list: ListName): void {
  const sent =
    list === "tools"
      ? server.sendToolListChanged()
      : list === "resources"
        ? server.sendResourceListChanged()
        : server.sendPromptListChanged();
  sent.catch(() => {}); // not initialized yet, or closing
}

/** Notifies a client of each of its lists that changes, and of no other. Returns what stops that. */
export function followLists(shared: GatewayContext, client: ListClient, notify: (list: ListName) => void): () => void {
  const { caller } = client.mcpClient;
  let lists = describeLists(shared, client);
  let timer: NodeJS.Timeout | undefined;
  const compare = (): void => {
    timer = undefined;
    const before = lists;
    lists = describeLists(shared, client, before);
    for (const list of LIST_NAMES) if (lists[list] !== before[list]) notify(list);
  };
  const stops = [
    shared.onCatalog(() => (timer ??= setTimeout(compare, TOGETHER_MS).unref())),
    shared.onList((skill, list) => mayCall(caller, `${skill}.*`) && notify(list)),
  ];
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}

/** The facts that the lists of a client depend on. */
type DescribedLists = Readonly<Record<ListName, string>> & { readonly skills: readonly Skill[] };

function describeLists(
  { runtime }: GatewayContext,
  { mcpClient, getDeclared, getName }: ListClient,
  before?: DescribedLists,
): DescribedLists {
  const { caller, exposure } = mcpClient;
  const view = runtime.viewFor(withClient(caller, getDeclared()));
  const { skills } = view.catalog;
  if (before?.skills.length === skills.length && skills.every((skill, at) => skill === before.skills[at]))
    return before;
  const description = hasPrograms(exposure) ? getServerTexts(runtime, mcpClient, getName()).description : "";
  return {
    skills,
    tools: `${hashTools(getOfferedTools(view, exposure))} ${description}`,
    resources: JSON.stringify(skills.map(({ name, description, provided }) => [name, description, listUris(provided)])),
    prompts: JSON.stringify(skills.map((skill) => listPrompts(skill, view))),
  };
}

/** The digests of lists that several clients have. */
const digests = new WeakMap<Offered, string>();

function hashTools(offered: Offered): string {
  const digest = digests.get(offered) ?? hashValueFully(offered.tools);
  digests.set(offered, digest);
  return digest;
}

function listUris({ offers }: Skill["provided"]): readonly string[] {
  return [...(offers?.resources ?? []), ...(offers?.skills ?? [])].map(({ uri }) => uri);
}

/** The prompts of a skill; those of a server come and go with the method that lists them. */
function listPrompts({ name, provided: { offers } }: Skill, { catalog }: RuntimeView): readonly unknown[] {
  if (offers !== undefined) return [name, offers.prompts.map((prompt) => prompt.name)];
  const own = catalog.skill(name);
  return own !== undefined && findProtocolMethod(own, "prompts/list") ? [name] : [];
}
