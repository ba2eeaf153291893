import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";

import { getMessage } from "../../../../errors.ts";
import { canonicalText } from "../../../../shared/digest.ts";
import { DocumentError } from "../../documents/document-error.ts";
import { ProblemList } from "../../documents/problem-list.ts";
import type { CompiledReport, SchemaOrder, Validators } from "../../compile/protocol.ts";
import { DocumentReader } from "../../documents/read-file.ts";
import { checkSchema, type CheckedSchema } from "./check-schema.ts";
import { createGraphCatalog } from "./create-catalog.ts";
import { introspect } from "./introspect.ts";
import { readIntrospection } from "./read-introspection.ts";
import { readSdl } from "./read-sdl.ts";
import type { Schema } from "./schema-model.ts";

/** Reads the schema of a GraphQL API, and writes its catalog. Throws a `DocumentError`, or the error of a file or a server. */
export async function compileSchema({ last, target, ...order }: SchemaOrder): Promise<CompiledReport> {
  const { schema, validators } = await readSchema(order, last);
  const problems = new ProblemList();
  const checked = checkSchema(schema, problems);
  const facts = { digest: digestSchema(checked), ...(validators !== undefined && { validators }) };
  if (facts.digest === last?.digest) return { kind: "unchanged", ...facts };
  await writeFile(target, createGraphCatalog(checked, new URL(order.endpoint).host, problems), { mode: 0o600 });
  return { kind: "compiled", ...facts };
}

interface SchemaWithValidators {
  readonly schema: Schema;
  readonly validators?: Validators | undefined;
}

async function readSchema(
  { document, isPrivate, introspection }: Omit<SchemaOrder, "last" | "target">,
  last: SchemaOrder["last"],
): Promise<SchemaWithValidators> {
  if (introspection !== undefined) return { schema: readIntrospection(await introspect(introspection, isPrivate)) };
  const reader = new DocumentReader({ document, isPrivate, ...(last !== undefined && { last }) });
  const text = await reader.read(document);
  return { schema: parseSchema(text), validators: reader.validators };
}

/** A text that begins as an object of JSON is a saved introspection. */
function parseSchema(text: string): Schema {
  const start = text.search(/[^\s\uFEFF]/);
  if (text[start] !== "{") return readSdl(text);
  let value: unknown;
  try {
    value = JSON.parse(text.slice(start));
  } catch (error) {
    throw new DocumentError(`the schema is neither SDL nor JSON: ${getMessage(error)}`);
  }
  return readIntrospection(value);
}

/** The digest of a schema; the order of its parts and its form do not count. */
function digestSchema({ description, query, mutation, types, directives }: CheckedSchema): string {
  const hash = createHash("sha256").update(canonicalText([description, query, mutation ?? null, directives]));
  for (const type of types) hash.update(canonicalText(type));
  return hash.digest("hex");
}
