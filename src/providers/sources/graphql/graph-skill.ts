import type { FindAccount } from "../../../model/account.ts";
import { createQueryError } from "../../../model/requests/query-errors.ts";
import type { MethodMetadata, ProvidedSkill, QueryText } from "../../../model/skill.ts";
import { openRequestAccount } from "../../../shared/http/request-account.ts";
import type { OperationRow } from "../catalog-file.ts";
import type { ApiClient } from "../http/api-client.ts";
import { findAccountName } from "../source-accounts.ts";
import { describeDestination, describeDocument, type SourceConfig } from "../source-config.ts";
import type { SkillOffer } from "../source-kind.ts";
import { createMetadata } from "../source-skill.ts";
import { answerGraphCall } from "./call/answer-graph-call.ts";
import { GraphSender } from "./call/graph-sender.ts";
import { hideBytes } from "./call/uploads.ts";
import type { CheckedDocument, QueryChecker } from "./check/index.ts";
import type { GraphCatalog, GraphField } from "./graph-catalog.ts";
import { GraphMethod, GraphPart, type GraphReader } from "./graph-methods.ts";
import { GRAPH_METHODS, type GraphMethodName, listPartNames, RootFields, toOperationKind } from "./root-fields.ts";

/** The parts of the skill of a GraphQL API. */
export interface GraphOffer extends SkillOffer<GraphCatalog> {
  readonly checker: QueryChecker;
  /** The address that takes all requests. */
  readonly endpoint: URL;
  /** Sends requests to the origin of the endpoint. */
  readonly client: ApiClient;
  readonly findAccount: FindAccount;
}

/** Makes the skill of a GraphQL API: the methods `query` and `mutate`, and each root field as a part of one of them. */
export function createGraphSkill(config: SourceConfig, offer: GraphOffer): ProvidedSkill {
  const { catalog } = offer;
  const { title, description } = catalog.index;
  const fields = new RootFields(config, offer);
  const getMetadata = createMetadata(config);
  const source: GraphReader = { config, read: createCache(catalog) };
  const texts = new GraphTexts(offer.checker, fields);
  const names = GRAPH_METHODS.filter((name) => fields.list(name).length > 0);
  return {
    name: config.skill,
    description: [title, description].filter(Boolean).join(". "),
    source: describeDocument(config.document),
    kind: "api",
    destination: describeDestination(config, []),
    methods: names.map(
      (name) =>
        new GraphMethod(name, {
          title: offer.endpoint.host,
          rows: fields.list(name),
          getMetadata,
          queryText: texts.describe(name),
          account: findMethodAccount(config, name),
          source,
        }),
    ),
    parts: [...fields.rows].map(([name, row]) => new GraphPart(name, row, { metadata: getMetadata(row), source })),
    findTypeText: (name) => catalog.findTypeText(name),
    whyMissing: (name) => fields.whyMissing(name),
    invoke: createInvoke(config, offer, { fields, texts, getMetadata }),
  };
}

interface GraphSkillParts {
  readonly fields: RootFields;
  readonly texts: GraphTexts;
  readonly getMetadata: (row: OperationRow) => Partial<MethodMetadata>;
}

function createInvoke(
  config: SourceConfig,
  { client, endpoint, findAccount }: GraphOffer,
  { fields, texts, getMetadata }: GraphSkillParts,
): ProvidedSkill["invoke"] {
  const sender = new GraphSender({ client, endpoint, requests: config.requests ?? "post" });
  return async ({ name }, input, context) => {
    const method = GRAPH_METHODS.find((each) => each === name);
    if (method === undefined) throw new Error(`${config.skill} has no method ${name}`);
    const text = String(input["query"]);
    // The router has checked the values of the variables.
    const document = await texts.check(method, text, undefined);
    if (document.problems.length > 0) throw createQueryError({ skill: config.skill, name }, text, document.problems);
    const rows = listPartNames(method, document).map((part) => fields.rows.get(part));
    const accountName = findMethodAccount(config, method);
    const account = accountName === undefined ? undefined : findAccount(accountName);
    return answerGraphCall(
      {
        kind: toOperationKind(method),
        path: `${config.skill}.${name}`,
        document,
        input,
        context,
        isRead: rows.every((row) => row !== undefined && getMetadata(row).readOnly === true),
        account: account && (await openRequestAccount(account, context)),
      },
      sender,
    );
  };
}

/** A call has one account: that of the last pattern that matches all root fields of its method. */
function findMethodAccount(config: SourceConfig, method: GraphMethodName): string | undefined {
  return findAccountName(config, { name: `${method}:*`, verb: toOperationKind(method), path: "*", tags: [] });
}

/** The last root field that was read: its parts are asked for one after the other. */
function createCache(catalog: GraphCatalog): (row: OperationRow) => GraphField {
  let last: { readonly row: OperationRow; readonly field: GraphField } | undefined;
  return (row) => {
    if (last?.row !== row) last = { row, field: catalog.read(row) };
    return last.field;
  };
}

/** Checks the texts of calls against the schema of an API and the root fields that its skill offers. */
class GraphTexts {
  readonly #checker: QueryChecker;
  readonly #fields: RootFields;

  constructor(checker: QueryChecker, fields: RootFields) {
    this.#checker = checker;
    this.#fields = fields;
  }

  /** Checks a text with the values of its variables, as `QueryText.check` does. */
  async check(method: GraphMethodName, text: string, variables: unknown): Promise<CheckedDocument> {
    const document = await this.#checker.check(toOperationKind(method), text, hideBytes(variables));
    return { ...document, problems: this.#fields.addProblems(method, document) };
  }

  describe(method: GraphMethodName): QueryText {
    return {
      argument: "query",
      variables: "variables",
      check: async (text, variables) => {
        const document = await this.check(method, text, variables);
        const { problems, output } = document;
        return {
          problems,
          parts: listPartNames(method, document),
          ...(output !== undefined && problems.length === 0 && { output }),
        };
      },
    };
  }
}
