// A bare server of `node:http` for the comparison: reads the body of a delivery, verifies its HMAC, and answers 202.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const [secret] = process.argv.slice(2);

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const body = Buffer.concat(parts);
    const expected = createHmac("sha256", secret).update(body).digest();
    const sent = Buffer.from(request.headers["x-hub-signature-256"].slice("sha256=".length), "hex");
    response.writeHead(timingSafeEqual(sent, expected) ? 202 : 401, { "content-type": "application/json" });
    response.end('{"delivery":"1"}');
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
