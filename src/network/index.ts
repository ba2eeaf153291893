export { type NetworkClient, openClient } from "./client.ts";
export type { Machine, RequestEnd } from "./machine.ts";
export { type IncomingRequest, openServer, type NetworkServer } from "./server.ts";
export type { NetworkSettings } from "./settings.ts";
