import { connect, headers, type Msg } from "@nats-io/transport-node";
import { onTestFinished } from "vitest";

/** A client of the NATS server without a key. It records each message of others. */
export interface Stranger {
  readonly recorded: readonly Msg[];
  /** The messages that it has sent. */
  readonly sent: number;
  /** Sends the messages that it has recorded last again: as it was, with another last bit, and to each subject that was in use since. */
  replay(most?: number): Promise<void>;
  /** Answers each message that comes from now on: that it has no receiver, with garbage, and with the message itself. */
  forge(): void;
  /** Resolves when it has recorded that number of further messages. */
  record(count: number): Promise<void>;
  publish(subject: string, data: string | Uint8Array): void;
  flush(): Promise<void>;
}

/** More subjects than one test uses, and few enough to send each message to all. */
const MAX_SUBJECTS = 30;
/** Few enough to send all of them to all subjects. */
const MAX_REPLAYED = 100;

export async function openStranger(url: string): Promise<Stranger> {
  const connection = await connect({ servers: url, noEcho: true });
  onTestFinished(() => connection.close());
  const recorded: Msg[] = [];
  let isForging = false;

  function forgeAnswers(message: Msg): void {
    for (const subject of [message.subject, message.reply]) {
      if (subject === undefined || subject === "") continue;
      connection.publish(subject, "", { headers: headers(503, "No Responders") });
      for (const data of ["", "garbage", message.data, flipLastBit(message.data)]) connection.publish(subject, data);
    }
    // Messages of version 1 of the protocol.
    connection.publish(message.subject.replace(/\.call$/, ".cancel"), message.headers?.get("Sg-Id") ?? "");
    const text = message.string();
    if (text.includes('"kind":"here"')) connection.publish(message.subject, text.replace('"here"', '"gone"'));
    if (message.reply === undefined || message.reply === "") return;
    for (const kind of ["begun", "note", "busy", "result"]) {
      const head = headers();
      head.set("Sg-Kind", kind);
      head.set("Sg-Id", message.reply.slice(message.reply.lastIndexOf(".") + 1));
      head.set("Sg-Part", "1/1");
      connection.publish(message.reply, '{"notes":["a lie"],"value":"a lie"}', { headers: head });
    }
  }

  connection.subscribe(">", {
    callback: (error, message) => {
      if (error !== null) return;
      recorded.push(message);
      if (isForging) forgeAnswers(message);
    },
  });
  await connection.flush();
  return {
    recorded,
    get sent() {
      return connection.stats().outMsgs;
    },
    async replay(most = MAX_REPLAYED) {
      const messages = recorded.slice(-most);
      const subjects = [...new Set(messages.map(({ subject }) => subject))].slice(-MAX_SUBJECTS);
      for (const { subject, data, headers: head, reply } of messages) {
        const options = { ...(head !== undefined && { headers: head }), ...(reply !== undefined && { reply }) };
        for (const to of new Set([subject, ...subjects])) connection.publish(to, data, options);
        connection.publish(subject, flipLastBit(data), options);
      }
      await connection.flush();
    },
    forge() {
      isForging = true;
    },
    async record(count) {
      const until = recorded.length + count;
      while (recorded.length < until) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    publish: (subject, data) => connection.publish(subject, data),
    flush: () => connection.flush(),
  };
}

function flipLastBit(data: Uint8Array): Uint8Array {
  const flipped = Uint8Array.from(data);
  const last = flipped.length - 1;
  if (last >= 0) flipped[last] = (flipped[last] ?? 0) ^ 1;
  return flipped;
}
