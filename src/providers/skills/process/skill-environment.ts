/** Returns the environment of skills: without the server token, which would let them act as a client. */
export function skillEnvironment({ SKILLGATE_TOKEN: _token, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env;
}
