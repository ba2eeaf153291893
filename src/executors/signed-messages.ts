import type { NatsConnection } from "@nats-io/transport-node";

import { createFacts, KIND, sendMessage, SIGNATURE, type Signatures, type WholeMessage } from "../network/index.ts";

/** The name that signatures of these messages have in place of a device. */
const SERVER = "executors";

export interface SignedMessage {
  readonly subject: string;
  readonly kind: string;
  /** The id of the message: for a receiver, that of the job or of the question. */
  readonly id: string;
  readonly text: string;
  readonly reply?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Signs a message, and sends it in as many parts as the network needs. */
export async function sendSigned(
  connection: NatsConnection,
  signatures: Signatures,
  { subject, kind, id, text, reply, fields }: SignedMessage,
): Promise<void> {
  const signed = signatures.sign(createFacts(SERVER, kind, id + text));
  await sendMessage(connection, {
    subject,
    id,
    bytes: Buffer.from(text),
    headers: { ...fields, ...signed, [KIND]: kind },
    ...(reply !== undefined && { reply }),
  });
}

/** Returns the text of a message. Rejects if its signature is missing or wrong. */
export async function readSigned(
  { id, bytes, headers }: WholeMessage,
  signatures: Signatures,
  from?: string,
): Promise<{ readonly kind: string; readonly text: string }> {
  const [kind, text] = [headers.get(KIND), Buffer.from(bytes).toString("utf8")];
  await signatures.verify(createFacts(SERVER, kind, id + text), headers.get(SIGNATURE), from);
  return { kind, text };
}
