/** How this machine reaches the network of devices, and whom it believes. */
export interface NodeSettings {
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
  /** The time without an answer after which a device counts as gone. */
  readonly silenceMs: number;
  /** Patterns of the methods that this machine offers. */
  readonly offer?: readonly string[];
  /** Scopes that callers on other machines hold here. */
  readonly scopes: readonly string[];
}
