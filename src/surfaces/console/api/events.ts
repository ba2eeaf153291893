import { openEventStream } from "../../mcp/index.ts";
import type { AddConsoleApi } from "../services.ts";

/** Adds the stream of live events. It ends with the credential and at the logout. */
export const addEventsApi: AddConsoleApi = (api, { events }) => {
  api.get("/events", (c) => {
    let stop = (): void => {};
    const stream = openEventStream(() => stop());
    const lastId = c.req.header("last-event-id") ?? c.req.query("after");
    const stopFollowing = events.follow(c.get("caller"), lastId, (name, json, id) => stream.sendText(name, json, id));
    const end = (reason: string): void => {
      stop();
      stream.send("end", { reason });
      stream.end();
    };
    const endAtLogout = (): void => end("logged out");
    const ended = c.get("ended");
    ended?.addEventListener("abort", endAtLogout, { once: true });
    const stopLife = c.get("life")?.onEnd(end);
    stop = () => {
      stopFollowing();
      stopLife?.();
      ended?.removeEventListener("abort", endAtLogout);
    };
    return stream.response;
  });
};
