import type { IncomingMessage, ServerResponse } from "node:http";

/** The part of a plugin of GraphQL Yoga that tests use. */
export interface YogaPlugin {
  onParams?(hook: {
    readonly request: Request;
    readonly params: GraphParams;
    readonly setParams: (params: GraphParams) => void;
  }): void;
}

export interface GraphParams {
  readonly query?: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export function createSchema(parts: { readonly typeDefs: string; readonly resolvers: object }): object;

export function createYoga(options: {
  readonly schema: object;
  readonly plugins: readonly YogaPlugin[];
  readonly logging: boolean;
  readonly graphiql: boolean;
  readonly maskedErrors: boolean;
}): (request: IncomingMessage, response: ServerResponse, context: object) => Promise<void>;
