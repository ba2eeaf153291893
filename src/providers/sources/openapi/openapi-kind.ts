import type { Account } from "../../../model/account.ts";
import { openRequestAccount } from "../../../shared/http/request-account.ts";
import type { OperationSender } from "../answer-call.ts";
import { type ApiServer, ApiServers } from "../api-servers.ts";
import { compileInThread } from "../compile/compile-in-thread.ts";
import { findAccountName } from "../source-accounts.ts";
import { createSourceClient, type SourceKind } from "../source-kind.ts";
import { createSourceSkill } from "../source-skill.ts";
import { buildRequest } from "./build-request.ts";
import { type OpenCatalog, openCatalog } from "./open-catalog.ts";

/** APIs that an OpenAPI document describes. */
export const OPENAPI: SourceKind<OpenCatalog> = {
  noun: "document",
  openCatalog,
  compile({ document, isPrivate, patch }, { names, ...order }, { signal }) {
    const facts = { document, isPrivate, names: Object.entries(names), ...(patch !== undefined && { patch }) };
    return compileInThread({ kind: "openapi", ...facts, ...order }, signal);
  },
  connect(config, { index }, services) {
    const { findAccount } = services;
    const servers = new ApiServers(config, index.servers[0], (server) => createSourceClient(config, server, services));
    return {
      server: servers.main,
      documentServer: servers.ofDocument,
      describeMissing: (rows) => servers.describeMissing(rows),
      createSkill: (offer) =>
        createSourceSkill(config, {
          ...offer,
          findAccount,
          getSender(row) {
            const name = findAccountName(config, row);
            return createSender(servers.find(row), name === undefined ? undefined : findAccount(name));
          },
        }),
      close: () => servers.close(),
    };
  },
};

function createSender({ url, client }: ApiServer, account: Account | undefined): OperationSender {
  return {
    server: url,
    async send(operation, input, { context, ...options }) {
      const request = buildRequest(operation, input);
      const opened = account && (await openRequestAccount(account, context));
      return client.send(request, context, { ...options, account: opened });
    },
  };
}
