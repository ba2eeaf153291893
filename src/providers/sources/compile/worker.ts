/** Entry of the thread: reads one document after another, each with its files, compiles it, and writes its catalog. */
import { readFile, writeFile } from "node:fs/promises";
import { type MessagePort, parentPort } from "node:worker_threads";

import { getMessage } from "../../../errors.ts";
import { CredentialRefused } from "../documents/document-error.ts";
import { loadDocument } from "./load-document.ts";
import type { CompileOrder, CompileReport } from "./protocol.ts";
import { DocumentReader, UnchangedDocument } from "../documents/read-file.ts";
import { createApiCatalog } from "./write-catalog.ts";

const port = parentPort as MessagePort;
port.on("message", (order: CompileOrder) => void answer(order));

async function answer(order: CompileOrder): Promise<void> {
  const report = await compile(order).catch((error: unknown): CompileReport => {
    if (error instanceof UnchangedDocument && order.last !== undefined) return { kind: "unchanged", ...order.last };
    const { refusal } = error instanceof CredentialRefused ? error : {};
    return { kind: "failed", error: getMessage(error), ...(refusal !== undefined && { refusal }) };
  });
  port.postMessage(report);
}

async function compile(order: CompileOrder): Promise<CompileReport> {
  if (order.kind === "graphql") {
    const { compileSchema } = await import("../graphql/compile/index.ts");
    return compileSchema(order);
  }
  const { document, isPrivate, patch, last, names, target } = order;
  const reader = new DocumentReader({ document, isPrivate, ...(last !== undefined && { last }) });
  const { files, digest, problems } = await loadDocument(
    document,
    reader.read,
    patch === undefined ? undefined : { file: patch, text: await readFile(patch, "utf8") },
  );
  const { validators } = reader;
  const facts = { digest, ...(validators !== undefined && { validators }) };
  if (digest === last?.digest) return { kind: "unchanged", ...facts };
  await writeFile(target, createApiCatalog(files, { names: new Map(names), problems }), { mode: 0o600 });
  return { kind: "compiled", ...facts };
}
