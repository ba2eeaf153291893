import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/** Only the owner of a file can read and write it. */
const PRIVATE = 0o600;

/**
 * Replaces a file, which only its owner can read, or gives it another mode, independent of the umask. Another process reads the old
 * file or the new one, never a part.
 */
export async function replaceFile(file: string, text: string, mode = PRIVATE): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    await using written = await open(draft, "wx", mode);
    await written.chmod(mode);
    await written.writeFile(text);
    await written.sync();
    await written.close();
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
