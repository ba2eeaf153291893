import type { Service } from "@nats-io/services";
import type { NatsConnection } from "@nats-io/transport-node";

import { VERSION } from "../shared/version.ts";
import { loadNats } from "./library.ts";

export interface ServiceFacts {
  readonly name: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Adds the service by which a machine is found, pinged and counted. The library has a copy of the connection's types. */
export async function addService(connection: NatsConnection, facts: ServiceFacts): Promise<Service> {
  const { Svcm } = await loadNats();
  const version = /^\d+\.\d+\.\d+/.exec(VERSION)?.[0] ?? "0.0.0";
  return new Svcm(connection as never).add({ ...facts, version, metadata: { ...facts.metadata } });
}

/** The subject on which every machine with a service describes itself, by the NATS services API. */
export function getDiscoverySubject(service: string): string {
  return `$SRV.PING.${service}`;
}

/** The subject on which one machine says that it lives. */
export function getPingSubject(service: string, id: string): string {
  return `$SRV.PING.${service}.${id}`;
}
