/** The version of the messages on the network. Machines of different versions do not talk. */
export const PROTOCOL = 2;

/** A network on a NATS server: machines that offer skills, that execute runs, or that make calls for those. */
export type Group = "nodes" | "executors" | "fronts";

/** The subject on which a machine announces itself; `*` for those of all machines. */
export function getAnnouncementSubject(group: Group, device: string): string {
  return `skillgate.${group}.${device}`;
}

/** A message here makes all machines of a group announce themselves. */
export function getAskSubject(group: Group): string {
  return `skillgate.ask.${group}`;
}

/** Subjects on which processes of version 1 of the protocol look for machines. */
export const ASK_SUBJECTS_1: Readonly<Record<Group, string>> = {
  nodes: "$SRV.PING.skillgate-node",
  executors: "skillgate.executors.front",
  fronts: "skillgate.fronts.executor",
};

/** One start of a process. */
export interface StartAddress {
  readonly device: string;
  /** The id of this start. */
  readonly start: string;
}

/**
 * The subject of messages to one start of a process, from one machine, in one session. Only its receiver needs the permission
 * to subscribe to it, and only the sender the permission to publish on it.
 */
export function getInbox({ device, start }: StartAddress, from = "*", session = "*"): string {
  return `skillgate.to.${device}.${from}.${start}.${session}`;
}

/** Reads the sender and the session from the subject of a message. */
export function parseInbox(subject: string): { readonly from: string; readonly session: string } {
  const [, , , from = "", , session = ""] = subject.split(".");
  return { from, session };
}
