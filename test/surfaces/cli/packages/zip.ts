import { crc32, deflateRawSync } from "node:zlib";

/** A file of a test archive. What is not given is as in a good archive. */
export interface ZipFile {
  readonly name: string;
  readonly content?: string | Buffer;
  /** The mode of Unix, with the type of the file. */
  readonly mode?: number;
  readonly flags?: number;
  /** The size that the archive claims. */
  readonly size?: number;
  readonly checksum?: number;
}

/** Creates a zip archive. */
export function zip(files: readonly ZipFile[], tail = Buffer.alloc(0)): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, content = "", mode = 0o100644, flags = 0, size, checksum } of files) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const path = Buffer.from(name);
    const facts = Buffer.alloc(16);
    facts.writeUInt32LE(checksum ?? crc32(plain), 4);
    facts.writeUInt32LE(packed.length, 8);
    facts.writeUInt32LE(size ?? plain.length, 12);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(8, 8);
    facts.copy(local, 10);
    local.writeUInt16LE(path.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50);
    entry[5] = 3;
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(8, 10);
    facts.copy(entry, 12);
    entry.writeUInt16LE(path.length, 28);
    entry.writeUInt16LE(mode, 40);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, path, packed);
    entries.push(entry, path);
    offset += local.length + path.length + packed.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end, tail]);
}
