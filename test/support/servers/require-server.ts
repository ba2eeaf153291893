/**
 * Says that tests are skipped because a server is not installed. Throws on a build server, which must have it.
 *
 * @param tests - such as "the tests with NATS, because nats-server is not installed"
 */
export function reportMissingServer(tests: string, ci: string | undefined = process.env["CI"]): void {
  if (ci !== undefined && ci !== "false") throw new Error(`Cannot run ${tests}`);
  console.warn(`SKIPPED: ${tests}`);
}
