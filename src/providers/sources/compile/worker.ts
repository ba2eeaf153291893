/** Entry of the thread: reads a document with its files, compiles it, and writes its catalog. */
import { readFile, writeFile } from "node:fs/promises";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";

import { getMessage } from "../../../errors.ts";
import { CatalogWriter } from "../catalog-file.ts";
import { compileDocument } from "./compile-document.ts";
import { loadDocument } from "./load-document.ts";
import type { CompileOrder, CompileReport } from "./protocol.ts";
import { DocumentReader, UnchangedDocument } from "./read-file.ts";

const port = parentPort as MessagePort;
void answer(workerData as CompileOrder);

async function answer(order: CompileOrder): Promise<void> {
  const report = await compile(order).catch((error: unknown): CompileReport => {
    if (error instanceof UnchangedDocument && order.last !== undefined) return { kind: "unchanged", ...order.last };
    return { kind: "failed", error: getMessage(error) };
  });
  port.postMessage(report);
}

async function compile({ document, isPrivate, patch, last, names, target }: CompileOrder): Promise<CompileReport> {
  const reader = new DocumentReader({ document, isPrivate, ...(last !== undefined && { last }) });
  const { files, digest, problems } = await loadDocument(
    document,
    reader.read,
    patch === undefined ? undefined : { file: patch, text: await readFile(patch, "utf8") },
  );
  const { validators } = reader;
  const facts = { digest, ...(validators !== undefined && { validators }) };
  if (digest === last?.digest) return { kind: "unchanged", ...facts };
  const writer = new CatalogWriter();
  const compiled = compileDocument(files, { names: new Map(names), take: (operation) => writer.add(operation) });
  await writeFile(target, writer.finish({ ...compiled, problems: [...problems, ...compiled.problems] }), {
    mode: 0o600,
  });
  return { kind: "compiled", ...facts };
}
