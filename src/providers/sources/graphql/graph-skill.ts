import type { FindAccount } from "../../../model/account.ts";
import type { MethodDefinition, ProvidedSkill } from "../../../model/skill.ts";
import { openRequestAccount } from "../../../shared/http/request-account.ts";
import type { OperationRow } from "../catalog-file.ts";
import { describeEffect } from "../effects.ts";
import type { ApiClient } from "../http/api-client.ts";
import { whyOperationMissing } from "../operation-changes.ts";
import { findAccountName } from "../source-accounts.ts";
import { describeDocument, type SourceConfig } from "../source-config.ts";
import type { SkillOffer } from "../source-kind.ts";
import { createMetadata } from "../source-skill.ts";
import { formatExampleCall } from "./example-call.ts";
import type { GraphCatalog } from "./graph-catalog.ts";

/** The parts of the skill of a GraphQL API. */
export interface GraphOffer extends SkillOffer<GraphCatalog> {
  /** The address that takes all requests. */
  readonly endpoint: URL;
  /** Sends requests to the origin of the endpoint. */
  readonly client: ApiClient;
  readonly findAccount: FindAccount;
}

/** Makes the skill of a GraphQL API. Its texts are not checked, so each call counts as a write. */
export function createGraphSkill(config: SourceConfig, offer: GraphOffer): ProvidedSkill {
  const { catalog, changes, client, endpoint, findAccount } = offer;
  const isMissing = ({ kind }: (typeof changes)[number]): boolean => kind === "removed" || config.changes === "hold";
  const missing = new Map(changes.filter(isMissing).map((change) => [change.name, change]));
  const rows = [...offer.rows.values()].filter(({ name }) => !missing.has(name));
  const account = findAccountName(config, { name: "query:*", verb: "query", path: "*", tags: [] });
  const { title, description } = catalog.index;
  return {
    name: config.skill,
    description: [title, description].filter(Boolean).join(". "),
    source: describeDocument(config.document),
    kind: "api",
    methods: METHODS.filter(({ verb }) => rows.some((row) => row.verb === verb)).map(({ name, title: words }) => ({
      name,
      description: `${words} of GraphQL, and returns its data`,
      input: INPUT,
      metadata: { readOnly: false, openWorld: true },
      ...(account !== undefined && { accounts: [account] }),
    })),
    parts: rows.map((row) => createPart(row, config, catalog, createMetadata(config))),
    findTypeText: (name) => catalog.findTypeText(name),
    whyMissing(name) {
      const change = missing.get(name);
      return change && whyOperationMissing(change, config.name);
    },
    async invoke(_method, { query, variables }, context) {
      const used = account === undefined ? undefined : findAccount(account);
      const opened = used && (await openRequestAccount(used, context));
      const body = Buffer.from(JSON.stringify({ query, variables }));
      const headers = { "content-type": "application/json", accept: "application/json" };
      const target = endpoint.pathname + endpoint.search;
      const request = { method: "POST", operation: `POST ${endpoint.pathname}`, target, headers, body };
      return client.send(request, context, { isRead: false, account: opened });
    },
  };
}

const METHODS = [
  { name: "query", verb: "query", title: "Sends a query" },
  { name: "mutate", verb: "mutation", title: "Sends a mutation" },
] as const;

const INPUT = {
  type: "object",
  properties: { query: { type: "string" }, variables: { type: "object" } },
  required: ["query"],
  additionalProperties: false,
} as const;

function createPart(
  row: OperationRow,
  config: SourceConfig,
  catalog: GraphCatalog,
  getMetadata: ReturnType<typeof createMetadata>,
): MethodDefinition {
  return {
    name: row.name,
    partOf: row.verb === "mutation" ? "mutate" : "query",
    description: row.summary,
    argumentNames: row.argumentNames,
    metadata: getMetadata(row),
    effectReason: describeEffect(row, config),
    get input() {
      return catalog.read(row).input;
    },
    get signature() {
      return catalog.read(row).signature;
    },
    get examples() {
      return [{ code: formatExampleCall(config.skill, row, catalog.read(row).example) }];
    },
  };
}
