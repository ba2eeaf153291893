import { createSecretKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { expect, test } from "vitest";

import { hashValueFully } from "../../src/shared/digest.ts";
import { createNonceLog } from "../../src/shared/signing/nonces.ts";
import {
  createSigningKey,
  createVerifier,
  type SignedFacts,
  signFacts,
  type SigningKey,
  type VerifyingKey,
} from "../../src/shared/signing/sign.ts";

const NOW = 1_800_000_000_000;

const FACTS: SignedFacts = {
  server: "hub",
  tool: "MailSkill.send",
  argumentsDigest: hashValueFully({ to: "ada" }),
  resultDigest: null,
};

const ed25519 = createSigningKey("node-1");
const secret = createSecretKey(randomBytes(32));
const hmac = { keyId: "node-2", algorithm: "HMAC-SHA256", secret } as const;
const PAIRS: readonly (readonly [SigningKey["algorithm"], SigningKey, VerifyingKey])[] = [
  ["Ed25519", ed25519.signing, ed25519.verifying],
  ["HMAC-SHA256", hmac, hmac],
];

/** A verifier that knows some keys, with a clock that can be moved. */
function verifierFor(keys: readonly VerifyingKey[], maxNonces?: number) {
  const clock = { now: NOW };
  const findKey = (keyId: string) => keys.find((key) => key.keyId === keyId);
  const verify = createVerifier({ findKey, nonces: createNonceLog(maxNonces), now: () => clock.now });
  return { clock, verify };
}

const sign = (key: SigningKey, facts = FACTS, at = NOW) => signFacts(facts, key, () => at);

test.each(PAIRS)("accepts a signature of %s once [P7]", async (_, signing, verifying) => {
  const { verify } = verifierFor([verifying]);
  const signature = sign(signing);
  await expect(verify(FACTS, signature)).resolves.toBeUndefined();
  await expect(verify(FACTS, signature)).rejects.toMatchObject({
    code: "SIGNATURE_REPLAYED",
    message: "Nonce already used (replay attack)",
  });
  await expect(verify(FACTS, sign(signing))).resolves.toBeUndefined();
});

test.each(PAIRS)("refuses a signature of %s with any changed field [P7]", async (_, signing, verifying) => {
  const other: VerifyingKey = { ...verifying, keyId: "node-9" };
  const { verify } = verifierFor([verifying, other]);
  const result: SignedFacts = { ...FACTS, resultDigest: hashValueFully("sent") };
  const signature = sign(signing, result);
  const changedFacts: readonly Partial<SignedFacts>[] = [
    { server: "other" },
    { tool: "MailSkill.purge" },
    { argumentsDigest: hashValueFully({ to: "eve" }) },
    { resultDigest: hashValueFully("not sent") },
    { resultDigest: null },
  ];
  const changedSignatures = [
    { keyId: "node-9" },
    { nonce: signature.nonce.replace(/.$/, (last) => (last === "A" ? "B" : "A")) },
    { timestamp: signature.timestamp + 1 },
    { signature: `${signature.signature.startsWith("A") ? "B" : "A"}${signature.signature.slice(1)}` },
    { signature: signature.signature.slice(0, 20) },
  ];
  for (const change of changedFacts)
    await expect(verify({ ...result, ...change }, signature)).rejects.toMatchObject({ code: "SIGNATURE_INVALID" });
  for (const change of changedSignatures)
    await expect(verify(result, { ...signature, ...change })).rejects.toMatchObject({ code: "SIGNATURE_INVALID" });
  await expect(verify(result, signature)).resolves.toBeUndefined();
});

test.each([
  [-300_001, false],
  [-300_000, true],
  [300_000, true],
  [300_001, false],
])("with a timestamp that differs by %i ms, accepts a signature: %s [P7]", async (differenceMs, isAccepted) => {
  const { verify } = verifierFor([ed25519.verifying]);
  const verified = verify(FACTS, sign(ed25519.signing, FACTS, NOW + differenceMs));
  if (isAccepted) return expect(verified).resolves.toBeUndefined();
  await expect(verified).rejects.toMatchObject({
    message: "Cannot accept the signature: its timestamp differs by more than 300 s from the clock (SIGNATURE_INVALID)",
  });
});

test("stores a nonce for as long as its signature could be accepted, also from the future [P7]", async () => {
  const { verify, clock } = verifierFor([ed25519.verifying], 1);
  const early = sign(ed25519.signing, FACTS, NOW + 300_000);
  await verify(FACTS, early);
  clock.now = NOW + 600_000;
  await expect(verify(FACTS, early)).rejects.toMatchObject({ code: "SIGNATURE_REPLAYED" });
  await expect(verify(FACTS, sign(ed25519.signing, FACTS, clock.now))).rejects.toMatchObject({ code: "NONCE_LIMIT" });
  clock.now = NOW + 600_001;
  await expect(verify(FACTS, sign(ed25519.signing, FACTS, clock.now))).resolves.toBeUndefined();
});

test("refuses new signatures at capacity instead of forgetting an older one [P7]", async () => {
  const { verify, clock } = verifierFor([ed25519.verifying], 3);
  const accepted = Array.from({ length: 3 }, () => sign(ed25519.signing));
  for (const signature of accepted) await verify(FACTS, signature);
  for (let time = 0; time < 5; time++)
    await expect(verify(FACTS, sign(ed25519.signing))).rejects.toMatchObject({
      code: "NONCE_LIMIT",
      message: "Nonce limit exceeded: none of the stored nonces may be forgotten yet (NONCE_LIMIT)",
    });
  for (const signature of accepted)
    await expect(verify(FACTS, signature)).rejects.toMatchObject({ code: "SIGNATURE_REPLAYED" });
  clock.now = NOW + 300_001;
  await expect(verify(FACTS, sign(ed25519.signing, FACTS, clock.now))).resolves.toBeUndefined();
});

test("does not store the nonce of a signature that it refuses [P7]", async () => {
  const { verify } = verifierFor([ed25519.verifying], 1);
  const signature = sign(ed25519.signing);
  await expect(verify({ ...FACTS, server: "other" }, signature)).rejects.toMatchObject({ code: "SIGNATURE_INVALID" });
  await expect(verify(FACTS, signature)).resolves.toBeUndefined();
});

test("accepts no signature again after the clock was set back [P7]", async () => {
  const { verify, clock } = verifierFor([ed25519.verifying], 1);
  const signature = sign(ed25519.signing);
  await verify(FACTS, signature);
  clock.now = NOW + 400_000;
  await verify(FACTS, sign(ed25519.signing, FACTS, clock.now));
  clock.now = NOW;
  await expect(verify(FACTS, signature)).rejects.toMatchObject({ code: "SIGNATURE_INVALID" });
});

test("uses the algorithm of the key, whatever the sender did [P7]", async () => {
  const { publicKey } = generateKeyPairSync("ed25519");
  const { verify } = verifierFor([{ keyId: "node-1", algorithm: "Ed25519", publicKey }]);
  const bytes = publicKey.export({ format: "der", type: "spki" });
  const forged = sign({ keyId: "node-1", algorithm: "HMAC-SHA256", secret: createSecretKey(bytes) });
  await expect(verify(FACTS, forged)).rejects.toMatchObject({ code: "SIGNATURE_INVALID" });
  await expect(verify(FACTS, { ...forged, algorithm: "HMAC-SHA256" })).rejects.toMatchObject({
    code: "SIGNATURE_INVALID",
  });
  const { verify: verifyMac } = verifierFor([{ ...hmac, keyId: "node-1" }]);
  await expect(verifyMac(FACTS, sign(ed25519.signing))).rejects.toMatchObject({ code: "SIGNATURE_INVALID" });
});

test("refuses keys of another kind, and short secrets [P7]", async () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const wrong: readonly SigningKey[] = [
    { keyId: "k", algorithm: "Ed25519", privateKey: rsa.privateKey },
    { keyId: "k", algorithm: "HMAC-SHA256", secret: createSecretKey(randomBytes(31)) },
    { keyId: "k", algorithm: "HMAC-SHA256", secret: rsa.publicKey },
  ];
  for (const key of wrong) expect(() => sign(key)).toThrow('Cannot use this option: the key "k" must be ');
  const { verify } = verifierFor([{ keyId: "node-1", algorithm: "Ed25519", publicKey: rsa.publicKey }]);
  await expect(verify(FACTS, sign(ed25519.signing))).rejects.toMatchObject({ code: "OPTION_INVALID" });
});

test.each([undefined, null, "x", {}, { keyId: "node-1", nonce: "short", timestamp: NOW, signature: "AA" }])(
  "refuses %j, which is not a signature [P7]",
  async (value) => {
    const { verify } = verifierFor([ed25519.verifying]);
    await expect(verify(FACTS, value)).rejects.toMatchObject({
      message: "Cannot accept the signature: it must have keyId, nonce, timestamp and signature (SIGNATURE_INVALID)",
    });
  },
);

test("refuses an unknown key [P7]", async () => {
  const { verify } = verifierFor([]);
  await expect(verify(FACTS, sign(ed25519.signing))).rejects.toThrow('the key "node-1" is unknown');
});
