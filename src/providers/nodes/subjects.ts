/** The name of the service of each machine in the NATS services API. */
export const SERVICE_NAME = "skillgate-node";

/** Machines say here that they have come, changed or gone, each on the subject of its own name. */
export const ANNOUNCEMENTS = "skillgate.nodes";

/** The subjects of one machine. Only that machine may receive on them. */
export function getSubjects(device: string, id: string): Readonly<Record<"call" | "catalog" | "cancel", string>> {
  const own = `skillgate.node.${device}.${id}`;
  return { call: `${own}.call`, catalog: `${own}.catalog`, cancel: `${own}.cancel` };
}

/** The kinds of replies, in their header. */
export type ReplyKind = "begun" | "progress" | "log" | "note" | "result";
