import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";

import { editEnv, editEnvFile } from "../../src/config/edit-env.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "skillgate-env-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe("a change of .env", () => {
  test.each([
    ["a new variable at the end", "A=1\n", "A=1\nKEY=new\n"],
    ["a file without a final newline", "A=1", "A=1\nKEY=new\n"],
    ["an empty file", "", "KEY=new\n"],
    ["line ends of Windows", "A=1\r\nB=2\r\n", "A=1\r\nB=2\r\nKEY=new\r\n"],
    ["a value with line ends of Windows", "KEY=old\r\nB=2\r\n", "KEY=new\r\nB=2\r\n"],
    ["comments and order", "# keys\nKEY=old # mine\n\nB=2\n", "# keys\nKEY=new # mine\n\nB=2\n"],
    ["export and spaces", "  export KEY = old\nB=2", "  export KEY = new\nB=2"],
    ["a quoted value", 'KEY="old # no comment" # mine\n', "KEY=new # mine\n"],
    ["a value of several lines", "KEY='a\nB=not a variable\n'\nB=2\n", "KEY=new\nB=2\n"],
    ["a name inside another value", "B='\nKEY=inside\n'\n", "B='\nKEY=inside\n'\nKEY=new\n"],
    ["the last of duplicate names", "KEY=a\nKEY=b\n", "KEY=a\nKEY=new\n"],
    ["a name that begins alike", "KEY_2=a\nMY_KEY=b\n", "KEY_2=a\nMY_KEY=b\nKEY=new\n"],
    ["a commented assignment", "# KEY=old\n", "# KEY=old\nKEY=new\n"],
    ["an open quote", "KEY='old\nB=2\n", "KEY=new\nB=2\n"],
    ["a line that assigns nothing", "KEY\nB=2\n", "KEY\nB=2\nKEY=new\n"],
    ["a byte order mark", "\uFEFFKEY=old\n", "\uFEFFKEY=new\n"],
  ])("keeps %s [O5]", (_, before, after) => {
    expect(editEnv(before, "KEY", "new")).toBe(after);
  });

  test("removes every assignment of a name, and nothing else [O5]", () => {
    expect(editEnv("KEY=a\n# note\nexport KEY='b\nc'\nB=2", "KEY", undefined)).toBe("# note\nB=2");
    expect(editEnv("B=2", "KEY", undefined)).toBe("B=2");
  });

  test.each(["a b", "a#b", "$HOME", "it's", `it's "so"`, "a\nb", "", " spaced ", "a\\nb", "äö=", "'", '`"'])(
    "writes %j so that it is read as it was [O5]",
    (value) => {
      expect({ ...parseEnv(editEnv("A=1\n", "KEY", value)) }).toEqual({ A: "1", KEY: value });
    },
  );

  test.each([
    ["all three kinds of quotes", "KEY", "'\"`-secret", "has all three kinds of quotes"],
    ["a carriage return", "KEY", "secret\r1", "cannot be changed in it to this value"],
    ["a name that no file can have", "A B=C", "secret", "cannot be changed in it to this value"],
    ["a name that decides which code runs", "NODE_OPTIONS", "--secret", "decides which code other programs run"],
  ])("refuses %s without the value in the message [O5]", (_, name, value, says) => {
    let message = "";
    try {
      editEnv("A=1\n", name, value);
    } catch (thrown) {
      message = String(thrown);
    }
    expect(message).toContain(says);
    expect(message).not.toContain("secret");
  });
});

describe("the file .env", () => {
  test("is created for its owner only, and keeps its mode after that [O5]", async () => {
    const project = folder();
    await editEnvFile(project, [{ name: "KEY", value: "one" }]);
    const file = join(project, ".env");
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["KEY=one\n", 0o600]);
    chmodSync(file, 0o640);
    await Promise.all(["A", "B", "C"].map((name) => editEnvFile(project, [{ name, value: "1" }])));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect({ ...parseEnv(readFileSync(file, "utf8")) }).toEqual({ KEY: "one", A: "1", B: "1", C: "1" });
    expect(readdirSync(project)).toEqual([".env"]);
  });

  test("is not created by the removal of a variable [O5]", async () => {
    const project = folder();
    await editEnvFile(project, [{ name: "KEY", value: undefined }]);
    expect(readdirSync(project)).toEqual([]);
  });

  test("stays a link within its project, and is not followed out of it [O5]", async () => {
    const project = folder();
    mkdirSync(join(project, "config"));
    writeFileSync(join(project, "config", "env"), "A=1\n");
    symlinkSync("config/env", join(project, ".env"));
    await editEnvFile(project, [{ name: "KEY", value: "new" }]);
    expect(lstatSync(join(project, ".env")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(project, "config", "env"), "utf8")).toBe("A=1\nKEY=new\n");

    const other = folder();
    writeFileSync(join(other, "profile"), "A=1\n");
    rmSync(join(project, ".env"));
    symlinkSync(join(other, "profile"), join(project, ".env"));
    await expect(editEnvFile(project, [{ name: "KEY", value: "new" }])).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "Cannot change .env: it is a link to a file outside of the project",
    });
    expect(readFileSync(join(other, "profile"), "utf8")).toBe("A=1\n");
  });
});
