/** The environment of skills: ours, without the token of our own server, with which they could call whatever clients may. */
export function skillEnvironment({ SKILLGATE_TOKEN: _token, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env;
}
