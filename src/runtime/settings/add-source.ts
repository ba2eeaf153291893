import type { SourceStatus } from "../../providers/sources/index.ts";
import type { SourceSettings } from "../options.ts";

/** Writes a source into the settings, or removes it without `settings`. Returns its status. */
export interface SourceWriter {
  readonly write: (settings: SourceSettings | undefined) => Promise<void>;
  /** Returns the status of the source that was written. */
  readonly read: () => Promise<SourceStatus>;
}

/**
 * Adds a source. The server of its document is written down with it, so that it stays the same when the document changes. Nothing
 * stays written if the document cannot be read: the status has the error and no operations then.
 */
export async function addSource(settings: SourceSettings, { write, read }: SourceWriter): Promise<SourceStatus> {
  try {
    await write(settings);
    const status = await read();
    if (status.error !== undefined && status.operations === 0) await write(undefined);
    else if (settings.server === undefined && status.documentServer !== undefined) {
      await write({ ...settings, server: status.documentServer });
      return await read();
    }
    return status;
  } catch (error) {
    await write(undefined);
    throw error;
  }
}
