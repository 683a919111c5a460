// A headless Chromium, by the little of the WebDriver protocol that the tests need (https://www.w3.org/TR/webdriver2/).
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
const PATIENCE_MS = 60_000;

export async function until(what, done, patience = PATIENCE_MS) {
  const began = Date.now();
  for (;;) {
    const got = await done();
    if (got) return got;
    if (Date.now() - began > patience) throw new Error(`did not happen: ${what}`);
    await sleep(100);
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export class Browser {
  static async start({ width, height, phone = false }) {
    const port = await freePort();
    const driver = spawn("chromedriver", [`--port=${port}`], { stdio: "ignore" });
    const browser = new Browser(driver, `http://127.0.0.1:${port}`);
    await until("chromedriver listens", () => fetch(`${browser.base}/status`).then((r) => r.ok, () => false));
    const args = ["--headless=new", "--no-sandbox", "--disable-background-networking", "--disable-gpu", "--disable-dev-shm-usage", `--window-size=${width},${height}`];
    const options = { args };
    if (phone) options.mobileEmulation = { deviceMetrics: { width, height, pixelRatio: 2, touch: true } };
    const { sessionId } = await browser.call("POST", "/session", { capabilities: { alwaysMatch: { "goog:chromeOptions": options } } });
    browser.session = `/session/${sessionId}`;
    return browser;
  }

  constructor(driver, base) {
    this.driver = driver;
    this.base = base;
  }

  async call(method, path, body) {
    const answer = await fetch(this.base + path, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  }

  open(url) {
    return this.call("POST", `${this.session}/url`, { url });
  }

  run(script, ...args) {
    return this.call("POST", `${this.session}/execute/sync`, { script: `return (${script}).apply(null, arguments)`, args });
  }

  async find(css) {
    return (await this.call("POST", `${this.session}/element`, { using: "css selector", value: css }))[ELEMENT];
  }

  async click(css) {
    await this.call("POST", `${this.session}/element/${await this.find(css)}/click`, {});
  }

  async type(css, text) {
    const element = await this.find(css);
    await this.call("POST", `${this.session}/element/${element}/clear`, {});
    await this.call("POST", `${this.session}/element/${element}/value`, { text });
  }

  // Keys as a person without a mouse presses them.
  keys(...keys) {
    const actions = keys.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    return this.call("POST", `${this.session}/actions`, { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  async screenshot(path) {
    writeFileSync(path, Buffer.from(await this.call("GET", `${this.session}/screenshot`), "base64"));
  }

  async stop() {
    await this.call("DELETE", this.session).catch(() => {});
    this.driver.kill();
  }
}
