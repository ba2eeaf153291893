/** How this machine reaches a network of machines, and whom it believes. */
export interface NetworkSettings {
  /** Addresses of NATS servers. */
  readonly servers: readonly string[];
  /** A file of NATS credentials. Absolute. */
  readonly credentials?: string;
  /** The name of this machine for people. */
  readonly title: string;
  /** The device name of this machine, which is also the id of its key. */
  readonly device: string;
  /** The file of the private key with which it signs. Absolute. */
  readonly keyFile?: string;
  /** The public keys of other machines by device name; if there are any, unsigned messages are refused. */
  readonly peers: ReadonlyMap<string, string>;
  /** The time without an answer after which another machine counts as gone. */
  readonly silenceMs: number;
}
