import type { Server } from "@modelcontextprotocol/server";

/** Notifies the client of a stream that its list of tools has changed, as soon as it may be notified. */
export class ToolsAnnouncement {
  #server: Server | undefined;
  #isDue = false;

  /**
   * Notifies the client of this server; one of a version before 2026-07-28 after its handshake, which `onHandshake` is called
   * after.
   */
  follow(server: Server, era: "legacy" | "modern", onHandshake: () => void): void {
    if (era === "modern") return this.#begin(server);
    server.oninitialized = () => {
      this.#begin(server);
      onHandshake();
    };
  }

  send(): void {
    this.#isDue = this.#server === undefined;
    this.#server?.sendToolListChanged().catch(() => {}); // the client has gone
  }

  #begin(server: Server): void {
    this.#server = server;
    if (this.#isDue) this.send();
  }
}
