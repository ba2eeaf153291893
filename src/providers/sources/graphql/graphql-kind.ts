import type { Account, CredentialRefusal, FindAccount, OpenAccount } from "../../../model/account.ts";
import { OWNER } from "../../../model/caller.ts";
import { addHeaders, addQuery } from "../../../shared/http/add-credential.ts";
import { compileInThread } from "../compile/compile-in-thread.ts";
import { CredentialRefused } from "../documents/document-error.ts";
import type { CompiledReport, IntrospectionRequest, SchemaOrder } from "../compile/protocol.ts";
import { findAccountName, findServerFlaw } from "../source-accounts.ts";
import type { SourceConfig } from "../source-config.ts";
import { createSourceClient, type ReadingOrder, type SourceKind, type SourceServices } from "../source-kind.ts";
import { createQueryChecker } from "./check/index.ts";
import { type GraphCatalog, openGraphCatalog } from "./graph-catalog.ts";
import { createGraphSkill } from "./graph-skill.ts";

/** GraphQL APIs. Their requests go to one address, the endpoint. */
export const GRAPHQL: SourceKind<GraphCatalog> = {
  noun: "schema",
  openCatalog: openGraphCatalog,
  compile: compileSchema,
  connect(config, catalog, services) {
    const endpoint = getEndpoint(config);
    const client = createSourceClient(config, new URL(endpoint.origin), services);
    const checker = createQueryChecker({ name: config.name, read: () => catalog.readSchema() });
    const { findAccount } = services;
    return {
      server: endpoint,
      documentServer: undefined,
      describeMissing: () => [],
      createSkill: (offer) => createGraphSkill(config, { ...offer, checker, endpoint, client, findAccount }),
      close() {
        client.close();
        return checker.close();
      },
    };
  },
};

function getEndpoint({ server, document }: SourceConfig): URL {
  return new URL(server ?? document);
}

interface CompileContext extends SourceServices {
  readonly signal: AbortSignal;
}

async function compileSchema(
  config: SourceConfig,
  { last, target }: ReadingOrder,
  { signal, findAccount }: CompileContext,
): Promise<CompiledReport> {
  const { document, isPrivate } = config;
  const endpoint = getEndpoint(config).href;
  const order = {
    kind: "graphql",
    document,
    endpoint,
    isPrivate,
    target,
    ...(last !== undefined && { last }),
  } as const;
  if (document !== endpoint) return compileInThread(order, signal);
  const account = findSchemaAccount(config, findAccount);
  const flaw = account && findServerFlaw(getEndpoint(config), account, config);
  if (flaw !== undefined) throw new Error(flaw);
  const ask = (opened: OpenAccount | undefined): Promise<CompiledReport> =>
    compileInThread({ ...order, introspection: createIntrospection(config, opened) } satisfies SchemaOrder, signal);
  let opened: OpenAccount | undefined;
  let openError: unknown;
  try {
    opened = await account?.open(OWNER);
  } catch (error) {
    // Many endpoints describe their schema without a credential.
    openError = error;
  }
  try {
    return await ask(opened);
  } catch (error) {
    if (!(error instanceof CredentialRefused)) throw error;
    if (openError !== undefined) throw openError;
    const renewed = await renew(opened, error.refusal);
    if (renewed === undefined) throw error;
    return ask(renewed);
  }
}

async function renew(opened: OpenAccount | undefined, refusal: CredentialRefusal): Promise<OpenAccount | undefined> {
  return refusal.status === 401 ? opened?.renew(refusal) : undefined;
}

/** The account of requests for the field `__schema` of queries. */
function findSchemaAccount(config: SourceConfig, findAccount: FindAccount): Account | undefined {
  const name = findAccountName(config, SCHEMA_FIELD);
  return name === undefined ? undefined : findAccount(name);
}

const SCHEMA_FIELD = { name: "query:__schema", verb: "query", path: "__schema", tags: [] } as const;

/** The credential of an account stands in the headers or in the address; a body of GraphQL has no place for it. */
function createIntrospection(config: SourceConfig, opened: OpenAccount | undefined): IntrospectionRequest {
  const credential = opened?.credential ?? [];
  const own = Object.entries(config.headers).map(([name, value]) => [name.toLowerCase(), value]);
  const { origin, pathname, search } = getEndpoint(config);
  return {
    url: origin + addQuery(pathname + search, credential),
    headers: addHeaders(Object.fromEntries(own) as Readonly<Record<string, string>>, credential),
  };
}
