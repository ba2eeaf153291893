import { Hono } from "hono";

import { sentence, SkillgateError } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import type { RouteEnvironment, WebPages } from "../http/index.ts";
import { createConsoleEndpoints } from "./api/index.ts";
import { createLoginEndpoints } from "./api/session.ts";
import { BUNDLE, createAssets } from "./assets.ts";
import type { ConsoleConfig } from "./config-files.ts";
import { addEndpoints } from "./endpoints.ts";
import { createActivity } from "./events/activity.ts";
import { createEventHub } from "./events/event-hub.ts";
import { createLogLines } from "./events/log-lines.ts";
import { createOpenQuestions } from "./open-questions.ts";
import { answerProblem } from "./problem.ts";
import { createLinkSecret, LINK_HEADER } from "./running-server.ts";
import { refuseForeignPages, requireLogin } from "./security/guard.ts";
import { createSecurityHeaders } from "./security/headers.ts";
import { createSessions } from "./security/sessions.ts";
import type { ConsoleEnvironment, ConsoleServices } from "./services.ts";

export { announceServer, findLoginLink } from "./running-server.ts";

/** The web console of one server. */
export interface Console extends WebPages {
  /** Returns an address that logs a browser in as the owner: once, within five minutes. */
  createLoginLink(serverUrl: string): string;
  /** Lets commands of the same user ask the server for login links. */
  readonly linkSecret: string;
}

export interface ConsoleOptions {
  /** The folder of the bundled script and style; default: the one beside this module. */
  readonly bundle?: URL;
  /** The files that pages may change; without them, servers and settings are only shown. */
  readonly config?: ConsoleConfig;
}

/** The path of everything but the page itself. */
const PREFIX = "/console";

/** Creates the console for `serveHttp`. It counts runs and calls from now on. */
export function createConsole(runtime: Runtime, { bundle = BUNDLE, config }: ConsoleOptions = {}): Console {
  const sessions = createSessions();
  const activity = createActivity(runtime);
  const events = createEventHub(runtime);
  const log = createLogLines();
  const stopLog = runtime.on("log", (entry) => log.add({ ...entry, text: runtime.secrets.maskText(entry.text) }));
  const linkSecret = createLinkSecret();
  const createLink = (serverUrl: string): string => `${serverUrl}/login#${sessions.createCode()}`;
  return {
    linkSecret: linkSecret.text,
    prefix: PREFIX,
    createLoginLink: createLink,
    mount(app, http) {
      app.route("/", createPageRoutes(bundle));
      app.post(`${PREFIX}/link`, (c) =>
        linkSecret.matches(c.req.header(LINK_HEADER) ?? "")
          ? c.json({ link: createLink(http.url()) })
          : answerProblem(createLinkError()),
      );
      app.route(
        PREFIX,
        createApiRoutes({ runtime, http, sessions, activity, events, log, config, questions: createOpenQuestions() }),
      );
    },
    close() {
      events.close();
      activity.close();
      stopLog();
    },
  };
}

/** The page, at two addresses: the second one has a one-time code behind `#`, which browsers do not send. */
function createPageRoutes(bundle: URL): Hono<RouteEnvironment> {
  const assets = createAssets(bundle);
  const app = new Hono<RouteEnvironment>();
  for (const path of ["/", "/login"])
    app.get(path, (c) =>
      acceptsHtml(c.req.header("accept"))
        ? assets.answerPage()
        : answerProblem(new SkillgateError("LOGIN_MISSING", sentence("LOGIN_MISSING", "this address is a page"))),
    );
  app.get(`${PREFIX}/assets/:name`, (c) => {
    const answer = assets.answerFile(c.req.param("name"), c.req.header("accept-encoding"));
    return answer ?? answerProblem(createUnknownAddress(c.req.path));
  });
  return app;
}

function createApiRoutes(services: ConsoleServices): Hono<ConsoleEnvironment> {
  const app = new Hono<ConsoleEnvironment>();
  app.onError((error) => answerProblem(error));
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(createSecurityHeaders())) c.res.headers.set(name, value);
    if (!c.res.headers.has("cache-control")) c.res.headers.set("cache-control", "no-store");
  });
  app.use(refuseForeignPages());
  const api = new Hono<ConsoleEnvironment>();
  addEndpoints(api, services, createLoginEndpoints(services));
  api.use(requireLogin(services.http, services.sessions));
  addEndpoints(api, services, createConsoleEndpoints(services));
  app.route("/api", api);
  app.all("*", (c) => {
    throw createUnknownAddress(c.req.path);
  });
  return app;
}

function createLinkError(): SkillgateError {
  return new SkillgateError("LOGIN_INVALID", sentence("LOGIN_INVALID", "the secret of the server is not valid"));
}

function createUnknownAddress(path: string): SkillgateError {
  return new SkillgateError("PAGE_UNKNOWN", sentence("PAGE_UNKNOWN", JSON.stringify(path.slice(0, 200))));
}

function acceptsHtml(accept: string | undefined): boolean {
  return accept === undefined || /text\/html|\*\/\*/.test(accept);
}
