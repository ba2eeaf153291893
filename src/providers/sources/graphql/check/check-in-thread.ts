/** The functions of the thread that load the package `graphql`. */
import { buildASTSchema, type GraphQLSchema, parse } from "graphql";

import { checkText } from "./check-document.ts";
import { checkVariables } from "./check-variables.ts";

export interface ThreadModules {
  readonly checkText: typeof checkText;
  readonly checkVariables: typeof checkVariables;
  readonly readSchema: (sdl: string) => GraphQLSchema;
}

export const THREAD_MODULES: ThreadModules = { checkText, checkVariables, readSchema };

/** Reads a schema in its language. Its catalog was compiled from a valid one, so it is not validated again. */
function readSchema(sdl: string): GraphQLSchema {
  return buildASTSchema(parse(sdl, { noLocation: true }), { assumeValid: true, assumeValidSDL: true });
}
